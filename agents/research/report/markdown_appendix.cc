#include <algorithm>

#include "agents/research/report/escaped_text.h"
#include "agents/research/report/markdown_sections.h"
#include "agents/research/report/metric_labels.h"
#include "agents/research/report/readable_number.h"
#include "agents/research/report/report_limits.h"
#include "agents/research/specialists/specialists.h"

namespace belay::research::report {
namespace {

std::string filing_markdown(std::string_view accn, std::string_view url) {
  std::string text = markdown_text(accn, kNameLimit);
  if (url.empty()) return text;
  return "[" + text + "](" + std::string(url) + ")";
}

std::string input_markdown(const ReportContent& content, const Input& input) {
  std::string text;
  const std::string_view constant = constant_of(input);
  const auto position = constant_position(content.index.document(), constant);
  const std::string name = markdown_text(input.concept_name, kNameLimit);
  text += !constant.empty() && position ? anchor_link("k" + std::to_string(*position), name) : name;
  const std::string period = period_of(input);
  if (!period.empty()) text += " " + markdown_text(period, kNameLimit);
  text += ": " + grouped_number(input.value);
  const std::string filing = filing_of(input);
  if (!filing.empty()) text += ", " + markdown_text(filing, kNameLimit);
  if (input.accn.empty()) return text;
  const auto url = content.provenance.urls.find(input.accn);
  const bool is_known = url != content.provenance.urls.end();
  return text + ", " + filing_markdown(input.accn, is_known ? url->second : std::string_view());
}

void write_set(std::string& text, const ReportContent& content, const InputSet& set) {
  for (const FigureNumber number : set.figures) {
    const Figure& figure = content.index.figure(number);
    text += anchor_markdown(FigureIndex::anchor(number)) +
            markdown_code(figure.specialist + "." + figure.metric, kNameLimit) + " " +
            markdown_text(figure.period_end, kNameLimit) + ": **" +
            exact_number(figure.quantity.value()) + "** " + markdown_text(figure.unit, kNameLimit) +
            "  \n";
  }
  if (set.inputs.empty() && set.inputs_left_out == 0) {
    text += "Counted from other figures of this report.\n";
  }
  text += "\n";
  for (const auto& input : set.inputs) text += "- " + input_markdown(content, *input) + "\n";
  if (set.inputs_left_out > 0) {
    text += "- and " + std::to_string(set.inputs_left_out) + " further inputs\n";
  }
  if (!set.assumed_zero.empty()) {
    text += "- taken as zero:";
    for (const std::string& item : set.assumed_zero) text += " " + markdown_code(item, kNameLimit);
    text += "\n";
  }
  text += "\n";
}

void write_convergence(std::string& text, const ReportContent& content) {
  const auto& convergence = content.football_field.convergence;
  if (!convergence) return;
  text += anchor_markdown(ConvergenceValue::kAnchor) +
          "Value per share if returns converge to the cost of capital, computed for the table of "
          "ranges: **" +
          exact_number(convergence->value) + "** " +
          markdown_text(readable_unit(content.football_field.unit), kNameLimit) + ", which is " +
          markdown_text(ConvergenceValue::kFormula, kReasonLimit) + ", of\n\n";
  for (const FigureNumber number : convergence->operands) {
    text += "- " +
            anchor_link(FigureIndex::anchor(number),
                        markdown_text(content.index.figure(number).metric, kNameLimit)) +
            "\n";
  }
  text += "\n";
}

void write_constants(std::string& text, const AnalysisDocument& document) {
  if (document.constants.empty()) return;
  append_table_head(text, {"Constant", "Meaning", "Set by", "Value"}, 3);
  for (std::size_t i = 0; i < std::min(document.constants.size(), kListLimit); ++i) {
    const ReportConstant& constant = document.constants[i];
    append_table_row(
        text, {anchor_markdown("k" + std::to_string(i)) + markdown_code(constant.name, kNameLimit),
               markdown_text(constant_meaning(constant.name), kReasonLimit),
               constant.overridden ? "**overridden**" : "default", exact_number(constant.value)});
  }
  text += "\n";
}

// The metrics in which an item was taken as zero: links to their last periods.
std::string zero_markdown(const FigureIndex& index, const ZeroItem& zero) {
  std::string text;
  for (const auto& figures : zero.metrics) {
    if (!text.empty()) text += ", ";
    const std::string label = metric_label(index.figure(figures.back()).metric);
    text += anchor_link(FigureIndex::anchor(figures.back()), markdown_text(label, kNameLimit));
    if (figures.size() > 1) text += " (" + std::to_string(figures.size()) + " periods)";
  }
  return text + zero_count(zero);
}

}  // namespace

void write_unavailable(std::string& text, const ReportContent& content) {
  text += "## Figures that are not available\n\n";
  if (content.provenance.unavailable.empty()) {
    text += "None.\n\n";
    return;
  }
  append_table_head(text, {"Metric", "Specialist", "Reason", "Periods"}, 4);
  for (const UnavailableMetric& row : content.provenance.unavailable) {
    const Figure& first = content.index.figure(row.figures.front());
    std::string periods;
    for (const FigureNumber number : row.figures) {
      if (!periods.empty()) periods += " ";
      periods += anchor_markdown(FigureIndex::anchor(number)) +
                 markdown_text(content.index.figure(number).period_end, kNameLimit);
    }
    append_table_row(text, {markdown_code(first.metric, kNameLimit),
                            markdown_text(specialist_title(first.specialist), kNameLimit),
                            markdown_text(row.reason, kReasonLimit), periods});
  }
  text += "\n";
}

void write_assumptions(std::string& text, const ReportContent& content) {
  text +=
      "## Declared assumptions\n\nThese are assumptions, not measurements. Defaults instead of "
      "measurements are among the findings.\n\n";
  write_constants(text, content.index.document());
  text += "### Items taken as zero\n\n";
  if (content.provenance.zero_items.empty()) {
    text += "None.\n\n";
    return;
  }
  append_table_head(text, {"Item", "Taken as zero in"}, 2);
  for (const ZeroItem& zero : content.provenance.zero_items) {
    append_table_row(text,
                     {markdown_code(zero.item, kNameLimit), zero_markdown(content.index, zero)});
  }
  text += "\n";
}

void write_notes(std::string& text, const ReportContent& content) {
  text += "## Notes for the reader\n\n";
  for (const std::string& note : report_notes(content.index)) {
    text += "- " + markdown_text(note, kQuoteLimit) + "\n";
  }
  text += "- " + std::string(kNoAdvice) + "\n\n";
}

void write_sources(std::string& text, const ReportContent& content) {
  const Provenance& provenance = content.provenance;
  text += "## Sources\n\n";
  append_table_head(text, {"Form", "Filed", "Accession number"}, 3);
  for (const FilingRow& row : provenance.filings) {
    append_table_row(text,
                     {markdown_text(row.form, kNameLimit), markdown_text(row.filed, kNameLimit),
                      filing_markdown(row.accn, row.url)});
  }
  text += "\n";
  if (provenance.filings_left_out > 0) {
    text += "and " + std::to_string(provenance.filings_left_out) + " further filings\n\n";
  }
  if (provenance.series.empty()) return;
  append_table_head(text, {"Market data", "From", "To"}, 3);
  for (const SeriesRow& row : provenance.series) {
    append_table_row(text,
                     {markdown_code(row.name, kNameLimit), markdown_text(row.first, kNameLimit),
                      markdown_text(row.last, kNameLimit)});
  }
  text += "\n";
}

void write_provenance(std::string& text, const ReportContent& content) {
  text += "## Inputs of every figure\n\n";
  write_convergence(text, content);
  for (const InputSet& set : content.provenance.input_sets) write_set(text, content, set);
}

}  // namespace belay::research::report
