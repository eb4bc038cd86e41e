// Charts with horizontal bars.
#include <algorithm>

#include "agents/research/report/readable_number.h"
#include "agents/research/report/svg_charts.h"
#include "agents/research/report/svg_element.h"
#include "agents/research/report/svg_scale.h"

namespace belay::research::report {
namespace {

constexpr int kRangeWidth = 720;
constexpr double kLabelEnd = 238;
constexpr double kBarStart = 250;

// Football field: the values are at both ends of a bar.
constexpr double kFieldStart = 300;
constexpr double kFieldEnd = 640;
constexpr double kFieldTop = 12;
constexpr double kFieldRow = 42;
constexpr int kFieldTicks = 5;

std::string value_text(const FootballField& field, double value) {
  return readable_number(value, field.unit, false);
}

std::string description_of_field(const FootballField& field) {
  std::string text = "Bar chart of ranges of the value per share.";
  for (const ValueRange& range : field.ranges) {
    text += " " + range.label + ": " + value_text(field, range.low.value) + " to " +
            value_text(field, range.high.value) + ".";
  }
  return text;
}

std::string linked_value(const FootballField& field, const RangePoint& point, double x, double y,
                         std::string_view anchor) {
  const std::string text = value_text(field, point.value);
  return svg_link(point.anchor, text, svg_text("value", x, y, anchor, text));
}

std::string range_row(const FootballField& field, const ValueRange& range, const Scale& scale,
                      double y) {
  const double low = scale.at(range.low.value);
  const double high = scale.at(range.high.value);
  std::string svg = svg_text("label", kLabelEnd, y + 4, "end", range.label);
  svg += svg_rectangle("range", low, y - 9, std::max(high - low, 2.0), 18);
  svg += "\n";
  svg += linked_value(field, range.low, low - 6, y + 4, "end");
  if (range.high.anchor != range.low.anchor) {
    svg += linked_value(field, range.high, high + 6, y + 4, "start");
  }
  if (range.base) {
    const double x = scale.at(range.base->value);
    svg += svg_link(range.base->anchor, "base: " + value_text(field, range.base->value),
                    svg_line("base", x, y - 13, x, y + 13));
  }
  return svg;
}

}  // namespace

std::string horizontal_bars_svg(std::string_view id, std::string_view title,
                                const std::vector<HorizontalBar>& bars) {
  constexpr double kRow = 24;
  std::vector<double> values;
  std::string description = "Bar chart.";
  for (const HorizontalBar& bar : bars) {
    values.push_back(std::max(bar.point.value, 0.0));
    description += " " + bar.label + ": " + bar.point.text + ".";
  }
  const Scale scale(values, true, kBarStart, kRangeWidth - 90, kFieldTicks);
  const int height = static_cast<int>(kRow * static_cast<double>(bars.size()) + 8);
  std::string svg = svg_open(id, title, description, kRangeWidth, height);
  double y = 4;
  for (const HorizontalBar& bar : bars) {
    const double end = scale.at(std::max(bar.point.value, 0.0));
    svg += svg_text("label", kLabelEnd, y + 16, "end", bar.label);
    const std::string shape =
        svg_rectangle("bar s0", kBarStart, y + 3, std::max(end - kBarStart, 0.8), kRow - 6) +
        svg_text("value", end + 6, y + 16, "start", bar.point.text);
    svg += svg_link(bar.point.anchor, bar.label + ": " + bar.point.text, shape);
    y += kRow;
  }
  return svg + "</svg>\n";
}

std::string football_field_svg(std::string_view id, std::string_view title,
                               const FootballField& field) {
  std::vector<double> values;
  for (const ValueRange& range : field.ranges) {
    values.push_back(range.low.value);
    values.push_back(range.high.value);
    if (range.base) values.push_back(range.base->value);
  }
  const Scale scale(values, false, kFieldStart, kFieldEnd, kFieldTicks);
  const double bottom = kFieldTop + kFieldRow * static_cast<double>(field.ranges.size());
  std::string svg =
      svg_open(id, title, description_of_field(field), kRangeWidth, static_cast<int>(bottom) + 28);
  for (const double tick : scale.ticks()) {
    const double x = scale.at(tick);
    svg += svg_line("grid", x, kFieldTop, x, bottom);
    svg += svg_text("tick", x, bottom + 18, "middle", tick_text(tick, field.unit, false));
  }
  double y = kFieldTop + kFieldRow / 2;
  for (const ValueRange& range : field.ranges) {
    svg += range_row(field, range, scale, y);
    y += kFieldRow;
  }
  return svg + "</svg>\n";
}

}  // namespace belay::research::report
