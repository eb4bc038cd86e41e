// Tests that all readers of a run receive the same events, at any time and in any process.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/event_fixture.h"

namespace belay {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(Events, ALinearRunTellsWhatEachCommitChanged) {
  GraphBuilder<Plan> builder{"linear"};
  builder.node("one", logs("one"));
  builder.node("two", logs("two"));
  builder.edge(start, "one").edge("one", "two").edge("two", end);
  auto graph = built(std::move(builder));
  auto runtime = process(graph);
  play(*runtime, graph);
  auto events = read_now(*runtime, options({EventKind::status, EventKind::updates, EventKind::tasks,
                                            EventKind::checkpoints}));
  EXPECT_THAT(
      outline(events),
      ElementsAre("tasks one begun", "checkpoints running", "status running", "tasks one ended",
                  "updates one", "tasks two begun", "checkpoints one running", "tasks two ended",
                  "updates two", "checkpoints two completed", "status two completed"));
  EXPECT_EQ(events.back().body["outcome"], Value("done"));
  EXPECT_EQ(events.back().id->seq, 3u);
  EXPECT_EQ(events[4].body["channels"]["log"]["kind"], Value("append"));
}

TEST_F(Events, FiltersHideEventsAndLeaveTheirIdsAsTheyAre) {
  auto graph = everything();
  auto runtime = process(graph);
  play(*runtime, graph);
  auto all = read_now(*runtime);
  for (EventKind kind : {EventKind::status, EventKind::values, EventKind::updates,
                         EventKind::messages, EventKind::custom, EventKind::tasks,
                         EventKind::checkpoints, EventKind::approvals, EventKind::debug}) {
    std::vector<StreamEvent> expected = all;
    std::erase_if(expected, [kind](const StreamEvent& event) { return event.kind != kind; });
    EXPECT_THAT(expected, Not(IsEmpty())) << name_of(kind);
    EXPECT_EQ(texts_of(read_now(*runtime, options({kind}))), texts_of(expected)) << name_of(kind);
  }
}

TEST_F(Events, IdsHaveNoGapInACommit) {
  auto graph = everything();
  auto runtime = process(graph);
  RunView view = play(*runtime, graph);
  auto all = read_now(*runtime);
  EventId expected{1, 0};
  for (const StreamEvent& event : all) {
    if (event.id->seq != expected.seq) expected = {expected.seq + 1, 0};
    EXPECT_EQ(*event.id, expected);
    ++expected.index;
  }
  EXPECT_EQ(expected.seq, view.row.seq);
}

TEST_F(Events, WhoReadsWhileTheyHappenGetsWhatIsReadAtTheEndInThisProcessAndInAnother) {
  for (Durability durability : {Durability::sync, Durability::async, Durability::exit}) {
    kept = open_memory_store(clock, random);
    HaltingStore fresh(*kept);
    auto graph = everything();
    RuntimeParts parts{fresh, loop, clock, random, model};
    auto runtime = Runtime::open(parts).value();
    auto other = Runtime::open(parts).value();
    for (auto* each : {runtime.get(), other.get()}) each->add(graph);
    RunOptions run;
    run.durability = durability;
    // A reader needs an existing run: it is enqueued first.
    auto queued = block_on(loop, runtime->enqueue(graph, Plan{}, on_thread(run), clock.now()));
    ASSERT_TRUE(queued.ok());
    Following here, there;
    loop.post([&] {
      follow(*runtime, here);
      follow(*other, there);
    });
    auto view = block_on(loop, runtime->resume(default_tenant(), ThreadId("t"))).value();
    while (view.row.status == RunStatus::paused) {
      ASSERT_FALSE(view.approvals.empty());
      Decision decision;
      decision.approved = true;
      decision.decided_by = "ana";
      InterruptId asked = view.approvals.back().interrupt;
      view = block_on(loop, runtime->decide(default_tenant(), asked, decision)).value().view;
    }
    loop.run_until(clock.now() + 1min);
    ASSERT_TRUE(here.ended && there.ended);
    auto expected = texts_of(read_now(*other));
    EXPECT_EQ(texts_of(durable(here.events)), expected);
    EXPECT_EQ(texts_of(there.events), expected) << "and nothing that is said in another process";
  }
}

TEST_F(Events, AReaderWhoComesBackGetsExactlyTheRest) {
  auto graph = everything();
  auto runtime = process(graph);
  play(*runtime, graph);
  auto all = texts_of(read_now(*runtime));
  auto events = read_now(*runtime);
  for (std::size_t i = 0; i < events.size(); ++i) {
    EventOptions rest = options();
    rest.after = events[i].id;
    auto expected = all;
    expected.erase(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    EXPECT_EQ(texts_of(read_now(*runtime, rest)), expected) << events[i].id->text();
  }
}

TEST_F(Events, ValuesAreTheStateAsItStoodThen) {
  auto graph = everything();
  auto runtime = process(graph);
  play(*runtime, graph);
  int seen = 0;
  for (const StreamEvent& event : read_now(*runtime, options({EventKind::values}))) {
    if (!event.checkpoint_ns.empty()) continue;
    auto then = block_on(loop, runtime->status_at(default_tenant(), ThreadId("t"), event.id->seq));
    EXPECT_EQ(to_json(event.body), to_json(then.value().state)) << event.id->text();
    ++seen;
  }
  EXPECT_GE(seen, 4);
}

TEST_F(Events, WhatHappensInASuperstepIsToldWithItsEnd) {
  auto graph = fan_out();
  auto runtime = process(graph);
  Spawned running;
  loop.post([&] {
    running = spawn<Result<RunView>>(loop, runtime->start(graph, Plan{}, on_thread()),
                                     [](const Result<RunView>&) {});
  });
  loop.run_until(clock.now() + 25ms);
  EXPECT_EQ(store.pending, 2) << "b and c have ended";
  auto before = read_now(*runtime, options({EventKind::updates}));
  EXPECT_THAT(outline(before), ElementsAre("updates split"));
  loop.run();
  EventOptions rest = options({EventKind::updates});
  rest.after = before.back().id;
  EXPECT_THAT(outline(read_now(*runtime, rest)),
              ElementsAre("updates a", "updates b", "updates c", "updates join"));
}

TEST_F(Events, AFailedAttemptIsToldWithItsErrorAndItsTime) {
  GraphBuilder<Plan> builder{"flaky"};
  builder
      .node("flaky",
            [](const Plan&, Context& context) -> Result<Update<Plan>> {
              if (context.attempt() < 3) return error(ErrorCode::unavailable, "It is away.");
              return append(&Plan::log, "there");
            })
      .retry({.attempts = 3});
  builder.edge(start, "flaky").edge("flaky", end);
  auto graph = built(std::move(builder));
  auto runtime = process(graph);
  play(*runtime, graph);
  auto events = read_now(*runtime, options({EventKind::tasks}));
  ASSERT_THAT(outline(events), ElementsAre("tasks flaky begun", "tasks flaky attemptFailed",
                                           "tasks flaky attemptFailed", "tasks flaky ended"));
  EXPECT_EQ(events[2].body["attempt"], Value(2));
  EXPECT_EQ(events[2].body["error"]["message"], Value("It is away."));
  EXPECT_TRUE(instant_from(*events[2].body["due"].as_string()));
}

TEST_F(Events, AQuestionIsToldWhileOthersStillWorkAndItsAnswerWithTheSuperstepsEnd) {
  auto graph = everything();
  auto runtime = process(graph);
  Spawned running;
  loop.post([&] {
    running = spawn<Result<RunView>>(loop, runtime->start(graph, Plan{}, on_thread()),
                                     [](const Result<RunView>&) {});
  });
  loop.run_until(clock.now() + 1ms);
  auto asked = read_now(*runtime, options({EventKind::approvals}));
  EXPECT_THAT(outline(asked), ElementsAre("approvals ask asked", "approvals keep asked"));
  EXPECT_EQ(asked[0].body["payload"], Value(7));
  auto status = block_on(loop, runtime->status(default_tenant(), ThreadId("t"))).value();
  EXPECT_EQ(asked[0].id->seq, status.row.seq + 1) << "of the commit that is to come";
  loop.run();
  auto again = read_now(*runtime, options({EventKind::approvals}));
  EXPECT_EQ(texts_of(again), texts_of(asked)) << "and with that commit they are the same";
}

TEST_F(Events, AnApprovalTellsWhoDecidedAndWhatWasEdited) {
  auto graph = everything();
  auto runtime = process(graph);
  auto view = block_on(loop, runtime->start(graph, Plan{}, on_thread())).value();
  while (view.row.status == RunStatus::paused) {
    Decision decision;
    decision.approved = true;
    decision.decided_by = "ana";
    decision.comment = "fine";
    ApprovalRow asked = view.approvals.front();
    if (asked.node == "review") decision.edited = Value("another plan");
    view =
        block_on(loop, runtime->decide(default_tenant(), asked.interrupt, decision)).value().view;
  }
  auto events = read_now(*runtime, options({EventKind::approvals}));
  ASSERT_THAT(outline(events), ElementsAre("approvals ask asked", "approvals keep asked",
                                           "approvals ask approved", "approvals keep approved",
                                           "approvals review asked", "approvals review approved"));
  EXPECT_EQ(events.back().body["decidedBy"], Value("ana"));
  EXPECT_EQ(events.back().body["comment"], Value("fine"));
  EXPECT_EQ(events.back().body["edited"], Value("another plan"));
}

TEST_F(Events, ASubgraphsStepsAreToldWithItsNamespace) {
  auto graph = everything();
  auto runtime = process(graph);
  play(*runtime, graph);
  std::vector<StreamEvent> inside = read_now(*runtime);
  std::erase_if(inside, [](const StreamEvent& event) {
    return event.checkpoint_ns.empty() || event.kind == EventKind::debug ||
           event.kind == EventKind::checkpoints;
  });
  EXPECT_THAT(
      outline(inside),
      ElementsAre("updates inside", "values inside", "tasks open begun inside",
                  "tasks open ended inside", "updates open inside", "values inside",
                  "tasks keep begun inside", "tasks keep ended inside", "tasks close begun inside",
                  "tasks close ended inside", "updates close inside", "values inside"));
  EXPECT_EQ(inside.back().body["lines"], parse_json(R"(["open a plan","close"])").value());
}

TEST_F(Events, AForkTellsWhereItBeginsAndItsOwnSteps) {
  auto graph = everything();
  auto runtime = process(graph);
  play(*runtime, graph);
  ForkOptions fork;
  fork.from = ThreadId("t");
  fork.seq = 1;
  fork.thread = ThreadId("other");
  fork.edits = Value::object({{"total", 40}});
  ASSERT_TRUE(block_on(loop, runtime->fork(fork)).ok());
  EventOptions wanted = options({EventKind::values, EventKind::checkpoints, EventKind::tasks});
  wanted.thread = ThreadId("other");
  auto events = read_now(*runtime, wanted);
  EXPECT_EQ(outline(events).front(), "values");
  EXPECT_EQ(events.front().body["total"], Value(40));
  EXPECT_THAT(outline(events), Contains("tasks split begun"));
}

TEST_F(Events, ACancelledRunTellsWhatWasStillAsked) {
  auto graph = everything();
  auto runtime = process(graph);
  ASSERT_TRUE(block_on(loop, runtime->start(graph, Plan{}, on_thread())).ok());
  ASSERT_TRUE(block_on(loop, runtime->cancel(default_tenant(), ThreadId("t"), "ana")).ok());
  auto lines = outline(read_now(*runtime));
  EXPECT_THAT(lines, Contains("approvals keep closed"));
  EXPECT_THAT(lines, Contains("tasks open ended inside"));
  EXPECT_THAT(lines, Not(Contains("tasks slow ended"))) << "its superstep never ended";
  EXPECT_EQ(lines.back(), "status slow,flaky,inside,ask cancelled");
}

TEST_F(Events, AReaderThatFollowsEndsWithTheRunAndOneThatDoesNotEndsWhereItStands) {
  auto graph = everything();
  auto runtime = process(graph);
  ASSERT_TRUE(block_on(loop, runtime->start(graph, Plan{}, on_thread())).ok());
  EXPECT_EQ(outline(read_now(*runtime, options({EventKind::status}))).back(),
            "status slow,flaky,inside,ask paused");
  Following following;
  loop.post([&] { follow(*runtime, following); });
  loop.run_until(clock.now() + 1h);
  EXPECT_FALSE(following.ended);
  ASSERT_TRUE(block_on(loop, runtime->cancel(default_tenant(), ThreadId("t"), "ana")).ok());
  loop.run_until(clock.now() + 1s);
  EXPECT_TRUE(following.ended);
}

TEST_F(Events, ThereIsNoPlaceBeyondTheEndOrInAnUnknownThread) {
  auto graph = everything();
  auto runtime = process(graph);
  EXPECT_EQ(block_on(loop, runtime->events(options())).error().code, ErrorCode::not_found);
  RunView view = play(*runtime, graph);
  EventOptions beyond = options();
  beyond.after = EventId{view.row.seq + 2, 0};
  EXPECT_EQ(block_on(loop, runtime->events(beyond)).error().code, ErrorCode::invalid);
  EventOptions foreign = options();
  foreign.run = RunId(random_uuid(random));
  EXPECT_EQ(block_on(loop, runtime->events(foreign)).error().code, ErrorCode::not_found);
  for (std::string text : {"", "3", "-", "3-", "-1", "a-b", "1-2-3", "1-2 "}) {
    EXPECT_FALSE(event_id_from(text)) << text;
  }
  EXPECT_EQ(event_id_from("12-3"), (EventId{12, 3}));
}

TEST_F(Events, OfAPrunedRunTheRestKeepsItsIds) {
  auto graph = everything();
  auto runtime = process(graph);
  RunView view = play(*runtime, graph);
  auto all = read_now(*runtime);
  for (std::uint64_t before = 2; before <= view.row.seq; ++before) {
    Commit commit;
    commit.tenant = default_tenant();
    PruneRun prune;
    prune.run = view.row.run;
    prune.before_seq = before;
    commit.rows.prune.push_back(prune);
    ASSERT_EQ(block_on(loop, store.commit(std::move(commit))).value(), CommitOutcome::applied);
    auto rest = read_now(*runtime);
    // If the commits are pruned within a superstep, the commit that scheduled its tasks remains,
    // and its events are still reported.
    std::uint64_t first = rest.empty() ? view.row.seq + 1 : rest.front().id->seq;
    EXPECT_LE(first, before + 1);
    auto expected = all;
    std::erase_if(expected, [first](const StreamEvent& event) { return event.id->seq < first; });
    EXPECT_EQ(texts_of(rest), texts_of(expected)) << before;
    EventOptions lost = options();
    lost.after = EventId{first - 1, 0};
    EXPECT_EQ(block_on(loop, runtime->events(lost)).error().code, ErrorCode::not_found);
  }
}

}  // namespace
}  // namespace belay
