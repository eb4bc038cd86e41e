// Choices, votes and questions about effects: which decisions are accepted, and by whom.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "belay/check.h"
#include "belay/detail/expiry_envelope.h"
#include "belay/storage.h"
#include "tests/support/runtime_fixture.h"
#include "tests/support/slow_store.h"

namespace belay {

struct ChosenSum {
  int amount = 0;
};

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
  // Replaces a stored envelope, as a damaged disk or another program could.
  void replace_stored(const std::string& subject, const std::string& envelope) {
    std::function<Result<std::vector<StoredEnvelope>>(Snapshot&)> reader = [](Snapshot& view) {
      return view.envelopes(EnvelopeFilter{.tenant = default_tenant()});
    };
    auto all = block_on(loop, read<std::vector<StoredEnvelope>>(*store, std::move(reader))).value();
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const StoredEnvelope& each) { return each.subject == subject; });
    ASSERT_NE(found, all.end()) << subject;
    Commit commit;
    commit.tenant = default_tenant();
    commit.rows.rewrites.push_back({found->position, sha256(found->envelope), envelope});
    ASSERT_EQ(block_on(loop, store->commit(std::move(commit))).value(), CommitOutcome::applied);
  }
  void expect_quarantine_by(const RunView& paused, Decision decision) {
    auto refused = decide(paused, std::move(decision));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::corrupt) << refused.error().message;
    ASSERT_EQ(all_runs().size(), 1u);
    EXPECT_EQ(all_runs().at(0).status, RunStatus::quarantined);
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
  SlowStore slow{*store};
  slow.commits_take = std::chrono::milliseconds(1);
  auto voting = Runtime::open(RuntimeParts{slow, loop, clock, random, model}).value();
  voting->add(graph);
  std::vector<Spawned> votes;
  std::map<Kind, int> kinds;
  for (std::string by : {"ana", "ben", "eva", "max"}) {
    votes.push_back(spawn<Result<DecisionResult>>(
        loop, voting->decide(default_tenant(), paused.approval->interrupt, choose("send", by)),
        [&](Result<DecisionResult> answer) {
          ASSERT_TRUE(answer.ok()) << answer.error().message;
          ++kinds[answer->kind];
        }));
  }
  loop.run_until(clock.now() + std::chrono::minutes(1));
  EXPECT_EQ(kinds[Kind::accepted], 4);
  auto now = block_on(loop, runtime->status(default_tenant(), paused.row.thread)).value();
  EXPECT_EQ(now.row.status, RunStatus::completed);
  expect_sound();
}

TEST_F(Choices, OfSeveralPeopleAreRecordedUnderAConcurrencyLimit) {
  RunView paused = begin(2);
  RuntimeParts parts{*store, loop, clock, random, model};
  parts.concurrency.per_tenant = 1;
  runtime = Runtime::open(std::move(parts)).value();
  runtime->add(graph);
  auto first = decide(paused, choose("send", "ana"));
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(first->approval.status, ApprovalStatus::open);
  auto last = decide(paused, choose("send", "ben")).value();
  EXPECT_EQ(last.view.row.status, RunStatus::completed);
}

TEST_F(Choices, OfSeveralPeopleCountAPersonOnceAlsoThroughAnother) {
  RunView paused = begin(3);
  auto for_another = [](std::string by, std::string whom) {
    Decision decision = choose("send", std::move(by));
    decision.on_behalf_of = std::move(whom);
    return decision;
  };
  EXPECT_EQ(decide(paused, choose("send", "ana")).value().kind, Kind::accepted);
  EXPECT_EQ(decide(paused, for_another("bot", "ana")).value().kind, Kind::duplicate);
  EXPECT_EQ(decide(paused, for_another("ana", "ben")).value().kind, Kind::duplicate);
  EXPECT_EQ(decide(paused, for_another("bot", "ben")).value().kind, Kind::accepted);
  EXPECT_EQ(decide(paused, for_another("bot", "eva")).value().kind, Kind::duplicate);
  EXPECT_EQ(decide(paused, choose("send", "ben")).value().kind, Kind::duplicate);
  auto last = decide(paused, choose("send", "eva")).value();
  EXPECT_EQ(last.approval.status, ApprovalStatus::approved);
  expect_sound();
}

TEST_F(Choices, WithDamagedTermsQuarantineTheRun) {
  RunView paused = begin();
  std::string shown(detail::with_expiry_message(paused.approval->payload).value().json);
  replace_stored("payload " + paused.approval->interrupt.text(),
                 detail::expiry_envelope("{", shown));
  expect_quarantine_by(paused, choose("send"));
}

TEST_F(Choices, WithVotesOfAnotherQuarantineTheRun) {
  RunView paused = begin(2);
  auto first = decide(paused, choose("send", "ana")).value();
  ApprovalReply reply = reply_of(first.approval).value();
  reply.votes.at(0).decided_by = "eva";
  replace_stored("edited " + paused.approval->interrupt.text(), detail::reply_envelope(reply));
  // The run itself can be read: the damage could have been in the store's cache.
  auto once = decide(paused, choose("send", "ana"));
  ASSERT_FALSE(once.ok());
  EXPECT_EQ(once.error().code, ErrorCode::corrupt);
  EXPECT_EQ(all_runs().at(0).status, RunStatus::paused);
  expect_quarantine_by(paused, choose("send", "ana"));
}

TEST_F(Choices, OfAQuestionAreCheckedBeforeItIsAsked) {
  using Offered = std::vector<ApprovalChoice>;
  std::vector<std::pair<Offered, std::string>> wrong{
      {Offered{{"", "", true}}, "name of a choice is empty"},
      {Offered{{"send", "\xff", true}}, "The label of the choice \"send\" can't be saved"},
      {Offered{{"send", "", true}, {"send", "", false}}, "\"send\" twice"},
      {Offered{{"approve", "", false}}, "\"approve\" with another meaning"},
      {Offered{{"reject", "", true}}, "\"reject\" with another meaning"},
      {Offered{{"fail", "", false}}, "\"fail\" with another meaning"}};
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    GraphBuilder<Mail> made{"question"};
    made.node("ask", [choices = wrong[i].first](const Mail&, Context& context) {
      InterruptRequest question;
      question.name = "why";
      question.choices = choices;
      context.interrupt(std::move(question));
      return unchanged<Mail>();
    });
    made.edge(start, "ask").edge("ask", end);
    graph = std::move(made).build().value();
    runtime = process();
    StartOptions options;
    options.thread = ThreadId("t" + std::to_string(i));
    RunView view = start_mail("calm", options).value();
    EXPECT_EQ(view.row.status, RunStatus::failed);
    EXPECT_THAT(view.row.error, HasSubstr(wrong[i].second));
  }
}

TEST_F(Choices, ThatNeverExpireHaveNoTimeInTheEventOfTheirPause) {
  GraphBuilder<Mail> made{"mail"};
  made.approval("review", &Mail::draft, {.question = "?", .expires = Expiry::never})
      .approved(end)
      .rejected(end);
  made.edge(start, "review");
  graph = std::move(made).build().value();
  runtime = process();
  RunView paused = start_mail("urgent").value();
  auto pauses = event_bodies(paused.row.run, "pause");
  ASSERT_EQ(pauses.size(), 1u);
  ASSERT_TRUE(pauses[0].find("expiresAt"));
  EXPECT_TRUE(pauses[0]["expiresAt"].is_null());
}

TEST_F(Choices, ThatACancelClosesHaveTheTimeOfTheCancel) {
  RunView paused = begin(2);
  ASSERT_TRUE(decide(paused, choose("send", "ana")).ok());
  clock.move(std::chrono::hours(1));
  Instant closed_at = clock.now();
  ASSERT_TRUE(block_on(loop, runtime->cancel(default_tenant(), paused.row.thread, "ana")).ok());
  EventOptions options;
  options.thread = paused.row.thread;
  options.kinds = {EventKind::approvals};
  options.follow = false;
  auto reader = block_on(loop, runtime->events(options)).value();
  auto events = block_on(loop, reader->next()).value();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(*events[1].body["event"].as_string(), "closed");
  EXPECT_GE(events[1].at, closed_at);
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
      .choice("approve", "send", "\xff")
      .needs(0);
  made.edge(start, "review").edge("send", end);
  auto built = std::move(made).build();
  ASSERT_FALSE(built.ok());
  for (const char* fault : {"\"send\" twice", "reserved name", "no target for its expiry",
                            "needs 0 decisions", "label that cannot be saved"}) {
    EXPECT_THAT(built.error().message, HasSubstr(fault));
  }
}

TEST_F(Choices, WithAnAnswerAreNotTakenByTheirExpiry) {
  for (std::string word : {"approve", "send", "reject", "fail"}) {
    GraphBuilder<Mail> made{"mail"};
    made.node("send", tell_decision);
    made.approval("review", &Mail::draft, {.question = "?", .when_expired = word})
        .approved("send")
        .rejected(end)
        .choice("send")
        .answer<ChosenSum>();
    made.edge(start, "review").edge("send", end);
    auto built = std::move(made).build();
    bool is_refused = word == "approve" || word == "send";
    EXPECT_EQ(built.ok(), !is_refused) << word;
    if (built.ok()) continue;
    EXPECT_THAT(built.error().message, HasSubstr("needs an answer"));
  }
}

}  // namespace
}  // namespace belay
