// A run's input as users type it, for a typed and a JSON graph: an accepted input fits the state.

#include "cli/run_input.h"

#include "belay/json_graph.h"
#include "tests/fuzz/target.h"

namespace belay::fuzz {

struct Trip {
  std::string name{};
  std::int64_t days = 0;
  std::vector<std::string> places{};
  std::optional<double> cost{};
  Value anything{};
};

namespace {

std::shared_ptr<const GraphDefinition> typed() {
  GraphBuilder<Trip> graph{"trip"};
  graph.node("go", [](const Trip&, Context&) { return unchanged<Trip>(); });
  graph.edge(start, "go").edge("go", end);
  return std::move(graph).build().value().definition();
}

void check(const GraphDefinition& graph, const std::vector<std::string>& pieces) {
  auto input = cli::read_run_input(graph, pieces);
  if (!input.ok()) {
    require_sound(input.error());
    require(input.error().code == ErrorCode::invalid, "an input that does not fit is invalid");
    return;
  }
  require(state_from(*graph.state, *input).ok(), "what is taken fits the state");
}

}  // namespace
}  // namespace belay::fuzz

BELAY_FUZZ_TARGET(RunInput, "run_input") {
  using namespace belay;
  static const auto graph = fuzz::typed();
  std::vector<std::string> pieces;
  for (std::string_view rest = input; !rest.empty() && pieces.size() < 20;) {
    std::string piece(fuzz::take_line(rest));
    // The command line reads files, not this function.
    if (piece == "-" || piece.starts_with('@')) return;
    pieces.push_back(std::move(piece));
  }
  fuzz::check(*graph, pieces);
}
