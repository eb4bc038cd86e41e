// Tests replays of runs with a short timeout, and of runs that failed while tasks were unfinished.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/event_fixture.h"

namespace belay {
namespace {

struct TimedReplays : Events {
  std::string first_difference(Runtime& runtime, const std::string& thread) {
    ReplayOptions wanted;
    wanted.thread = ThreadId(thread);
    auto report = block_on(loop, runtime.replay(wanted)).value();
    if (!report.divergence) return "";
    return report.divergence->what + ": " + report.divergence->recorded + " / " +
           report.divergence->replayed;
  }
};

// The fork has a working time of nine of its ten seconds, measured from its own start.
TEST_F(TimedReplays, OfAForkCountItsTimeFromItsBeginning) {
  GraphBuilder<Plan> builder{"long"};
  builder.node("one", logs_after("one", 6s));
  builder.node("two", logs_after("two", 4s));
  builder.node("three", logs_after("three", 4s));
  builder.node("four", logs_after("four", 1s));
  builder.edge(start, "one").edge("one", "two").edge("two", "three").edge("three", "four");
  builder.edge("four", end);
  auto graph = built(std::move(builder));
  auto runtime = process(graph);
  RunOptions short_time;
  short_time.timeout = 10s;
  auto view = block_on(loop, runtime->start(graph, Plan{}, on_thread(short_time))).value();
  ASSERT_EQ(view.row.status, RunStatus::failed);
  EXPECT_EQ(first_difference(*runtime, "t"), "");
  ForkOptions fork;
  fork.from = ThreadId("t");
  fork.seq = 2;
  fork.thread = ThreadId("fork");
  auto forked = block_on(loop, runtime->fork(fork)).value();
  ASSERT_EQ(forked.row.status, RunStatus::completed) << forked.row.error;
  EXPECT_EQ(first_difference(*runtime, "fork"), "");
}

// "late" starts after "slow" has ended, unless "fails" ends the superstep before that, during the
// commit of the end of "slow", or later.
TEST_F(TimedReplays, OfASuperstepThatFailsFindNoDifferenceWheneverItDoes) {
  for (auto fails_after : {5ms, 9ms, 11ms, 12ms, 14ms, 16ms}) {
    SCOPED_TRACE(fails_after.count());
    GraphBuilder<Plan> builder{"window"};
    builder.node("split", logs("split"));
    builder.node("fails", [fails_after](const Plan&, Context&) -> Task<Result<Update<Plan>>> {
      co_await sleep_for(fails_after);
      co_return error(ErrorCode::invalid, "It can't be done.");
    });
    builder.node("slow", logs_after("slow", 10ms));
    builder.node("late", logs_after("late", 1ms));
    builder.edge(start, "split").edge("split", "fails").edge("split", "slow").edge("split", "late");
    builder.edge("fails", end).edge("slow", end).edge("late", end);
    auto graph = built(std::move(builder));
    store.takes = 5ms;
    RunOptions run;
    run.parallel = 2;
    auto runtime = process(graph);
    StartOptions options = on_thread(run);
    options.thread = ThreadId("t" + std::to_string(fails_after.count()));
    auto view = block_on(loop, runtime->start(graph, Plan{}, options)).value();
    ASSERT_EQ(view.row.status, RunStatus::failed);
    EXPECT_EQ(first_difference(*runtime, options.thread.text), "");
  }
}

// The last node of a subgraph ends before or after another task of the outer superstep, which
// fails, raises an interrupt, or is another subgraph.
TEST_F(TimedReplays, OfASubgraphThatEndsBesideOtherTasksFindNoDifference) {
  for (const char* other : {"fails", "asks", "subgraph"}) {
    for (auto last_takes : {1ms, 5ms, 9ms, 10ms, 11ms, 15ms, 25ms}) {
      SCOPED_TRACE(std::string(other) + " " + std::to_string(last_takes.count()));
      auto inside = [](std::chrono::milliseconds takes) {
        auto writes = [](const char* line, std::chrono::milliseconds time) {
          return [line, time](const Chapter&, Context&) -> Task<Update<Chapter>> {
            co_await sleep_for(time);
            co_return append(&Chapter::lines, line);
          };
        };
        GraphBuilder<Chapter> chapter{"chapter"};
        chapter.node("open", writes("open", 2ms));
        chapter.node("close", writes("close", takes));
        chapter.edge(start, "open").edge("open", "close").edge("close", end);
        return std::move(chapter).build().value();
      };
      auto enter = [](const Plan& plan) { return Chapter{plan.title}; };
      auto leave = [](const Chapter&) { return add(&Plan::total, 1); };
      GraphBuilder<Plan> builder{"beside"};
      builder.subgraph("sub", inside(last_takes), enter, leave);
      if (other == std::string("fails")) {
        builder.node("other", [](const Plan&, Context&) -> Task<Result<Update<Plan>>> {
          co_await sleep_for(10ms);
          co_return error(ErrorCode::invalid, "It can't be done.");
        });
      } else if (other == std::string("asks")) {
        builder.node("other", [](const Plan&, Context& context) -> Task<Update<Plan>> {
          co_await sleep_for(10ms);
          InterruptRequest question;
          question.name = "go";
          question.text = "Go on?";
          bool goes = context.interrupt(question).approved;
          co_return append(&Plan::log, goes ? "goes" : "stays");
        });
      } else {
        builder.subgraph("other", inside(8ms), enter, leave);
      }
      builder.edge(start, "sub").edge(start, "other").edge("sub", end).edge("other", end);
      auto graph = built(std::move(builder));
      store.takes = 3ms;
      auto runtime = process(graph);
      StartOptions options = on_thread();
      options.thread = ThreadId(std::string(other) + std::to_string(last_takes.count()));
      auto view = block_on(loop, runtime->start(graph, Plan{}, options)).value();
      EXPECT_EQ(first_difference(*runtime, options.thread.text), "");
      if (!view.approval) continue;
      Decision decision;
      decision.approved = true;
      decision.decided_by = "ana";
      block_on(loop, runtime->decide(default_tenant(), view.approval->interrupt, decision)).value();
      EXPECT_EQ(first_difference(*runtime, options.thread.text), "");
    }
  }
}

}  // namespace
}  // namespace belay
