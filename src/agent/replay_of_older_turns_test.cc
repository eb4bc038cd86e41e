// Tests replays of agents whose turns an older program recorded without ids of their messages.

#include <gtest/gtest.h>

#include "belay/agent.h"
#include "tests/support/event_fixture.h"

namespace belay {
namespace {

struct OlderTurn {
  std::string question{};
  bool is_note = false;
  std::string text{};
  std::vector<AgentCall> calls{};
};
struct OlderTalk {
  std::vector<OlderTurn> turns{};
};
struct Talk {
  std::vector<AgentTurn> turns{};
};

// The same graph in both programs: a reply within a subgraph, then one of the graph itself.
template <typename State>
using TurnOf = typename decltype(State::turns)::value_type;

template <typename State>
Graph<State> talk_graph(std::function<void(Context&, TurnOf<State>&)> fill) {
  auto say = [fill](const State&, Context& context) {
    TurnOf<State> turn;
    turn.text = "Hello.";
    fill(context, turn);
    return append(&State::turns, std::move(turn));
  };
  GraphBuilder<State> inner{"inner"};
  inner.node("say", say);
  inner.edge(start, "say").edge("say", end);
  GraphBuilder<State> graph{"talk"};
  graph.node("say", say);
  graph.node("again", say);
  graph.subgraph(
      "inside", std::move(inner).build().value(), [](const State& state) { return state; },
      [](const State&) { return unchanged<State>(); });
  graph.edge(start, "say").edge("say", "again").edge("again", "inside").edge("inside", end);
  return std::move(graph).build().value();
}

struct OlderTurns : Events {
  std::string first_difference(Runtime& runtime) {
    ReplayOptions wanted;
    wanted.thread = ThreadId("t");
    auto report = block_on(loop, runtime.replay(wanted)).value();
    if (!report.divergence) return "";
    return report.divergence->what + ": " + report.divergence->recorded + " / " +
           report.divergence->replayed;
  }
};

TEST_F(OlderTurns, AreReplayedWithoutADifference) {
  auto older = talk_graph<OlderTalk>([](Context&, OlderTurn&) {});
  auto now = talk_graph<Talk>(
      [](Context& context, AgentTurn& turn) { turn.message_id = streamed_message_id(context); });
  ASSERT_EQ(older.definition()->hash, now.definition()->hash);
  auto recorder = process();
  recorder->add(older);
  auto view = block_on(loop, recorder->start(older, OlderTalk{}, on_thread())).value();
  ASSERT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  auto replayer = process();
  replayer->add(now);
  EXPECT_EQ(first_difference(*replayer), "");
}

TEST_F(OlderTurns, OfAnotherTextAreADifference) {
  auto older = talk_graph<OlderTalk>([](Context&, OlderTurn&) {});
  auto changed = talk_graph<Talk>([](Context& context, AgentTurn& turn) {
    turn.message_id = streamed_message_id(context);
    turn.text = "Goodbye.";
  });
  auto recorder = process();
  recorder->add(older);
  (void)block_on(loop, recorder->start(older, OlderTalk{}, on_thread())).value();
  auto replayer = process();
  replayer->add(changed);
  EXPECT_NE(first_difference(*replayer), "");
}

TEST_F(OlderTurns, OfThisProgramHaveTheSameIdsAgain) {
  auto other_id = std::make_shared<bool>(false);
  auto graph = talk_graph<Talk>([other_id](Context& context, AgentTurn& turn) {
    turn.message_id = *other_id ? "other" : streamed_message_id(context);
  });
  auto runtime = process();
  runtime->add(graph);
  (void)block_on(loop, runtime->start(graph, Talk{}, on_thread())).value();
  EXPECT_EQ(first_difference(*runtime), "");
  *other_id = true;
  EXPECT_NE(first_difference(*runtime), "");
}

}  // namespace
}  // namespace belay
