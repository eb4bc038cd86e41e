// Tests changes of a thread's state by a person, and the breakpoints of one run.
// Long on purpose: one subject.

#include <gmock/gmock.h>

#include "belay/check.h"
#include "belay/storage.h"
#include "store/forwarding_store.h"
#include "tests/threads/state_edit_fixture.h"

namespace belay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The process ends after a number of commits; the reply of the last one is lost.
class DyingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    if (left == 0) co_return error(ErrorCode::unavailable, "The process has ended.");
    if (left > 0) --left;
    auto outcome = co_await inner().commit(std::move(commit));
    if (left == 0) co_return error(ErrorCode::unavailable, "The process has ended.");
    co_return std::move(outcome);
  }
  int left = -1;
};

std::vector<std::string> log_of(const RunView& view) {
  std::vector<std::string> log;
  for (const Value& each : *view.state["log"].as_array()) log.push_back(*each.as_string());
  return log;
}

struct BreakpointsOfARun : StateEdits {};

TEST_F(BreakpointsOfARun, StopItBeforeTheNode) {
  auto held = begin(line, "t", {.before = {"send"}});
  EXPECT_EQ(held.row.status, RunStatus::paused);
  EXPECT_EQ(held.row.reason, "breakpoint");
  EXPECT_EQ(held.row.node, "send");
  EXPECT_THAT(log_of(held), ElementsAre("plan", "write"));
  auto ended = resume("t").value();
  EXPECT_EQ(ended.row.status, RunStatus::completed);
  EXPECT_EQ(begin(line, "other").row.status, RunStatus::completed) << "they are of one run";
  EXPECT_EQ(violations(), "");
  EXPECT_EQ(replayed(ended), "");
}

TEST_F(BreakpointsOfARun, StopItAfterTheNodeAndAtEachWithAStar) {
  EXPECT_EQ(begin(line, "after", {.after = {"plan"}}).row.node, "write");
  auto view = begin(line, "each", {.before = {"*"}, .after = {"*"}});
  std::vector<std::string> nodes;
  while (view.row.status == RunStatus::paused) {
    nodes.push_back(view.row.node);
    view = resume("each").value();
  }
  EXPECT_THAT(nodes, ElementsAre("plan", "write", "send", "file"));
  EXPECT_EQ(violations(), "");
  EXPECT_EQ(replayed(view), "");
}

TEST_F(BreakpointsOfARun, AreReplacedByThoseOfAResume) {
  begin(line, "t", {.before = {"*"}});
  auto held = resume("t", Breakpoints{.before = {"file"}}).value();
  EXPECT_EQ(held.row.node, "file");
  EXPECT_EQ(violations(), "");
  runtime = process();  // another process continues it with the same breakpoints
  runtime->add(line);
  runtime->add(asking);
  auto ended = resume("t", Breakpoints()).value();
  EXPECT_EQ(ended.row.status, RunStatus::completed);
  EXPECT_EQ(violations(), "");
  EXPECT_EQ(replayed(ended), "");
}

TEST_F(BreakpointsOfARun, NameNodesOfTheGraph) {
  StartOptions options = on("t");
  options.run.breakpoints = Breakpoints{.before = {"nowhere"}};
  auto refused = block_on(loop, runtime->start(line, Draft(), options));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("nowhere"));
  begin(line, "held", {.before = {"send"}});
  EXPECT_EQ(resume("held", Breakpoints{.after = {"nowhere"}}).error().code, ErrorCode::invalid);
}

TEST_F(BreakpointsOfARun, AreNotPassedByTheSameStartSentAgain) {
  StartOptions options = on("t");
  options.idempotency_key = "once";
  options.run.breakpoints = Breakpoints{.before = {"send"}};
  for (int i = 0; i < 2; ++i) {
    auto held = block_on(loop, runtime->start(line, Draft(), options)).value();
    EXPECT_EQ(held.row.node, "send");
    EXPECT_EQ(held.row.status, RunStatus::paused);
  }
}

TEST_F(BreakpointsOfARun, HoldWithOneCommitForAll) {
  StartOptions options = on("t");
  options.run.durability = Durability::exit;
  options.run.breakpoints = Breakpoints{.before = {"send"}};
  auto held = block_on(loop, runtime->start(line, Draft(), options)).value();
  EXPECT_EQ(held.row.node, "send");
  EXPECT_EQ(resume("t").value().row.status, RunStatus::completed);
  EXPECT_EQ(violations(), "");
}

TEST_F(StateEdits, OfAnEndedThreadAreTheStateOfItsNextRun) {
  begin(line, "t");
  auto changed = edit(line, "t", Value::object({{"text", "a card"}, {"urgent", false}})).value();
  EXPECT_EQ(changed.row.status, RunStatus::completed);
  EXPECT_EQ(changed.state["text"], Value("a card"));
  EXPECT_EQ(changed.state["urgent"], Value(false)) << "a default value is a change as well";
  Draft next;
  next.calls = 1;
  auto after = block_on(loop, runtime->start(line, next, on("t"))).value();
  EXPECT_EQ(after.state["text"], Value("draft of a card"));
  EXPECT_EQ(after.state["urgent"], Value(false));
  EXPECT_EQ(violations(), "");
  EXPECT_EQ(replayed(changed), "");
  EXPECT_EQ(replayed(after), "");
}

TEST_F(StateEdits, SetAChannelBackToItsDefault) {
  edit(line, "t", Value::object({{"calls", 5}})).value();
  auto changed = edit(line, "t", Value::object({{"calls", 0}})).value();
  EXPECT_EQ(changed.state["calls"], Value(0));
  EXPECT_EQ(violations(), "");
}

TEST_F(StateEdits, AsANodeWaitBeforeTheNodesThatFollowIt) {
  StateEdit as_write;
  as_write.as_node = "write";
  for (bool has_run : {false, true}) {
    std::string thread = has_run ? "ended" : "new";
    if (has_run) begin(line, thread);
    auto held = edit(line, thread, Value::object({{"text", "mine"}}), as_write).value();
    EXPECT_EQ(held.row.status, RunStatus::paused);
    EXPECT_EQ(held.row.node, "send");
    auto ended = resume(thread).value();
    EXPECT_EQ(ended.row.status, RunStatus::completed);
    EXPECT_EQ(log_of(ended).back(), "file");
    EXPECT_EQ(log_of(ended).at(has_run ? 4 : 0), "send mine");
    EXPECT_EQ(violations(), "");
    EXPECT_EQ(replayed(ended), "");
  }
}

TEST_F(StateEdits, AtABreakpointKeepThePlace) {
  begin(line, "t", {.before = {"send"}});
  auto held = edit(line, "t", Value::object({{"text", "mine"}})).value();
  EXPECT_EQ(held.row.node, "send");
  EXPECT_EQ(held.row.status, RunStatus::paused);
  held = edit(line, "t", Value::object({{"text", "ours"}})).value();
  EXPECT_EQ(held.row.node, "send");
  auto ended = resume("t").value();
  EXPECT_THAT(log_of(ended), ElementsAre("plan", "write", "send ours", "file"));
  EXPECT_EQ(violations(), "");
}

TEST_F(StateEdits, RequestTheApprovalAgainWithTheChangedValues) {
  auto paused = begin(asking, "t");
  ASSERT_TRUE(paused.approval);
  auto changed = edit(asking, "t", Value::object({{"text", "mine"}})).value();
  ASSERT_TRUE(changed.approval);
  EXPECT_NE(changed.approval->interrupt, paused.approval->interrupt);
  EXPECT_EQ(*json_in_envelope(changed.approval->payload), "\"mine\"");
  auto late = decide(paused, approve()).value();
  EXPECT_EQ(late.kind, DecisionResult::Kind::closed);
  auto sent = decide(changed, approve()).value();
  EXPECT_EQ(sent.view.row.status, RunStatus::completed);
  EXPECT_THAT(log_of(sent.view), ElementsAre("plan", "write", "send mine", "file"));
  EXPECT_EQ(violations(), "");
  EXPECT_EQ(replayed(sent.view), "");
}

TEST_F(StateEdits, NeverSkipAnApproval) {
  auto paused = begin(asking, "t");
  auto code = [&](StateEdit wanted) {
    auto refused = edit(asking, "t", Value::object({{"text", "mine"}}), std::move(wanted));
    return refused.ok() ? std::string("done") : std::string(name_of(refused.error().code));
  };
  EXPECT_EQ(code({.as_node = "review"}), "forbidden");
  EXPECT_EQ(code({.as_node = "send"}), "forbidden");
  EXPECT_EQ(code({.go_to = {{"send", ""}}}), "forbidden");
  EXPECT_EQ(code({.go_to = {{"file", "{}"}}}), "forbidden");
  EXPECT_EQ(code({.may_decide = false}), "forbidden");
  EXPECT_EQ(code({.as_node = "nowhere"}), "invalid");
  auto still = block_on(loop, runtime->status(default_tenant(), ThreadId("t"))).value();
  EXPECT_EQ(still.row.seq, paused.row.seq) << "nothing was written";
  EXPECT_EQ(code({.as_node = "plan"}), "done");
  EXPECT_EQ(violations(), "");
}

TEST_F(StateEdits, BehindADecidedApprovalAreRefused) {
  auto paused = begin(asking, "t", {.before = {"send"}});
  auto held = decide(paused, approve()).value().view;
  ASSERT_EQ(held.row.node, "send");
  auto refused = edit(asking, "t", Value::object({{"text", "mine"}}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::forbidden);
  EXPECT_THAT(refused.error().message, HasSubstr("Fork"));
}

TEST_F(StateEdits, GoToANode) {
  begin(line, "t");
  StateEdit wanted;
  wanted.go_to = {{"send", ""}};
  auto held = edit(line, "t", Value::object({{"text", "again"}}), wanted).value();
  EXPECT_EQ(held.row.node, "send");
  EXPECT_EQ(log_of(resume("t").value()).at(4), "send again");
  EXPECT_EQ(violations(), "");
}

TEST_F(StateEdits, WithFaultyValuesWriteNothing) {
  auto held = begin(line, "t", {.before = {"send"}});
  for (Value values : {Value::object({{"nothing", 1}}), Value::object({{"calls", "many"}}),
                       Value("text"), Value(Value::Array{})}) {
    auto refused = edit(line, "t", std::move(values));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  }
  EXPECT_EQ(block_on(loop, runtime->status(default_tenant(), ThreadId("t")))->row.seq,
            held.row.seq);
  EXPECT_FALSE(edit(asking, "t", Value::object({{"text", "x"}})).ok()) << "another graph";
}

TEST_F(StateEdits, DoNotRepeatTheEffectsOfANode) {
  GraphBuilder<Draft> builder{"mailing"};
  builder.node("mail", [&](const Draft&, Context& context) {
    context.keyed_effect("smtp", [&] { return std::to_string(++effects); });
    context.interrupt({.name = "sure", .text = "Sure?", .payload = Value()});
    return append(&Draft::log, "mailed");
  });
  builder.edge(start, "mail").edge("mail", end);
  auto mailing = std::move(builder).build().value();
  runtime->add(mailing);
  ASSERT_TRUE(begin(mailing, "t").approval);
  auto refused = edit(mailing, "t", Value::object({{"text", "x"}}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  StateEdit as_mail;
  as_mail.as_node = "mail";
  auto changed = edit(mailing, "t", Value::object({{"text", "x"}}), as_mail).value();
  EXPECT_EQ(changed.row.status, RunStatus::completed);
  EXPECT_EQ(effects, 1);
}

// The run fails after an effect inside of a subgraph.
TEST_F(StateEdits, DoNotRepeatTheEffectsInsideOfASubgraph) {
  GraphBuilder<Draft> inside{"inside"};
  inside.node("mail", [&](const Draft&, Context& context) {
    context.keyed_effect("smtp", [&] { return std::to_string(++effects); });
    return append(&Draft::log, "mailed");
  });
  inside.node("fail", [](const Draft&, Context&) -> Result<Update<Draft>> {
    return error(ErrorCode::invalid, "It must fail.");
  });
  inside.edge(start, "mail").edge("mail", "fail").edge("fail", end);
  GraphBuilder<Draft> builder{"mailing"};
  builder.node("plan", plan);
  builder.subgraph(
      "deliver", std::move(inside).build().value(), [](const Draft& draft) { return draft; },
      [](const Draft&) { return append(&Draft::log, "delivered"); });
  builder.edge(start, "plan").edge("plan", "deliver").edge("deliver", end);
  auto mailing = std::move(builder).build().value();
  runtime->add(mailing);
  ASSERT_EQ(begin(mailing, "t").row.status, RunStatus::failed);
  auto refused = edit(mailing, "t", Value::object({{"text", "x"}}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_EQ(effects, 1);
  begin(mailing, "before", {.before = {"deliver"}});
  EXPECT_TRUE(edit(mailing, "before", Value::object({{"text", "x"}})).ok()) << "no effect yet";
}

TEST_F(StateEdits, DoNotForgetHalfOfAJoin) {
  GraphBuilder<Draft> builder{"joining"};
  builder.accumulate(&Draft::log);
  builder.node("plan", plan);
  builder.node("write", write);
  builder.node("send", send);
  builder.node("file", file);
  builder.edge(start, "plan").edge(start, "write").edge("write", "send");
  builder.join({"plan", "send"}, "file").edge("file", end);
  auto joining = std::move(builder).build().value();
  runtime->add(joining);
  auto held = begin(joining, "t", {.before = {"send"}});
  ASSERT_EQ(held.row.node, "send");
  for (std::string as_node : {"", "write"}) {
    StateEdit wanted;
    wanted.as_node = as_node;
    auto refused = edit(joining, "t", Value::object({{"text", "x"}}), wanted);
    ASSERT_FALSE(refused.ok()) << as_node;
    EXPECT_EQ(refused.error().code, ErrorCode::conflict);
    EXPECT_THAT(refused.error().message, HasSubstr("join"));
  }
  EXPECT_EQ(log_of(resume("t").value()).back(), "file");
  EXPECT_TRUE(edit(joining, "t", Value::object({{"text", "x"}})).ok()) << "the join is complete";
}

TEST_F(StateEdits, ThatCannotBeginLeaveTheRunThatWaits) {
  auto paused = begin(asking, "t");
  runtime->drain();
  auto refused = edit(asking, "t", Value::object({{"text", "mine"}}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  auto still = block_on(loop, runtime->status(default_tenant(), ThreadId("t"))).value();
  EXPECT_EQ(still.row.status, RunStatus::paused);
  EXPECT_EQ(still.row.seq, paused.row.seq);
  ASSERT_TRUE(still.approval);
}

TEST_F(StateEdits, ThatExceedALimitOfTheProcessLeaveTheRunThatWaits) {
  GraphBuilder<Draft> builder{"slow"};
  builder.node("sleep", [](const Draft&, Context&) -> Task<Update<Draft>> {
    co_await sleep_for(std::chrono::hours(1));
    co_return append(&Draft::log, "slept");
  });
  builder.edge(start, "sleep").edge("sleep", end);
  auto slow = std::move(builder).build().value();
  RuntimeParts parts{*store, loop, clock, random, model};
  parts.process_limits.per_user = 1;
  runtime = Runtime::open(std::move(parts)).value();
  runtime->add(asking);
  runtime->add(slow);
  auto paused = begin(asking, "t");
  Spawned holder = spawn<Result<RunView>>(loop, runtime->start(slow, Draft(), on("other")),
                                          [](const Result<RunView>&) {});
  loop.run_until(clock.now() + std::chrono::seconds(1));
  auto refused = edit(asking, "t", Value::object({{"text", "mine"}}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  auto still = block_on(loop, runtime->status(default_tenant(), ThreadId("t"))).value();
  EXPECT_EQ(still.row.seq, paused.row.seq) << "nothing was written";
  EXPECT_EQ(still.row.status, RunStatus::paused);
}

TEST_F(StateEdits, ContinueWhereAFailedRunStopped) {
  GraphBuilder<Draft> builder{"failing"};
  builder.node("plan", plan);
  builder.node("fail", [](const Draft& draft, Context&) -> Result<Update<Draft>> {
    if (!draft.urgent) return append(&Draft::log, "passed");
    return error(ErrorCode::invalid, "It must fail.");
  });
  builder.edge(start, "plan").edge("plan", "fail").edge("fail", end);
  auto failing = std::move(builder).build().value();
  runtime->add(failing);
  ASSERT_EQ(begin(failing, "t").row.status, RunStatus::failed);
  auto held = edit(failing, "t", Value::object({{"urgent", false}})).value();
  EXPECT_EQ(held.row.node, "fail");
  EXPECT_EQ(log_of(resume("t").value()).back(), "passed");
}

TEST_F(StateEdits, AreForkedAndCopied) {
  StateEdit as_write;
  as_write.as_node = "write";
  auto held = edit(line, "t", Value::object({{"text", "mine"}}), as_write).value();
  ForkOptions options;
  options.from = ThreadId("t");
  options.thread = ThreadId("fork");
  auto forked = block_on(loop, runtime->fork(options)).value();
  EXPECT_THAT(log_of(forked), ElementsAre("send mine", "file"));
  EXPECT_EQ(violations(), "");
}

TEST_F(StateEdits, ComeToTheSameEndWhereverTheProcessEnds) {
  for (int commits = 0; commits < 4; ++commits) {
    std::string thread = "t" + std::to_string(commits);
    auto paused = begin(asking, thread);
    DyingStore dying(*store);
    dying.left = commits;
    {
      auto opened = Runtime::open(RuntimeParts{dying, loop, clock, random, model});
      auto doomed = std::move(opened).value();
      doomed->add(asking);
      StartOptions options = on(thread);
      options.edit = StateEdit{.values = Value::object({{"text", "mine"}}), .held = true};
      options.idempotency_key = "key of " + thread;
      auto lost = block_on(loop, doomed->start(asking, Draft(), options));
    }
    StartOptions options = on(thread);
    options.edit = StateEdit{.values = Value::object({{"text", "mine"}}), .held = true};
    options.idempotency_key = "key of " + thread;
    auto again = block_on(loop, runtime->start(asking, Draft(), options));
    ASSERT_TRUE(again.ok()) << commits << again.error().message;
    ASSERT_TRUE(again->approval) << commits;
    EXPECT_EQ(*json_in_envelope(again->approval->payload), "\"mine\"") << commits;
    auto sent = decide(*again, approve()).value();
    EXPECT_THAT(log_of(sent.view), ElementsAre("plan", "write", "send mine", "file")) << commits;
    EXPECT_EQ(violations(), "") << commits;
  }
}

TEST_F(StateEdits, WithTheKeyOfAnotherChangeAreRefused) {
  StartOptions options = on("t");
  options.idempotency_key = "once";
  options.edit = StateEdit{.values = Value::object({{"text", "mine"}}),
                           .as_node = "plan",
                           .go_to = {{"file", ""}},
                           .held = true};
  auto made = block_on(loop, runtime->start(line, Draft(), options)).value();
  auto again = block_on(loop, runtime->start(line, Draft(), options));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->row.run, made.row.run);
  const StateEdit same = *options.edit;
  std::vector<std::optional<StateEdit>> others(4, same);
  others[0]->as_node = "write";
  others[1]->held = false;
  others[2]->go_to.clear();
  others[3]->go_to[0].node = "send";
  others.emplace_back();
  for (std::size_t i = 0; i < others.size(); ++i) {
    options.edit = others[i];
    Draft input;
    input.text = "mine";
    auto refused = block_on(loop, runtime->start(line, input, options));
    ASSERT_FALSE(refused.ok()) << i;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid) << i;
  }
}

TEST_F(StateEdits, AtTheSameTimeAreBothMade) {
  begin(line, "t");
  StartOptions one = on("t"), other = on("t");
  one.edit = StateEdit{.values = Value::object({{"log", Value::Array{"one"}}}), .held = true};
  other.edit = StateEdit{.values = Value::object({{"log", Value::Array{"other"}}}), .held = true};
  std::vector<Spawned> starts;
  int made = 0;
  loop.post([&] {
    for (const StartOptions* each : {&one, &other}) {
      starts.push_back(spawn<Result<RunView>>(loop, runtime->start(line, Draft(), *each),
                                              [&](Result<RunView> view) { made += view.ok(); }));
    }
  });
  loop.run_until(clock.now() + std::chrono::seconds(1));
  ASSERT_EQ(made, 2);
  auto view = block_on(loop, runtime->status(default_tenant(), ThreadId("t"))).value();
  EXPECT_EQ(log_of(view).size(), 6u);
  EXPECT_EQ(violations(), "");
}

}  // namespace
}  // namespace belay
