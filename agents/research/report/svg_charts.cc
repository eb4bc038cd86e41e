#include "agents/research/report/svg_charts.h"

#include <algorithm>

#include "agents/research/report/readable_number.h"
#include "agents/research/report/svg_element.h"
#include "agents/research/report/svg_scale.h"

namespace belay::research::report {
namespace {

constexpr int kWidth = 720;
constexpr int kHeight = 270;
constexpr double kLeft = 72;
constexpr double kRight = 708;
constexpr double kTop = 14;
constexpr double kBottom = 236;
constexpr int kTicks = 6;
constexpr std::size_t kMaxCategoryLabels = 12;

std::size_t drawn_series(const Chart& chart) { return std::min(chart.series.size(), kMaxSeries); }

std::vector<double> drawn_values(const Chart& chart) {
  std::vector<double> values;
  for (std::size_t s = 0; s < drawn_series(chart); ++s) {
    for (const auto& point : chart.series[s].points) {
      if (point) values.push_back(point->value);
    }
  }
  return values;
}

// Reads out the first and the last value of each series.
std::string description_of(const Chart& chart) {
  std::string text = chart.kind == ChartKind::lines ? "Line chart." : "Column chart.";
  for (std::size_t s = 0; s < drawn_series(chart); ++s) {
    const ChartSeries& series = chart.series[s];
    const std::size_t count = std::min(series.points.size(), chart.categories.size());
    std::optional<std::size_t> first;
    std::optional<std::size_t> last;
    for (std::size_t i = 0; i < count; ++i) {
      if (!series.points[i]) continue;
      if (!first) first = i;
      last = i;
    }
    text += " " + series.name + ": ";
    if (!first) {
      text += "not available.";
      continue;
    }
    text += series.points[*first]->text + " in " + chart.categories[*first];
    if (*last != *first) {
      text += ", " + series.points[*last]->text + " in " + chart.categories[*last];
    }
    text += ".";
  }
  return text;
}

// The middle of a category's part of the horizontal axis.
double category_at(const Chart& chart, std::size_t category) {
  const double width = (kRight - kLeft) / static_cast<double>(chart.categories.size());
  return kLeft + width * (static_cast<double>(category) + 0.5);
}

std::string axes(const Chart& chart, const Scale& scale) {
  std::string svg;
  for (const double tick : scale.ticks()) {
    const double y = scale.at(tick);
    svg += svg_line(tick == 0 ? "axis" : "grid", kLeft, y, kRight, y);
    svg +=
        svg_text("tick", kLeft - 6, y + 4, "end", tick_text(tick, chart.unit, chart.as_percentage));
  }
  const std::size_t step = (chart.categories.size() + kMaxCategoryLabels - 1) / kMaxCategoryLabels;
  for (std::size_t i = 0; i < chart.categories.size(); i += step) {
    svg += svg_text("tick", category_at(chart, i), kBottom + 20, "middle", chart.categories[i]);
  }
  if (chart.threshold) {
    const double y = scale.at(chart.threshold->value);
    svg += svg_line("threshold", kLeft, y, kRight, y);
    svg += svg_text("tick", kLeft + 6, y - 5, "start", chart.threshold->label);
  }
  return svg;
}

std::string tooltip(const Chart& chart, const ChartSeries& series, std::size_t category) {
  return series.name + ", " + chart.categories[category] + ": " + series.points[category]->text;
}

std::string line_of(const Chart& chart, const Scale& scale, std::size_t s) {
  const ChartSeries& series = chart.series[s];
  const std::size_t count = std::min(series.points.size(), chart.categories.size());
  std::string path;
  std::string marks;
  bool is_joined = false;  // a gap stays a gap
  for (std::size_t i = 0; i < count; ++i) {
    if (!series.points[i]) {
      is_joined = false;
      continue;
    }
    const double x = category_at(chart, i);
    const double y = scale.at(series.points[i]->value);
    path += (is_joined ? "L" : "M") + coordinate(x) + " " + coordinate(y);
    is_joined = true;
    marks += svg_link(series.points[i]->anchor, tooltip(chart, series, i), svg_mark(s, x, y));
  }
  if (path.empty()) return {};
  return "<path class=\"line s" + std::to_string(s) + "\" d=\"" + path + "\"/>\n" + marks;
}

std::string columns_of(const Chart& chart, const Scale& scale, std::size_t s) {
  const ChartSeries& series = chart.series[s];
  const std::size_t count = std::min(series.points.size(), chart.categories.size());
  const double part = (kRight - kLeft) / static_cast<double>(chart.categories.size());
  const double width = part * 0.76 / static_cast<double>(drawn_series(chart));
  std::string svg;
  for (std::size_t i = 0; i < count; ++i) {
    if (!series.points[i]) continue;
    const double x = category_at(chart, i) - part * 0.38 + width * static_cast<double>(s);
    const double zero = scale.at(0);
    const double y = scale.at(series.points[i]->value);
    // A value near zero is still to be seen.
    const double height = std::max(std::max(zero, y) - std::min(zero, y), 0.8);
    const std::string bar = svg_rectangle("bar s" + std::to_string(s), x, std::min(zero, y),
                                          std::max(width - 1, 0.5), height);
    svg += svg_link(series.points[i]->anchor, tooltip(chart, series, i), bar);
  }
  return svg;
}

}  // namespace

bool is_worth_drawing(const Chart& chart) {
  return std::any_of(chart.series.begin(), chart.series.end(), [](const ChartSeries& series) {
    return std::count_if(series.points.begin(), series.points.end(),
                         [](const auto& point) { return point.has_value(); }) > 1;
  });
}

std::string chart_svg(const Chart& chart) {
  std::vector<double> values = drawn_values(chart);
  if (chart.threshold) values.push_back(chart.threshold->value);
  const Scale scale(values, chart.kind == ChartKind::columns, kBottom, kTop, kTicks);
  std::string svg = svg_open(chart.id, chart.title, description_of(chart), kWidth, kHeight);
  if (!chart.categories.empty()) {
    svg += axes(chart, scale);
    for (std::size_t s = 0; s < drawn_series(chart); ++s) {
      const bool is_line = chart.kind == ChartKind::lines;
      svg += is_line ? line_of(chart, scale, s) : columns_of(chart, scale, s);
    }
  }
  return svg + "</svg>\n";
}

std::string tick_text(double value, std::string_view unit, bool as_percentage) {
  std::string text = readable_number(value, unit, as_percentage);
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return text;
  std::size_t end = point + 1;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  std::size_t kept = end;
  while (text[kept - 1] == '0') --kept;
  if (kept == point + 1) kept = point;
  return text.erase(kept, end - kept);
}

}  // namespace belay::research::report
