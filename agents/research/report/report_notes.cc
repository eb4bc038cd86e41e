#include "agents/research/report/report_notes.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "agents/research/report/report_limits.h"
#include "agents/research/specialists/specialists.h"

namespace belay::research::report {
namespace {

struct Gap {
  std::string_view cik;  // without leading zeros
  std::string_view text;
};

// Tags that the bundled files lack.
constexpr Gap kGaps[] = {
    {"320193", "retained earnings (hence no Altman score)"},
    {"1045810",
     "retained earnings (hence no Altman score), and marketable securities after October 2025 "
     "(hence no equity value)"},
    {"789019", "tax, dividends and payables"},
    {"18230", "current maturities of long-term debt (total debt is too low) and interest"},
    {"1318605",
     "the convertible notes of 2013 (total debt is 0) and operating cash flow of 2014 and 2015"},
    {"1652044", "property, plant and equipment after 2024"},
};

void add_reduced_facts(const AnalysisDocument& document, std::vector<std::string>& notes) {
  if (!document.reduced_facts) return;
  std::string note =
      "The facts come from the file that is bundled with Belay. It is reduced: it lacks tags that "
      "the company's full file has";
  std::string_view cik = document.cik;
  cik.remove_prefix(std::min(cik.find_first_not_of('0'), cik.size()));
  for (const Gap& gap : kGaps) {
    if (gap.cik == cik) note += ", among them " + std::string(gap.text);
  }
  notes.push_back(note + ". Gaps are named as not available and never filled.");
}

// Statements about a metric, when the document has a value of it.
struct MetricNote {
  std::string_view specialist;
  std::string_view metric;
  std::string_view text;
};
constexpr MetricNote kMetricNotes[] = {
    {"valuation", "equity_for_weights",
     "The public float leaves out insiders' shares and is dated half a year before the year end. "
     "The weight of debt is too high where insiders own much."},
    {"credit", "altman_x4_market",
     "Altman's X4 uses the public float: it is too low where insiders own much."},
    {"valuation", "equity_value",
     "Non-current securities are not added to the equity value, which is too low for firms that "
     "keep their funds there."},
    {"financial", "roic",
     "Securities stay in invested capital. The return on invested capital is too low, and the "
     "model's reinvestment too high, for firms rich in securities."},
    {"valuation", "model_tax_rate",
     "A negative effective tax rate becomes the least tax rate of the model for the whole "
     "projection."},
    {"valuation", "value_per_share",
     "Values per share are results of a model under the declared assumptions. The report has no "
     "current price: adjusted prices are not market prices."},
    {"strategy", "tsr_excess_5y",
     "Total returns of the company use month ends, those of the index monthly averages: they are "
     "half a month apart."},
    {"industry_macro", "beta_raw",
     "The index is a monthly average of daily closes; the slope is corrected by the declared "
     "factor (Working 1960)."},
    {"strategy", "capital_allocation_score",
     "The scale of the capital allocation score is this project's own."},
    {"competitive_position", "moat_score", "The scale of the moat score is this project's own."},
    {"filing_sentiment", "net_tone",
     "The word lists are this project's own, in the spirit of Loughran and McDonald (2011). A word "
     "may be in several lists."},
};

}  // namespace

std::vector<std::string> report_notes(const FigureIndex& index) {
  const AnalysisDocument& document = index.document();
  std::vector<std::string> notes = {
      "Numbers are computed from filed facts and market data; no number is asked of a model. "
      "Formulas and rules are those of docs/research.md.",
      "Only facts that were filed on or before the as-of date are used. Of several filings of a "
      "fact, the latest one counts. Share figures are adjusted to the splits known at that date.",
      "All constants are declared assumptions, not measurements."};
  add_reduced_facts(document, notes);
  for (const MetricNote& note : kMetricNotes) {
    if (index.latest_value(note.specialist, note.metric)) notes.emplace_back(note.text);
  }
  const auto& findings = document.results.findings;
  if (std::any_of(findings.begin(), findings.end(),
                  [](const Finding& finding) { return finding.code == "value_from_proxy"; })) {
    notes.emplace_back(
        "Some items of some years are only in proxy statements, which round: see the findings.");
  }
  if (!document.currency.empty() && document.currency != "USD") {
    notes.emplace_back(
        "The statements are not in US dollars. A rate in US dollars does not discount another "
        "currency: the valuation and growth after inflation are therefore not available.");
  }
  notes.emplace_back(
      "The facts have no segments, customers or market shares: the competitive position is "
      "measured by its results.");
  if (index.figures_left_out() > 0) {
    notes.push_back(std::to_string(index.figures_left_out()) +
                    " further figures are not in this report; `belay research show` has them.");
  }
  return notes;
}

std::vector<FindingGroup> finding_groups(const AnalysisDocument& document, Severity least,
                                         Severity greatest) {
  using Key = std::tuple<int, std::size_t, std::string_view, std::size_t, std::string_view,
                         std::string_view>;
  std::map<Key, FindingGroup> groups;
  std::size_t count = 0;
  for (const Finding& finding : document.results.findings) {
    if (finding.severity < least || finding.severity > greatest) continue;
    if (++count > kFindingLimit) break;
    const Key key{-static_cast<int>(finding.severity),
                  specialist_position(finding.specialist),
                  finding.specialist,
                  subtask_position(finding.specialist, finding.subtask),
                  finding.subtask,
                  finding.code};
    groups[key].findings.push_back(&finding);
  }
  std::vector<FindingGroup> sorted;
  for (auto& [key, group] : groups) {
    std::sort(group.findings.begin(), group.findings.end(), [](const Finding* a, const Finding* b) {
      return std::tie(b->period_end, a->offset, a->quote) <
             std::tie(a->period_end, b->offset, b->quote);
    });
    sorted.push_back(std::move(group));
  }
  return sorted;
}

std::size_t delivered_specialists(const AnalysisDocument& document) {
  std::set<std::string_view> names;
  for (const Figure& figure : document.results.figures) names.insert(figure.specialist);
  for (const Finding& finding : document.results.findings) names.insert(finding.specialist);
  for (const ReportText& text : document.texts) names.insert(text.specialist);
  for (const ReportFailure& failure : document.failures) names.erase(failure.specialist);
  return names.size();
}

std::optional<FigureNumber> figure_of(const FigureIndex& index, const Finding& finding) {
  if (!finding.metric.empty()) {
    return index.find(finding.specialist, finding.metric, finding.period_end);
  }
  const auto flag = index.find(finding.specialist, "flag_" + finding.code, finding.period_end);
  if (flag) return flag;
  return index.find(finding.specialist, finding.code, finding.period_end);
}

}  // namespace belay::research::report
