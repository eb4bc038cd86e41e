// Tests events that attempts emit before their run ends within a superstep.

#include <gmock/gmock.h>

#include "tests/support/event_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

TEST_F(Events, OfFailedAttemptsAreKeptAlsoWhenTheFailureEndsTheRun) {
  auto fails = [](const Plan&, Context& context) -> Result<Update<Plan>> {
    context.emit("tried", Value(context.attempt()));
    context.publish("never", Value(1));
    return error(ErrorCode::unavailable, "It is away.");
  };
  auto inner_fails = [](const Chapter&, Context& context) -> Result<Update<Chapter>> {
    context.emit("tried", Value(context.attempt()));
    return error(ErrorCode::unavailable, "It is away.");
  };
  GraphBuilder<Plan> alone{"alone"};
  alone.node("fails", fails).retry({.attempts = 3});
  alone.edge(start, "fails").edge("fails", end);
  GraphBuilder<Plan> beside{"beside"};
  beside.node("fails", fails).retry({.attempts = 3});
  beside.node("other", logs("other"));
  beside.edge(start, "fails").edge(start, "other").edge("fails", end).edge("other", end);
  GraphBuilder<Chapter> chapter{"chapter"};
  chapter.node("fails", inner_fails).retry({.attempts = 3});
  chapter.edge(start, "fails").edge("fails", end);
  GraphBuilder<Plan> inside{"inside"};
  inside.subgraph(
      "sub", std::move(chapter).build().value(),
      [](const Plan& plan) { return Chapter{plan.title}; },
      [](const Chapter&) { return add(&Plan::total, 1); });
  inside.edge(start, "sub").edge("sub", end);
  int thread = 0;
  for (const auto& graph :
       {built(std::move(alone)), built(std::move(beside)), built(std::move(inside))}) {
    for (Durability durability : {Durability::sync, Durability::async, Durability::exit}) {
      auto runtime = process(graph);
      StartOptions begin;
      begin.thread = ThreadId(std::to_string(++thread));
      begin.run.durability = durability;
      auto view = block_on(loop, runtime->start(graph, Plan{}, begin)).value();
      ASSERT_EQ(view.row.status, RunStatus::failed);
      EventOptions read = options({EventKind::custom});
      read.thread = begin.thread;
      std::vector<std::string> tried;
      for (const StreamEvent& event : read_now(*runtime, read)) {
        EXPECT_EQ(event.body["name"], Value("tried"));
        tried.push_back(to_json(event.body["body"]));
      }
      EXPECT_THAT(tried, ElementsAre("1", "2", "3"))
          << graph.definition()->name << begin.thread.text;
    }
  }
}

TEST_F(Events, OfASuperstepThatNeverEndsComeWithTheEndOfTheRun) {
  GraphBuilder<Plan> builder{"never"};
  builder.node("quick", [](const Plan&, Context& context) {
    context.emit("quick", Value(1));
    return append(&Plan::log, "quick");
  });
  builder.node("slow", [](const Plan& plan, Context& context) -> Task<Update<Plan>> {
    context.emit("slow", Value(2));
    bool is_late = plan.title == "late";
    if (is_late) co_await sleep_for(1h);
    co_await sleep_for(5ms);
    if (plan.title == "bad") co_return set(&Plan::title, "\xff");
    co_return append(&Plan::log, "slow");
  });
  builder.node("next", logs("next"));
  builder.edge(start, "quick").edge(start, "slow").edge("quick", "next").edge("slow", "next");
  builder.edge("next", end);
  auto graph = built(std::move(builder));
  using Names = std::vector<std::string>;
  auto names = [&](std::string thread) {
    auto runtime = process(graph);
    EventOptions read = options({EventKind::custom});
    read.thread = ThreadId(std::move(thread));
    Names found;
    for (const StreamEvent& event : read_now(*runtime, read)) {
      found.push_back(*event.body["name"].as_string());
    }
    return found;
  };
  auto play_out = [&](std::string title, RunOptions run) {
    auto runtime = process(graph);
    StartOptions begin;
    begin.thread = ThreadId(title);
    begin.run = run;
    return block_on(loop, runtime->start(graph, Plan{.title = title}, begin)).value().row;
  };
  for (Durability durability : {Durability::sync, Durability::exit}) {
    std::string kind = durability == Durability::sync ? "sync" : "exit";
    RunOptions run;
    run.durability = durability;
    run.supersteps = 1;
    EXPECT_EQ(play_out("short " + kind, run).error_code, "exhausted");
    EXPECT_EQ(names("short " + kind), (Names{"quick", "slow"}));
  }
  EXPECT_EQ(play_out("bad", {}).error_code, "invalid");
  EXPECT_EQ(names("bad"), (Names{"quick", "slow"}));
  auto busy = process(graph);
  StartOptions begin;
  begin.thread = ThreadId("late");
  Spawned running = spawn<Result<RunView>>(loop, busy->start(graph, Plan{.title = "late"}, begin),
                                           [](const Result<RunView>&) {});
  loop.run_until(clock.now() + 1min);
  auto other = process(graph);
  block_on(loop, other->cancel(default_tenant(), begin.thread, "ana")).value();
  EXPECT_EQ(names("late"), (Names{"quick"})) << "the other attempt has not ended";
}

}  // namespace
}  // namespace belay
