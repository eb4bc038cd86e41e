#include <algorithm>

#include "agents/research/report/escaped_text.h"
#include "agents/research/report/html_sections.h"
#include "agents/research/report/metric_labels.h"
#include "agents/research/report/readable_number.h"
#include "agents/research/report/report_charts.h"
#include "agents/research/report/report_limits.h"

namespace belay::research::report {
namespace {

// The tooltip of a figure: the exact value with its unit, or the reason.
std::string figure_title(const Figure& figure) {
  if (!figure.quantity.is_available()) return html_text(figure.quantity.reason(), kReasonLimit);
  return exact_number(figure.quantity.value()) + " " +
         html_text(readable_unit(figure.unit), kNameLimit);
}

// The title of a chart with one series names that series.
std::string legend_of(const Chart& chart) {
  if (chart.series.size() < 2) return {};
  std::string html = "<ul class=\"legend\">";
  for (std::size_t s = 0; s < std::min(chart.series.size(), kMaxSeries); ++s) {
    html += "<li><span class=\"swatch s" + std::to_string(s) + "\" aria-hidden=\"true\"></span>" +
            html_text(chart.series[s].name, kNameLimit) + "</li>";
  }
  return html + "</ul>\n";
}

}  // namespace

std::string figure_link(const FigureIndex& index, FigureNumber number) {
  return figure_link(index, number, shown_value(index.figure(number)));
}

std::string figure_link(const FigureIndex& index, FigureNumber number, std::string_view text) {
  std::string html = "<a href=\"#" + FigureIndex::anchor(number) + "\" title=\"";
  html += figure_title(index.figure(number)) + "\">";
  html += text;
  return html + "</a>";
}

std::string figure_cell(const FigureIndex& index, std::optional<FigureNumber> number) {
  if (!number) return "<td></td>";
  const bool is_available = index.figure(*number).quantity.is_available();
  return (is_available ? "<td>" : "<td class=\"na\">") + figure_link(index, *number) + "</td>";
}

std::string metric_head(std::string_view metric, std::string_view unit) {
  return "<th scope=\"row\" title=\"" + html_text(metric, kNameLimit) + "\">" +
         html_text(metric_label(metric), kNameLimit) + unit_note(unit) + "</th>";
}

std::string unit_note(std::string_view unit) {
  if (unit.empty() || unit == "ratio" || unit == "count" || unit == "score") return {};
  return " <small>" + html_text(readable_unit(unit), kNameLimit) + "</small>";
}

std::string open_table(std::string_view css_class, std::string_view caption,
                       const std::vector<std::string>& columns) {
  std::string html = "<div class=\"scroll\"><table class=\"" + std::string(css_class) + "\">\n";
  html += "<caption>" + html_text(caption, kNameLimit) + "</caption>\n<thead><tr>";
  for (const std::string& column : columns) {
    html += "<th scope=\"col\">" + html_text(column, kNameLimit) + "</th>";
  }
  return html + "</tr></thead>\n";
}

std::string close_table() { return "</table></div>\n"; }

std::string chart_figure(const Chart& chart) {
  return chart_figure(chart.title, legend_of(chart) + "<div class=\"scroll\" tabindex=\"0\">" +
                                       chart_svg(chart) + "</div>");
}

std::string chart_figure(std::string_view title, std::string_view svg) {
  return "<figure class=\"chart\"><figcaption>" + html_text(title, kNameLimit) + "</figcaption>\n" +
         std::string(svg) + "</figure>\n";
}

}  // namespace belay::research::report
