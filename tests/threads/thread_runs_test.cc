// Tests threads with several runs: each starts from the state that the run before it has left.
// Long on purpose: one fixture, on each kind of store.

#include <gmock/gmock.h>

#include "belay/check.h"
#include "belay/json_graph.h"
#include "belay/storage.h"
#include "testing/inline_store.h"
#include "tests/conformance/temporary_folder.h"
#include "tests/support/runtime_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Talk {
  std::string question{};
  std::vector<std::string> said{};
  std::map<std::string, int> seen{};
  int turns = 0;
  std::string longest{};
  std::string answer{};
  std::string note{};
  bool good = false;
};

Update<Talk> reply(const Talk& talk, Context&) {
  std::string text = "re " + talk.question;
  return set(&Talk::answer, text).append(&Talk::said, text).reduce(&Talk::longest, text);
}

// Fails after the other node of its superstep has completed.
Task<Result<Update<Talk>>> refuse(const Talk& talk, Context&) {
  if (talk.question == "work and fail") {
    co_await sleep_for(1s);
    co_return error(ErrorCode::invalid, "It must fail.");
  }
  co_return unchanged<Talk>();
}

Update<Talk> remark(const Talk& talk, Context&) {
  return append(&Talk::said, "noted " + talk.question).set(&Talk::note, talk.question);
}

GraphBuilder<Talk> talk_builder(std::string name = "talk") {
  GraphBuilder<Talk> graph{std::move(name)};
  graph.accumulate(&Talk::said).accumulate(&Talk::seen).accumulate(&Talk::turns);
  graph.reducer(&Talk::longest, [](std::string so_far, const std::string& other) {
    return other.size() > so_far.size() ? other : so_far;
  });
  graph.node("reply", reply);
  graph.approval("review", &Talk::answer, {.question = "Good?"})
      .approved("split")
      .rejected(end)
      .decision_flag(&Talk::good);
  graph.node("split", [](const Talk&, Context&) { return unchanged<Talk>(); });
  graph.node("refuse", refuse);
  graph.node("remark", remark);
  graph.edge(start, "reply");
  graph.branch("reply",
               [](const Talk& talk) -> std::string {
                 if (talk.question.starts_with("ask")) return "review";
                 return talk.question.starts_with("work") ? "split" : std::string(end);
               },
               {"review", "split", end});
  graph.edge("split", "refuse").edge("split", "remark");
  graph.edge("refuse", end).edge("remark", end);
  return graph;
}

Graph<Talk> built(GraphBuilder<Talk> graph) { return std::move(graph).build().value(); }

std::string text_of(const Value& value) { return to_json(value); }

struct Threads : RuntimeFixture, ::testing::WithParamInterface<std::string> {
  conformance::TemporaryFolder folder;
  std::unique_ptr<Store> bare;  // under an encrypted store
  Graph<Talk> talk = built(talk_builder());
  CheckScope scope;

  Threads() {
    runtime.reset();
    store = make_store();
    runtime = process();
    runtime->add(talk);
    scope.graphs = {graph.definition(), talk.definition()};
  }
  ~Threads() override {
    runtime.reset();
    store.reset();
  }

  std::unique_ptr<Store> make_store() {
    if (GetParam() == "memory") {
      return std::make_unique<RepeatingStore>(open_memory_store(clock, random));
    }
    auto sqlite = open_sqlite_store(folder.file("threads.db"), clock, random).value();
    bare = std::make_unique<testing::InlineStore>(std::move(sqlite));
    if (GetParam() == "sqlite") return std::move(bare);
    EncryptionOptions options;
    options.keys = KeyRing::from_text("k1:" + std::string(64, 'a')).value();
    return make_encrypted_store(*bare, random, std::move(options));
  }

  static StartOptions on(std::string thread, BusyThread if_busy = BusyThread::reject) {
    StartOptions options;
    options.thread = ThreadId(std::move(thread));
    options.if_busy = if_busy;
    return options;
  }
  static Talk asks(std::string question) {
    Talk input;
    input.question = std::move(question);
    input.said = {"q " + input.question};
    input.seen = {{input.question, 1}};
    input.turns = 1;
    return input;
  }
  Result<RunView> start(Talk input, StartOptions options) {
    return block_on(loop, runtime->start(talk, std::move(input), std::move(options)));
  }
  RunView say(std::string question, StartOptions options = on("t")) {
    auto view = start(asks(std::move(question)), std::move(options));
    EXPECT_TRUE(view.ok()) << view.error().message;
    return view.ok() ? *view : RunView{};
  }
  RunView status(std::optional<RunId> run = std::nullopt) {
    return block_on(loop, runtime->status(default_tenant(), ThreadId("t"), run)).value();
  }
  void work() {
    WorkerOptions options;
    options.until_idle = true;
    ASSERT_TRUE(block_on(loop, runtime->run_worker(std::move(options))).ok());
  }
  DecisionResult decide_open(const RunView& paused, bool approved) {
    return decide(paused, approved ? approve() : reject()).value();
  }
  std::string violations() {
    std::string found;
    CheckReport report = block_on(loop, check_store(*store, scope)).value();
    for (const Violation& each : report.violations) {
      found += each.rule + " " + each.subject + ": " + each.message + "\n";
    }
    return found;
  }
  std::vector<RunRow> runs() {
    std::vector<RunRow> rows = all_runs();
    std::reverse(rows.begin(), rows.end());
    return rows;
  }
};

TEST_P(Threads, ASecondRunStartsFromTheStateThatTheFirstHasLeft) {
  RunView first = say("one");
  RunView second = say("two");
  EXPECT_EQ(second.row.status, RunStatus::completed);
  EXPECT_NE(second.row.run, first.row.run);
  EXPECT_EQ(second.row.ordinal, 1);
  EXPECT_EQ(text_of(second.state["said"]), R"(["q one","re one","q two","re two"])");
  EXPECT_EQ(text_of(second.state["seen"]), R"({"one":1,"two":1})");
  EXPECT_EQ(second.state["turns"], Value(2));
  EXPECT_EQ(second.state["question"], Value("two"));
  EXPECT_EQ(violations(), "");
}

TEST_P(Threads, EachRunKeepsItsOwnStateAndHistory) {
  std::vector<RunId> ids;
  for (std::string question : {"a", "bb", "c", "dddd", "e"}) ids.push_back(say(question).row.run);
  EXPECT_EQ(text_of(status(ids[0]).state["said"]), R"(["q a","re a"])");
  EXPECT_EQ(text_of(status(ids[2]).state["said"]), R"(["q a","re a","q bb","re bb","q c","re c"])");
  EXPECT_EQ(status(ids[2]).state["longest"], Value("re bb"));
  EXPECT_EQ(status().row.run, ids[4]);
  EXPECT_EQ(status().state["longest"], Value("re dddd"));
  EXPECT_EQ(status().state["turns"], Value(5));
  auto begun = block_on(loop, runtime->status_at(default_tenant(), ThreadId("t"), 1, ids[2]));
  EXPECT_EQ(text_of(begun->state["said"]), R"(["q a","re a","q bb","re bb","q c"])");
  EXPECT_EQ(begun->state["answer"], Value("re bb"));
  EXPECT_EQ(violations(), "");
}

TEST_P(Threads, AChannelThatTheInputLeavesAtItsDefaultKeepsTheStateOfTheThread) {
  say("one");
  RunView second = start(Talk{}, on("t")).value();
  EXPECT_EQ(second.state["question"], Value("one"));
  EXPECT_EQ(text_of(second.state["said"]), R"(["q one","re one","re one"])");
  EXPECT_EQ(violations(), "");
}

TEST_P(Threads, AnotherProcessContinuesTheThread) {
  say("one");
  runtime.reset();
  runtime = process();
  runtime->add(talk);
  EXPECT_EQ(say("two").state["turns"], Value(2));
  runtime.reset();
  runtime = process();
  runtime->add(talk);
  EXPECT_EQ(say("three").state["turns"], Value(3));
}

TEST_P(Threads, AStartOnABusyThreadIsRejectedAndNamesTheRun) {
  RunView paused = say("ask");
  ASSERT_EQ(paused.row.status, RunStatus::paused);
  auto second = start(asks("two"), on("t"));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::conflict);
  EXPECT_THAT(second.error().message, HasSubstr(paused.row.run.text()));
  EXPECT_THAT(second.error().message, HasSubstr("paused"));
  EXPECT_EQ(runs().size(), 1u);
}

TEST_P(Threads, AnEnqueuedRunWaitsForTheEndOfAllEarlierRuns) {
  RunView paused = say("ask");
  RunView second = say("two", on("t", BusyThread::enqueue));
  RunView third = say("three", on("t", BusyThread::enqueue));
  EXPECT_EQ(second.row.status, RunStatus::queued);
  EXPECT_FALSE(has_started(second.row));
  EXPECT_EQ(third.row.ordinal, 2);
  work();
  EXPECT_EQ(status(second.row.run).row.status, RunStatus::queued);
  EXPECT_EQ(status().row.run, paused.row.run) << "the current run";
  EXPECT_EQ(violations(), "");
  decide_open(paused, true);
  work();
  EXPECT_EQ(text_of(status(second.row.run).state["said"]),
            R"(["q ask","re ask","noted ask","q two","re two"])");
  EXPECT_EQ(status(third.row.run).state["turns"], Value(3));
  EXPECT_EQ(status(third.row.run).row.status, RunStatus::completed);
  EXPECT_EQ(violations(), "");
}

TEST_P(Threads, ADecisionInALaterRunChangesItsState) {
  say("one");
  RunView paused = say("ask");
  DecisionResult decided = decide_open(paused, true);
  EXPECT_EQ(decided.view.state["good"], Value(true));
  EXPECT_EQ(violations(), "");
}

TEST_P(Threads, AWaitingRunIsNotStartedByHandWhileAnEarlierOneHasNotEnded) {
  say("ask");
  RunView second = say("two", on("t", BusyThread::enqueue));
  RunView resumed = block_on(loop, runtime->resume(default_tenant(), ThreadId("t"))).value();
  EXPECT_EQ(resumed.row.status, RunStatus::paused) << "the earlier run is the current one";
  EXPECT_EQ(status(second.row.run).row.seq, 1u);
  EXPECT_EQ(status(second.row.run).state["question"], Value("two"));
}

TEST_P(Threads, AWaitingRunThatIsCancelledLeavesTheStateOfTheThreadAsItIs) {
  RunView paused = say("ask");
  RunView second = say("two", on("t", BusyThread::enqueue));
  ASSERT_TRUE(
      block_on(loop, runtime->cancel(default_tenant(), ThreadId("t"), "ana", "", second.row.run))
          .ok());
  EXPECT_EQ(status(second.row.run).row.status, RunStatus::cancelled);
  decide_open(paused, false);
  EXPECT_EQ(status().row.run, paused.row.run) << "the newest run that has begun";
  RunView third = say("three");
  EXPECT_EQ(third.row.ordinal, 2);
  EXPECT_EQ(text_of(third.state["said"]), R"(["q ask","re ask","q three","re three"])");
  EXPECT_EQ(violations(), "");
}

TEST_P(Threads, InterruptCancelsTheEarlierRunsAndStartsFromTheStateThatTheyHaveLeft) {
  RunView paused = say("ask");
  RunView waiting = say("two", on("t", BusyThread::enqueue));
  RunView third = say("three", on("t", BusyThread::interrupt));
  EXPECT_EQ(third.row.status, RunStatus::completed);
  EXPECT_EQ(status(paused.row.run).row.status, RunStatus::cancelled);
  EXPECT_EQ(status(waiting.row.run).row.status, RunStatus::cancelled);
  EXPECT_EQ(text_of(third.state["said"]), R"(["q ask","re ask","q three","re three"])");
  EXPECT_EQ(violations(), "");
}

TEST_P(Threads, RollbackDeletesTheEarlierRunsAndStartsFromTheStateBeforeThem) {
  say("one");
  RunView paused = say("ask");
  RunView third = say("three", on("t", BusyThread::rollback));
  EXPECT_EQ(third.row.status, RunStatus::completed);
  EXPECT_EQ(third.row.ordinal, 2) << "the deleted run had 1";
  auto gone = block_on(loop, runtime->status(default_tenant(), ThreadId("t"), paused.row.run));
  EXPECT_EQ(gone.error().code, ErrorCode::not_found);
  EXPECT_EQ(text_of(third.state["said"]), R"(["q one","re one","q three","re three"])");
  EXPECT_EQ(say("four").state["turns"], Value(3));
  EXPECT_EQ(violations(), "");
}

TEST_P(Threads, RollbackOfTheFirstRunKeepsTheTitleOfTheThread) {
  say("ask");
  ThreadSettings settings;
  settings.title = "Talks";
  ASSERT_TRUE(block_on(loop, runtime->edit_thread(default_tenant(), ThreadId("t"), settings)).ok());
  RunView second = say("two", on("t", BusyThread::rollback));
  EXPECT_EQ(second.row.ordinal, 0);
  EXPECT_EQ(text_of(second.state["said"]), R"(["q two","re two"])");
  settings.title.reset();
  settings.metadata = Value::object({{"a", 1}});
  auto row = block_on(loop, runtime->edit_thread(default_tenant(), ThreadId("t"), settings));
  EXPECT_EQ(row->title, "Talks");
}

TEST_P(Threads, AKnownIdempotencyKeyFindsItsRun) {
  StartOptions options = on("t");
  options.idempotency_key = "monday";
  RunView first = say("one", options);
  say("two");
  RunView again = say("one", options);
  EXPECT_EQ(again.row.run, first.row.run);
  EXPECT_EQ(text_of(again.state["said"]), R"(["q one","re one"])");
  EXPECT_EQ(runs().size(), 2u);
  EXPECT_EQ(start(asks("other"), options).error().code, ErrorCode::invalid);
  options.thread = ThreadId("u");
  EXPECT_EQ(start(asks("one"), options).error().code, ErrorCode::invalid);
  options.thread = {};
  EXPECT_EQ(say("one", options).row.run, first.row.run) << "the key alone names the run";
  options.user = UserId("bo");
  RunView others = say("one", options);
  EXPECT_NE(others.row.run, first.row.run) << "another user's key is another name";
}

TEST_P(Threads, AnotherUserOrGraphDoesNotContinueAThread) {
  say("one");
  StartOptions options = on("t");
  options.user = UserId("bo");
  EXPECT_EQ(start(asks("two"), options).error().code, ErrorCode::conflict);
  Graph<Talk> other = built(talk_builder("other"));
  runtime->add(other);
  auto refused = block_on(loop, runtime->start(other, asks("two"), on("t")));
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("graph \"talk\""));
}

TEST_P(Threads, ThePendingWritesOfAFailedSuperstepAreNotPartOfTheNextRun) {
  say("one");
  RunView second = say("work");
  EXPECT_EQ(second.state["note"], Value("work"));
  // "remark" completes and its writes are stored, then "refuse" fails in the same superstep.
  RunView failed = say("work and fail");
  ASSERT_EQ(failed.row.status, RunStatus::failed);
  RunView last = say("last");
  EXPECT_EQ(last.state["note"], Value("work"));
  EXPECT_EQ(text_of(last.state["said"]),
            R"(["q one","re one","q work","re work","noted work","q work and fail",)"
            R"("re work and fail","q last","re last"])");
  EXPECT_EQ(status(failed.row.run).state["note"], Value("work"));
  EXPECT_EQ(violations(), "");
}

TEST_P(Threads, ARunOfTheThreadCanBeForkedFromAnyOfItsCommits) {
  RunView first = say("one");
  RunView second = say("two");
  say("three");
  ForkOptions options;
  options.from = ThreadId("t");
  options.run = second.row.run;
  options.seq = 1;
  RunView fork = block_on(loop, runtime->fork(options)).value();
  EXPECT_EQ(fork.row.ordinal, 0);
  EXPECT_EQ(text_of(fork.state["said"]), R"(["q one","re one","q two","re two"])");
  options.run = first.row.run;
  RunView other = block_on(loop, runtime->fork(options)).value();
  EXPECT_EQ(text_of(other.state["said"]), R"(["q one","re one"])");
  EXPECT_EQ(violations(), "");
}

TEST_P(Threads, AForkThatIsRequestedAgainIsFoundAfterItsThreadHasGoneOn) {
  say("one");
  ForkOptions options;
  options.from = ThreadId("t");
  options.thread = ThreadId("f");
  options.seq = 1;
  RunView fork = block_on(loop, runtime->fork(options)).value();
  say("two", on("f"));
  RunView again = block_on(loop, runtime->fork(options)).value();
  EXPECT_EQ(again.row.run, fork.row.run);
  EXPECT_EQ(runs().size(), 3u);
}

TEST_P(Threads, ALaterRunCanBeReplayed) {
  say("one");
  RunView second = say("two");
  RunView paused = say("ask");
  RunView waiting = say("four", on("t", BusyThread::enqueue));
  decide_open(paused, true);
  work();
  for (const RunView& view : {second, paused, waiting}) {
    ReplayOptions options;
    options.thread = ThreadId("t");
    options.run = view.row.run;
    ReplayReport report = block_on(loop, runtime->replay(options)).value();
    EXPECT_FALSE(report.divergence)
        << view.row.ordinal << " " << report.divergence->what << " " << report.divergence->recorded
        << " " << report.divergence->replayed;
  }
}

TEST_P(Threads, TheEventsOfALaterRunHaveTheStateOfTheThread) {
  say("one");
  RunView paused = say("ask");
  RunView waiting = say("three", on("t", BusyThread::enqueue));
  EventOptions options;
  options.thread = ThreadId("t");
  options.run = waiting.row.run;
  options.kinds = {EventKind::values};
  auto reader = block_on(loop, runtime->events(options)).value();
  decide_open(paused, false);
  work();
  Value newest;
  while (true) {
    std::vector<StreamEvent> page = block_on(loop, reader->next()).value();
    if (page.empty()) break;
    newest = page.back().body;
  }
  EXPECT_EQ(text_of(newest["state"].is_null() ? newest["said"] : newest["state"]["said"]),
            R"(["q one","re one","q ask","re ask","q three","re three"])");
}

TEST_P(Threads, OfTwoStartsAtTheSameInstantOneIsRejectedOrBothRunInTurn) {
  say("one");
  std::vector<Result<RunView>> ended;
  std::vector<Spawned> tasks;
  for (std::string question : {"two", "three"}) {
    tasks.push_back(spawn<Result<RunView>>(
        loop, runtime->start(talk, asks(question), on("t", BusyThread::enqueue)),
        [&](Result<RunView> view) { ended.push_back(std::move(view)); }));
  }
  loop.run_until(clock.now() + 1s);
  ASSERT_EQ(ended.size(), 2u);
  work();
  EXPECT_EQ(status().state["turns"], Value(3));
  EXPECT_EQ(runs().size(), 3u);
  EXPECT_EQ(violations(), "");
}

TEST_P(Threads, AGraphOfOneRunPerThreadKeepsItsRun) {
  StartOptions options = on("m");
  RunView first = start_mail("calm", options).value();
  EXPECT_EQ(start_mail("calm", options)->row.run, first.row.run);
  EXPECT_EQ(start_mail("other", options).error().code, ErrorCode::invalid);
}

TEST_P(Threads, ALaterRunWithANewerVersionOfTheGraphUpgradesTheState) {
  say("one");
  auto newer = talk_builder();
  newer.node("more", [](const Talk&, Context&) { return unchanged<Talk>(); });
  newer.edge("remark", "more").edge("more", belay::end);
  newer.upgrade_from(to_hex(talk.definition()->hash), [](Value state) -> Result<Value> {
    state.as_object()->insert_or_assign("note", Value("upgraded"));
    return state;
  });
  Graph<Talk> upgraded = built(std::move(newer));
  runtime->add(upgraded);
  scope.graphs.push_back(upgraded.definition());
  RunView second = block_on(loop, runtime->start(upgraded, asks("two"), on("t"))).value();
  EXPECT_EQ(second.state["note"], Value("upgraded"));
  RunView third = block_on(loop, runtime->start(upgraded, asks("three"), on("t"))).value();
  EXPECT_EQ(third.state["note"], Value("upgraded"));
  EXPECT_EQ(third.state["turns"], Value(3));
  EXPECT_EQ(violations(), "");
}

TEST_P(Threads, AnInputThatDoesNotFitTheStateIsRefusedAndNamesTheChannel) {
  JsonGraphBuilder builder{"sums"};
  builder.channel("total", {.kind = JsonKind::integer, .reducer = JsonReducer::add});
  builder.channel("log", {.kind = JsonKind::array, .reducer = JsonReducer::append});
  builder.node("count", [](const Value&, Context&) { return append("log", Value("counted")); });
  builder.edge(belay::start, "count").edge("count", end);
  JsonGraph sums = std::move(builder).build().value();
  runtime->add(sums);
  scope.graphs.push_back(sums.definition());
  auto run = [&](Value input) { return block_on(loop, runtime->start(sums, input, on("s"))); };
  ASSERT_TRUE(run(Value::object({{"total", std::uint64_t{18'446'744'073'709'551'615u}}})).ok());
  auto refused = run(Value::object({{"total", 1}}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("\"total\""));
  EXPECT_EQ(runs().size(), 1u) << "nothing is started";
  RunView third = run(Value::object({{"log", Value(Value::Array{Value("x")})}})).value();
  EXPECT_EQ(text_of(third.state["log"]), R"(["counted","x","counted"])");
  EXPECT_EQ(violations(), "");
}

TEST_P(Threads, AWaitingRunWhoseInputDoesNotFitFails) {
  JsonGraphBuilder builder{"sums"};
  builder.channel("total", {.kind = JsonKind::integer, .reducer = JsonReducer::add});
  builder.node("wait", [](const Value&, Context&) { return JsonUpdate(); }).interrupt_before();
  builder.edge(belay::start, "wait").edge("wait", end);
  JsonGraph sums = std::move(builder).build().value();
  runtime->add(sums);
  scope.graphs.push_back(sums.definition());
  Value most = Value::object({{"total", std::uint64_t{18'446'744'073'709'551'615u}}});
  ASSERT_TRUE(block_on(loop, runtime->start(sums, most, on("t"))).ok());
  auto options = on("t", BusyThread::enqueue);
  RunView second =
      block_on(loop, runtime->start(sums, Value::object({{"total", 1}}), options)).value();
  RunView third = block_on(loop, runtime->start(sums, Value::object({}), options)).value();
  ASSERT_TRUE(block_on(loop, runtime->resume(default_tenant(), ThreadId("t"))).ok());
  work();
  RunView failed = status(second.row.run);
  EXPECT_EQ(failed.row.status, RunStatus::failed);
  EXPECT_THAT(failed.row.error, HasSubstr("\"total\""));
  EXPECT_EQ(status(third.row.run).row.status, RunStatus::paused) << "it does not block the next";
  EXPECT_EQ(violations(), "");
}

TEST_P(Threads, EditsOfAThreadAreMergedAndNoneIsLost) {
  say("one");
  ThreadSettings settings;
  settings.title = "First talk";
  settings.metadata = Value::object({{"a", 1}, {"b", 2}});
  ASSERT_TRUE(block_on(loop, runtime->edit_thread(default_tenant(), ThreadId("t"), settings)).ok());
  settings.title.reset();
  settings.metadata = Value::object({{"a", Value()}, {"c", 3}});
  ThreadRow row =
      block_on(loop, runtime->edit_thread(default_tenant(), ThreadId("t"), settings)).value();
  EXPECT_EQ(row.title, "First talk");
  EXPECT_EQ(row.metadata, R"({"b":2,"c":3})");
  settings.metadata = Value("text");
  EXPECT_EQ(
      block_on(loop, runtime->edit_thread(default_tenant(), ThreadId("t"), settings)).error().code,
      ErrorCode::invalid);
  settings.metadata = Value::object({});
  EXPECT_EQ(block_on(loop, runtime->edit_thread(default_tenant(), ThreadId("none"), settings))
                .error()
                .code,
            ErrorCode::not_found);
}

INSTANTIATE_TEST_SUITE_P(Stores, Threads, ::testing::Values("memory", "sqlite", "encrypted"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace belay
