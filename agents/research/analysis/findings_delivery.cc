#include "agents/research/analysis/findings_delivery.h"

#include <algorithm>

#include "agents/research/analysis/results_json.h"
#include "agents/research/specialists/specialists.h"

namespace belay::research {
namespace {

constexpr std::size_t kDeliverablesPerRead = limits::bounded(8);

std::pair<std::size_t, std::size_t> position_of(const Deliverable& made) {
  return {specialist_position(made.specialist), subtask_position(made.specialist, made.subtask)};
}

// The 10-K whose text was read: "10k/AAPL-10-K-2024-11-01.txt".
std::optional<GraphFiling> text_filing(const Analysis& state) {
  constexpr std::size_t kDateSize = 10;
  const std::string begin = "/10k/" + state.request.ticker + "-10-K-";
  for (const auto& [path, digest] : state.facts.files) {
    std::size_t found = path.rfind(begin);
    if (found == std::string::npos) continue;
    return GraphFiling{"", "10-K", path.substr(found + begin.size(), kDateSize)};
  }
  return std::nullopt;
}

std::vector<GraphCompany> peers_of(const AnalysisFacts& facts) {
  std::vector<GraphCompany> peers;
  for (const auto& [ticker, cik] : facts.peerCiks) peers.push_back({cik, ticker});
  return peers;
}

std::string name_of_outcome(GraphOutcome outcome) {
  switch (outcome) {
    case GraphOutcome::off:
      return "";
    case GraphOutcome::delivered:
      return "delivered";
    case GraphOutcome::deferred:
      return "deferred";
    case GraphOutcome::failed:
      return "failed";
  }
  return "";
}

}  // namespace

Task<Result<std::vector<Deliverable>>> read_deliverables(Records& records, std::string analysis) {
  std::vector<Deliverable> all;
  RecordFilter filter;
  filter.collection = Deliverable::collection;
  filter.field = "analysis";
  filter.value = std::move(analysis);
  filter.limit = kDeliverablesPerRead;
  while (true) {
    RecordFilter page = filter;
    BELAY_CO_TRY(std::vector<RecordRow> rows, co_await records.find(std::move(page)));
    for (const RecordRow& row : rows) {
      BELAY_CO_TRY(Deliverable made, record_from<Deliverable>(row));
      all.push_back(std::move(made));
    }
    if (rows.size() < filter.limit) break;
    filter.after = rows.back().key;
  }
  std::sort(all.begin(), all.end(), [](const Deliverable& a, const Deliverable& b) {
    return position_of(a) < position_of(b);  // no two are equal
  });
  co_return std::move(all);
}

Result<GraphRows> graph_rows_of(const Analysis& state, const std::string& analysis,
                                const std::vector<Deliverable>& deliverables) {
  Results all;
  for (const Deliverable& made : deliverables) {
    BELAY_TRY(Results results, results_from(made.results));
    std::move(results.figures.begin(), results.figures.end(), std::back_inserter(all.figures));
    std::move(results.findings.begin(), results.findings.end(), std::back_inserter(all.findings));
  }
  GraphSubject subject;
  subject.analysis_id = analysis;
  subject.company = {state.facts.cik, state.request.ticker, state.facts.entity};
  subject.as_of = state.facts.asOf;
  subject.currency = state.facts.currency;
  subject.fiscal_years = state.facts.fiscalYears;
  subject.text = text_filing(state);
  subject.peers = peers_of(state.facts);
  return graph_rows(all, subject);
}

Task<Result<Update<Analysis>>> deliver_findings(std::shared_ptr<const ResearchParts> parts,
                                                const Analysis& state, Context& context) {
  if (parts->graph->name() == "none") co_return unchanged<Analysis>();
  std::string analysis = context.thread().text;
  BELAY_CO_TRY(std::vector<Deliverable> deliverables,
               co_await read_deliverables(context.records(), analysis));
  BELAY_CO_TRY(GraphRows rows, graph_rows_of(state, analysis, deliverables));
  GraphDelivery delivery = co_await parts->graph->deliver(std::move(rows), context);
  GraphReceipt receipt;
  receipt.sink = delivery.sink;
  receipt.outcome = name_of_outcome(delivery.outcome);
  receipt.place = delivery.place;
  receipt.batches = delivery.batches;
  receipt.delivered = delivery.delivered;
  receipt.message = delivery.message;
  co_return set(&Analysis::graph, std::move(receipt));
}

}  // namespace belay::research
