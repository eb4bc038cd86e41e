#include <algorithm>

#include "agents/research/report/escaped_text.h"
#include "agents/research/report/html_sections.h"
#include "agents/research/report/metric_labels.h"
#include "agents/research/report/readable_number.h"
#include "agents/research/report/report_limits.h"
#include "agents/research/specialists/specialists.h"

namespace belay::research::report {
namespace {

std::string constant_value(const ReportConstant& constant) {
  const std::string_view unit = constant_unit(constant.name);
  const bool is_percentage_value = unit == "ratio";
  std::string text = readable_number(constant.value, unit, is_percentage_value);
  if (unit == "days" || unit == "months") text += " " + std::string(unit);
  return "<span title=\"" + exact_number(constant.value) + "\">" + text + "</span>";
}

std::string code_html(std::string_view text) {
  return "<code>" + html_text(text, kNameLimit) + "</code>";
}

void append_constants(std::string& html, const AnalysisDocument& document) {
  if (document.constants.empty()) return;
  html += open_table("list", "Declared constants", {"Constant", "Meaning", "Value", "Set by"}) +
          "<tbody>\n";
  for (std::size_t i = 0; i < std::min(document.constants.size(), kListLimit); ++i) {
    const ReportConstant& constant = document.constants[i];
    html += "<tr id=\"k" + std::to_string(i) + "\"><th scope=\"row\">" + code_html(constant.name) +
            "</th><td class=\"text\">" + html_text(constant_meaning(constant.name), kReasonLimit) +
            "</td><td>" + constant_value(constant) + "</td><td class=\"text\">" +
            (constant.overridden ? "<strong>overridden</strong>" : "default") + "</td></tr>\n";
  }
  html += "</tbody>\n" + close_table();
}

// The metrics in which an item was taken as zero: links to their last periods.
std::string zero_links(const FigureIndex& index, const ZeroItem& zero) {
  std::string html;
  for (const auto& figures : zero.metrics) {
    if (!html.empty()) html += ", ";
    const std::string label = metric_label(index.figure(figures.back()).metric);
    html += figure_link(index, figures.back(), html_text(label, kNameLimit));
    if (figures.size() > 1) html += " (" + std::to_string(figures.size()) + " periods)";
  }
  return html + zero_count(zero);
}

// Findings about defaults that took the place of a measurement.
void append_defaults(std::string& html, const ReportContent& content) {
  std::string items;
  for (std::size_t i = 0; i < content.observations.size(); ++i) {
    const Finding& finding = *content.observations[i].findings.front();
    const bool is_default =
        finding.code == "beta_is_default" || finding.code == "cost_of_debt_is_default" ||
        finding.code == "weights_are_target" || finding.code == "tax_rate_is_statutory";
    if (!is_default) continue;
    items += "<li><a href=\"#n" + std::to_string(content.red_flags.size() + i) + "\">" +
             html_text(finding_label(finding.code), kNameLimit) +
             "</a>: " + html_text(finding_condition(finding.code), kReasonLimit) + "</li>\n";
  }
  html += "<h3>Defaults instead of measurements</h3>\n";
  html += items.empty() ? "<p>None.</p>\n" : "<ul>\n" + items + "</ul>\n";
}

void append_zero_items(std::string& html, const ReportContent& content) {
  html += "<h3>Items taken as zero</h3>\n";
  if (content.provenance.zero_items.empty()) {
    html += "<p>None.</p>\n";
    return;
  }
  html += open_table("list", "Items that the filer never reports, or that a total may lack",
                     {"Item", "Taken as zero in"}) +
          "<tbody>\n";
  for (const ZeroItem& zero : content.provenance.zero_items) {
    html += "<tr><th scope=\"row\">" + code_html(zero.item) + "</th><td class=\"text\">" +
            zero_links(content.index, zero) + "</td></tr>\n";
  }
  html += "</tbody>\n" + close_table();
}

std::string accession_html(const Input& input, const Provenance& provenance) {
  if (input.accn.empty()) return {};
  const std::string accn = html_text(input.accn, kNameLimit);
  const auto url = provenance.urls.find(input.accn);
  if (url == provenance.urls.end() || url->second.empty()) return ", " + accn;
  return ", <a href=\"" + url->second + "\">" + accn + "</a>";
}

std::string input_html(const ReportContent& content, const Input& input) {
  std::string html = "<li>";
  const std::string_view constant = constant_of(input);
  const auto position = constant_position(content.index.document(), constant);
  if (!constant.empty() && position) {
    html += "<a href=\"#k" + std::to_string(*position) + "\">" +
            html_text(input.concept_name, kNameLimit) + "</a>";
  } else {
    html += "<b>" + html_text(input.concept_name, kNameLimit) + "</b>";
  }
  const std::string period = period_of(input);
  if (!period.empty()) html += " " + html_text(period, kNameLimit);
  html += ": " + grouped_number(input.value);
  const std::string filing = filing_of(input);
  if (!filing.empty()) html += ", " + html_text(filing, kNameLimit);
  return html + accession_html(input, content.provenance) + "</li>\n";
}

std::string figure_entry(const FigureIndex& index, FigureNumber number) {
  const Figure& figure = index.figure(number);
  return "<p id=\"" + FigureIndex::anchor(number) + "\">" +
         html_text(metric_label(figure.metric), kNameLimit) + " " +
         code_html(figure.specialist + "." + figure.metric) + " " +
         html_text(figure.period_end, kNameLimit) + ": <b>" +
         grouped_number(figure.quantity.value()) + "</b> " + html_text(figure.unit, kNameLimit) +
         "</p>\n";
}

void append_set(std::string& html, const ReportContent& content, const InputSet& set) {
  html += "<div class=\"set\">\n";
  for (const FigureNumber number : set.figures) html += figure_entry(content.index, number);
  if (set.inputs.empty() && set.inputs_left_out == 0) {
    html += "<p class=\"none\">Counted from other figures of this report.</p>\n";
  } else {
    html += "<ul>\n";
    for (const auto& input : set.inputs) html += input_html(content, *input);
    if (set.inputs_left_out > 0) {
      html += "<li>and " + std::to_string(set.inputs_left_out) + " further inputs</li>\n";
    }
    html += "</ul>\n";
  }
  if (!set.assumed_zero.empty()) {
    html += "<p>Taken as zero:";
    for (const std::string& item : set.assumed_zero) html += " " + code_html(item);
    html += "</p>\n";
  }
  html += "</div>\n";
}

void append_convergence(std::string& html, const ReportContent& content) {
  const auto& convergence = content.football_field.convergence;
  if (!convergence) return;
  html += "<div class=\"set\">\n<p id=\"" + std::string(ConvergenceValue::kAnchor) +
          "\">Value per share if returns converge to the cost of capital, computed for the chart: "
          "<b>" +
          exact_number(convergence->value) + "</b> " +
          html_text(readable_unit(content.football_field.unit), kNameLimit) + "</p>\n<p>" +
          std::string(ConvergenceValue::kFormula) + ", of</p>\n<ul>\n";
  for (const FigureNumber number : convergence->operands) {
    html += "<li>" +
            figure_link(content.index, number,
                        html_text(content.index.figure(number).metric, kNameLimit)) +
            "</li>\n";
  }
  html += "</ul>\n</div>\n";
}

}  // namespace

void append_unavailable(std::string& html, const ReportContent& content) {
  html += "<section id=\"not-available\">\n<h2>Figures that are not available</h2>\n";
  if (content.provenance.unavailable.empty()) {
    html += "<p>None.</p>\n</section>\n";
    return;
  }
  html +=
      "<p>No value is made up instead of a missing one. The reason is that of the first "
      "operand that fails.</p>\n";
  html += open_table("list", "Figures without a value, with the reason",
                     {"Metric", "Specialist", "Reason", "Periods"}) +
          "<tbody>\n";
  for (const UnavailableMetric& row : content.provenance.unavailable) {
    const Figure& first = content.index.figure(row.figures.front());
    html += "<tr>" + metric_head(first.metric, {}) + "<td class=\"text\">" +
            html_text(specialist_title(first.specialist), kNameLimit) + "</td><td class=\"text\">" +
            html_text(row.reason, kReasonLimit) + "</td><td class=\"text periods\">";
    for (const FigureNumber number : row.figures) {
      html += "<span id=\"" + FigureIndex::anchor(number) + "\">" +
              html_text(content.index.figure(number).period_end, kNameLimit) + "</span> ";
    }
    html += "</td></tr>\n";
  }
  html += "</tbody>\n" + close_table() + "</section>\n";
}

void append_assumptions(std::string& html, const ReportContent& content) {
  html += "<section id=\"assumptions\">\n<h2>Declared assumptions</h2>\n";
  html += "<p>These are assumptions, not measurements.</p>\n";
  append_constants(html, content.index.document());
  append_defaults(html, content);
  append_zero_items(html, content);
  html += "</section>\n";
}

void append_notes(std::string& html, const ReportContent& content) {
  html += "<section id=\"notes\">\n<h2>Notes for the reader</h2>\n<ul>\n";
  for (const std::string& note : report_notes(content.index)) {
    html += "<li>" + html_text(note, kQuoteLimit) + "</li>\n";
  }
  html += "<li>" + std::string(kNoAdvice) + "</li>\n</ul>\n</section>\n";
}

void append_sources(std::string& html, const ReportContent& content) {
  const Provenance& provenance = content.provenance;
  html += "<section id=\"sources\">\n<h2>Sources</h2>\n";
  html += open_table("list", "Filings, the newest first", {"Form", "Filed", "Accession number"}) +
          "<tbody>\n";
  for (const FilingRow& row : provenance.filings) {
    const std::string accn = html_text(row.accn, kNameLimit);
    html +=
        "<tr><td class=\"text\">" + html_text(row.form, kNameLimit) + "</td><td class=\"text\">" +
        html_text(row.filed, kNameLimit) + "</td><th scope=\"row\">" +
        (row.url.empty() ? accn : "<a href=\"" + row.url + "\">" + accn + "</a>") + "</th></tr>\n";
  }
  html += "</tbody>\n" + close_table();
  if (provenance.filings_left_out > 0) {
    html += "<p>and " + std::to_string(provenance.filings_left_out) + " further filings</p>\n";
  }
  if (!provenance.series.empty()) {
    html += open_table("list", "Market data", {"Series", "From", "To"}) + "<tbody>\n";
    for (const SeriesRow& row : provenance.series) {
      html += "<tr><th scope=\"row\">" + code_html(row.name) + "</th><td class=\"text\">" +
              html_text(row.first, kNameLimit) + "</td><td class=\"text\">" +
              html_text(row.last, kNameLimit) + "</td></tr>\n";
    }
    html += "</tbody>\n" + close_table();
  }
  html += "</section>\n";
}

void append_provenance(std::string& html, const ReportContent& content) {
  html += "<section id=\"provenance\">\n<h2>Inputs of every figure</h2>\n";
  html +=
      "<p class=\"print-note\">The inputs of every figure are in the electronic form of this "
      "report.</p>\n<p class=\"screen-note\">Figures with the same inputs are grouped. "
      "Each input is shown as filed: concept, period, value, form, date, and accession "
      "number.</p>\n";
  append_convergence(html, content);
  for (const InputSet& set : content.provenance.input_sets) append_set(html, content, set);
  html += "</section>\n";
}

}  // namespace belay::research::report
