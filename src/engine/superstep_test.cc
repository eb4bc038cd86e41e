// Tests supersteps at the level of advance(): parallel tasks, routes, reducers and subgraphs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "engine/advance.h"
#include "engine/run_factory.h"

namespace belay::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Survey {
  std::vector<std::string> log{};
  std::map<std::string, int> sizes{};
  int total = 0;
  std::string best{};
};

// Passes events to one run in the order of a driver, one second apart.
struct Supersteps : ::testing::Test {
  using Builder = GraphBuilder<Survey>;

  Graph<Survey> graph = built(fan_out());
  engine::Run run;
  Moment now{*instant_from("2026-11-21T12:00:00Z"), 7};
  std::vector<Commit> commits;
  std::multimap<std::string, AttemptId> attempts;  // started and not ended, by node
  // Of the last event.
  std::vector<Action> actions;
  std::string started;  // "a b "

  static Update<Survey> idle(const Survey&, Context&) { return {}; }
  static Update<Survey> logs(const std::string& text) { return append(&Survey::log, text); }
  static Graph<Survey> built(Builder builder) { return std::move(builder).build().value(); }
  // With these nodes, "a b", and edges, "start>a a>b".
  static Builder graph_of(const std::string& nodes, const std::string& edges) {
    Builder builder{"survey"};
    std::istringstream names(nodes), pairs(edges);
    for (std::string name; names >> name;) builder.node(name, idle).retry({.attempts = 2});
    for (std::string pair; pairs >> pair;) {
      builder.edge(pair.substr(0, pair.find('>')), pair.substr(pair.find('>') + 1));
    }
    return builder;
  }
  static Builder fan_out() {
    return graph_of("split a b c close",
                    "start>split split>a split>b split>c a>close b>close c>close close>end");
  }
  // legal is a subgraph: read -> judge.
  static Graph<Survey> with_subgraph() {
    auto inner = built(graph_of("read judge", "start>read read>judge judge>end"));
    auto builder = graph_of("split a", "start>split split>a split>legal a>end legal>end");
    builder.subgraph("legal", inner, std::identity(),
                     [](const Survey& survey) { return set(&Survey::best, survey.log.back()); });
    return built(std::move(builder));
  }

  // Completes the commit in progress; returns the time of the next event.
  Moment next() {
    if (is_committing()) stored();
    return now;
  }
  void stored() { happens(Committed{now}); }
  void happens(Event event) {
    auto result = advance(*graph.definition(), std::move(run), std::move(event));
    now.now += 1s;
    run = std::move(result.run);
    actions = std::move(result.actions);
    started.clear();
    for (const Action& action : actions) {
      auto* begun = std::get_if<StartNode>(&action);
      if (!begun) continue;
      started += begun->node->name + " ";
      attempts.emplace(begun->node->name, begun->attempt);
    }
    if (is_committing()) commits.push_back(commit());
  }
  void begin(const RunOptions& options = {}) {
    RunRow row;
    row.run = RunId(derived_uuid("run"));
    run = new_run(*graph.definition(), row, options, std::make_shared<Survey>()).value();
    happens(Started{now});
    stored();
  }
  // Begins, and ends the node `split` with commit 2.
  void split(const RunOptions& options = {}) {
    begin(options);
    ends("split", logs("split"));
    stored();
  }
  void ends(const std::string& node, Update<Survey> update = {}) {
    NodeUpdate answer = std::move(update).take_update();
    happens(NodeEnded{next(), attempts.extract(node).mapped(), std::move(answer), {}});
  }
  void fails(const std::string& node, ErrorCode code) {
    happens(NodeFailed{next(), attempts.extract(node).mapped(), error(code, "Broken."), {}});
  }
  void resume() {
    happens(Resumed{next(), SessionId(derived_uuid("other"))});
    if (is_committing()) stored();
  }

  const Survey& state() const { return *static_cast<const Survey*>(run.state.get()); }
  bool is_committing() const {
    return !actions.empty() && std::holds_alternative<WriteCommit>(actions.back());
  }
  const Commit& commit() const { return *std::get<WriteCommit>(actions.back()).commit; }
  const CheckpointRow& checkpoint() const { return commit().rows.checkpoint.value(); }
  // The values of the commit, each as "channel@seq.index kind text;".
  std::string values() const {
    std::ostringstream text;
    for (const ValueRow& row : commit().rows.values) {
      text << row.channel << "@" << row.seq << "." << row.index << " " << name_of(row.kind) << " "
           << *json_in_envelope(row.envelope) << ";";
    }
    return text.str();
  }
  // The last event has failed the run, whose state is that of commit `state_seq`.
  void expect_failure(const std::string& message, std::uint64_t state_seq) const {
    EXPECT_THAT(run.row.error_code + ": " + run.row.error, HasSubstr(message));
    EXPECT_EQ(run.row.status, RunStatus::failed);
    EXPECT_EQ(checkpoint().state_seq, state_seq);
    EXPECT_EQ(values(), "");
  }
};

TEST_F(Supersteps, TasksStartTogetherOnOneSnapshotAfterTheCommitThatScheduledThem) {
  begin();
  ends("split");
  EXPECT_EQ(checkpoint().next_tasks, R"([{"node":"a","superstep":2},{"node":"b"},{"node":"c"}])");
  stored();
  EXPECT_EQ(started, "a b c ");
  auto snapshot = std::get<StartNode>(actions[0]).state;
  for (const Action& action : actions) EXPECT_EQ(std::get<StartNode>(action).state, snapshot);
  for (std::string node : {"a", "b", "c"}) ends(node, logs(node));
  EXPECT_TRUE(static_cast<const Survey*>(snapshot.get())->log.empty());
}

TEST_F(Supersteps, EachFinishedTaskIsAPendingWriteThatLeavesTheSeq) {
  split();
  ends("b", logs("b").set(&Survey::best, "b"));
  EXPECT_EQ(commit().run_guard->pending_for, run.row.run);
  EXPECT_FALSE(commit().rows.run || commit().rows.checkpoint);
  EXPECT_EQ(values(), R"(log@3.1 append ["b"];best@3.1 set "b";)");
  EXPECT_EQ(commit().rows.tasks.at(0).status, TaskStatus::done);
  EXPECT_EQ(run.row.seq, 2u);
  EXPECT_THAT(state().log, ElementsAre("split"));
}

TEST_F(Supersteps, TheLastTaskCommitsAllUpdatesCombinedInTheOrderOfTheTasks) {
  split();
  for (std::string node : {"c", "b", "a"}) {
    auto update = logs(node).merge(&Survey::sizes, "last", node[0] - 'a');
    ends(node, std::move(update).add(&Survey::total, 2));
  }
  EXPECT_TRUE(commit().run_guard->pending_for.is_null());
  EXPECT_EQ(values(), R"(log@3.0 append ["a"];sizes@3.0 merge {"last":0};total@3.0 add 2;)");
  EXPECT_EQ(checkpoint().state_seq, 3u);
  EXPECT_EQ(checkpoint().next_tasks, R"([{"node":"close","superstep":3}])");
  EXPECT_THAT(state().log, ElementsAre("split", "a", "b", "c"));
  EXPECT_EQ(state().sizes.at("last"), 2);
  EXPECT_EQ(state().total, 6);
}

TEST_F(Supersteps, TwoTasksThatSetOneChannelFailTheRunAndAreNamed) {
  split();
  ends("b", logs("b"));
  ends("c", set(&Survey::best, "c"));
  ends("a", set(&Survey::best, "a"));
  expect_failure(R"("a" and "c" both write the channel "best" in superstep 2)", 2);
}

TEST_F(Supersteps, AReducersResultIsStoredAndItsExceptionFailsTheRun) {
  auto builder = fan_out();
  // Throws for an empty operand.
  builder.reducer(&Survey::best, [](auto best, const auto& more) { return best + more.at(0); });
  graph = built(std::move(builder));
  for (std::string last : {"b", ""}) {
    split();
    ends("c", reduce(&Survey::best, "c"));
    EXPECT_EQ(values(), R"(best@3.2 reduce "c";)");
    ends("a", reduce(&Survey::best, "a"));
    ends("b", reduce(&Survey::best, last));
    EXPECT_EQ(values(), last == "b" ? R"(best@3.3 set "abc";)" : "");
  }
  expect_failure(R"(invalid: The reducer of the channel "best" threw: )", 2);
}

TEST_F(Supersteps, EachSendIsATaskWithItsInput) {
  auto builder = graph_of("fetch print", "start>split fetch>end print>end");
  builder.node("split", idle).destinations({"fetch", "print"});
  graph = built(std::move(builder));
  begin();
  ends("split", unchanged<Survey>().send("fetch", 7).send("fetch", "x").go_to("print"));
  EXPECT_EQ(checkpoint().next_tasks, R"([{"node":"print","superstep":2},)"
                                     R"({"node":"fetch","input":7},{"node":"fetch","input":"x"}])");
  stored();
  EXPECT_EQ(started, "print fetch fetch ");
  EXPECT_EQ(*run.tasks[2].input, R"("x")");
  EXPECT_NE(run.tasks[1].id, run.tasks[2].id);
}

TEST_F(Supersteps, ABranchSelectsAmongItsTargetsByTheCombinedState) {
  auto builder = graph_of("a b c d", "start>a start>b b>end c>end d>end");
  builder.branch("a", [](const Survey& survey) { return survey.log; }, {"c", "d"});
  graph = built(std::move(builder));
  for (std::string last : {"c", "b"}) {
    begin();
    ends("a", logs("d"));
    ends("b", logs(last));
    EXPECT_EQ(run.row.node, last == "c" ? "c,d" : "a,b");
  }
  expect_failure(R"(The branch at "a" selected "b")", 1);
}

TEST_F(Supersteps, AJoinWaitsForAllItsPredecessors) {
  auto builder = graph_of("a b1 b2 last", "start>a start>b1 b1>b2 last>end");
  graph = built(std::move(builder.join({"a", "b2"}, "last")));
  begin();
  ends("b1");
  ends("a");
  EXPECT_EQ(checkpoint().next_tasks, R"([{"node":"b2","superstep":2},{"join":0,"seen":["a"]}])");
  ends("b2");
  EXPECT_EQ(checkpoint().next_tasks, R"([{"node":"last","superstep":3}])");
}

TEST_F(Supersteps, AFailedTaskFailsTheRunAndNoPendingWriteBecomesState) {
  split();
  ends("b", logs("b"));
  fails("a", ErrorCode::invalid);
  expect_failure("invalid: Broken.", 2);
  ends("c", logs("c"));
  EXPECT_TRUE(actions.empty());
}

TEST_F(Supersteps, ARetryLeavesItsPlaceToAnotherTaskAndStartsWhenItIsDue) {
  split(RunOptions{.parallel = 2});
  EXPECT_EQ(started, "a b ");
  fails("a", ErrorCode::unavailable);
  EXPECT_EQ(started, "c ");
  TaskRow row = commit().rows.tasks.at(0);
  EXPECT_THAT(row.envelope, HasSubstr(R"("attempt":2,"due":)"));
  stored();
  AttemptId retry = std::get<WaitForTask>(actions.at(0)).attempt;
  EXPECT_EQ(retry.task, row.task);
  ends("b");
  ends("c");
  happens(TaskDue{next(), retry});
  EXPECT_EQ(started, "a ");
  ends("a");
  EXPECT_EQ(checkpoint().seq, 3u);
}

TEST_F(Supersteps, AnOpenApprovalPausesTheRunOnlyOnceNoTaskCanContinue) {
  auto builder = graph_of("split a", "start>split split>a split>review a>end");
  builder.approval("review", &Survey::best, {.question = "Send?"}).approved(end).rejected(end);
  graph = built(std::move(builder));
  split();
  ApprovalRow approval = commit().rows.opened.at(0);
  EXPECT_FALSE(commit().rows.run);
  ends("a", logs("a"));
  EXPECT_EQ(run.row.reason, "approval");
  EXPECT_EQ(run.row.due_at, approval.expires_at);
  EXPECT_THAT(commit().require_open, ElementsAre(approval.interrupt));
  EXPECT_EQ(values(), R"(log@3.0 append ["a"];)");
  EXPECT_EQ(checkpoint().state_seq, 2u);
  EXPECT_EQ(checkpoint().next_tasks, R"([{"as_of":2}])");
}

TEST_F(Supersteps, ABreakpointHoldsTheNextSuperstepUntilTheRunIsResumed) {
  auto builder = graph_of("split a c", "start>split split>a split>b a>end b>c c>end");
  builder.node("b", idle).interrupt_before().interrupt_after();
  graph = built(std::move(builder));
  split();
  EXPECT_EQ(run.row.reason, "breakpoint");
  resume();
  EXPECT_EQ(started, "a b ");
  ends("a");
  ends("b");
  EXPECT_EQ(run.row.reason, "breakpoint");
  EXPECT_EQ(checkpoint().next_tasks, R"([{"node":"c","superstep":3},{"held":true}])");
  resume();
  EXPECT_EQ(started, "c ");
}

TEST_F(Supersteps, AWaitIsStoredAndContinuesWhenItIsDue) {
  auto builder = graph_of("split a", "start>split split>a split>rest a>end rest>end");
  graph = built(std::move(builder.wait("rest", 1h)));
  split();
  EXPECT_THAT(commit().rows.tasks.at(0).envelope, HasSubstr(R"("due":"2026-11-21T13:00:03)"));
  ends("a", logs("a"));
  EXPECT_EQ(run.row.reason, "timer");
  resume();
  EXPECT_EQ(run.row.reason, "timer") << "it is not due";
  now.now += 1h;
  resume();
  happens(TaskDue{now, std::get<WaitForTask>(actions.at(0)).attempt});
  EXPECT_EQ(run.row.status, RunStatus::completed);
}

TEST_F(Supersteps, ASubgraphHasCheckpointsInItsNamespaceAndAnOutput) {
  graph = with_subgraph();
  split();
  EXPECT_EQ(commit().run_guard->pending_for, run.row.run);
  EXPECT_EQ(commit().rows.inner_checkpoints.at(0).checkpoint_ns, "legal:" + run.tasks[1].id.text());
  EXPECT_EQ(values(), R"(log@1.0 set ["split"];)");
  stored();
  EXPECT_EQ(started, "read ");
  ends("read");
  ends("a");
  ends("judge", logs("fine"));
  EXPECT_EQ(commit().rows.inner_checkpoints.at(0).status, RunStatus::completed);
  EXPECT_EQ(values(), R"(best@3.1 set "fine";log@3.0 append ["fine"];)");
}

TEST_F(Supersteps, AFailedSubgraphFailsTheRunWithItsError) {
  graph = with_subgraph();
  split();
  fails("read", ErrorCode::invalid);
  expect_failure("invalid: Broken.", 2);
  EXPECT_EQ(commit().rows.inner_checkpoints.at(0).status, RunStatus::failed);
}

TEST_F(Supersteps, DurabilityExitDefersStepsAndWritesThemTogether) {
  graph = built(graph_of("one two three", "start>one one>two two>three three>end"));
  begin(RunOptions{.durability = Durability::exit});
  ends("one", logs("one"));
  EXPECT_EQ(started, "two ");
  ends("two", logs("two"));
  ends("three");
  EXPECT_EQ(checkpoint().seq, 2u);
  EXPECT_THAT(values(), HasSubstr(R"( set ["one","two"];)"));
}

TEST_F(Supersteps, DurabilityAsyncLetsOnlyStepsLag) {
  begin(RunOptions{.durability = Durability::async});
  for (std::string node : {"split", "a", "b", "c", "close"}) {
    ends(node);
    EXPECT_EQ(std::get<WriteCommit>(actions[0]).may_lag, node == "split" || node == "c") << node;
  }
}

TEST_F(Supersteps, TheLimitOfSuperstepsEndsACycle) {
  auto builder = graph_of("a", "start>a");
  graph = built(std::move(builder.branch("a", [](const Survey&) { return "a"; }, {"a", end})));
  begin(RunOptions{.supersteps = 3});
  for (int i = 0; i < 3; ++i) ends("a");
  expect_failure("exhausted: The run exceeded its limit of 3 supersteps", 4);
}

TEST_F(Supersteps, AReleaseKeepsPendingWritesAndListsTheNodesThatItGivesUp) {
  split(RunOptions{.parallel = 2});
  happens(Released{next()});
  ends("a", logs("a"));
  EXPECT_EQ(started, "");
  happens(Released{next(), true});
  EXPECT_THAT(commit().rows.events.at(0).body, HasSubstr(R"("givenUp":["b"])"));
  EXPECT_EQ(checkpoint().next_tasks, R"([{"as_of":2}])");
  happens(Claimed{next(), SessionId(derived_uuid("other"))});
  run.is_draining = false;
  stored();
  EXPECT_EQ(started, "b c ");
}

TEST_F(Supersteps, AReleaseWaitsForRunningTasks) {
  split();
  happens(Released{next()});
  for (std::string node : {"a", "b", "c"}) ends(node, logs(node));
  EXPECT_EQ(run.row.status, RunStatus::running);
  stored();
  EXPECT_EQ(checkpoint().kind, CommitKind::release);
}

TEST_F(Supersteps, TheSameEventsGiveTheSameCommits) {
  graph = with_subgraph();
  std::vector<Commit> first;
  Moment began = now;
  for (int round = 0; round < 2; ++round) {
    first = std::exchange(commits, {});
    now = began;
    split();
    fails("a", ErrorCode::unavailable);
    ends("read", logs("read"));
    ends("judge", logs("fine"));
  }
  EXPECT_TRUE(std::ranges::equal(first, commits, [](const Commit& a, const Commit& b) {
    return a.rows.run == b.rows.run && a.rows.checkpoint == b.rows.checkpoint &&
           a.rows.values == b.rows.values && a.rows.tasks == b.rows.tasks &&
           a.rows.inner_checkpoints == b.rows.inner_checkpoints;
  }));
}

}  // namespace
}  // namespace belay::engine
