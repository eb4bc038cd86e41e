#include "agents/research/report/escaped_text.h"
#include "agents/research/report/markdown_sections.h"
#include "agents/research/report/metric_labels.h"
#include "agents/research/report/readable_number.h"
#include "agents/research/report/report_charts.h"
#include "agents/research/report/report_limits.h"

namespace belay::research::report {

std::string figure_markdown(const FigureIndex& index, std::optional<FigureNumber> number) {
  if (!number) return {};
  return anchor_link(FigureIndex::anchor(*number), shown_value(index.figure(*number)));
}

std::string anchor_link(std::string_view anchor, std::string_view text) {
  std::string link = "[";
  link += text;
  link += "](#";
  link += anchor;
  return link + ")";
}

std::string anchor_markdown(std::string_view anchor) {
  return "<a id=\"" + std::string(anchor) + "\"></a>";
}

void append_table_head(std::string& text, const std::vector<std::string>& columns,
                       std::size_t text_columns) {
  append_table_row(text, columns);
  text += "|";
  for (std::size_t i = 0; i < columns.size(); ++i) text += i < text_columns ? "---|" : "--:|";
  text += "\n";
}

void append_table_row(std::string& text, const std::vector<std::string>& cells) {
  text += "|";
  for (const std::string& cell : cells) text += " " + cell + " |";
  text += "\n";
}

std::string metric_markdown(std::string_view metric, std::string_view unit) {
  std::string text = markdown_text(metric_label(metric), kNameLimit);
  const bool has_sign = unit == "ratio" && is_percentage(metric);
  if (!has_sign && !unit.empty())
    text += " (" + markdown_text(readable_unit(unit), kNameLimit) + ")";
  return text;
}

}  // namespace belay::research::report
