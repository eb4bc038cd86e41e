// Tests runs that pause within a superstep with several tasks.

#include <gtest/gtest.h>

#include "belay/check.h"
#include "tests/support/crashing_store_fixture.h"
#include "tests/support/runtime_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;

struct Tour {
  std::string place = "begun";
  std::vector<std::string> seen = {};
};

struct Midst : RuntimeFixture {
  int visits = 0;

  // begin -> {rest, see, ask}; each of them has its own edge to the end.
  Graph<Tour> tours(bool rests, bool asks, bool stops = false) {
    GraphBuilder<Tour> builder{"tour"};
    auto first = builder.node(
        "begin", [](const Tour&, Context&) { return set(&Tour::place, "on the way"); });
    if (stops) first.interrupt_after();
    builder.node("see", [this](const Tour&, Context&) {
      ++visits;
      return append(&Tour::seen, "town");
    });
    builder.node("write", [](const Tour&, Context&) { return append(&Tour::seen, "letter"); });
    builder.edge(start, "begin").edge("begin", "see").edge("see", end).edge("write", end);
    builder.edge("begin", rests ? "rest" : "write");
    if (rests) builder.wait("rest", 1h).edge("rest", "write");
    if (asks) {
      builder.approval("ask", &Tour::place, {.question = "Go on?"}).approved("write").rejected(end);
      builder.edge("begin", "ask");
    }
    return std::move(builder).build().value();
  }

  RunView start_tour(const Graph<Tour>& tour, Durability durability = Durability::sync) {
    runtime->add(tour);
    StartOptions options;
    options.thread = ThreadId("t");
    options.run.durability = durability;
    return block_on(loop, runtime->start(tour, Tour{}, std::move(options))).value();
  }
};

TEST_F(Midst, AWaitAmongOthersGoesOnWhenItsTimeHasCome) {
  RunView paused = start_tour(tours(true, false));
  EXPECT_EQ(paused.row.reason, "timer");
  clock.move(61min);
  EXPECT_EQ(block_on(loop, runtime->process_due(default_tenant())).value().total(), 1u);
  auto view = block_on(loop, runtime->status(default_tenant(), ThreadId("t"))).value();
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(visits, 1);
}

// The supersteps before the interrupted one are not committed before the pause.
TEST_F(Midst, ARunThatCommitsAtTheEndPausesWithAllThatItHas) {
  RunView paused = start_tour(tours(false, true), Durability::exit);
  EXPECT_EQ(paused.row.reason, "approval");
  EXPECT_EQ(paused.state["place"], Value("on the way"));
  auto answer = decide(paused, approve()).value();
  EXPECT_EQ(answer.view.row.status, RunStatus::completed);
  EXPECT_EQ(answer.view.state["seen"].as_array()->size(), 3u);
  EXPECT_EQ(visits, 1);
}

TEST_F(Midst, ARunWhoseOlderCommitsWereForgottenGoesOnInAnotherProcess) {
  auto tour = tours(false, true);
  RunView paused = start_tour(tour);
  Commit pruning;
  pruning.tenant = default_tenant();
  pruning.rows.prune.push_back({paused.row.run, paused.row.seq});
  ASSERT_TRUE(block_on(loop, store->commit(std::move(pruning))).ok());
  runtime = process();
  runtime->add(tour);
  auto answer = decide(paused, approve());
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->view.row.status, RunStatus::completed);
  EXPECT_EQ(answer->view.state["seen"].as_array()->size(), 3u);
  EXPECT_EQ(visits, 1);
}

TEST_F(Midst, ABreakpointThatWasPassedDoesNotLetALaterQuestionPass) {
  auto tour = tours(false, true, true);
  RunView held = start_tour(tour);
  EXPECT_EQ(held.row.reason, "breakpoint");
  RunView asked = block_on(loop, runtime->resume(default_tenant(), ThreadId("t"))).value();
  EXPECT_EQ(asked.row.reason, "approval");
  RunView again = block_on(loop, runtime->resume(default_tenant(), ThreadId("t"))).value();
  EXPECT_EQ(again.row.seq, asked.row.seq);
}

// begin -> {see, write} -> close: the results of `see` and `write` are pending writes when the last
// of them ends their superstep, and the commit that would combine them is dropped.
TEST_F(Midst, ARunThatFailsAsItsSuperstepEndsCanBeReadAndIsSound) {
  for (Durability durability : {Durability::sync, Durability::async, Durability::exit}) {
    GraphBuilder<Tour> builder{"limited"};
    builder.node("begin", [](const Tour&, Context&) { return set(&Tour::place, "on the way"); });
    for (std::string name : {"see", "write", "rest"}) {
      // The waits differ, so that each of them ends in its own commit.
      auto wait = name == "see" ? 1s : name == "write" ? 2s : 3s;
      builder.node(name, [name, wait](const Tour&, Context&) -> Task<Update<Tour>> {
        co_await sleep_for(wait);
        co_return append(&Tour::seen, name);
      });
      builder.edge("begin", name).edge(name, "close");
    }
    builder.node("close", [](const Tour&, Context&) { return set(&Tour::place, "home"); });
    builder.edge(start, "begin").edge("close", end);
    auto limited = std::move(builder).build().value();
    runtime->add(limited);
    StartOptions options;
    options.thread = ThreadId("limited" + std::to_string(static_cast<int>(durability)));
    options.run.durability = durability;
    options.run.supersteps = 2;
    auto failed = block_on(loop, runtime->start(limited, Tour{}, options)).value();
    EXPECT_EQ(failed.row.status, RunStatus::failed);
    EXPECT_EQ(failed.row.error_code, "exhausted");
    auto read = block_on(loop, runtime->status(default_tenant(), options.thread));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->state, failed.state);
    EXPECT_TRUE(read->state["seen"].as_array()->empty())
        << "the superstep is not part of the state";
    CheckScope scope;
    scope.graphs = {limited.definition()};
    auto report = block_on(loop, check_store(*store, std::move(scope))).value();
    for (const Violation& each : report.violations)
      ADD_FAILURE() << each.rule << ": " << each.message;
  }
}

struct Stay {
  std::vector<std::string> seen = {};
};

// A subgraph with several commits. A node sets the clock back, and the process dies; the clock of
// the next process is behind too.
TEST_F(CrashingStoreFixture,
       TheCommitsOfASubgraphAreNeverOlderThanWhatWasBeforeThemWhateverClocksSay) {
  GraphBuilder<Stay> stay{"stay"};
  for (std::string name : {"arrive", "sleep", "leave"}) {
    stay.node(name, [name](const Stay&, Context&) { return append(&Stay::seen, name); });
  }
  stay.edge(start, "arrive").edge("arrive", "sleep").edge("sleep", "leave").edge("leave", end);
  auto inner = std::move(stay).build().value();
  GraphBuilder<Tour> tour{"tour"};
  tour.node("begin", [this](const Tour&, Context&) {
    clock.move(-20min);
    return set(&Tour::place, "on the way");
  });
  tour.subgraph(
      "stay", inner, [](const Tour&) { return Stay{}; },
      [](const Stay& seen) { return set(&Tour::seen, seen.seen); });
  tour.edge(start, "begin").edge("begin", "stay").edge("stay", end);
  auto graph = std::move(tour).build().value();
  int crashes = 0;
  for (int commit = 1; commit <= 7; ++commit) {
    store.commits = 0;
    store.halt_at = commit;
    StartOptions options;
    options.thread = ThreadId("t" + std::to_string(commit));
    {
      auto first = process(graph);
      Spawned spawned;
      loop.post([&] {
        spawned = spawn<Result<RunView>>(loop, first->start(graph, Tour{}, options),
                                         [](const Result<RunView>&) {});
      });
      loop.run_until(clock.now() + 1min);
      spawned.reset();
    }
    if (store.commits >= commit) ++crashes;
    store.halt_at = 0;
    clock.move(-30min);
    auto next = process(graph);
    auto view = block_on(loop, next->resume(default_tenant(), options.thread)).value();
    EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
    EXPECT_EQ(view.state["seen"].as_array()->size(), 3u);
  }
  EXPECT_GE(crashes, 5);
  CheckScope scope;
  scope.graphs = {graph.definition()};
  auto report = block_on(loop, check_store(store, std::move(scope))).value();
  for (const Violation& each : report.violations)
    ADD_FAILURE() << each.rule << ": " << each.message;
}

}  // namespace
}  // namespace belay
