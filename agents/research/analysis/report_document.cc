#include "agents/research/analysis/report_document.h"

#include <set>

#include "agents/research/analysis/coordinator.h"
#include "agents/research/analysis/request_options.h"
#include "agents/research/finance/constants.h"

namespace belay::research {
namespace {

std::vector<ReportConstant> constants_in(const Analysis& state) {
  Constants constants;
  for (const auto& [name, value] : state.request.constants) constants.set(name, value);
  std::vector<ReportConstant> all;
  for (const std::string& name : Constants::names()) {
    bool is_overridden = state.request.constants.contains(name);
    all.push_back({name, constants.value(name).value_or(0), is_overridden});
  }
  return all;
}

// The filings of the company. Those of peers are left out: inputs do not name their filer.
std::vector<ReportSource> filings_in(const Results& results) {
  std::set<std::string> accessions;
  std::vector<ReportSource> sources;
  for (const Figure& figure : results.figures) {
    if (figure.subtask == "peer_comparison") continue;
    for (const auto& input : figure.quantity.inputs().all()) {
      if (input->accn.empty() || !accessions.insert(input->accn).second) continue;
      sources.push_back({input->accn, input->form, input->filed});
    }
  }
  return sources;
}

std::vector<ReportFailure> failures_in(const Analysis& state) {
  std::vector<ReportFailure> failures;
  for (const auto& [name, progress] : state.specialists) {
    if (!progress.failure.empty()) failures.push_back({name, progress.failure});
    if (!progress.waitsFor.empty()) failures.push_back({name, "waits for " + progress.waitsFor});
  }
  return failures;
}

std::vector<ReportQuote> quotes_in(const Value& stored) {
  std::vector<ReportQuote> quotes;
  const Value::Array* all = stored.as_array();
  if (!all) return quotes;
  for (const Value& each : *all) {
    const std::string* item = each["item"].as_string();
    const std::string* text = each["text"].as_string();
    std::optional<std::int64_t> offset = each["offset"].as_int();
    if (!item || !text || !offset || *offset < 0) continue;
    quotes.push_back({*item, static_cast<std::uint64_t>(*offset), *text});
  }
  return quotes;
}

// Returns whether the facts are those of the bundled data, which have only a part of the tags.
bool is_bundled(const AnalysisFacts& facts) {
  for (const char* place : kBundledPlaces) {
    std::string end_of_path = std::string(place) + "/edgar/CIK" + facts.cik + ".json";
    for (const auto& [path, digest] : facts.files) {
      if (path.ends_with(end_of_path)) return true;
    }
  }
  return false;
}

}  // namespace

AnalysisDocument report_document(const AnalysisView& view, Instant now) {
  const Analysis& state = view.state;
  AnalysisDocument document;
  document.analysis_id = view.run.row.thread.text;
  document.ticker = state.request.ticker;
  document.entity_name = state.facts.entity;
  document.cik = state.facts.cik;
  document.as_of = state.facts.asOf;
  document.currency = state.facts.currency;
  document.fiscal_years = state.facts.fiscalYears;
  document.peers = state.request.peers;
  document.constants = constants_in(state);
  document.results = view.results;
  for (const Deliverable& made : view.deliverables) {
    if (made.prose.empty()) continue;
    bool is_extract = made.proseBy == "extract";
    ReportText text{made.specialist, made.subtask, made.prose, is_extract};
    if (!is_extract) {
      text.model = made.proseBy;
      text.quotes = quotes_in(made.quotes);
    }
    document.texts.push_back(std::move(text));
  }
  document.generated_at = to_text(now);
  document.failures = failures_in(state);
  document.sources = filings_in(view.results);
  document.reduced_facts = is_bundled(state.facts);
  return document;
}

}  // namespace belay::research
