// Tests workers, and forks.
// Long on purpose: queues, orphaned runs, timers, quarantine and drain, each with its worker.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/check.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Job {
  std::string name{};
  std::vector<std::string> log{};
  int rounds = 0;
};

struct Workers : CrashingStoreFixture {
  void TestBody() override {}

  std::map<std::string, int> visits;

  Graph<Job> three_steps(std::chrono::milliseconds each = 10ms) {
    GraphBuilder<Job> graph{"job"};
    for (std::string name : {"a", "b", "c"}) {
      graph.node(name, [this, name, each](const Job&, Context&) -> Task<Update<Job>> {
        ++visits[name];
        co_await sleep_for(each);
        co_return append(&Job::log, name);
      });
    }
    graph.edge(start, "a").edge("a", "b").edge("b", "c").edge("c", end);
    return std::move(graph).build().value();
  }

  RunView enqueue(Runtime& runtime, const Graph<Job>& graph, std::string thread,
                  Instant not_before = {}) {
    StartOptions options;
    options.thread = ThreadId(std::move(thread));
    return block_on(loop, runtime.enqueue(graph, Job{}, options, not_before)).value();
  }
  RunView status(Runtime& runtime, std::string thread) {
    return block_on(loop, runtime.status(default_tenant(), ThreadId(std::move(thread)))).value();
  }

  // A worker that runs in the background.
  struct Working {
    std::unique_ptr<Runtime> runtime;
    std::optional<Result<std::size_t>> ended;
    Spawned task;
  };
  std::unique_ptr<Working> working(const Graph<Job>& graph, std::size_t runs_max = 16) {
    auto made = std::make_unique<Working>();
    made->runtime = process(graph);
    loop.post([this, at = made.get(), runs_max] {
      WorkerOptions options;
      options.runs_max = runs_max;
      at->task = spawn<Result<std::size_t>>(
          loop, at->runtime->run_worker(std::move(options)),
          [at](Result<std::size_t> count) { at->ended = std::move(count); });
    });
    return made;
  }
  void pass(std::chrono::microseconds time) { loop.run_until(clock.now() + time); }
};

TEST_F(Workers, TakeUpWhatIsQueuedNoSoonerThanItIsDue) {
  auto graph = three_steps();
  auto client = process(graph);
  auto now = enqueue(*client, graph, "now");
  EXPECT_EQ(now.row.status, RunStatus::queued);
  EXPECT_TRUE(now.row.session.is_null());
  enqueue(*client, graph, "later", clock.now() + 1h);
  auto worker = working(graph);
  pass(1min);
  EXPECT_EQ(status(*client, "now").row.status, RunStatus::completed);
  EXPECT_EQ(status(*client, "later").row.status, RunStatus::queued);
  pass(1h);
  EXPECT_EQ(status(*client, "later").row.status, RunStatus::completed);
  worker->runtime->drain();
  pass(1s);
  ASSERT_TRUE(worker->ended);
  EXPECT_EQ(worker->ended->value(), 2u);
}

TEST_F(Workers, TakeUpWhatHasWaitedForLongerThanAPersonMayResumeAThread) {
  auto graph = three_steps();
  auto client = process(graph);
  enqueue(*client, graph, "delayed", clock.now() + 24h * 10);
  enqueue(*client, graph, "waited");
  enqueue(*client, graph, "left");
  {
    auto worker = working(graph);
    pass(15ms);
  }
  EXPECT_EQ(status(*client, "left").row.status, RunStatus::running);
  pass(24h * 11);
  auto worker = working(graph);
  pass(1min);
  for (const char* thread : {"delayed", "waited", "left"}) {
    EXPECT_EQ(status(*client, thread).row.status, RunStatus::completed) << thread;
  }
}

// Other processes can claim its runs only after its session has ended: the worker must return.
TEST_F(Workers, EndWhenTheirStoreTakesNoMoreCommits) {
  auto graph = three_steps(10s);
  auto client = process(graph);
  enqueue(*client, graph, "t");
  auto worker = working(graph);
  pass(5s);
  store.is_usable = false;
  pass(1s);
  ASSERT_TRUE(worker->ended);
  EXPECT_EQ(worker->ended->error().code, ErrorCode::unavailable);
  EXPECT_THAT(worker->ended->error().message, HasSubstr("restart it"));
  worker.reset();
  store.is_usable = true;
  auto other = working(graph);
  pass(1min);
  EXPECT_EQ(status(*client, "t").row.status, RunStatus::completed);
}

TEST_F(Workers, AProcessThatStopsInTheMidstOfARetryLeavesWhatTheRunIsToDoAsItWas) {
  GraphBuilder<Job> builder{"job"};
  builder
      .node("a",
            [](const Job&, Context& context) -> Task<Result<Update<Job>>> {
              if (context.attempt() == 1) co_return error(ErrorCode::unavailable, "It is away.");
              co_await sleep_for(10s);
              co_return append(&Job::log, "a");
            })
      .retry({.attempts = 3, .base = 100ms});
  builder.edge(start, "a").edge("a", end);
  auto graph = std::move(builder).build().value();
  auto client = process(graph);
  enqueue(*client, graph, "t");
  auto worker = working(graph);
  pass(5s);
  worker->runtime->stop();
  pass(1min);
  EXPECT_TRUE(worker->ended);
  EXPECT_EQ(status(*client, "t").row.status, RunStatus::queued);
  auto other = working(graph);
  pass(1min);
  EXPECT_EQ(status(*client, "t").row.status, RunStatus::completed);
  CheckScope scope;
  scope.graphs = {graph.definition()};
  auto report = block_on(loop, check_store(store, std::move(scope))).value();
  for (const Violation& each : report.violations) ADD_FAILURE() << each.rule << each.message;
}

TEST_F(Workers, TwoOfThemRunEachRunOnce) {
  auto graph = three_steps();
  auto client = process(graph);
  for (int i = 0; i < 40; ++i) enqueue(*client, graph, "t" + std::to_string(i));
  auto one = working(graph);
  auto two = working(graph);
  pass(1min);
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(status(*client, "t" + std::to_string(i)).row.status, RunStatus::completed);
  }
  EXPECT_EQ(visits["a"], 40);
  EXPECT_EQ(visits["c"], 40);
}

TEST_F(Workers, DoNotWaitForTheirNextLookWhereMoreIsDueThanTheyHadRoomFor) {
  auto graph = three_steps(10ms);
  auto client = process(graph);
  for (int i = 0; i < 160; ++i) enqueue(*client, graph, "t" + std::to_string(i));
  auto worker = working(graph);
  pass(1s);  // ten times sixteen runs, each of which takes 30 ms
  EXPECT_EQ(visits["c"], 160);
}

// At most five runs of one user at a time: free capacity is used immediately, not at the next poll.
TEST_F(Workers, FillAPlaceThatComesFreeAtOnce) {
  auto graph = three_steps(3ms);
  auto client = process(graph);
  for (int i = 0; i < 300; ++i) enqueue(*client, graph, "t" + std::to_string(i));
  places.per_user = 5;
  auto worker = working(graph);
  pass(1s);
  EXPECT_EQ(visits["c"], 300);
}

TEST_F(Workers, OfOnePlaceFillItAtOnceToo) {
  auto graph = three_steps(1ms);
  auto client = process(graph);
  for (int i = 0; i < 150; ++i) enqueue(*client, graph, "t" + std::to_string(i));
  auto worker = working(graph, 1);
  pass(1s);
  EXPECT_EQ(visits["c"], 150);
}

TEST_F(Workers, GoOnWithWhatADeadOneLeft) {
  auto graph = three_steps(1min);
  auto client = process(graph);
  enqueue(*client, graph, "t");
  auto first = working(graph);
  pass(90s);
  first.reset();
  auto second = working(graph);
  pass(10min);
  auto view = status(*client, "t");
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_EQ(visits["a"], 1);
  EXPECT_EQ(visits["b"], 2);
}

TEST_F(Workers, GoOnWithWhatADeadOneLeftThoughTheQueueIsNeverEmpty) {
  auto graph = three_steps(1min);
  auto client = process(graph);
  enqueue(*client, graph, "left");
  auto first = working(graph);
  pass(90s);
  first.reset();
  for (int i = 0; i < 100; ++i) enqueue(*client, graph, "t" + std::to_string(i));
  auto second = working(graph);
  pass(10min);
  EXPECT_EQ(status(*client, "left").row.status, RunStatus::completed);
  EXPECT_EQ(status(*client, "t99").row.status, RunStatus::queued);
}

// Each process completes one of the branches before it dies, also within a subgraph.
TEST_F(Workers, ASuperstepThatAdvancesIsNotQuarantinedHoweverManyProcessesItLoses) {
  for (bool is_inside : {false, true}) {
    SCOPED_TRACE(is_inside ? "inside" : "beside one another");
    Workers world;
    GraphBuilder<Job> builder{"job"};
    for (int i = 0; i < 9; ++i) {
      std::string name = "n" + std::to_string(i);
      builder.node(name, [name, i](const Job&, Context&) -> Task<Update<Job>> {
        co_await sleep_for(1min + i * 1s);
        co_return append(&Job::log, name);
      });
      bool is_first = i == 0 || !is_inside;
      builder.edge(is_first ? std::string(start) : "n" + std::to_string(i - 1), name);
      if (!is_inside || i == 8) builder.edge(name, end);
    }
    auto graph = std::move(builder).build().value();
    if (is_inside) {
      GraphBuilder<Job> outer{"outer"};
      outer.subgraph(
          "inner", graph, [](const Job& job) { return job; },
          [](const Job& job) { return set(&Job::log, job.log); });
      outer.edge(start, "inner").edge("inner", end);
      graph = std::move(outer).build().value();
    }
    auto client = world.process(graph);
    StartOptions options;
    options.thread = ThreadId("t");
    options.run.timeout = 10h;
    options.run.parallel = 1;
    block_on(world.loop, client->enqueue(graph, Job{}, options, Instant())).value();
    for (int lost = 0; lost < 8; ++lost) {
      auto worker = world.working(graph);
      world.pass(90s);
    }
    EXPECT_NE(world.status(*client, "t").row.status, RunStatus::quarantined);
    auto worker = world.working(graph);
    world.pass(1h);
    auto view = world.status(*client, "t");
    EXPECT_EQ(view.row.status, RunStatus::completed);
    EXPECT_EQ(view.state["log"].as_array()->size(), 9u);
  }
}

TEST_F(Workers, ARunThatKillsItsWorkersIsQuarantinedAndAPersonMayTryAgain) {
  auto graph = three_steps(1h);
  auto client = process(graph);
  enqueue(*client, graph, "poison");
  for (int lost = 0; lost < 8; ++lost) {
    auto worker = working(graph);
    pass(1min);
  }
  auto view = status(*client, "poison");
  EXPECT_EQ(view.row.status, RunStatus::quarantined);
  EXPECT_THAT(view.row.reason, HasSubstr("lost 6 processes"));
  auto worker = working(graph);
  pass(5h);
  EXPECT_EQ(status(*client, "poison").row.status, RunStatus::quarantined);
  worker.reset();
  auto quick = three_steps(1ms);
  auto other = process(quick);
  auto again = block_on(loop, other->resume(default_tenant(), ThreadId("poison"))).value();
  EXPECT_EQ(again.row.status, RunStatus::completed);
}

struct Forks : Workers {
  RunView run(const Graph<Job>& graph, std::string thread) {
    auto runtime = process(graph);
    StartOptions options;
    options.thread = ThreadId(std::move(thread));
    return block_on(loop, runtime->start(graph, Job{}, options)).value();
  }
  Result<RunView> fork(const Graph<Job>& graph, ForkOptions options) {
    return block_on(loop, process(graph)->fork(std::move(options)));
  }
  std::string violations(const Graph<Job>& graph) {
    CheckScope scope;
    scope.graphs = {graph.definition()};
    std::string told;
    CheckReport report = block_on(loop, check_store(*kept, scope)).value();
    for (const Violation& each : report.violations) {
      told += each.rule + " " + each.subject + ": " + each.message + "\n";
    }
    return told;
  }
  static std::vector<std::string> texts(const Value& list) {
    std::vector<std::string> found;
    for (const Value& each : *list.as_array()) found.push_back(*each.as_string());
    return found;
  }
};

TEST_F(Forks, GoOnFromAnyCommitWithAnEditedState) {
  auto graph = three_steps();
  auto origin = run(graph, "origin");
  ForkOptions options;
  options.from = ThreadId("origin");
  options.seq = 2;
  options.edits = Value::object({{"log", Value::Array{"edited"}}});
  auto forked = fork(graph, options).value();
  EXPECT_EQ(forked.row.status, RunStatus::completed);
  EXPECT_THAT(texts(forked.state["log"]), ElementsAre("edited", "b", "c"));
  EXPECT_EQ(forked.row.forked_from, origin.row.run);
  EXPECT_EQ(forked.row.forked_at, 2u);
  EXPECT_EQ(visits["a"], 1);
  EXPECT_EQ(visits["b"], 2);
  auto unchanged = block_on(loop, process(graph)->status(default_tenant(), ThreadId("origin")));
  EXPECT_EQ(unchanged.value().state, origin.state);
}

TEST_F(Forks, RefuseWhatCantBe) {
  auto graph = three_steps();
  run(graph, "origin");
  ForkOptions options;
  options.from = ThreadId("nobody");
  EXPECT_EQ(fork(graph, options).error().code, ErrorCode::not_found);
  options.from = ThreadId("origin");
  options.seq = 99;
  EXPECT_EQ(fork(graph, options).error().code, ErrorCode::not_found);
  options.seq = 4;
  EXPECT_THAT(fork(graph, options).error().message, HasSubstr("no tasks are left"));
  options.seq = 2;
  options.edits = Value::object({{"rounds", "many"}});
  EXPECT_EQ(fork(graph, options).error().code, ErrorCode::invalid);
  options.edits = Value::object({{"nothing", 1}});
  EXPECT_THAT(fork(graph, options).error().message, HasSubstr("no channel \"nothing\""));
}

TEST_F(Forks, OfAFailedRunTakeOverWhatItsSiblingsFinished) {
  bool fails = true;
  GraphBuilder<Job> builder{"siblings"};
  builder.node("split", [](const Job&, Context&) { return unchanged<Job>(); });
  builder.node("good", [this](const Job&, Context&) {
    ++visits["good"];
    return append(&Job::log, "good");
  });
  builder.node("bad", [&](const Job&, Context&) -> Task<Result<Update<Job>>> {
    co_await sleep_for(1s);
    if (fails) co_return error(ErrorCode::invalid, "not today");
    co_return append(&Job::log, "bad");
  });
  builder.edge(start, "split").edge("split", "good").edge("split", "bad");
  builder.edge("good", end).edge("bad", end);
  auto graph = std::move(builder).build().value();
  EXPECT_EQ(run(graph, "origin").row.status, RunStatus::failed);
  fails = false;
  ForkOptions options;
  options.from = ThreadId("origin");
  auto forked = fork(graph, options).value();
  EXPECT_EQ(forked.row.status, RunStatus::completed) << forked.row.error;
  EXPECT_THAT(texts(forked.state["log"]), ElementsAre("good", "bad"));
  EXPECT_EQ(visits["good"], 1);
}

TEST_F(Forks, ACopyOfAnEndedRunHasEndedAlikeAndRunsNothing) {
  auto graph = three_steps();
  auto origin = run(graph, "origin");
  ForkOptions options;
  options.from = ThreadId("origin");
  options.thread = ThreadId("copy");
  options.copy = true;
  auto copied = fork(graph, options).value();
  EXPECT_EQ(copied.row.status, RunStatus::completed);
  EXPECT_EQ(copied.row.outcome, origin.row.outcome);
  EXPECT_EQ(copied.state, origin.state);
  EXPECT_EQ(copied.row.node, "end");
  EXPECT_EQ(copied.row.seq, 1u);
  EXPECT_EQ(copied.row.forked_from, origin.row.run);
  EXPECT_EQ(visits["c"], 1);
  auto later = status(*process(graph), "copy");
  EXPECT_EQ(later.state, origin.state);
  EXPECT_EQ(later.row.status, RunStatus::completed);
  EXPECT_TRUE(later.row.session.is_null());
  options.thread = ThreadId("copy of the copy");
  options.from = ThreadId("copy");
  EXPECT_EQ(fork(graph, options).value().state, origin.state);
  options.edits = Value::object({{"log", Value::Array{"edited"}}});
  EXPECT_EQ(fork(graph, options).error().code, ErrorCode::invalid);
  options.edits = Value();
  options.seq = 2;
  EXPECT_EQ(fork(graph, options).error().code, ErrorCode::invalid);
  EXPECT_EQ(violations(graph), "");
}

TEST_F(Forks, ACopyOfAFailedRunHasFailedAndCanBeForked) {
  bool fails = true;
  GraphBuilder<Job> builder{"failing"};
  builder.node("good", [this](const Job&, Context&) {
    ++visits["good"];
    return append(&Job::log, "good");
  });
  builder.node("bad", [&](const Job&, Context&) -> Task<Result<Update<Job>>> {
    ++visits["bad"];
    if (fails) co_return error(ErrorCode::invalid, "not today");
    co_return append(&Job::log, "bad");
  });
  builder.edge(start, "good").edge("good", "bad").edge("bad", end);
  auto graph = std::move(builder).build().value();
  auto origin = run(graph, "origin");
  ASSERT_EQ(origin.row.status, RunStatus::failed);
  ForkOptions options;
  options.from = ThreadId("origin");
  options.thread = ThreadId("copy");
  options.copy = true;
  auto copied = fork(graph, options).value();
  EXPECT_EQ(copied.row.status, RunStatus::failed);
  EXPECT_EQ(copied.row.error, origin.row.error);
  EXPECT_EQ(copied.row.retry_count, origin.row.retry_count);
  EXPECT_EQ(visits["bad"], 1);
  fails = false;
  options.from = ThreadId("copy");
  options.thread = ThreadId("again");
  options.copy = false;
  auto again = fork(graph, options).value();
  EXPECT_EQ(again.row.status, RunStatus::completed) << again.row.error;
  EXPECT_THAT(texts(again.state["log"]), ElementsAre("good", "bad"));
  EXPECT_EQ(visits["good"], 1);
  EXPECT_EQ(violations(graph), "");
}

TEST_F(Forks, ACopyOfARunThatWaitsForAPersonAsksOnItsOwn) {
  GraphBuilder<Job> builder{"asking"};
  builder.node("work", [this](const Job&, Context&) {
    ++visits["work"];
    return append(&Job::log, "work");
  });
  builder.approval("confirm", &Job::log, {.question = "Good?"}).approved("save").rejected(end);
  builder.node("save", [this](const Job&, Context&) {
    ++visits["save"];
    return append(&Job::log, "saved");
  });
  builder.edge(start, "work").edge("work", "confirm").edge("save", end);
  auto graph = std::move(builder).build().value();
  auto origin = run(graph, "origin");
  ASSERT_TRUE(origin.approval);
  ForkOptions options;
  options.from = ThreadId("origin");
  options.thread = ThreadId("copy");
  options.copy = true;
  auto copied = fork(graph, options).value();
  ASSERT_EQ(copied.row.status, RunStatus::paused);
  ASSERT_TRUE(copied.approval);
  EXPECT_NE(copied.approval->interrupt, origin.approval->interrupt);
  EXPECT_EQ(copied.approval->payload_hash, origin.approval->payload_hash);
  EXPECT_EQ(visits["work"], 1);
  Decision yes;
  yes.approved = true;
  yes.decided_by = "ana";
  auto answer =
      block_on(loop, process(graph)->decide(default_tenant(), copied.approval->interrupt, yes));
  EXPECT_EQ(answer.value().view.row.status, RunStatus::completed);
  EXPECT_EQ(visits["save"], 1);
  EXPECT_EQ(status(*process(graph), "origin").row.status, RunStatus::paused);
  EXPECT_EQ(violations(graph), "");
}

TEST_F(Forks, APreviewListsWhatWouldRunAgainAndWhichEffectsHaveHappened) {
  GraphBuilder<Job> builder{"effects"};
  builder.node("first", [](const Job&, Context&) { return append(&Job::log, "first"); });
  builder.node("pay", [](const Job&, Context& context) {
    auto receipt = context.keyed_effect("pay", [] { return std::string("r1"); });
    context.publish("paid", Value(receipt));
    return append(&Job::log, receipt);
  });
  builder.edge(start, "first").edge("first", "pay").edge("pay", end);
  auto graph = std::move(builder).build().value();
  run(graph, "origin");
  ForkOptions options;
  options.from = ThreadId("origin");
  options.seq = 2;
  auto preview = block_on(loop, process(graph)->preview(options)).value();
  EXPECT_EQ(preview.seq, 2u);
  EXPECT_THAT(preview.first_nodes, ElementsAre("pay"));
  EXPECT_THAT(preview.repeated_nodes, ElementsAre("pay"));
  ASSERT_EQ(preview.effects.size(), 1u);
  EXPECT_EQ(preview.effects[0].name, "pay");
  ASSERT_EQ(preview.messages.size(), 1u);
  EXPECT_EQ(preview.messages[0].topic, "paid");
}

}  // namespace
}  // namespace belay
