#include <algorithm>

#include "agents/research/report/escaped_text.h"
#include "agents/research/report/markdown_sections.h"
#include "agents/research/report/metric_labels.h"
#include "agents/research/report/readable_number.h"
#include "agents/research/report/report_limits.h"

namespace belay::research::report {
namespace {

std::string range_markdown(const FootballField& field, const RangePoint& point) {
  return anchor_link(point.anchor, readable_number(point.value, field.unit, false));
}

void write_map(std::string& text, const FigureIndex& index, const HeatMap& map,
               std::string_view title) {
  text += "**" + std::string(title) + "**, " + markdown_text(readable_unit(map.unit), kNameLimit) +
          ", by basis points added to the discount rate (rows) and to terminal growth "
          "(columns):\n\n";
  std::vector<std::string> columns = {"Discount rate"};
  for (const std::string_view step : kGrowthSteps) columns.push_back("g" + std::string(step));
  append_table_head(text, columns, 1);
  for (std::size_t row = 0; row < kRateSteps.size(); ++row) {
    std::vector<std::string> cells = {"w" + std::string(kRateSteps[row])};
    for (const HeatCell& cell : map.cells[row]) {
      cells.push_back(figure_markdown(index, cell.figure));
    }
    append_table_row(text, cells);
  }
  text += "\n";
}

}  // namespace

void write_football_field(std::string& text, const ReportContent& content) {
  const FootballField& field = content.football_field;
  if (field.ranges.empty()) {
    const auto number = content.index.latest("valuation", "value_per_share");
    if (!number) return;
    text += "No range of values per share: " + figure_markdown(content.index, number) + ", " +
            markdown_text(content.index.figure(*number).quantity.reason(), kReasonLimit) + "\n\n";
    return;
  }
  text += "**Ranges of the model value per share**, " +
          markdown_text(readable_unit(field.unit), kNameLimit) + ":\n\n";
  append_table_head(text, {"Range", "Low", "Base", "High"}, 1);
  for (const ValueRange& range : field.ranges) {
    append_table_row(text, {range.label, range_markdown(field, range.low),
                            range.base ? range_markdown(field, *range.base) : std::string(),
                            range_markdown(field, range.high)});
  }
  text += "\n";
}

void write_projection(std::string& text, const ReportContent& content) {
  if (content.projection.empty()) return;
  std::size_t years = 0;
  for (const ProjectionRow& row : content.projection) years = std::max(years, row.years.size());
  std::vector<std::string> columns = {"Projected"};
  for (std::size_t year = 1; year <= years; ++year) {
    columns.push_back("Year " + std::to_string(year));
  }
  append_table_head(text, columns, 1);
  for (const ProjectionRow& row : content.projection) {
    std::vector<std::string> cells = {markdown_text(row.label, kNameLimit) + " (" +
                                      markdown_text(readable_unit(row.unit), kNameLimit) + ")"};
    for (const FigureNumber number : row.years) {
      cells.push_back(figure_markdown(content.index, number));
    }
    cells.resize(columns.size());
    append_table_row(text, cells);
  }
  text += "\n";
}

void write_sensitivity(std::string& text, const ReportContent& content) {
  if (content.value_map) {
    write_map(text, content.index, *content.value_map, "Model value per share");
  }
  if (content.enterprise_map) {
    write_map(text, content.index, *content.enterprise_map, "Enterprise value");
  }
}

void write_peers(std::string& text, const ReportContent& content) {
  if (content.peer_rows.empty()) return;
  const FigureIndex& index = content.index;
  append_table_head(text, {"Metric", "Company", "Median of the peers", "Rank", "Percentile"}, 1);
  for (const PeerRow& row : content.peer_rows) {
    const std::string unit = row.own ? index.figure(*row.own).unit : "ratio";
    append_table_row(text, {metric_markdown(row.metric, unit), figure_markdown(index, row.own),
                            figure_markdown(index, row.median), figure_markdown(index, row.rank),
                            figure_markdown(index, row.percentile)});
  }
  text += "\n";
}

}  // namespace belay::research::report
