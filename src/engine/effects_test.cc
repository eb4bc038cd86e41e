// Tests that the intents of effects are committed before their nodes continue.

#include <gtest/gtest.h>

#include "engine/advance.h"
#include "engine/run_factory.h"

namespace belay::engine {
namespace {

struct Order {
  std::string draft{};
};

Update<Order> leave(const Order&, Context&) { return unchanged<Order>(); }

// write -> send, with the given durability; `send` is running.
struct Intents : ::testing::Test {
  Graph<Order> graph = order_graph();
  engine::Run run;
  std::vector<Action> actions;

  static Graph<Order> order_graph() {
    GraphBuilder<Order> graph{"mail"};
    graph.node("write", leave);
    graph.node("send", leave);
    graph.edge(start, "write").edge("write", "send").edge("send", end);
    return std::move(graph).build().value();
  }
  static Moment moment(int second) {
    return Moment{*instant_from("2026-11-21T12:00:00Z") + std::chrono::seconds(second),
                  static_cast<std::uint64_t>(second)};
  }
  void happens(Event event) {
    auto next = advance(*graph.definition(), std::move(run), std::move(event));
    run = std::move(next.run);
    actions = std::move(next.actions);
  }
  AttemptId attempt() const {
    const NodeTask& task = run.tasks.front();
    return {{}, 0, task.id, task.attempt};
  }
  void begin(Durability durability) {
    RunRow row;
    row.tenant = default_tenant();
    row.run = RunId(derived_uuid("run"));
    row.thread = ThreadId("t");
    row.user = UserId("u");
    row.session = SessionId(derived_uuid("session"));
    RunOptions options;
    options.durability = durability;
    run = new_run(*graph.definition(), row, std::move(options), std::make_shared<Order>()).value();
    happens(Started{moment(0)});
    happens(Committed{moment(0)});
    NodeEnded ended;
    ended.moment = moment(1);
    ended.of = attempt();
    ended.answer = Update<Order>(set(&Order::draft, "Dear all")).take_update();
    happens(std::move(ended));
    if (durability != Durability::exit) happens(Committed{moment(1)});
  }
  EffectRow intent() const {
    EffectRow row;
    row.run = run.row.run;
    row.task = run.tasks.front().id;
    row.name = "smtp";
    row.effect_class = EffectClass::unkeyed;
    return row;
  }
  Commit only_commit() {
    for (Action& action : actions) {
      if (auto* write = std::get_if<WriteCommit>(&action)) return std::move(*write->commit);
    }
    ADD_FAILURE() << "no commit";
    return {};
  }
};

TEST_F(Intents, AreAPendingWriteThatLeavesTheSeq) {
  begin(Durability::sync);
  std::uint64_t seq = run.row.seq;
  happens(EffectsRecorded{moment(2), {intent()}});
  Commit commit = only_commit();
  EXPECT_EQ(run.row.seq, seq);
  ASSERT_TRUE(commit.run_guard);
  EXPECT_EQ(commit.run_guard->pending_for, run.row.run);
  EXPECT_FALSE(commit.rows.run);
  EXPECT_EQ(commit.rows.effects, std::vector{intent()});
  EXPECT_TRUE(run.may_have_intents);
}

TEST_F(Intents, OfATaskWhoseStepIsDeferredAreCommittedWithThatStep) {
  begin(Durability::exit);
  ASSERT_TRUE(run.has_uncommitted_steps);
  happens(EffectsRecorded{moment(2), {intent()}});
  Commit commit = only_commit();
  ASSERT_TRUE(commit.rows.checkpoint);
  EXPECT_EQ(commit.rows.values.size(), 1u);
  EXPECT_EQ(commit.rows.effects, std::vector{intent()});
  EXPECT_FALSE(run.has_uncommitted_steps);
}

TEST_F(Intents, OfARunThatHasEndedAreNotCommitted) {
  begin(Durability::sync);
  EffectRow row = intent();
  happens(RunTimedOut{moment(2)});
  ASSERT_EQ(run.row.status, RunStatus::failed);
  happens(EffectsRecorded{moment(3), {row}});
  EXPECT_TRUE(actions.empty());
}

}  // namespace
}  // namespace belay::engine
