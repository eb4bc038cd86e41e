// Tests forks from commits after an approval: which approvals they cannot skip, where they start.
// Long on purpose: each way around an approval, with one fixture.

#include <gmock/gmock.h>

#include "belay/check.h"
#include "tests/support/runtime_fixture.h"

namespace belay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using std::chrono_literals::operator""s;

struct Deal {
  std::string contract = "the contract";
  std::string price = "10";
  int rounds = 0;
  std::vector<std::string> log{};
};

Update<Deal> note(const Deal&, Context& context) {
  return append(&Deal::log, std::string(context.node()));
}

// Logs the saved values: "saved CONTRACT for PRICE".
Update<Deal> save(const Deal& deal, Context&) {
  return append(&Deal::log, "saved " + deal.contract + " for " + deal.price);
}

struct ForksBehindApprovals : RuntimeFixture {
  // Two approvals in sequence, each with its own channel; a rejection returns to the first node.
  static GraphBuilder<Deal> two_approvals(std::string name) {
    GraphBuilder<Deal> deal{std::move(name)};
    deal.node("draft", note);
    deal.approval("legal", &Deal::contract, {.question = "Sign?", .roles = {"lawyer"}})
        .approved("count")
        .rejected("draft");
    deal.node("count", note);
    deal.approval("finance", &Deal::price, {.question = "Pay?", .roles = {"clerk", "chief"}})
        .approved("save")
        .rejected("draft");
    deal.node("save", save);
    deal.node("bye", note);
    deal.edge(start, "draft").edge("draft", "legal").edge("count", "finance");
    deal.edge("save", "bye").edge("bye", end);
    return deal;
  }

  static Graph<Deal> built(GraphBuilder<Deal> deal) { return std::move(deal).build().value(); }

  RunView begin(const Graph<Deal>& deals, const std::string& thread, RunOptions run = {}) {
    runtime->add(deals);
    scope.graphs.push_back(deals.definition());
    StartOptions options;
    options.thread = ThreadId(thread);
    options.user = UserId("ana");
    options.run = run;
    return block_on(loop, runtime->start(deals, Deal{}, options)).value();
  }

  RunView answer(RunView view, bool approved) {
    EXPECT_TRUE(view.approval) << name_of(view.row.status) << " " << view.row.error;
    if (!view.approval) return view;
    Decision decision = approve();
    decision.approved = approved;
    bool is_effect = terms_of(*view.approval).value().find("happened") != nullptr;
    if (is_effect) decision.choice = approved ? "happened" : "redo";
    decision.roles = {"lawyer", "clerk"};
    return decide(view, decision).value().view;
  }

  ForkOptions with_edits(const std::string& from, Value edits) {
    ForkOptions options;
    options.from = ThreadId(from);
    options.edits = std::move(edits);
    options.roles = {"lawyer", "clerk"};
    return options;
  }
  Result<RunView> fork(ForkOptions options) {
    return block_on(loop, runtime->fork(std::move(options)));
  }

  static std::vector<std::string> log_of(const RunView& view) {
    std::vector<std::string> log;
    for (const Value& each : *view.state["log"].as_array()) log.push_back(*each.as_string());
    return log;
  }

  std::vector<ApprovalRow> approvals_of(const RunView& view) {
    std::function<Result<std::vector<ApprovalRow>>(Snapshot&)> reader = [&](Snapshot& snapshot) {
      ApprovalFilter filter;
      filter.tenant = default_tenant();
      filter.run = view.row.run;
      return snapshot.approvals(filter);
    };
    return block_on(loop, read<std::vector<ApprovalRow>>(*store, std::move(reader))).value();
  }

  void prune(const RunView& view, std::optional<std::uint64_t> before_seq = std::nullopt) {
    Commit commit;
    commit.tenant = default_tenant();
    commit.rows.prune = {{view.row.run, before_seq}};
    ASSERT_TRUE(block_on(loop, store->commit(std::move(commit))).ok());
  }

  std::string violations() {
    std::string found;
    CheckReport report = block_on(loop, check_store(*store, scope)).value();
    for (const Violation& each : report.violations) {
      found += each.rule + " " + each.subject + ": " + each.message + "\n";
    }
    return found;
  }

  CheckScope scope = [this] {
    CheckScope known;
    known.graphs.push_back(graph.definition());
    return known;
  }();
};

TEST_F(ForksBehindApprovals, WithEditsBeginBeforeItAndAskAnew) {
  StartOptions options;
  options.thread = ThreadId("origin");
  auto paused = start_mail("urgent", options).value();
  std::uint64_t asked = paused.approval->seq;
  auto sent = decide(paused, approve()).value().view;
  ASSERT_EQ(sent.row.outcome, "sent");
  for (bool says_where : {true, false}) {
    ForkOptions forged = with_edits("origin", Value::object({{"draft", "Forged"}}));
    // The commit of the decision is also the newest one with tasks left: "send".
    if (says_where) forged.seq = asked + 1;
    auto forked = fork(forged).value();
    EXPECT_EQ(forked.row.status, RunStatus::paused) << "nobody has approved this";
    ASSERT_TRUE(forked.approval);
    EXPECT_EQ(*json_in_envelope(forked.approval->payload), "\"Forged\"");
    EXPECT_EQ(forked.row.forked_at, asked - 1);
    EXPECT_EQ(forked.row.forked_from, sent.row.run);
    auto rejected = decide(forked, reject()).value().view;
    EXPECT_EQ(rejected.row.outcome, "rejected");
  }
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(ForksBehindApprovals, WithoutEditsGoOnFromWhereTheyWereTold) {
  auto paused = start_mail("urgent", {.thread = ThreadId("origin")}).value();
  std::uint64_t asked = paused.approval->seq;
  decide(paused, approve()).value();
  for (const Value& edits : {Value(), Value(Value::Object{})}) {
    ForkOptions options = with_edits("origin", edits);
    options.seq = asked + 1;
    options.may_decide = false;
    auto forked = fork(options).value();
    EXPECT_EQ(forked.row.outcome, "sent");
    EXPECT_EQ(forked.row.forked_at, asked + 1);
  }
}

TEST_F(ForksBehindApprovals, BeginWhereTheyWereToldWhereNoneIsSkipped) {
  auto paused = start_mail("urgent", {.thread = ThreadId("origin")}).value();
  std::uint64_t asked = paused.approval->seq;
  for (std::uint64_t seq : {asked - 2, asked - 1, asked}) {
    ForkOptions options = with_edits("origin", Value::object({{"topic", "urgent, too"}}));
    options.seq = seq;
    auto forked = fork(options).value();
    EXPECT_EQ(forked.row.forked_at, seq);
    EXPECT_EQ(forked.row.status, RunStatus::paused);
  }
}

// The state of the fork contains the pending flag before its own approval is requested.
TEST_F(ForksBehindApprovals, OfAWaitingRunTakeItsPendingFlag) {
  auto paused = start_mail("urgent", {.thread = ThreadId("origin")}).value();
  for (bool approved : {false, true}) {
    ForkOptions options = with_edits("origin", Value());
    options.seq = paused.approval->seq;
    auto forked = fork(options).value();
    ASSERT_EQ(forked.row.status, RunStatus::paused);
    EXPECT_EQ(forked.state["awaiting"], Value(true));
    EXPECT_EQ(violations(), "");
    auto ended = answer(forked, approved);
    EXPECT_EQ(ended.state["awaiting"], Value(false));
    EXPECT_EQ(violations(), "");
  }
}

TEST_F(ForksBehindApprovals, OfSeveralBeginBeforeTheFirstThatShowedAnEditedChannel) {
  auto deals = built(two_approvals("deals"));
  auto legal = begin(deals, "origin");
  auto finance = answer(legal, true);
  auto saved = answer(finance, true);
  ASSERT_EQ(saved.row.status, RunStatus::completed) << saved.row.error;
  std::uint64_t before_legal = legal.approval->seq - 1;
  std::uint64_t before_finance = finance.approval->seq - 1;
  auto begun = [&](Value edits) {
    return fork(with_edits("origin", std::move(edits))).value().row;
  };
  EXPECT_EQ(begun(Value::object({{"price", "1"}})).forked_at, before_finance);
  EXPECT_EQ(begun(Value::object({{"contract", "none"}})).forked_at, before_legal);
  EXPECT_EQ(begun(Value::object({{"contract", "none"}, {"price", "1"}})).forked_at, before_legal);
  EXPECT_EQ(begun(Value::object({{"rounds", 7}})).forked_at, before_finance) << "which none showed";
  // A rejection is a decision too: it determined the next node.
  auto again = begin(deals, "again");
  auto second = answer(answer(again, false), true);
  EXPECT_EQ(fork(with_edits("again", Value::object({{"contract", "none"}}))).value().row.forked_at,
            again.approval->seq - 1);
  ASSERT_TRUE(second.approval);
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(ForksBehindApprovals, NeedOneOfTheRolesOfWhatTheySkip) {
  auto deals = built(two_approvals("deals"));
  answer(answer(begin(deals, "origin"), true), true);
  ForkOptions options = with_edits("origin", Value::object({{"contract", "none"}}));
  options.roles = {"clerk"};
  auto refused = fork(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::forbidden);
  EXPECT_THAT(refused.error().message, HasSubstr("lawyer"));
  options.roles = {"lawyer"};
  EXPECT_TRUE(fork(options).ok());
  options.edits = Value::object({{"rounds", 7}});
  options.roles = {};
  EXPECT_EQ(fork(options).error().code, ErrorCode::forbidden) << "the newest is skipped anyway";
  EXPECT_EQ(block_on(loop, runtime->preview(options)).error().code, ErrorCode::forbidden);
  options.roles = {"chief"};
  EXPECT_TRUE(fork(options).ok());
}

TEST_F(ForksBehindApprovals, OfWhoMayNotDecideTakeNoEditsWhereThereAreApprovals) {
  GraphBuilder<Deal> builder{"nested"};
  auto inner = built(two_approvals("inner"));
  builder.subgraph(
      "deal", inner, [](const Deal& deal) { return deal; },
      [](const Deal& done) { return set(&Deal::log, done.log); });
  builder.node("after", note);
  builder.edge(start, "deal").edge("deal", "after").edge("after", end);
  auto nested = std::move(builder).build().value();
  begin(nested, "nested");
  begin(built(two_approvals("deals")), "flat");
  GraphBuilder<Deal> free{"free"};
  free.node("note", note);
  free.node("note again", note);
  free.edge(start, "note").edge("note", "note again").edge("note again", end);
  begin(std::move(free).build().value(), "free");
  for (const char* thread : {"nested", "flat"}) {
    ForkOptions options = with_edits(thread, Value::object({{"rounds", 7}}));
    options.seq = 1;
    options.may_decide = false;
    EXPECT_EQ(fork(options).error().code, ErrorCode::forbidden) << thread;
    EXPECT_EQ(block_on(loop, runtime->preview(options)).error().code, ErrorCode::forbidden);
    options.edits = Value();
    EXPECT_TRUE(fork(options).ok()) << thread;
  }
  ForkOptions options = with_edits("free", Value::object({{"rounds", 7}}));
  options.may_decide = false;
  EXPECT_TRUE(fork(options).ok());
}

TEST_F(ForksBehindApprovals, OfForksBeginInTheRunThatTheyCameFrom) {
  auto deals = built(two_approvals("deals"));
  auto legal = begin(deals, "origin");
  auto finance = answer(legal, true);
  auto saved = answer(finance, true);
  std::uint64_t decided = finance.approval->seq + 1;
  ForkOptions plain = with_edits("origin", Value());
  plain.seq = decided;
  plain.thread = ThreadId("child");
  auto child = fork(plain).value();
  ASSERT_EQ(child.row.status, RunStatus::completed);
  plain.from = ThreadId("child");
  plain.seq.reset();
  plain.thread = ThreadId("grandchild");
  ASSERT_EQ(fork(plain).value().row.status, RunStatus::completed);
  ForkOptions copy;
  copy.from = ThreadId("child");
  copy.thread = ThreadId("copy");
  copy.copy = true;
  ASSERT_TRUE(fork(copy).ok());
  for (const char* from : {"child", "grandchild", "copy"}) {
    auto forked = fork(with_edits(from, Value::object({{"price", "1"}}))).value();
    EXPECT_EQ(forked.row.forked_from, saved.row.run) << from;
    EXPECT_EQ(forked.row.forked_at, finance.approval->seq - 1) << from;
    EXPECT_EQ(forked.row.status, RunStatus::paused) << from;
    auto preview =
        block_on(loop, runtime->preview(with_edits(from, Value::object({{"contract", "none"}}))));
    EXPECT_EQ(preview->thread, ThreadId("origin")) << from;
    EXPECT_EQ(preview->seq, legal.approval->seq - 1) << from;
    EXPECT_THAT(preview->first_nodes, ElementsAre("legal")) << from;
  }
  // A fork that requested the approval itself is the origin of its forks.
  auto asked = fork(with_edits("child", Value::object({{"price", "1"}}))).value();
  auto again = answer(asked, true);
  auto of_it = fork(with_edits(asked.row.thread.text, Value::object({{"price", "2"}}))).value();
  EXPECT_EQ(of_it.row.forked_from, again.row.run);
  EXPECT_EQ(of_it.row.forked_at, again.row.forked_at == 0 ? 0 : asked.approval->seq - 1);
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(ForksBehindApprovals, AreRefusedOnceTheCommitsBeforeItArePruned) {
  auto deals = built(two_approvals("deals"));
  auto legal = begin(deals, "origin");
  auto finance = answer(legal, true);
  auto saved = answer(finance, true);
  ForkOptions plain = with_edits("origin", Value());
  plain.seq = finance.approval->seq + 1;
  plain.thread = ThreadId("child");
  fork(plain).value();
  prune(saved, finance.approval->seq - 2);
  auto begun = fork(with_edits("origin", Value::object({{"price", "1"}})));
  EXPECT_TRUE(begun.ok()) << begun.error().message;
  auto refused = fork(with_edits("origin", Value::object({{"contract", "none"}})));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("pruned"));
  EXPECT_FALSE(fork(with_edits("child", Value::object({{"contract", "none"}}))).ok());
  for (std::uint64_t first : {finance.approval->seq - 1, finance.approval->seq + 1}) {
    prune(saved, first);
    refused = fork(with_edits("origin", Value::object({{"price", "1"}})));
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message, HasSubstr("pruned"));
  }
  prune(saved);
  auto orphan = fork(with_edits("child", Value::object({{"price", "1"}})));
  ASSERT_FALSE(orphan.ok());
  EXPECT_THAT(orphan.error().message,
              HasSubstr("forked from a run that is no longer in this store"));
  EXPECT_TRUE(fork(with_edits("child", Value())).ok());
}

TEST_F(ForksBehindApprovals, InASubgraphBeginTheVisitAnew) {
  GraphBuilder<Deal> builder{"nested"};
  auto inner = built(two_approvals("inner"));
  builder.node("before", note);
  builder.subgraph(
      "deal", inner, [](const Deal& deal) { return deal; },
      [](const Deal& done) { return set(&Deal::log, done.log); });
  builder.node("after", note);
  builder.edge(start, "before").edge("before", "deal").edge("deal", "after").edge("after", end);
  auto nested = std::move(builder).build().value();
  auto finance = answer(begin(nested, "origin"), true);
  ASSERT_TRUE(finance.approval);
  // While the subgraph runs, a fork restarts it anyway.
  auto early = fork(with_edits("origin", Value::object({{"contract", "none"}}))).value();
  ASSERT_TRUE(early.approval);
  EXPECT_EQ(early.approval->node, "legal");
  auto saved = answer(finance, true);
  ASSERT_EQ(saved.row.status, RunStatus::completed) << saved.row.error;
  auto forked = fork(with_edits("origin", Value::object({{"rounds", 7}}))).value();
  ASSERT_TRUE(forked.approval);
  EXPECT_EQ(forked.approval->node, "legal");
  EXPECT_THAT(log_of(forked), ElementsAre("before"));
  EXPECT_THAT(violations(), IsEmpty());
}

struct AmongOthers : ForksBehindApprovals {
  // An approval, and in the same superstep a node that runs for a minute.
  static Graph<Deal> wide() {
    GraphBuilder<Deal> deal{"wide"};
    deal.node("split", note);
    deal.approval("ask", &Deal::contract, {.question = "Sign?"}).approved("save").rejected(end);
    deal.node("slow", [](const Deal&, Context&) -> Task<Update<Deal>> {
      co_await sleep_for(60s);
      co_return append(&Deal::log, "slow");
    });
    deal.approval("more", &Deal::price, {.question = "Pay?"}).approved(end).rejected(end);
    deal.node("save", save);
    deal.edge(start, "split").edge("split", "ask").edge("split", "slow").edge("slow", "more");
    deal.edge("save", end);
    return std::move(deal).build().value();
  }
};

TEST_F(AmongOthers, AskAnewWhatWasAskedInTheSuperstep) {
  auto paused = begin(wide(), "origin");
  ASSERT_TRUE(paused.approval);
  auto more = answer(paused, true);
  ASSERT_TRUE(more.approval) << name_of(more.row.status) << more.row.error;
  auto origin = answer(more, true);
  ASSERT_EQ(origin.row.status, RunStatus::completed) << origin.row.error;
  for (std::uint64_t seq = 2; seq <= origin.row.seq; ++seq) {
    ForkOptions options = with_edits("origin", Value::object({{"contract", "none"}}));
    options.seq = seq;
    auto forked = fork(options);
    if (!forked.ok()) continue;  // no tasks are left
    std::vector<ApprovalRow> asked = approvals_of(*forked);
    ASSERT_FALSE(asked.empty()) << seq;
    EXPECT_EQ(asked.back().node, "ask") << seq;
    EXPECT_EQ(*json_in_envelope(asked.back().payload), "\"none\"") << seq;
    EXPECT_LT(forked->row.forked_at, more.approval->seq) << seq;
    for (const std::string& line : log_of(*forked))
      EXPECT_THAT(line, ::testing::Not(HasSubstr("saved")));
  }
  EXPECT_THAT(violations(), IsEmpty());
}

// A fork without edits keeps the results of completed tasks, including a decided approval.
TEST_F(AmongOthers, OfAForkThatTookTheAnswerOverBeginBeforeIt) {
  auto paused = begin(wide(), "origin");
  ASSERT_TRUE(paused.approval);
  auto origin = answer(paused, true);
  ForkOptions plain = with_edits("origin", Value());
  plain.seq = paused.row.seq;
  plain.thread = ThreadId("child");
  auto child = fork(plain).value();
  auto asked_again = approvals_of(child);
  if (child.approval && child.approval->node == "ask") child = answer(child, true);
  ASSERT_TRUE(child.approval);
  ForkOptions options = with_edits("child", Value::object({{"contract", "none"}}));
  auto forked = fork(options).value();
  auto asked = approvals_of(forked);
  ASSERT_FALSE(asked.empty());
  EXPECT_EQ(asked.back().node, "ask");
  EXPECT_EQ(*json_in_envelope(asked.back().payload), "\"none\"");
}

TEST_F(ForksBehindApprovals, WithOneCommitForAllBeginAtItsPause) {
  RunOptions exit;
  exit.durability = Durability::exit;
  auto deals = built(two_approvals("deals"));
  auto legal = begin(deals, "origin", exit);
  auto finance = answer(legal, true);
  answer(finance, true);
  auto forked = fork(with_edits("origin", Value::object({{"price", "1"}}))).value();
  ASSERT_TRUE(forked.approval) << name_of(forked.row.status);
  EXPECT_EQ(forked.approval->node, "finance");
  EXPECT_EQ(*json_in_envelope(forked.approval->payload), "\"1\"");
  auto first = fork(with_edits("origin", Value::object({{"contract", "none"}}))).value();
  ASSERT_TRUE(first.approval);
  EXPECT_EQ(first.approval->node, "legal");
  EXPECT_EQ(*json_in_envelope(first.approval->payload), "\"none\"");
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(ForksBehindApprovals, BehindAQuestionInANodeAskItAnew) {
  GraphBuilder<Deal> builder{"asking"};
  builder.node("ask", [](const Deal& deal, Context& context) {
    InterruptResponse answer =
        context.interrupt({.name = "sign", .text = "Sign?", .payload = deal.contract});
    return append(&Deal::log, answer.approved ? "yes" : "no");
  });
  builder.node("save", save);
  builder.edge(start, "ask").edge("ask", "save").edge("save", end);
  auto saved = answer(begin(std::move(builder).build().value(), "origin"), true);
  ASSERT_EQ(saved.row.status, RunStatus::completed) << saved.row.error;
  auto forked = fork(with_edits("origin", Value::object({{"contract", "none"}}))).value();
  ASSERT_TRUE(forked.approval);
  EXPECT_EQ(*json_in_envelope(forked.approval->payload), "\"none\"");
}

// A decision on whether an effect has happened does not approve any state. The fork has its own
// effects, and need not request that decision again.
TEST_F(ForksBehindApprovals, BehindAQuestionAboutAnEffectGoOnThere) {
  int calls = 0;
  GraphBuilder<Deal> builder{"mailing"};
  builder.node("mail", [&](const Deal&, Context& context) {
    context.unkeyed_effect("smtp", {}, [&]() -> Result<int> {
      ++calls;
      return error(ErrorCode::uncertain, "The line was cut.");
    });
    return append(&Deal::log, "mailed");
  });
  builder.node("save", save);
  builder.edge(start, "mail").edge("mail", "save").edge("save", end);
  auto paused = begin(std::move(builder).build().value(), "origin");
  ASSERT_EQ(calls, 1);
  auto saved = answer(paused, true);
  ASSERT_EQ(saved.row.status, RunStatus::completed) << saved.row.error;
  ForkOptions forged = with_edits("origin", Value::object({{"contract", "another"}}));
  auto forked = fork(forged).value();
  EXPECT_EQ(forked.row.status, RunStatus::completed);
  EXPECT_EQ(calls, 1);
}

TEST_F(ForksBehindApprovals, RunAsWhoAsks) {
  auto deals = built(two_approvals("deals"));
  begin(deals, "origin");
  ForkOptions options = with_edits("origin", Value());
  options.thread = ThreadId("bens");
  options.user = UserId("ben");
  auto forked = fork(options).value();
  EXPECT_EQ(forked.row.user, UserId("ben"));
  ASSERT_TRUE(forked.approval);
  EXPECT_EQ(forked.approval->user, UserId("ben"));
  options.thread = ThreadId("anas");
  options.user = {};
  EXPECT_EQ(fork(options).value().row.user, UserId("ana"));
  options.thread = ThreadId("nobodys");
  options.user = UserId(std::string(201, 'x'));
  EXPECT_EQ(fork(options).error().code, ErrorCode::invalid);
}

// The state that Ben's copy contains was approved in Ana's thread, which does not belong to Ben.
TEST_F(ForksBehindApprovals, OfAnotherUsersThreadAreNotGoneBackTo) {
  auto finance = answer(begin(built(two_approvals("deals")), "origin"), true);
  answer(finance, true);
  ForkOptions options = with_edits("origin", Value());
  options.thread = ThreadId("ben's");
  options.user = UserId("ben");
  options.seq = finance.approval->seq + 1;
  ASSERT_EQ(fork(options).value().row.status, RunStatus::completed);
  auto refused = fork(with_edits("ben's", Value::object({{"price", "1"}})));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::forbidden);
  ForkOptions copy;
  copy.from = ThreadId("origin");
  copy.thread = ThreadId("ben's copy");
  copy.user = UserId("ben");
  copy.copy = true;
  ASSERT_TRUE(fork(copy).ok());
  refused = fork(with_edits("ben's copy", Value()));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid) << "nothing is left to do there";
}

}  // namespace
}  // namespace belay
