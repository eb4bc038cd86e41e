// Approvals with choices, answers and several decisions: each crash leads to the same end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/testing.h"

namespace belay::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct Essay {
  std::string draft{};
  std::string told{};
  int rounds = 0;
};

struct Refund {
  int amount = 0;
  std::string reason{};
};

// Returns all that a node can read of the decision.
std::string told_by(Context& context, std::string_view approval = {}) {
  const ApprovalDecision* made = context.decision(approval);
  if (!made) return "none";
  std::string text = made->approval + " " + made->choice + " by " + made->decided_by;
  if (!made->comment.empty()) text += ": " + made->comment;
  if (made->edited) text += " [" + to_json(*made->edited) + "]";
  if (made->expired) text += " expired";
  for (const ApprovalVote& vote : made->votes) text += " +" + vote.decided_by;
  return text;
}

Update<Essay> write(const Essay& essay, Context& context) {
  return set(&Essay::draft, essay.draft + "*")
      .set(&Essay::told, essay.told + "|" + told_by(context))
      .add(&Essay::rounds, 1);
}
Update<Essay> tell(const Essay& essay, Context& context) {
  return set(&Essay::told, essay.told + "|" + told_by(context));
}

GraphBuilder<Essay> essay_graph(ApprovalOptions options = {.question = "Send it?"}) {
  GraphBuilder<Essay> graph{"essay"};
  graph.node("write", write);
  graph.approval("review", &Essay::draft, std::move(options))
      .approved("send")
      .rejected("drop")
      .choice("rewrite", "write", "Write it again");
  graph.node("send", tell);
  graph.node("drop", tell);
  graph.edge(start, "write").edge("write", "review").edge("send", end).edge("drop", end);
  return graph;
}

Decision chosen(std::string choice, std::string by = "ana", std::string comment = {}) {
  Decision decision;
  decision.choice = std::move(choice);
  decision.decided_by = std::move(by);
  decision.comment = std::move(comment);
  return decision;
}

template <typename State>
void expect_same_end_at_each_crash(const Scenario<State>& scenario,
                                   const ScenarioResult<State>& calm) {
  ASSERT_TRUE(calm.ok()) << calm.error()->message;
  for (auto crash : calm.crash_points()) {
    SCOPED_TRACE(crash.text);
    auto rough = Scenario<State>(scenario).crash_at(crash).leave_open();
    EXPECT_TRUE(rough.ok()) << rough.error()->message;
    EXPECT_EQ(rough.state(), calm.state());
  }
}

TEST(WorldApprovals, GiveTheCommentAndTheEditToTheNextNodeWhereverTheProcessDies) {
  auto graph = std::move(essay_graph()).build().value();
  Decision again = chosen("rewrite", "ana", "shorter");
  Decision edited = chosen("approve", "ben", "good");
  edited.edited = Value("Dear Ana");
  auto scenario = World{}.run(graph, Essay{}).decide("review", again).decide("review", edited);
  auto calm = scenario.leave_open();
  ASSERT_TRUE(calm.ok()) << calm.error()->message;
  EXPECT_EQ(calm.state().rounds, 2);
  EXPECT_EQ(calm.state().draft, "Dear Ana");
  EXPECT_EQ(calm.state().told,
            "|none|review rewrite by ana: shorter|review approve by ben: good [\"Dear Ana\"]");
  expect_same_end_at_each_crash(scenario, calm);
}

TEST(WorldApprovals, OfSeveralPeopleCountEachVoteOnceWhereverTheProcessDies) {
  GraphBuilder<Essay> builder{"essay"};
  builder.node("write", write);
  builder.approval("review", &Essay::draft, {.question = "Send it?"})
      .approved("send")
      .rejected("drop")
      .choice("rewrite", "write")
      .needs(2);
  builder.node("send", tell);
  builder.node("drop", tell);
  builder.edge(start, "write").edge("write", "review").edge("send", end).edge("drop", end);
  auto graph = std::move(builder).build().value();
  auto scenario = World{}.run(graph, Essay{});
  scenario.decide("review", chosen("approve", "ana"));
  scenario.decide("review", chosen("rewrite", "ben"));
  scenario.decide("review", chosen("rewrite", "eva", "shorter"));
  scenario.decide("review", chosen("approve", "ana"));
  scenario.decide("review", chosen("reject", "ben", "no"));
  auto calm = scenario.leave_open();
  ASSERT_TRUE(calm.ok()) << calm.error()->message;
  EXPECT_EQ(
      calm.state().told,
      "|none|review rewrite by eva: shorter +ana +ben +eva|review reject by ben: no +ana +ben");
  expect_same_end_at_each_crash(scenario, calm);
}

TEST(WorldApprovals, InParallelGiveEachNodeItsOwnDecision) {
  GraphBuilder<Essay> builder{"essay"};
  builder.node("write", write);
  builder.approval("legal", &Essay::draft, {.question = "Legal?"}).approved("send").rejected(end);
  builder.approval("style", &Essay::draft, {.question = "Style?"}).approved("send").rejected(end);
  builder.node("send", [](const Essay& essay, Context& context) {
    return set(&Essay::told, essay.told + "|" + told_by(context, "legal") + "|" +
                                 told_by(context, "style") + "|" + told_by(context, "other"));
  });
  builder.edge(start, "write").edge("write", "legal").edge("write", "style").edge("send", end);
  auto graph = std::move(builder).build().value();
  auto scenario = World{}.run(graph, Essay{});
  scenario.decide("style", chosen("approve", "ben", "nice"));
  scenario.decide("legal", chosen("approve", "ana"));
  auto calm = scenario.leave_open();
  ASSERT_TRUE(calm.ok()) << calm.error()->message;
  EXPECT_EQ(calm.state().told, "|none|legal approve by ana|style approve by ben: nice|none");
  expect_same_end_at_each_crash(scenario, calm);
}

TEST(WorldApprovals, WithAFormGiveTheTypedAnswerToTheNode) {
  GraphBuilder<Essay> builder{"refund"};
  builder.approval("review", &Essay::draft, {.question = "How much?"})
      .approved("pay")
      .rejected(end)
      .answer<Refund>();
  builder.node("pay", [](const Essay&, Context& context) {
    auto refund = context.decision()->answer_as<Refund>();
    return set(&Essay::told, std::to_string(refund.amount) + " for " + refund.reason);
  });
  builder.edge(start, "review").edge("pay", end);
  auto graph = std::move(builder).build().value();
  Decision decision = chosen("approve");
  decision.answer = Value::object({{"amount", 120}, {"reason", "as agreed"}});
  auto scenario = World{}.run(graph, Essay{}).decide("review", decision);
  auto calm = scenario.leave_open();
  ASSERT_TRUE(calm.ok()) << calm.error()->message;
  EXPECT_EQ(calm.state().told, "120 for as agreed");
  expect_same_end_at_each_crash(scenario, calm);

  decision.answer = Value::object({{"amount", "much"}, {"reason", "x"}});
  auto refused = World{}.run(graph, Essay{}).decide("review", decision).leave_open();
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error()->message, HasSubstr("answer.amount"));
  decision.answer = Value::object({{"amount", 1}});
  refused = World{}.run(graph, Essay{}).decide("review", decision).leave_open();
  EXPECT_THAT(refused.error()->message, HasSubstr("\"reason\""));
  decision.answer = Value();
  refused = World{}.run(graph, Essay{}).decide("review", decision).leave_open();
  EXPECT_THAT(refused.error()->message, HasSubstr("needs an answer"));
}

TEST(WorldApprovals, ExpireAsTheirWordsSay) {
  auto told = [](std::string word) {
    auto graph = essay_graph({.question = "Send it?", .when_expired = std::move(word)});
    return World{}.run(std::move(graph).build(), Essay{.rounds = 5}).let_expire();
  };
  EXPECT_EQ(told("reject").state().told, "|none|review reject by  expired");
  EXPECT_EQ(told("approve").state().told, "|none|review approve by  expired");
  auto failed = told("fail");
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error()->message, HasSubstr("expired without a decision"));
}

TEST(WorldApprovals, ThatNeverExpireWaitOn) {
  auto graph = std::move(essay_graph({.question = "Send it?", .expires = Expiry::never})).build();
  auto waiting = World{}.run(graph, Essay{}).let_expire();
  EXPECT_EQ(waiting.state().told, "|none");
}

}  // namespace
}  // namespace belay::testing
