// Checkpoints that the nodes of a run save and remove: in the commit of the node, exactly once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/research/checkpoints/checkpoint_store_fixture.h"
#include "agents/research/checkpoints/retention.h"
#include "tests/conformance/temporary_folder.h"

namespace belay::research {

// The state of an agent in these tests. Not in the unnamed namespace: the codec reads it.
struct ValuationRun {
  int completed = 0;
  int removals = 0;  // executions of the node that removes
  bool is_removed = false;
};

namespace {

using ::testing::ElementsAre;

Task<Update<ValuationRun>> work_subtask(const ValuationRun& state, Context& context) {
  auto rows = checkpoint_rows(context);
  AgentVersions versions = research_versions();
  AgentCheckpointer checkpointer(*rows, versions);
  auto completed = static_cast<std::size_t>(state.completed) + 1;
  AgentCheckpoint checkpoint = checkpoint_of("valuation", completed);
  auto saved = co_await checkpointer.save(std::move(checkpoint), context.now());
  saved.value();
  co_return add(&ValuationRun::completed, 1);
}

// Removes the checkpoints, two in each execution of the node.
Task<Update<ValuationRun>> remove_some(const ValuationRun&, Context& context) {
  auto rows = checkpoint_rows(context);
  CheckpointOptions options;
  options.rows_per_commit = 2;
  CheckpointRetention retention(*rows, nullptr, options);
  auto removal = co_await retention.succeeded("an-1", context.now());
  bool is_removed = !removal.value().is_unfinished;
  co_return set(&ValuationRun::is_removed, is_removed).add(&ValuationRun::removals, 1);
}

// Executes the five subtasks of a specialist, then removes its checkpoints if `removes`.
Graph<ValuationRun> valuation_graph(bool removes) {
  GraphBuilder<ValuationRun> builder{"valuation"};
  builder.node("work", work_subtask);
  builder.edge(start, "work");
  std::string last = removes ? "remove" : std::string(end);
  auto after_work = [last](const ValuationRun& state) -> std::string {
    bool is_complete = static_cast<std::size_t>(state.completed) == valuation_subtasks().size();
    return is_complete ? last : "work";
  };
  builder.branch("work", after_work, {"work", last});
  if (removes) {
    builder.node("remove", remove_some);
    auto after_removal = [](const ValuationRun& state) -> std::string {
      return state.is_removed ? std::string(end) : "remove";
    };
    builder.branch("remove", after_removal, {"remove", end});
  }
  return std::move(builder).build().value();
}

// The numbers of completed subtasks of the checkpoints, oldest first.
std::vector<std::size_t> saved_subtasks(const testing::ScenarioResult<ValuationRun>& run) {
  std::vector<std::size_t> counts;
  for (const AgentCheckpoint& checkpoint : run.records<AgentCheckpoint>()) {
    counts.push_back(checkpoint.completed_subtasks.size());
  }
  return counts;
}

void expect_one_checkpoint_per_subtask(const testing::World& world) {
  auto baseline = world.run(valuation_graph(false), {}).approve_all();
  ASSERT_TRUE(baseline.ok()) << baseline.error()->message;
  EXPECT_THAT(saved_subtasks(baseline), ElementsAre(1u, 2u, 3u, 4u, 5u));
  ASSERT_FALSE(baseline.crash_points().empty());
  for (const auto& crash : baseline.crash_points()) {
    auto crashed = world.run(valuation_graph(false), {}).crash_at(crash).approve_all();
    ASSERT_TRUE(crashed.ok()) << crashed.error()->message;
    EXPECT_THAT(saved_subtasks(crashed), ElementsAre(1u, 2u, 3u, 4u, 5u)) << crash;
    std::vector<CheckpointHead> heads = crashed.records<CheckpointHead>();
    ASSERT_EQ(heads.size(), 1u) << crash;
    EXPECT_EQ(heads[0].newest, crashed.records<AgentCheckpoint>().back().key()) << crash;
  }
}

TEST(NodeCheckpoints, AreSavedOnceForEachSubtaskWhateverCrashes) {
  expect_one_checkpoint_per_subtask(testing::World{});
  conformance::TemporaryFolder folder;
  expect_one_checkpoint_per_subtask(testing::World{}.sqlite_in(folder.path()));
}

// Saves two checkpoints that follow one of a given time, at an earlier time.
Task<Update<ValuationRun>> save_two_early(const ValuationRun&, Context& context) {
  auto rows = checkpoint_rows(context);
  AgentVersions versions = research_versions();
  AgentCheckpointer checkpointer(*rows, versions);
  Instant previous = context.now() + std::chrono::hours(1);
  for (std::size_t completed : {1u, 2u}) {
    AgentCheckpoint checkpoint = checkpoint_of("valuation", completed);
    checkpoint.checkpoint_time = previous;
    auto saved = co_await checkpointer.save(std::move(checkpoint), context.now());
    EXPECT_EQ(saved.value().checkpoint_time, previous + std::chrono::microseconds(1));
    previous = saved.value().checkpoint_time;
  }
  co_return add(&ValuationRun::completed, 2);
}

TEST(NodeCheckpoints, FollowThePreviousOneThatTheNodeKnows) {
  GraphBuilder<ValuationRun> builder{"valuation"};
  builder.node("work", save_two_early);
  builder.edge(start, "work").edge("work", end);
  auto run = testing::World{}.run(std::move(builder).build().value(), {}).approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  EXPECT_THAT(saved_subtasks(run), ElementsAre(1u, 2u)) << "neither replaces the other";
  EXPECT_EQ(run.records<CheckpointHead>()[0].newest, run.records<AgentCheckpoint>()[1].key());
}

TEST(NodeCheckpoints, ThatANodeRemovesAreNotReadAndTheAgentCanSaveAgain) {
  conformance::TemporaryFolder folder;
  for (const std::string& name : {std::string("memory:"), "sqlite:" + folder.file("node.db")}) {
    CheckpointStore store(name);
    Graph<ValuationRun> graph = valuation_graph(true);
    store.runtime->add(graph);
    StartOptions options;
    options.user = store.owner;
    RunView view = store.wait(store.runtime->start(graph, ValuationRun{}, options)).value();
    ASSERT_EQ(view.row.status, RunStatus::completed) << view.row.error;
    EXPECT_EQ(view.state["removals"], Value(3)) << "two, two and one";
    store.clock.move(std::chrono::seconds(1));
    EXPECT_TRUE(store.rows_in(AgentCheckpoint::collection).empty());
    EXPECT_TRUE(store.rows_in(CheckpointHead::collection).empty());
    AgentCheckpointer checkpointer(*store.rows, store.versions);
    EXPECT_EQ(store.wait(checkpointer.restore("an-1", "valuation")).value(), std::nullopt);
    AgentCheckpoint again = checkpoint_of("valuation", 2);
    EXPECT_TRUE(store.wait(checkpointer.save(std::move(again), store.clock.now())).ok());
    auto restored = store.wait(checkpointer.restore("an-1", "valuation")).value();
    ASSERT_TRUE(restored.has_value());
    EXPECT_EQ(restored->checkpoint.completed_subtasks.size(), 2u);
  }
}

}  // namespace
}  // namespace belay::research
