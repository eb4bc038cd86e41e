#include "agents/research/analysis/findings_delivery.h"

#include "agents/research/analysis/deliverables.h"

namespace belay::research {
namespace {

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

Result<GraphRows> graph_rows_of(const Analysis& state, const std::string& analysis,
                                const std::vector<Deliverable>& deliverables) {
  BELAY_TRY(Results all, results_of(deliverables));
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
