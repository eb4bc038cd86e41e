#include <algorithm>

#include "agents/research/report/escaped_text.h"
#include "agents/research/report/html_sections.h"
#include "agents/research/report/metric_labels.h"
#include "agents/research/report/readable_number.h"
#include "agents/research/report/report_charts.h"
#include "agents/research/report/report_limits.h"

namespace belay::research::report {
namespace {

// "−50 bp"
std::string basis_points(std::string_view step) {
  const std::string sign = step.starts_with('-') ? "−" : step == "+0" ? "" : "+";
  return sign + std::string(step.substr(1)) + " bp";
}

std::string range_link(const FootballField& field, const RangePoint& point) {
  return "<a href=\"#" + point.anchor + "\" title=\"" + exact_number(point.value) + " " +
         html_text(readable_unit(field.unit), kNameLimit) + "\">" +
         readable_number(point.value, field.unit, false) + "</a>";
}

void append_range_table(std::string& html, const FootballField& field) {
  html += open_table("single", "Ranges of the model value per share, " + readable_unit(field.unit),
                     {"Range", "Low", "Base", "High"}) +
          "<tbody>\n";
  for (const ValueRange& range : field.ranges) {
    html += "<tr><th scope=\"row\">" + html_text(range.label, kNameLimit) + "</th><td>" +
            range_link(field, range.low) + "</td><td>" +
            (range.base ? range_link(field, *range.base) : std::string()) + "</td><td>" +
            range_link(field, range.high) + "</td></tr>\n";
  }
  html += "</tbody>\n" + close_table();
}

// A table of 25 cells. Colours only repeat what the numbers show.
void append_map(std::string& html, const FigureIndex& index, const HeatMap& map,
                std::string_view caption, bool is_coloured) {
  std::vector<std::string> columns = {"Discount rate"};
  for (const std::string_view step : kGrowthSteps) {
    columns.push_back("Growth " + basis_points(step));
  }
  html += open_table(is_coloured ? "heat" : "matrix", caption, columns) + "<tbody>\n";
  for (std::size_t row = 0; row < kRateSteps.size(); ++row) {
    html += "<tr><th scope=\"row\">" + basis_points(kRateSteps[row]) + "</th>";
    for (std::size_t column = 0; column < kGrowthSteps.size(); ++column) {
      const HeatCell& cell = map.cells[row][column];
      std::string css_class = "cell";
      if (cell.level && is_coloured) css_class += " h" + std::to_string(*cell.level);
      if (kRateSteps[row] == "+0" && kGrowthSteps[column] == "+0") css_class += " base";
      html += "<td class=\"" + css_class + "\">" +
              (cell.figure ? figure_link(index, *cell.figure) : std::string("n/a")) + "</td>";
    }
    html += "</tr>\n";
  }
  html += "</tbody>\n" + close_table();
}

std::string map_caption(std::string_view of, const HeatMap& map) {
  return std::string(of) + (map.unit.empty() ? "" : ", " + readable_unit(map.unit)) +
         ", by changes of the discount rate and of terminal growth";
}

}  // namespace

void append_football_field(std::string& html, const ReportContent& content) {
  const FootballField& field = content.football_field;
  if (field.ranges.empty()) {
    const auto number = content.index.latest("valuation", "value_per_share");
    if (!number) return;
    html += "<p>No range of values per share can be drawn: " +
            figure_link(content.index, *number, "not available") + ", " +
            html_text(content.index.figure(*number).quantity.reason(), kReasonLimit) + ".</p>\n";
    return;
  }
  const std::string title = "Model value per share: ranges (football field)";
  html += chart_figure(title, "<div class=\"scroll\" tabindex=\"0\">" +
                                  football_field_svg("chart-football", title, field) + "</div>");
  append_range_table(html, field);
}

void append_projection(std::string& html, const ReportContent& content) {
  if (content.projection.empty()) return;
  for (const Chart& chart : projection_charts(content.index)) html += chart_figure(chart);
  std::size_t years = 0;
  for (const ProjectionRow& row : content.projection) years = std::max(years, row.years.size());
  std::vector<std::string> columns = {"Projected"};
  for (std::size_t year = 1; year <= years; ++year) {
    columns.push_back("Year " + std::to_string(year));
  }
  html += open_table("years", "Projected cash flows of the firm", columns) + "<tbody>\n";
  for (const ProjectionRow& row : content.projection) {
    html +=
        "<tr><th scope=\"row\">" + html_text(row.label, kNameLimit) + unit_note(row.unit) + "</th>";
    for (std::size_t i = 0; i < years; ++i) {
      const bool is_there = i < row.years.size();
      html += figure_cell(content.index, is_there ? std::optional(row.years[i]) : std::nullopt);
    }
    html += "</tr>\n";
  }
  html += "</tbody>\n" + close_table();
}

void append_sensitivity(std::string& html, const ReportContent& content) {
  // The colours belong to the value per share, or else to the enterprise value.
  const bool has_value = content.value_map && content.value_map->has_values;
  const bool has_enterprise = content.enterprise_map.has_value();
  if (content.value_map) {
    append_map(html, content.index, *content.value_map,
               map_caption("Model value per share", *content.value_map), has_value);
  }
  if (has_enterprise) {
    append_map(html, content.index, *content.enterprise_map,
               map_caption("Enterprise value", *content.enterprise_map),
               !has_value && content.enterprise_map->has_values);
  }
}

void append_peers(std::string& html, const ReportContent& content) {
  if (content.peer_rows.empty()) return;
  const FigureIndex& index = content.index;
  html += open_table("single", "The company and its peers, each in its latest fiscal year",
                     {"Metric", "Company", "Median of the peers", "Rank", "Percentile"}) +
          "<tbody>\n";
  for (const PeerRow& row : content.peer_rows) {
    const std::string_view unit = row.own ? std::string_view(index.figure(*row.own).unit) : "ratio";
    html += "<tr>" + metric_head(row.metric, unit) + figure_cell(index, row.own) +
            figure_cell(index, row.median) + figure_cell(index, row.rank) +
            figure_cell(index, row.percentile) + "</tr>\n";
  }
  html += "</tbody>\n" + close_table();
}

}  // namespace belay::research::report
