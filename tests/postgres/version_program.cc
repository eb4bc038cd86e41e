// A program with several versions, as in a rolling update: PROGRAM_KNOWS selects the versions of
// its graph in this process.
//
//     1         the old one           2         the new one
//     1,2       both                  1>2       the new one, with an upgrade from the old one
//     any>2     the new one, which accepts all older ones

#include <belay/belay.hpp>
#include <cstdlib>

namespace {

using namespace belay;
using namespace std::chrono_literals;

struct Old {
  std::vector<std::string> stops{};
};
struct New {
  std::vector<std::string> stops{};
  std::string checked_by{};
};

template <typename State>
auto stop(std::string name) {
  return [name](const State&, Context&) -> Task<Update<State>> {
    co_await sleep_for(20ms);
    co_return append(&State::stops, name);
  };
}

template <typename State>
auto arrive(std::string outcome) {
  return [outcome](const State&, Context& context) -> Task<Update<State>> {
    co_await sleep_for(20ms);
    context.outcome(outcome);
    co_return append(&State::stops, std::string("arrived"));
  };
}

Result<Graph<Old>> old_trip() {
  GraphBuilder<Old> graph{"trip"};
  graph.node("leave", stop<Old>("left"));
  graph.node("arrive", arrive<Old>("by the old way"));
  graph.edge(start, "leave").edge("leave", "arrive").edge("arrive", end);
  return std::move(graph).build();
}

Result<Graph<New>> new_trip(std::string_view knows) {
  GraphBuilder<New> graph{"trip"};
  graph.node("leave", stop<New>("left"));
  graph.node("check", stop<New>("checked"));
  graph.node("arrive", arrive<New>("by the new way"));
  graph.edge(start, "leave").edge("leave", "check").edge("check", "arrive").edge("arrive", end);
  if (knows == "any>2") graph.accept_older_versions();
  if (knows == "1>2") {
    auto old = old_trip();
    if (!old.ok()) return old.error();
    graph.upgrade_from(to_hex(old->definition()->hash), [](Value state) -> Result<Value> {
      state.as_object()->insert_or_assign("checked_by", "the upgrade");
      return state;
    });
  }
  return std::move(graph).build();
}

}  // namespace

int main(int argc, char** argv) {
  const char* variable = std::getenv("PROGRAM_KNOWS");
  std::string_view knows = variable ? variable : "2";
  MainOptions options;
  options.name = "trip";
  if (knows == "1") return belay::main(argc, argv, options, old_trip());
  if (knows == "1,2") return belay::main(argc, argv, options, old_trip(), new_trip(knows));
  return belay::main(argc, argv, options, new_trip(knows));
}
