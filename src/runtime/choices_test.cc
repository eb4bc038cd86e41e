// Choices, votes and questions about effects: which decisions are accepted, and by whom.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/check.h"
#include "belay/storage.h"
#include "tests/support/runtime_fixture.h"

namespace belay {
namespace {

using ::testing::HasSubstr;
using Kind = DecisionResult::Kind;

Update<Mail> tell_decision(const Mail&, Context& context) {
  const ApprovalDecision* made = context.decision();
  return set(&Mail::topic, made ? made->choice + " " + made->comment : "none");
}

Graph<Mail> choice_graph(std::int64_t needs) {
  GraphBuilder<Mail> graph{"mail"};
  graph.node("write", write_mail);
  graph.approval("review", &Mail::draft, {.question = "Send this mail?", .when_expired = "drop"})
      .choice("send")
      .choice("rewrite", "write", "Write it again")
      .choice("drop", "drop")
      .needs(needs);
  graph.node("send", tell_decision);
  graph.node("drop", tell_decision);
  graph.edge(start, "write").edge("write", "review").edge("send", end).edge("drop", end);
  return std::move(graph).build().value();
}

struct Choices : RuntimeFixture {
  RunView begin(std::int64_t needs = 1) {
    graph = choice_graph(needs);
    runtime = process();
    return start_mail("urgent").value();
  }
  static Decision choose(std::string choice, std::string by = "ana", std::string comment = {}) {
    Decision decision = approve(std::move(by));
    decision.choice = std::move(choice);
    decision.comment = std::move(comment);
    return decision;
  }
  void expect_sound() {
    CheckScope scope;
    scope.graphs.push_back(graph.definition());
    auto report = block_on(loop, check_store(*store, scope));
    ASSERT_TRUE(report.ok()) << report.error().message;
    for (const Violation& each : report->violations) ADD_FAILURE() << each.message;
  }
};

TEST_F(Choices, LeadToTheirNodeWithTheComment) {
  RunView paused = begin();
  auto answer = decide(paused, choose("drop", "ana", "not now")).value();
  EXPECT_EQ(answer.kind, Kind::accepted);
  EXPECT_EQ(answer.approval.status, ApprovalStatus::approved);
  EXPECT_EQ(choice_of(answer.approval), "drop");
  EXPECT_EQ(*answer.view.state["topic"].as_string(), "drop not now");
  EXPECT_EQ(decide(paused, choose("drop", "ben")).value().kind, Kind::duplicate);
  auto other = decide(paused, choose("send", "ben")).value();
  EXPECT_EQ(other.kind, Kind::conflict);
  EXPECT_EQ(choice_of(other.approval), "drop");
}

TEST_F(Choices, ThatDoNotExistChangeNothing) {
  RunView paused = begin();
  for (Decision wrong : {choose("burn"), approve(), reject()}) {
    auto refused = decide(paused, wrong);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    EXPECT_THAT(refused.error().message, HasSubstr("Choose \"send\", \"rewrite\" or \"drop\""));
  }
  auto now = block_on(loop, runtime->status(default_tenant(), paused.row.thread)).value();
  EXPECT_EQ(now.row.seq, paused.row.seq);
  EXPECT_EQ(decide(paused, choose("send")).value().kind, Kind::accepted);
}

TEST_F(Choices, AreTakenByAnExpiryThatNamesOne) {
  RunView paused = begin();
  clock.move(std::chrono::hours(25));
  auto late = decide(paused, choose("send")).value();
  EXPECT_EQ(late.kind, Kind::expired);
  EXPECT_EQ(*late.view.state["topic"].as_string(), "drop ");
}

TEST_F(Choices, OfTwoDecidersAtOnceOneIsAccepted) {
  RunView paused = begin();
  auto first = runtime->decide(default_tenant(), paused.approval->interrupt, choose("send"));
  auto second =
      runtime->decide(default_tenant(), paused.approval->interrupt, choose("drop", "ben"));
  std::vector<Kind> kinds{block_on(loop, std::move(first)).value().kind,
                          block_on(loop, std::move(second)).value().kind};
  EXPECT_THAT(kinds, ::testing::UnorderedElementsAre(Kind::accepted, Kind::conflict));
}

TEST_F(Choices, OfSeveralPeopleNeedEachOfThem) {
  RunView paused = begin(2);
  auto first = decide(paused, choose("send", "ana")).value();
  EXPECT_EQ(first.kind, Kind::accepted);
  EXPECT_EQ(first.approval.status, ApprovalStatus::open);
  EXPECT_EQ(first.view.row.status, RunStatus::paused);
  EXPECT_EQ(reply_of(first.approval).value().votes.size(), 1u);
  // The same person, again and otherwise.
  EXPECT_EQ(decide(paused, choose("send", "ana")).value().kind, Kind::duplicate);
  EXPECT_EQ(decide(paused, choose("drop", "ana")).value().kind, Kind::conflict);
  Decision edited = choose("send", "ben");
  edited.edited = Value("Other");
  EXPECT_FALSE(decide(paused, edited).ok());
  auto last = decide(paused, choose("send", "ben", "fine")).value();
  EXPECT_EQ(last.approval.status, ApprovalStatus::approved);
  EXPECT_EQ(last.view.row.status, RunStatus::completed);
  EXPECT_EQ(reply_of(last.approval).value().votes.size(), 2u);
  EXPECT_EQ(*last.view.state["topic"].as_string(), "send fine");
  expect_sound();
}

TEST_F(Choices, OfManyPeopleAtOnceAreAllCounted) {
  RunView paused = begin(4);
  std::vector<Task<Result<DecisionResult>>> votes;
  for (std::string by : {"ana", "ben", "eva", "max"}) {
    votes.push_back(
        runtime->decide(default_tenant(), paused.approval->interrupt, choose("send", by)));
  }
  for (auto& vote : votes) {
    EXPECT_EQ(block_on(loop, std::move(vote)).value().kind, Kind::accepted);
  }
  auto now = block_on(loop, runtime->status(default_tenant(), paused.row.thread)).value();
  EXPECT_EQ(now.row.status, RunStatus::completed);
}

TEST_F(Choices, OfSeveralPeopleExpireWithTheVotesThatCame) {
  RunView paused = begin(2);
  ASSERT_TRUE(decide(paused, choose("send", "ana")).ok());
  clock.move(std::chrono::hours(25));
  auto late = decide(paused, choose("send", "ben")).value();
  EXPECT_EQ(late.kind, Kind::expired);
  EXPECT_EQ(late.approval.status, ApprovalStatus::expired);
  EXPECT_EQ(*late.view.state["topic"].as_string(), "drop ");
}

TEST_F(Choices, OfSeveralPeopleAreSealedInAnEncryptedStore) {
  runtime.reset();
  auto kept = open_memory_store(clock, random);
  EncryptionOptions encryption;
  encryption.keys = KeyRing::from_text("k1:" + std::string(64, 'a') + "\n").value();
  store = make_encrypted_store(*kept, random, std::move(encryption));
  RunView paused = begin(2);
  ASSERT_TRUE(decide(paused, choose("send", "ana", "fine")).ok());
  auto open = block_on(loop, runtime->status(default_tenant(), paused.row.thread)).value();
  EXPECT_EQ(reply_of(*open.approval).value().votes.at(0).comment, "fine");
  auto last = decide(paused, choose("send", "ben")).value();
  EXPECT_EQ(*last.view.state["topic"].as_string(), "send ");
  expect_sound();

  StartOptions options;
  options.thread = ThreadId("second");
  RunView second = start_mail("urgent", options).value();
  ASSERT_TRUE(decide(second, choose("send", "ana")).ok());
  ASSERT_TRUE(block_on(loop, runtime->cancel(default_tenant(), second.row.thread, "ana")).ok());
  EXPECT_EQ(decide(second, choose("send", "ben")).value().kind, Kind::closed);
  expect_sound();
  runtime.reset();
  store.reset();
}

TEST_F(Choices, AreBuiltOnlyWithATargetForEachWayOut) {
  GraphBuilder<Mail> made{"mail"};
  made.node("send", tell_decision);
  made.approval("review", &Mail::draft, {.question = "?", .when_expired = "burn"})
      .choice("send")
      .choice("send")
      .choice("approve", "send")
      .needs(0);
  made.edge(start, "review").edge("send", end);
  auto built = std::move(made).build();
  ASSERT_FALSE(built.ok());
  for (const char* fault :
       {"\"send\" twice", "reserved name", "no target for its expiry", "needs 0 decisions"}) {
    EXPECT_THAT(built.error().message, HasSubstr(fault));
  }
}

}  // namespace
}  // namespace belay
