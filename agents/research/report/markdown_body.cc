#include <algorithm>

#include "agents/research/report/escaped_text.h"
#include "agents/research/report/markdown_sections.h"
#include "agents/research/report/metric_labels.h"
#include "agents/research/report/report_charts.h"
#include "agents/research/report/report_limits.h"
#include "agents/research/specialists/specialists.h"

namespace belay::research::report {
namespace {

void write_term(std::string& text, std::string_view term, const std::string& value) {
  if (!value.empty()) text += "- " + std::string(term) + ": " + value + "\n";
}

std::string peers_markdown(const AnalysisDocument& document) {
  std::string peers;
  for (std::size_t i = 0; i < std::min(document.peers.size(), kListLimit); ++i) {
    if (i > 0) peers += ", ";
    peers += markdown_text(document.peers[i], kNameLimit);
  }
  return peers.empty() ? "none" : peers;
}

std::string company_markdown(const std::string& cik) {
  const std::string url = edgar_company_url(cik);
  const std::string text = markdown_text(cik, kNameLimit);
  return url.empty() ? text : "[" + text + "](" + url + ")";
}

void write_failures(std::string& text, const AnalysisDocument& document) {
  for (std::size_t i = 0; i < std::min(document.failures.size(), kListLimit); ++i) {
    const ReportFailure& failure = document.failures[i];
    text += "- **Without a complete deliverable: " +
            markdown_text(specialist_title(failure.specialist), kNameLimit) + "**, " +
            markdown_text(failure.reason, kReasonLimit) + "\n";
  }
}

void write_years_table(std::string& text, const FigureIndex& index, const MetricTable& table) {
  if (table.rows.empty()) return;
  std::vector<std::string> columns = {"Metric"};
  for (const std::string_view period : table.periods) {
    columns.push_back(markdown_text(period, kNameLimit));
  }
  append_table_head(text, columns, 1);
  for (const MetricRow& row : table.rows) {
    std::vector<std::string> cells = {metric_markdown(row.metric, row.unit)};
    for (const auto& cell : row.cells) cells.push_back(figure_markdown(index, cell));
    append_table_row(text, cells);
  }
  text += "\n";
}

void write_single_table(std::string& text, const FigureIndex& index, const MetricTable& table) {
  std::string rows;
  for (const FigureNumber number : table.single) {
    const Figure& figure = index.figure(number);
    if (is_in_special_table(figure)) continue;
    append_table_row(
        rows, {metric_markdown(figure.metric, figure.unit),
               markdown_text(figure.period_end, kNameLimit), figure_markdown(index, number)});
  }
  if (rows.empty()) return;
  append_table_head(text, {"Metric", "Period end", "Value"}, 2);
  text += rows + "\n";
}

void write_prose(std::string& text, const ReportText& prose) {
  std::size_t left = kProseLimit;
  for (const std::string_view paragraph : paragraphs_of(prose.text)) {
    if (left == 0) break;
    text += markdown_text(paragraph, left) + "\n\n";
    left -= std::min(left, paragraph.size());
  }
  text += prose.extractive ? "*Sentences of the filing.*\n\n"
                           : "*Written by the model " + markdown_text(prose.model, kNameLimit) +
                                 ". The figures of this report do not come from this text.*\n\n";
  for (std::size_t i = 0; i < std::min(prose.quotes.size(), kQuotesOfTextLimit); ++i) {
    const ReportQuote& quote = prose.quotes[i];
    text += "> " + markdown_text(quote.text, kQuoteLimit) + " (Item " +
            markdown_text(quote.item, kNameLimit) + ", byte " + std::to_string(quote.offset) +
            ")\n\n";
  }
}

void write_subtask(std::string& text, const ReportContent& content, std::string_view specialist,
                   const MetricTable& table) {
  const AnalysisDocument& document = content.index.document();
  text += "### " + markdown_text(subtask_title(specialist, table.subtask), kNameLimit) + "\n\n";
  for (std::size_t i = 0; i < std::min(document.texts.size(), kTextLimit); ++i) {
    const ReportText& prose = document.texts[i];
    if (prose.specialist == specialist && prose.subtask == table.subtask) write_prose(text, prose);
  }
  if (specialist == "financial" && table.subtask == "peer_comparison") write_peers(text, content);
  if (specialist == "valuation" && table.subtask == "cash_flow_projection") {
    write_projection(text, content);
  }
  if (specialist == "valuation" && table.subtask == "sensitivity_analysis") {
    write_sensitivity(text, content);
  }
  write_years_table(text, content.index, table);
  write_single_table(text, content.index, table);
}

// Tables of a specialist; a subtask that has a text only gets an empty table.
std::vector<MetricTable> tables_with_texts(const ReportContent& content,
                                           std::string_view specialist) {
  const AnalysisDocument& document = content.index.document();
  std::vector<MetricTable> tables = content.index.tables(specialist);
  for (std::size_t i = 0; i < std::min(document.texts.size(), kTextLimit); ++i) {
    const ReportText& prose = document.texts[i];
    const bool is_there = std::any_of(tables.begin(), tables.end(), [&](const MetricTable& table) {
      return table.subtask == prose.subtask;
    });
    if (prose.specialist == specialist && !is_there) tables.push_back({prose.subtask, {}, {}, {}});
  }
  return tables;
}

void write_group(std::string& text, const FigureIndex& index, const FindingGroup& group) {
  const Finding& first = *group.findings.front();
  std::string periods;
  for (const Finding* finding : group.findings) {
    if (!periods.empty()) periods += ", ";
    const std::string period = markdown_text(finding->period_end, kNameLimit);
    const auto number = figure_of(index, *finding);
    periods += number ? anchor_link(FigureIndex::anchor(*number), period) : period;
  }
  text += "- **" + markdown_text(finding_label(first.code), kNameLimit) + "** (" +
          severity_name(first.severity) + ", " +
          markdown_text(specialist_title(first.specialist), kNameLimit) +
          "): " + markdown_text(finding_condition(first.code), kReasonLimit) + " " + periods + "\n";
  for (const Finding* finding : group.findings) {
    if (finding->quote.empty()) continue;
    text += "  > " + markdown_text(finding->quote, kQuoteLimit);
    if (!finding->item.empty()) text += " (Item " + markdown_text(finding->item, kNameLimit) + ")";
    text += "\n\n";
  }
}

}  // namespace

void write_summary(std::string& text, const ReportContent& content) {
  const AnalysisDocument& document = content.index.document();
  text += "# " + markdown_text(report_title(document), kNameLimit) + "\n\n";
  text += "> " + std::string(kNoAdvice) + "\n\n";
  write_term(text, "As-of date", markdown_text(document.as_of, kNameLimit));
  write_term(text, "Ticker", markdown_text(document.ticker, kNameLimit));
  write_term(text, "CIK", company_markdown(document.cik));
  write_term(text, "Currency", markdown_text(document.currency, kNameLimit));
  if (!document.fiscal_years.empty()) {
    write_term(text, "Fiscal years",
               std::to_string(document.fiscal_years.size()) + ", ending " +
                   markdown_text(document.fiscal_years.front(), kNameLimit) + " to " +
                   markdown_text(document.fiscal_years.back(), kNameLimit));
  }
  write_term(text, "Peers", peers_markdown(document));
  write_term(text, "Specialists",
             std::to_string(delivered_specialists(document)) + " of " +
                 std::to_string(specialists().size()) + " delivered");
  write_term(text, "Analysis", markdown_text(document.analysis_id, kNameLimit));
  write_term(text, "Generated", markdown_text(document.generated_at, kNameLimit));
  write_failures(text, document);
  text += "\n";
}

void write_key_figures(std::string& text, const ReportContent& content) {
  const FigureIndex& index = content.index;
  const auto& years = index.document().fiscal_years;
  text += "## Key figures\n\nEach number is a link to its inputs.\n\n";
  std::vector<std::string> columns = {"Specialist", "Metric"};
  for (const std::string& year : years) columns.push_back(markdown_text(year, kNameLimit));
  append_table_head(text, columns, 2);
  for (const KeyMetric& key : key_metrics()) {
    const auto row = index.row(key.specialist, key.metric, years);
    if (!row) continue;
    std::vector<std::string> cells = {specialist_title(key.specialist),
                                      metric_markdown(row->metric, row->unit)};
    for (const auto& cell : row->cells) cells.push_back(figure_markdown(index, cell));
    append_table_row(text, cells);
  }
  text += "\n";
}

void write_findings(std::string& text, const ReportContent& content) {
  text += "## Red flags\n\n";
  if (content.red_flags.empty()) text += "No condition was met.\n";
  for (const FindingGroup& group : content.red_flags) write_group(text, content.index, group);
  text += "\n";
  if (content.observations.empty()) return;
  text += "## Other findings\n\n";
  for (const FindingGroup& group : content.observations) write_group(text, content.index, group);
  text += "\n";
}

void write_specialists(std::string& text, const ReportContent& content) {
  const AnalysisDocument& document = content.index.document();
  for (const std::string_view specialist : section_names(content.index)) {
    text += "## " + markdown_text(specialist_title(specialist), kNameLimit) + "\n\n";
    if (const ReportFailure* failure = failure_of(document, specialist)) {
      text += "This specialist failed: " + markdown_text(failure->reason, kReasonLimit) + "\n\n";
    }
    if (!has_content(document, specialist)) {
      text += "This specialist is not part of the analysis.\n\n";
    }
    if (specialist == "valuation") write_football_field(text, content);
    for (const MetricTable& table : tables_with_texts(content, specialist)) {
      write_subtask(text, content, specialist, table);
    }
  }
}

}  // namespace belay::research::report
