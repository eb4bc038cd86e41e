// Tests every race between two reads, or a read and the commit, of one call of the API: the call
// detects the race and does nothing twice. Long on purpose: one fixture with slow stores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "belay/check.h"
#include "tests/support/runtime_fixture.h"
#include "tests/support/slow_store.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Kind = DecisionResult::Kind;

struct Trip {
  std::vector<std::string> seen{};
  int rounds = 0;
};

template <typename T>
struct Call {
  std::optional<Result<T>> ended;
  Spawned task;
};

// One process with a slow store, and `runtime`, with a fast one.
struct Races : RuntimeFixture {
  void TestBody() override {}

  SlowStore slow{*store};
  std::unique_ptr<Runtime> tried = over(slow, {});

  std::unique_ptr<Runtime> over(Store& by, ProcessLimits limits) {
    RuntimeParts parts{by, loop, clock, random, model};
    parts.process_limits = limits;
    auto opened = Runtime::open(std::move(parts)).value();
    opened->add(graph);
    return opened;
  }
  template <typename T>
  std::unique_ptr<Call<T>> begin(Task<Result<T>> task) {
    auto call = std::make_unique<Call<T>>();
    call->task = spawn<Result<T>>(loop, std::move(task), [at = call.get()](Result<T> result) {
      at->ended = std::move(result);
    });
    return call;
  }
  void pass(std::chrono::microseconds time) { loop.run_until(clock.now() + time); }

  StartOptions named(const std::string& thread) {
    StartOptions options;
    options.thread = ThreadId(thread);
    options.run.timeout = 24h;
    return options;
  }
  RunView view(const std::string& thread) {
    return block_on(loop, runtime->status(default_tenant(), ThreadId(thread))).value();
  }
  bool is_sound() {
    auto checked = block_on(loop, check_store(*store, CheckScope{}));
    return checked.ok() && checked->violations.empty();
  }
  // Runs a worker until it is idle.
  Task<Result<std::size_t>> work_of(Runtime& by) {
    WorkerOptions options;
    options.until_idle = true;
    return by.run_worker(std::move(options));
  }

  // An approval and a walk in one superstep: the run is running while the approval is open.
  Graph<Trip> trip_graph(std::chrono::milliseconds walk) {
    GraphBuilder<Trip> builder{"trip"};
    builder.node("leave", [](const Trip&, Context&) { return append(&Trip::seen, "door"); });
    builder.node("walk", [walk](const Trip&, Context&) -> Task<Update<Trip>> {
      co_await sleep_for(walk);
      co_return append(&Trip::seen, "town");
    });
    builder.approval("ask", &Trip::rounds, {.question = "On?", .expires = 1min})
        .approved("home")
        .rejected(end);
    builder.node("home", [](const Trip&, Context&) { return append(&Trip::seen, "home"); });
    builder.edge(start, "leave").edge("leave", "walk").edge("leave", "ask");
    builder.edge("walk", end).edge("home", end);
    return std::move(builder).build().value();
  }
  // A node that takes `length`, then a wait of an hour, then a node that takes `back`.
  Graph<Trip> resting(std::chrono::milliseconds length, std::chrono::milliseconds back = 0ms) {
    GraphBuilder<Trip> builder{"resting"};
    builder.node("go", [length](const Trip&, Context&) -> Task<Update<Trip>> {
      co_await sleep_for(length);
      co_return add(&Trip::rounds, 1);
    });
    builder.wait("rest", 1h);
    builder.node("return", [back](const Trip&, Context&) -> Task<Update<Trip>> {
      co_await sleep_for(back);
      co_return append(&Trip::seen, "back");
    });
    builder.edge(start, "go").edge("go", "rest").edge("rest", "return").edge("return", end);
    return std::move(builder).build().value();
  }
  void know(const Graph<Trip>& trip) {
    runtime->add(trip);
    tried->add(trip);
  }
  // Returns the only open approval, from the store: the view of a running run does not contain it.
  InterruptId asked() {
    std::function<Result<std::vector<ApprovalRow>>(Snapshot&)> reader = [](Snapshot& view) {
      ApprovalFilter filter;
      filter.tenant = default_tenant();
      return view.approvals(filter);
    };
    auto rows = block_on(loop, read<std::vector<ApprovalRow>>(*store, std::move(reader))).value();
    std::erase_if(rows, [](const ApprovalRow& row) { return row.graph != "trip"; });
    return rows.at(0).interrupt;
  }
  Task<Result<DecisionResult>> decision_of(Runtime& by, InterruptId interrupt, Decision decision) {
    return by.decide(default_tenant(), interrupt, std::move(decision));
  }
};

// Decisions.

TEST_F(Races, OfTwoDecisionsForARunAtWorkTheSlowerOneIsToldTheWinner) {
  auto trip = trip_graph(10min);
  know(trip);
  auto walking = begin(runtime->start(trip, Trip{}, named("t")));
  pass(1s);
  InterruptId interrupt = asked();
  slow.commits_take = 1s;
  auto slower = begin(decision_of(*tried, interrupt, approve("ana")));
  pass(500ms);
  auto faster = block_on(loop, decision_of(*runtime, interrupt, reject("ben"))).value();
  EXPECT_EQ(faster.kind, Kind::accepted);
  pass(10s);
  ASSERT_TRUE(slower->ended);
  EXPECT_EQ(slower->ended->value().kind, Kind::conflict);
  EXPECT_EQ(slower->ended->value().approval.decided_by, "ben");
  loop.run();
  EXPECT_EQ(walking->ended->value().state["seen"].as_array()->size(), 2u) << "nobody went home";
  EXPECT_TRUE(is_sound());
}

TEST_F(Races, ADecisionThatIsOvertakenBetweenItsLooksOrWhileItIsWrittenIsToldTheWinner) {
  for (auto when : {500ms, 1500ms}) {  // it reads for 1 s, then commits
    SCOPED_TRACE(when.count());
    slow.reads_take = slow.commits_take = 1s;
    auto paused = start_mail("urgent").value();
    Decision edited = approve("ana");
    edited.edited = Value("Dear nobody");
    auto slower = begin(decision_of(*tried, paused.approval->interrupt, edited));
    pass(when);
    EXPECT_EQ(decide(paused, approve("ben"))->kind, Kind::accepted);
    loop.run();
    EXPECT_EQ(slower->ended->value().kind, Kind::conflict);
    EXPECT_EQ(slower->ended->value().approval.decided_by, "ben");
    EXPECT_EQ(slower->ended->value().view.state["draft"], Value("Dear urgent"));
  }
}

// At each time: during the walk, while its end is committed, just before the run pauses, or just
// after.
TEST_F(Races, ADecisionIsUsedHoweverCloseItComesToThePauseOfItsRun) {
  auto trip = trip_graph(2s);
  know(trip);
  slow.commits_take = 1s;
  for (std::chrono::milliseconds when = 3'250ms; when < 9s; when += 250ms) {
    SCOPED_TRACE(when.count());
    std::string thread = std::to_string(when.count());
    auto walking = begin(tried->start(trip, Trip{}, named(thread)));
    pass(when);
    auto decided = begin(decision_of(*runtime, asked(), approve()));
    pass(30s);
    ASSERT_TRUE(decided->ended);
    EXPECT_EQ(decided->ended->value().kind, Kind::accepted);
    EXPECT_EQ(view(thread).row.status, RunStatus::completed);
    EXPECT_EQ(view(thread).state["seen"].as_array()->size(), 3u);
    EXPECT_LT(view(thread).row.seq, 20u);
  }
  EXPECT_TRUE(is_sound());
}

TEST_F(Races, AnEditOfWhatARunAtWorkAsksIsUsedByItsOwner) {
  auto trip = trip_graph(10min);
  know(trip);
  auto walking = begin(runtime->start(trip, Trip{}, named("t")));
  pass(1s);
  Decision edited = approve();
  edited.edited = Value(7);
  EXPECT_EQ(block_on(loop, decision_of(*tried, asked(), edited))->kind, Kind::accepted);
  loop.run();
  EXPECT_EQ(walking->ended->value().state["rounds"], Value(7));
}

TEST_F(Races, ADecisionThatComesTooLateForARunAtWorkExpiresTheQuestionAlone) {
  auto trip = trip_graph(10min);
  know(trip);
  auto walking = begin(runtime->start(trip, Trip{}, named("t")));
  pass(2min);
  auto answer = block_on(loop, decision_of(*tried, asked(), approve())).value();
  EXPECT_EQ(answer.kind, Kind::expired);
  EXPECT_EQ(answer.approval.status, ApprovalStatus::expired);
  EXPECT_EQ(answer.view.row.status, RunStatus::running);
  loop.run();
  EXPECT_EQ(walking->ended->value().row.status, RunStatus::completed);
  EXPECT_EQ(walking->ended->value().state["seen"].as_array()->size(), 2u);
  EXPECT_TRUE(is_sound());
}

// The owner must not apply the decision only when it polls next: the node "walk" ends before that,
// and the run would pause. It keeps its owner instead.
TEST_F(Races, ADecisionInTheProcessThatDrivesTheRunIsUsedAtOnce) {
  auto trip = trip_graph(10s + 900ms);
  know(trip);
  auto walking = begin(runtime->start(trip, Trip{}, named("t")));
  pass(10s + 600ms);
  EXPECT_EQ(block_on(loop, decision_of(*runtime, asked(), approve()))->kind, Kind::accepted);
  loop.run();
  auto ended = walking->ended->value();
  EXPECT_EQ(ended.row.status, RunStatus::completed);
  EXPECT_EQ(ended.state["seen"].as_array()->size(), 3u);
  EXPECT_EQ(ended.row.epoch, 1u);
}

TEST_F(Races, AQuestionOfARunThatWaitsInTheQueueIsDecidedAndExpiresThere) {
  for (bool in_time : {true, false}) {
    SCOPED_TRACE(in_time ? "in time" : "too late");
    Races world;
    auto trip = world.trip_graph(10min);
    world.know(trip);
    block_on(world.loop, world.runtime->enqueue(trip, Trip{}, world.named("t"), Instant())).value();
    auto working = world.begin(world.runtime->run_worker(WorkerOptions{}));
    world.pass(10s);
    InterruptId interrupt = world.asked();
    world.runtime->stop();
    world.pass(5s);
    ASSERT_TRUE(working->ended);
    ASSERT_EQ(world.view("t").row.status, RunStatus::queued);
    if (in_time) {
      auto answer = block_on(world.loop, world.decision_of(*world.tried, interrupt, approve()));
      EXPECT_EQ(answer->kind, Kind::accepted);
      EXPECT_EQ(answer->view.row.status, RunStatus::queued);
    } else {
      world.clock.move(2min);
      EXPECT_EQ(block_on(world.loop, world.tried->process_due(default_tenant())).value().total(),
                1u);
      EXPECT_EQ(world.view("t").row.status, RunStatus::queued);
      EXPECT_EQ(block_on(world.loop, world.tried->process_due(default_tenant())).value().total(),
                0u);
    }
    block_on(world.loop, world.work_of(*world.tried)).value();
    EXPECT_EQ(world.view("t").row.status, RunStatus::completed);
    EXPECT_EQ(world.view("t").state["seen"].as_array()->size(), in_time ? 3u : 2u);
    EXPECT_TRUE(world.is_sound());
  }
}

TEST_F(Races, AnExpiryThatALateDecisionHasAppliedMeanwhileIsNotCountedAgain) {
  auto paused = start_mail("urgent", named("t")).value();
  clock.move(25h);
  slow.reads_take = 1s;
  auto applying = begin(tried->process_due(default_tenant()));
  pass(1500ms);  // it has read the due approval, and reads the run now
  EXPECT_EQ(decide(paused, approve())->kind, Kind::expired);
  RunRow ended = view("t").row;
  loop.run();
  EXPECT_EQ(applying->ended->value().total(), 0u);
  EXPECT_EQ(view("t").row, ended);
}

TEST_F(Races, ATimerThatAnotherProcessHasAnsweredMeanwhileIsNotCountedAgain) {
  auto rest = resting(0ms);
  know(rest);
  block_on(loop, runtime->start(rest, Trip{}, named("t"))).value();
  clock.move(2h);
  slow.reads_take = 1s;
  auto applying = begin(tried->process_due(default_tenant()));
  pass(2500ms);  // it has read the page of due runs, and reads the run now
  EXPECT_EQ(block_on(loop, runtime->process_due(default_tenant())).value().total(), 1u);
  RunRow ended = view("t").row;
  loop.run();
  EXPECT_EQ(applying->ended->value().total(), 0u);
  EXPECT_EQ(view("t").row, ended);
}

TEST_F(Races, ATimerThatAWorkerHasAnsweredMeanwhileDoesNotTakeWhatItGaveBackOutOfTheQueue) {
  auto rest = resting(0ms, 1h);
  know(rest);
  block_on(loop, runtime->start(rest, Trip{}, named("t"))).value();
  clock.move(2h);
  slow.reads_take = 1s;
  auto applying = begin(tried->process_due(default_tenant()));
  pass(2100ms);  // it has read the page of due runs, and reads the run now
  auto working = begin(runtime->run_worker(WorkerOptions{}));
  pass(300ms);
  runtime->stop();
  pass(300ms);
  ASSERT_EQ(view("t").row.status, RunStatus::queued);
  pass(1min);
  ASSERT_TRUE(applying->ended);
  EXPECT_EQ(applying->ended->value().total(), 0u);
  EXPECT_EQ(view("t").row.status, RunStatus::queued);
}

TEST_F(Races, WhatIsDueOfAGraphThatThisProgramDoesNotKnowIsLeftToOneThatDoes) {
  auto rest = resting(0ms);
  auto trip = trip_graph(0ms);
  runtime->add(rest);
  runtime->add(trip);
  block_on(loop, runtime->start(rest, Trip{}, named("resting"))).value();
  block_on(loop, runtime->start(trip, Trip{}, named("asking"))).value();
  block_on(loop, runtime->enqueue(rest, Trip{}, named("queued"), Instant())).value();
  clock.move(2h);
  slow.reads = 0;
  EXPECT_EQ(block_on(loop, tried->process_due(default_tenant())).value().total(), 0u);
  EXPECT_EQ(slow.reads, 2) << "it looks at no run that it has no graph for";
  start_mail("urgent", named("mail")).value();
  clock.move(25h);
  RunRow before[] = {view("resting").row, view("asking").row, view("queued").row};
  EXPECT_EQ(block_on(loop, tried->process_due(default_tenant())).value().total(), 1u)
      << "the mail's";
  EXPECT_EQ(block_on(loop, work_of(*tried)).value(), 0u);
  RunRow after[] = {view("resting").row, view("asking").row, view("queued").row};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(after[i], before[i]);
  EXPECT_EQ(block_on(loop, runtime->process_due(default_tenant())).value().total(), 2u);
  auto ended = block_on(loop, decision_of(*tried, asked(), approve()));
  ASSERT_TRUE(ended.ok()) << ended.error().message;
  EXPECT_EQ(ended->kind, DecisionResult::Kind::expired) << "the answer needs no graph";
}

// Damage.

TEST_F(Races, ARunThatHasEndedMeanwhileIsNotQuarantined) {
  start_mail("urgent", named("t")).value();
  clock.move(25h);
  slow.reads_take = 1s;
  slow.damaged_read = slow.damaged_reads = 2;
  auto applying = begin(tried->process_due(default_tenant()));
  pass(3500ms);  // the run could not be read twice, and its row is being read
  block_on(loop, runtime->cancel(default_tenant(), ThreadId("t"), "ana")).value();
  RunRow cancelled = view("t").row;
  loop.run();
  EXPECT_EQ(applying->ended->value().total(), 0u);
  EXPECT_EQ(view("t").row, cancelled);
}

TEST_F(Races, ARunThatIsReadableWhenItIsReadAgainIsNotQuarantined) {
  start_mail("urgent", named("t")).value();
  RunRow before = view("t").row;
  clock.move(25h);
  slow.damaged_read = 2;
  slow.damaged_reads = 1;
  EXPECT_EQ(block_on(loop, tried->process_due(default_tenant())).value().total(), 0u);
  EXPECT_EQ(view("t").row, before);
  EXPECT_EQ(block_on(loop, tried->process_due(default_tenant())).value().total(), 1u);
  EXPECT_EQ(view("t").row.status, RunStatus::completed);
}

TEST_F(Races, ARunThatTwoProcessesFindDamagedIsQuarantinedOnce) {
  start_mail("urgent", named("t")).value();
  clock.move(25h);
  slow.reads_take = 1s;
  slow.damaged_read = slow.damaged_reads = 2;
  SlowStore later{*store};
  later.reads_take = 2s;
  later.damaged_read = later.damaged_reads = 2;
  auto second = over(later, {});
  auto one = begin(tried->process_due(default_tenant()));
  auto two = begin(second->process_due(default_tenant()));
  pass(5s);
  RunRow quarantined = all_runs().at(0);
  EXPECT_EQ(quarantined.status, RunStatus::quarantined);
  loop.run();
  EXPECT_TRUE(one->ended->ok());
  EXPECT_TRUE(two->ended->ok());
  EXPECT_EQ(all_runs().at(0), quarantined);
}

TEST_F(Races, ARunThatIsForgottenMeanwhileHoldsUpNothingElseThatIsDue) {
  auto rest = resting(0ms);
  know(rest);
  for (int damaged_reads : {0, 2}) {
    SCOPED_TRACE(damaged_reads);
    std::string number = std::to_string(damaged_reads);
    start_mail("urgent", named("mail" + number)).value();
    block_on(loop, runtime->start(rest, Trip{}, named("rest" + number))).value();
    clock.move(25h);
    slow.reads = 0;
    slow.reads_take = 1s;
    slow.damaged_read = 2;
    slow.damaged_reads = damaged_reads;
    auto applying = begin(tried->process_due(default_tenant()));
    pass(damaged_reads == 0 ? 1500ms : 3500ms);
    ThreadId thread("mail" + number);
    auto ended = block_on(loop, runtime->cancel(default_tenant(), thread, "ana")).value();
    Commit forgetting;
    forgetting.tenant = default_tenant();
    forgetting.rows.prune.push_back({ended.row.run});
    ASSERT_TRUE(block_on(loop, store->commit(std::move(forgetting))).ok());
    loop.run();
    ASSERT_TRUE(applying->ended->ok()) << applying->ended->error().message;
    EXPECT_EQ(applying->ended->value().total(), 1u) << "the other one has rested";
    EXPECT_EQ(view("rest" + number).row.status, RunStatus::completed);
  }
}

// Readers and workers.

TEST_F(Races, AReaderReadsNothingAnewWhileNothingIsCommitted) {
  RunView paused = start_mail("urgent", named("t")).value();
  EventOptions wanted;
  wanted.thread = ThreadId("t");
  wanted.kinds = {EventKind::status};
  wanted.after = EventId{paused.row.seq, 100};
  auto reader = block_on(loop, tried->events(wanted)).value();
  int before = slow.reads;
  auto next = begin(reader->next());
  pass(60s);
  EXPECT_EQ(slow.reads - before, 1);
  ASSERT_TRUE(start_mail("calm", named("another")).ok());
  pass(60s);
  EXPECT_FALSE(next->ended);
  EXPECT_EQ(slow.reads - before, 2) << "it might have been of this run";
  ASSERT_TRUE(decide(paused, approve("ana")).ok());
  pass(1s);
  ASSERT_TRUE(next->ended);
  EXPECT_FALSE(next->ended->value().empty());
}

TEST_F(Races, AReaderOfARunThatWaitsLooksLessOftenAndMissesNothing) {
  slow.knows_its_version = false;
  StartOptions options = named("t");
  Mail mail;
  mail.topic = "urgent";
  RunView paused = block_on(loop, runtime->start(graph, mail, options)).value();
  EventOptions wanted;
  wanted.thread = ThreadId("t");
  wanted.kinds = {EventKind::status};
  wanted.after = EventId{paused.row.seq, 100};
  wanted.poll_max = 5s;
  auto reader = block_on(loop, tried->events(wanted)).value();
  int before = slow.reads;
  auto next = begin(reader->next());
  pass(60s);
  EXPECT_FALSE(next->ended);
  EXPECT_LT(slow.reads - before, 25) << "every 200 ms that would be 300";
  ASSERT_TRUE(decide(paused, approve("ana")).ok());
  pass(6s);
  ASSERT_TRUE(next->ended);
  EXPECT_FALSE(next->ended->value().empty());
}

TEST_F(Races, AnApprovalWhoseRunIsCancelledMeanwhileIsNotCountedAsExpired) {
  RunView paused = start_mail("urgent", named("t")).value();
  clock.move(25h);
  slow.reads_take = 1s;
  auto applying = begin(tried->process_due(default_tenant()));
  pass(1500ms);
  EXPECT_FALSE(applying->ended) << "it has found the approval, and not looked at its run yet";
  block_on(loop, runtime->cancel(default_tenant(), paused.row.thread, "ana")).value();
  loop.run();
  EXPECT_EQ(applying->ended->value().total(), 0u);
  EXPECT_EQ(view("t").row.status, RunStatus::cancelled);
  EXPECT_TRUE(is_sound());
}

TEST_F(Races, OfTwoThatEnqueueOneThreadAtTheSameInstantBothGetTheRun) {
  slow.commits_take = 1s;
  Mail calm{.topic = "calm"};
  auto one = begin(tried->enqueue(graph, calm, named("t"), Instant()));
  auto two = begin(tried->enqueue(graph, calm, named("t"), Instant()));
  loop.run();
  EXPECT_EQ(one->ended->value().row.status, RunStatus::queued);
  ASSERT_TRUE(two->ended->ok());
  EXPECT_EQ(two->ended->value().row.run, one->ended->value().row.run);
  EXPECT_EQ(all_runs().size(), 1u);
  Mail urgent{.topic = "urgent"};
  auto other = block_on(loop, tried->enqueue(graph, urgent, named("t"), Instant()));
  EXPECT_EQ(other.error().code, ErrorCode::invalid) << "the thread was begun with another input";
}

TEST_F(Races, WhatIsOnItsWayIntoTheQueueTakesAPlaceThereUntilItHasLanded) {
  auto limited = over(slow, {.queued = 2});
  slow.commits_take = 1s;
  Mail calm{.topic = "calm"};
  auto one = begin(limited->enqueue(graph, calm, named("a"), Instant()));
  auto two = begin(limited->enqueue(graph, calm, named("b"), Instant()));
  auto three = begin(limited->enqueue(graph, calm, named("c"), Instant()));
  loop.run();
  EXPECT_TRUE(one->ended->ok());
  EXPECT_TRUE(two->ended->ok());
  ASSERT_FALSE(three->ended->ok());
  EXPECT_EQ(three->ended->error().code, ErrorCode::unavailable);
  EXPECT_EQ(all_runs().size(), 2u);
  EXPECT_EQ(block_on(loop, work_of(*runtime)).value(), 2u);
  EXPECT_TRUE(block_on(loop, limited->enqueue(graph, calm, named("c"), Instant())).ok())
      << "there is room again";
}

TEST_F(Races, ARunIsTakenUpOnceHoweverLongItTakesToReadIt) {
  Mail calm{.topic = "calm"};
  block_on(loop, runtime->enqueue(graph, calm, named("t"), Instant())).value();
  slow.long_read = 2;
  auto working = begin(work_of(*tried));
  loop.run();
  EXPECT_EQ(working->ended->value(), 1u);
  EXPECT_EQ(view("t").row.outcome, "sent");
  EXPECT_EQ(model.requests().size(), 1u);
}

TEST_F(Races, AWorkerThatEndsWhenIdleEndsWhatItHasTakenUpFirst) {
  auto rest = resting(1min);
  know(rest);
  block_on(loop, runtime->enqueue(rest, Trip{}, named("t"), Instant())).value();
  EXPECT_EQ(block_on(loop, work_of(*tried)).value(), 1u);
  EXPECT_EQ(view("t").row.reason, "timer");
}

TEST_F(Races, ADrainLeavesARunInTheQueueThatIsJustBeingTakenUp) {
  auto rest = resting(1h);
  know(rest);
  block_on(loop, runtime->enqueue(rest, Trip{}, named("t"), Instant())).value();
  slow.long_read = 2;
  auto working = begin(tried->run_worker(WorkerOptions{}));
  pass(5s);
  std::uint64_t seq = view("t").row.seq;
  tried->drain();
  pass(1s);
  EXPECT_FALSE(working->ended) << "what it has begun to read is its own until it knows";
  pass(10s);
  EXPECT_TRUE(working->ended);
  EXPECT_EQ(view("t").row.status, RunStatus::queued);
  EXPECT_EQ(view("t").row.seq, seq) << "nobody took it";
}

TEST_F(Races, ADrainReleasesTheRunsTooThatTheProgramHasStartedItself) {
  auto rest = resting(1min);
  know(rest);
  auto trip = trip_graph(1min);
  know(trip);
  block_on(loop, runtime->enqueue(trip, Trip{}, named("taken up"), Instant())).value();
  auto started = begin(tried->start(rest, Trip{}, named("started")));
  auto working = begin(tried->run_worker(WorkerOptions{}));
  pass(5s);
  tried->drain();
  pass(5s);
  EXPECT_FALSE(working->ended) << "nodes are under way";
  EXPECT_EQ(view("started").row.status, RunStatus::running);
  pass(1min);
  EXPECT_TRUE(working->ended);
  ASSERT_TRUE(started->ended);
  EXPECT_EQ(started->ended->value().row.status, RunStatus::queued);
  EXPECT_EQ(started->ended->value().row.node, "rest") << "its node has ended, and is saved";
  EXPECT_EQ(view("taken up").row.status, RunStatus::paused) << "it waits for a person by now";
  EXPECT_TRUE(is_sound());
}

TEST_F(Races, WhileAProcessDrainsItBeginsNothingAndADecisionGoesToTheQueue) {
  auto paused = start_mail("urgent", named("asks")).value();
  auto rest = resting(1min);
  know(rest);
  auto started = begin(tried->start(rest, Trip{}, named("under way")));
  pass(1s);
  tried->drain();
  auto refused = block_on(loop, tried->start(rest, Trip{}, named("new")));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(refused.error().retry_after);
  EXPECT_FALSE(block_on(loop, tried->status(default_tenant(), ThreadId("new"))).ok());
  auto queued = block_on(loop, tried->enqueue(rest, Trip{}, named("later"), Instant()));
  EXPECT_EQ(queued.value().row.status, RunStatus::queued);
  auto resumed = block_on(loop, tried->resume(default_tenant(), ThreadId("later")));
  EXPECT_EQ(resumed.error().code, ErrorCode::unavailable);
  EXPECT_EQ(view("later").row.status, RunStatus::queued);
  auto decided = block_on(loop, decision_of(*tried, paused.approval->interrupt, approve()));
  EXPECT_EQ(decided.value().kind, Kind::accepted);
  EXPECT_EQ(decided.value().view.row.status, RunStatus::queued);
}

// Whether it ends while the worker polls, or while the worker waits.
TEST_F(Races, ARunThatHasRestedIsTakenUpAgainByTheSameWorkerWheneverItEnded) {
  slow.reads_take = 1s;
  for (int part = 0; part < 6; ++part) {
    SCOPED_TRACE(part);
    auto rest = resting(5s + part * 200ms);
    know(rest);
    std::string thread = "t" + std::to_string(part);
    block_on(loop, runtime->enqueue(rest, Trip{}, named(thread), Instant())).value();
    EXPECT_EQ(block_on(loop, work_of(*tried)).value(), 1u);
    ASSERT_EQ(view(thread).row.reason, "timer");
    clock.move(2h);
    EXPECT_EQ(block_on(loop, work_of(*tried)).value(), 1u);
    EXPECT_EQ(view(thread).row.status, RunStatus::completed);
  }
}
}  // namespace
}  // namespace belay
