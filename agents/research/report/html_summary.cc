#include <algorithm>

#include "agents/research/report/escaped_text.h"
#include "agents/research/report/html_sections.h"
#include "agents/research/report/metric_labels.h"
#include "agents/research/report/readable_number.h"
#include "agents/research/report/report_charts.h"
#include "agents/research/report/report_limits.h"
#include "agents/research/specialists/specialists.h"

namespace belay::research::report {
namespace {

// A term of the summary; `html` is escaped by the caller. Nothing if that is empty.
std::string summary_term(std::string_view term, const std::string& html) {
  if (html.empty()) return {};
  return "<div><dt>" + std::string(term) + "</dt><dd>" + html + "</dd></div>\n";
}

std::string company_link(const std::string& cik) {
  const std::string url = edgar_company_url(cik);
  const std::string text = html_text(cik, kNameLimit);
  return url.empty() ? text : "<a href=\"" + url + "\">" + text + "</a>";
}

std::string years_text(const AnalysisDocument& document) {
  const auto& years = document.fiscal_years;
  if (years.empty()) return {};
  return std::to_string(years.size()) + ", " + html_text(years.front(), kNameLimit) + " to " +
         html_text(years.back(), kNameLimit);
}

std::string peers_text(const AnalysisDocument& document) {
  std::string peers;
  for (std::size_t i = 0; i < std::min(document.peers.size(), kListLimit); ++i) {
    if (i > 0) peers += ", ";
    peers += html_text(document.peers[i], kNameLimit);
  }
  return peers.empty() ? "none" : peers;
}

std::string figures_text(const ReportContent& content) {
  std::size_t missing = 0;
  for (const UnavailableMetric& row : content.provenance.unavailable) missing += row.figures.size();
  const std::size_t available = content.index.figures().size() - missing;
  return grouped_number(static_cast<double>(available)) +
         " available, <a href=\"#not-available\">" + grouped_number(static_cast<double>(missing)) +
         " not available</a>";
}

void append_failures(std::string& html, const AnalysisDocument& document) {
  if (document.failures.empty()) return;
  html += "<div class=\"alert\"><p>Specialists without a complete deliverable:</p><ul>\n";
  for (std::size_t i = 0; i < std::min(document.failures.size(), kListLimit); ++i) {
    const ReportFailure& failure = document.failures[i];
    html += "<li><strong>" + html_text(specialist_title(failure.specialist), kNameLimit) +
            "</strong>: " + html_text(failure.reason, kReasonLimit) + "</li>\n";
  }
  html += "</ul></div>\n";
}

void append_cards(std::string& html, const FigureIndex& index) {
  html += "<ul class=\"cards\">\n";
  for (const KeyMetric& key : summary_metrics()) {
    const auto number = index.latest(key.specialist, key.metric);
    if (!number) continue;
    const Figure& figure = index.figure(*number);
    const bool is_available = figure.quantity.is_available();
    if (!is_available && figure.quantity.code() == Missing::not_applicable) continue;
    html += "<li><span class=\"name\">" + html_text(metric_label(key.metric), kNameLimit) +
            "</span> <span class=\"number\">" + figure_link(index, *number) +
            "</span> <span class=\"period\">" + html_text(figure.period_end, kNameLimit) +
            (is_available ? unit_note(figure.unit) : std::string()) + "</span></li>\n";
  }
  html += "</ul>\n";
}

bool is_shown(const FigureIndex& index, const MetricRow& row) {
  return std::any_of(row.cells.begin(), row.cells.end(), [&](const auto& cell) {
    if (!cell) return false;
    const Quantity& quantity = index.figure(*cell).quantity;
    return quantity.is_available() || quantity.code() != Missing::not_applicable;
  });
}

std::string navigation_link(std::string_view anchor, std::string_view text) {
  return "<li><a href=\"#" + std::string(anchor) + "\">" + html_text(text, kNameLimit) +
         "</a></li>\n";
}

}  // namespace

void append_header(std::string& html, const ReportContent& content) {
  const AnalysisDocument& document = content.index.document();
  std::size_t medium = 0;
  std::size_t high = 0;
  for (const Finding& finding : document.results.findings) {
    if (finding.severity == Severity::medium) ++medium;
    if (finding.severity == Severity::high) ++high;
  }
  html += "<header id=\"top\">\n<h1>" + html_text(report_title(document), kNameLimit) +
          "</h1>\n<p class=\"subtitle\">Equity research report as of " +
          html_text(document.as_of, kNameLimit) + "</p>\n<p class=\"advice\" role=\"note\">" +
          std::string(kNoAdvice) + "</p>\n<dl class=\"summary\">\n";
  html += summary_term("Ticker", html_text(document.ticker, kNameLimit));
  html += summary_term("CIK", company_link(document.cik));
  html += summary_term("As-of date", html_text(document.as_of, kNameLimit));
  html += summary_term("Currency", html_text(document.currency, kNameLimit));
  html += summary_term("Fiscal years", years_text(document));
  html += summary_term("Peers", peers_text(document));
  html += summary_term("Specialists", std::to_string(delivered_specialists(document)) + " of " +
                                          std::to_string(specialists().size()) + " delivered");
  html += summary_term("Findings", "<a href=\"#red-flags\">" + std::to_string(high) + " high, " +
                                       std::to_string(medium) + " medium</a>");
  html += summary_term("Figures", figures_text(content));
  html += summary_term("Analysis", html_text(document.analysis_id, kNameLimit));
  html += summary_term("Generated", html_text(generation_time(document), kNameLimit));
  html += "</dl>\n";
  append_failures(html, document);
  append_cards(html, content.index);
  html += "</header>\n";
}

void append_navigation(std::string& html, const ReportContent& content) {
  html += "<nav aria-label=\"Contents\"><ul>\n";
  html += navigation_link("key-figures", "Key figures");
  html += navigation_link("red-flags", "Red flags");
  for (const std::string_view name : section_names(content.index)) {
    const std::size_t position = specialist_position(name);
    if (position < specialists().size()) {
      html += navigation_link("section-" + std::string(name), specialist_title(name));
    }
  }
  html += navigation_link("not-available", "Not available");
  html += navigation_link("assumptions", "Assumptions");
  html += navigation_link("notes", "Notes");
  html += navigation_link("sources", "Sources");
  html += navigation_link("provenance", "Inputs of every figure");
  html += "</ul></nav>\n";
}

void append_key_figures(std::string& html, const ReportContent& content) {
  const FigureIndex& index = content.index;
  const auto& years = index.document().fiscal_years;
  html += "<section id=\"key-figures\">\n<h2>Key figures</h2>\n";
  html += "<p>Each number is a link to its inputs: concept, period, and accession number.</p>\n";
  std::vector<std::string> columns = {"Metric"};
  columns.insert(columns.end(), years.begin(), years.end());
  html += open_table("years", "Key figures of each specialist over the fiscal years", columns);
  std::string_view specialist;
  for (const KeyMetric& key : key_metrics()) {
    const auto row = index.row(key.specialist, key.metric, years);
    if (!row || !is_shown(index, *row)) continue;
    if (key.specialist != specialist) {
      if (!specialist.empty()) html += "</tbody>\n";
      specialist = key.specialist;
      html += "<tbody>\n<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"" +
              std::to_string(columns.size()) + "\">" + specialist_title(specialist) +
              "</th></tr>\n";
    }
    html += "<tr>" + metric_head(row->metric, row->unit);
    for (const auto& cell : row->cells) html += figure_cell(index, cell);
    html += "</tr>\n";
  }
  if (!specialist.empty()) html += "</tbody>\n";
  html += close_table() + "</section>\n";
}

}  // namespace belay::research::report
