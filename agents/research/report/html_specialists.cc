#include <algorithm>

#include "agents/research/report/escaped_text.h"
#include "agents/research/report/html_sections.h"
#include "agents/research/report/metric_labels.h"
#include "agents/research/report/report_charts.h"
#include "agents/research/report/report_limits.h"
#include "agents/research/specialists/specialists.h"

namespace belay::research::report {
namespace {

void append_years_table(std::string& html, const FigureIndex& index, const MetricTable& table,
                        const std::string& title) {
  if (table.rows.empty()) return;
  std::vector<std::string> columns = {"Metric"};
  columns.insert(columns.end(), table.periods.begin(), table.periods.end());
  html += open_table("years titled", title + " over the years", columns) + "<tbody>\n";
  for (const MetricRow& row : table.rows) {
    html += "<tr>" + metric_head(row.metric, row.unit);
    for (const auto& cell : row.cells) html += figure_cell(index, cell);
    html += "</tr>\n";
  }
  html += "</tbody>\n" + close_table();
}

void append_single_table(std::string& html, const FigureIndex& index, const MetricTable& table,
                         const std::string& title) {
  std::string rows;
  for (const FigureNumber number : table.single) {
    const Figure& figure = index.figure(number);
    if (is_in_special_table(figure)) continue;
    rows += "<tr>" + metric_head(figure.metric, figure.unit) + figure_cell(index, number) + "<td>" +
            html_text(figure.period_end, kNameLimit) + "</td></tr>\n";
  }
  if (rows.empty()) return;
  html += open_table("single titled", title, {"Metric", "Value", "Period end"}) + "<tbody>\n" +
          rows + "</tbody>\n" + close_table();
}

void append_text(std::string& html, const ReportText& text) {
  html += "<div class=\"prose\">\n";
  std::size_t left = kProseLimit;
  for (const std::string_view paragraph : paragraphs_of(text.text)) {
    if (left == 0) break;
    html += "<p>" + html_text(paragraph, left) + "</p>\n";
    left -= std::min(left, paragraph.size());
  }
  const std::string author = text.extractive
                                 ? "Sentences of the filing."
                                 : "Written by the model " + html_text(text.model, kNameLimit) +
                                       ". The figures of this report do not come from this text.";
  html += "<p class=\"author\">" + author + "</p>\n</div>\n";
  for (std::size_t i = 0; i < std::min(text.quotes.size(), kQuotesOfTextLimit); ++i) {
    const ReportQuote& quote = text.quotes[i];
    html += "<figure class=\"quote\"><blockquote><p>" + html_text(quote.text, kQuoteLimit) +
            "</p></blockquote><figcaption>Item " + html_text(quote.item, kNameLimit) + ", byte " +
            std::to_string(quote.offset) + " of the annual report</figcaption></figure>\n";
  }
}

void append_texts(std::string& html, const AnalysisDocument& document, std::string_view specialist,
                  std::string_view subtask) {
  for (std::size_t i = 0; i < std::min(document.texts.size(), kTextLimit); ++i) {
    const ReportText& text = document.texts[i];
    if (text.specialist == specialist && text.subtask == subtask) append_text(html, text);
  }
}

// Names of a specialist's subtasks: the known ones, then others with figures or texts.
std::vector<std::string_view> subtask_names(const AnalysisDocument& document,
                                            std::string_view specialist,
                                            const std::vector<MetricTable>& tables) {
  std::vector<std::string_view> names;
  const auto add = [&](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  const std::size_t position = specialist_position(specialist);
  if (position < specialists().size()) {
    for (const Subtask& subtask : specialists()[position].subtasks) add(subtask.name);
  }
  for (const MetricTable& table : tables) add(table.subtask);
  for (std::size_t i = 0; i < std::min(document.texts.size(), kTextLimit); ++i) {
    if (document.texts[i].specialist == specialist) add(document.texts[i].subtask);
  }
  return names;
}

// Tables and charts of one subtask that no other subtask has.
void append_special(std::string& html, const ReportContent& content, std::string_view specialist,
                    std::string_view subtask) {
  if (specialist == "financial" && subtask == "peer_comparison") append_peers(html, content);
  if (specialist != "valuation") return;
  if (subtask == "cash_flow_projection") append_projection(html, content);
  if (subtask == "sensitivity_analysis") append_sensitivity(html, content);
}

void append_subtask(std::string& html, const ReportContent& content, std::string_view specialist,
                    std::string_view subtask, const std::vector<MetricTable>& tables) {
  const FigureIndex& index = content.index;
  std::string body;
  append_texts(body, index.document(), specialist, subtask);
  append_special(body, content, specialist, subtask);
  const std::string title = subtask_title(specialist, subtask);
  for (const MetricTable& table : tables) {
    if (table.subtask != subtask) continue;
    append_years_table(body, index, table, title);
    append_single_table(body, index, table, title);
  }
  if (!body.empty()) html += "<h3>" + html_text(title, kNameLimit) + "</h3>\n" + body;
}

void append_charts(std::string& html, const ReportContent& content, std::string_view specialist) {
  std::string charts;
  for (const Chart& chart : charts_of(content.index, specialist)) charts += chart_figure(chart);
  for (const BarChart& chart : bar_charts_of(content.index, specialist)) {
    charts += chart_figure(chart.title, "<div class=\"scroll\" tabindex=\"0\">" +
                                            horizontal_bars_svg(chart.id, chart.title, chart.bars) +
                                            "</div>");
  }
  if (!charts.empty()) html += "<div class=\"charts\">\n" + charts + "</div>\n";
}

// Links to the findings of a specialist, which are in the section of red flags.
void append_finding_links(std::string& html, const ReportContent& content,
                          std::string_view specialist) {
  std::string links;
  std::size_t number = 0;
  for (const auto* groups : {&content.red_flags, &content.observations}) {
    for (const FindingGroup& group : *groups) {
      const std::string anchor = "n" + std::to_string(number++);
      const Finding& finding = *group.findings.front();
      if (finding.specialist != specialist) continue;
      if (!links.empty()) links += ", ";
      links += "<a href=\"#" + anchor + "\">" + html_text(finding_label(finding.code), kNameLimit) +
               "</a> (" + severity_name(finding.severity) + ")";
    }
  }
  if (!links.empty()) html += "<p>Findings: " + links + "</p>\n";
}

void append_specialist(std::string& html, const ReportContent& content,
                       std::string_view specialist) {
  const AnalysisDocument& document = content.index.document();
  const std::size_t position = specialist_position(specialist);
  const bool is_known = position < specialists().size();
  html += is_known ? "<section id=\"section-" + std::string(specialist) + "\">\n" : "<section>\n";
  html += "<h2>" + html_text(specialist_title(specialist), kNameLimit) + "</h2>\n";
  if (is_known) {
    html +=
        "<p class=\"about\">" + html_text(specialists()[position].about, kReasonLimit) + "</p>\n";
  }
  if (const ReportFailure* failure = failure_of(document, specialist)) {
    html +=
        "<p class=\"alert\">This specialist failed: " + html_text(failure->reason, kReasonLimit) +
        "</p>\n";
  }
  if (!has_content(document, specialist)) {
    html += "<p>This specialist is not part of the analysis.</p>\n";
  }
  append_finding_links(html, content, specialist);
  if (specialist == "valuation") append_football_field(html, content);
  append_charts(html, content, specialist);
  const auto tables = content.index.tables(specialist);
  for (const std::string_view subtask : subtask_names(document, specialist, tables)) {
    append_subtask(html, content, specialist, subtask, tables);
  }
  html += "</section>\n";
}

}  // namespace

void append_specialists(std::string& html, const ReportContent& content) {
  for (const std::string_view specialist : section_names(content.index)) {
    append_specialist(html, content, specialist);
  }
}

}  // namespace belay::research::report
