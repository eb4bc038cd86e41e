// Tests decisions on approvals, their expiry, and repeated and late decisions.
// Long on purpose: decisions in each state of a run, with one fixture.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/check.h"
#include "belay/limits.h"
#include "store/forwarding_store.h"
#include "tests/support/runtime_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Kind = DecisionResult::Kind;

struct Street {
  std::string name{};
  int number = 0;
};
struct Address {
  std::string town{};
  Street street{};
};
struct Parcel {
  Address to{};
  std::string note{};
  int weight = 0;
};

struct Decisions : RuntimeFixture {
  RunView paused = start_mail("urgent").value();

  bool was_sent() {
    auto records = runtime->records(default_tenant(), UserId("local"));
    return block_on(loop, records->get<SentMail>(paused.row.thread.text))->has_value();
  }
};

TEST_F(Decisions, ApprovingPersistsTheDecisionAndGoesOn) {
  EXPECT_EQ(paused.row.status, RunStatus::paused);
  EXPECT_TRUE(*paused.state["awaiting"].as_bool());
  auto answer = decide(paused, approve()).value();
  EXPECT_EQ(answer.kind, Kind::accepted);
  EXPECT_EQ(answer.view.row.status, RunStatus::completed);
  EXPECT_EQ(answer.approval.status, ApprovalStatus::approved);
  EXPECT_EQ(answer.approval.decided_by, "ana");
  EXPECT_TRUE(*answer.view.state["approved"].as_bool());
  EXPECT_FALSE(*answer.view.state["awaiting"].as_bool());
  EXPECT_TRUE(was_sent());
}

TEST_F(Decisions, RejectingEndsWithoutTheEffect) {
  auto answer = decide(paused, reject()).value();
  EXPECT_EQ(answer.view.row.status, RunStatus::completed);
  EXPECT_EQ(answer.view.row.outcome, "rejected");
  EXPECT_EQ(answer.view.row.node, "end");
  EXPECT_FALSE(was_sent());
}

TEST_F(Decisions, TheSameDecisionAgainChangesNothing) {
  auto first = decide(paused, approve("ana")).value();
  Decision again = approve("ben");
  again.comment = "me too";
  auto second = decide(paused, again).value();
  EXPECT_EQ(second.kind, Kind::duplicate);
  EXPECT_EQ(second.view.row, first.view.row);
  EXPECT_EQ(second.approval.decided_by, "ana");
}

TEST_F(Decisions, ADifferentDecisionIsToldTheWinner) {
  decide(paused, approve()).value();
  auto other = decide(paused, reject("ben")).value();
  EXPECT_EQ(other.kind, Kind::conflict);
  EXPECT_EQ(other.approval.status, ApprovalStatus::approved);
  Decision edited = approve("ben");
  edited.edited = Value("Dear nobody");
  EXPECT_EQ(decide(paused, edited)->kind, Kind::conflict);
}

TEST_F(Decisions, AnEditThatChangesNothingIsNoEdit) {
  Decision edited = approve();
  edited.edited = Value("Dear urgent");
  EXPECT_EQ(decide(paused, edited)->kind, Kind::accepted);
  EXPECT_EQ(decide(paused, approve())->kind, Kind::duplicate);
}

TEST_F(Decisions, AnEditIsSavedAndSent) {
  Decision edited = approve();
  edited.edited = Value("Dear edited");
  auto answer = decide(paused, edited).value();
  EXPECT_EQ(*answer.view.state["draft"].as_string(), "Dear edited");
  EXPECT_EQ(decide(paused, edited)->kind, Kind::duplicate);
  EXPECT_EQ(decide(paused, approve())->kind, Kind::conflict);
}

TEST_F(Decisions, AnEditThatDoesNotFitIsRefusedAndTheQuestionStaysOpen) {
  Decision edited = approve();
  edited.edited = Value(42);
  auto refused = decide(paused, edited);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("does not fit"));
  EXPECT_EQ(decide(paused, approve())->kind, Kind::accepted);
}

TEST_F(Decisions, ACommentOfTheGreatestLengthIsKept) {
  Decision decision = approve();
  decision.comment = std::string(limits::comment_bytes_max, 'x');
  EXPECT_EQ(decide(paused, decision)->kind, Kind::accepted);
}

TEST_F(Decisions, WhatCantBeStoredIsRefusedAndTheQuestionStaysOpen) {
  Decision decision = approve();
  decision.comment = "\xff";
  EXPECT_THAT(decide(paused, decision).error().message, HasSubstr("comment is not valid UTF-8"));
  decision.comment = std::string(limits::comment_bytes_max + 1, 'x');
  EXPECT_EQ(decide(paused, decision).error().code, ErrorCode::invalid);
  Decision edited = approve();
  edited.edited = Value(std::string("a\0b", 3));
  EXPECT_THAT(decide(paused, edited).error().message, HasSubstr("U+0000"));
  edited.edited = Value("\xff");
  EXPECT_EQ(decide(paused, edited).error().code, ErrorCode::invalid);
  edited.edited = Value(std::string(limits::value_bytes_max, 'x'));
  EXPECT_THAT(decide(paused, edited).error().message, HasSubstr("longer than"));
  EXPECT_EQ(decide(paused, approve())->kind, Kind::accepted);
}

TEST_F(Decisions, AnEditWithMoreThanWasShownIsRefusedHoweverDeepItLies) {
  GraphBuilder<Parcel> builder{"parcel"};
  builder.approval("ask", &Parcel::to, {.question = "There?"}).approved(end).rejected(end);
  builder.edge(start, "ask");
  auto parcel = std::move(builder).build().value();
  runtime->add(parcel);
  auto waiting = block_on(loop, runtime->start(parcel, Parcel{}, StartOptions{})).value();
  Decision edited = approve();
  edited.edited = *parse_json(R"({"town":"Rome","planet":"Mars"})");
  EXPECT_THAT(decide(waiting, edited).error().message, HasSubstr("has \"planet\""));
  edited.edited = *parse_json(R"({"town":"Rome","street":{"name":"Via","floor":2}})");
  EXPECT_THAT(decide(waiting, edited).error().message, HasSubstr("has a nested member"));
  edited.edited = *parse_json(R"({"town":"Rome","street":{"name":"Via"}})");
  auto answer = decide(waiting, edited).value();
  EXPECT_EQ(answer.kind, Kind::accepted);
  EXPECT_EQ(answer.view.state["to"]["street"]["number"], Value(0));
}

// Two subgraphs have approval nodes of the same name, with channels of different types.
TEST_F(Decisions, AnEditIsReadAsTheSubgraphThatAsksHasIt) {
  GraphBuilder<Parcel> weighing{"weighing"};
  weighing.approval("ask", &Parcel::weight, {.question = "So heavy?"}).approved(end).rejected(end);
  weighing.edge(start, "ask");
  GraphBuilder<Parcel> noting{"noting"};
  noting.approval("ask", &Parcel::note, {.question = "This note?"})
      .validate([](const Parcel& parcel) -> Result<Done> {
        if (parcel.note == "rude") return error(ErrorCode::invalid, "Be kind.");
        return Done{};
      })
      .approved("send")
      .rejected(end);
  noting.approval("send", &Parcel::to, {.question = "There?"}).approved(end).rejected(end);
  noting.edge(start, "ask");
  GraphBuilder<Parcel> builder{"parcel"};
  auto whole = [](const Parcel& parcel) { return parcel; };
  builder.subgraph("weigh", std::move(weighing).build().value(), whole,
                   [](const Parcel& inner) { return set(&Parcel::weight, inner.weight); });
  builder.subgraph("note", std::move(noting).build().value(), whole, [](const Parcel& inner) {
    return set(&Parcel::note, inner.note).set(&Parcel::to, inner.to);
  });
  builder.edge(start, "weigh").edge("weigh", "note").edge("note", end);
  auto parcel = std::move(builder).build().value();
  runtime->add(parcel);
  auto waiting = block_on(loop, runtime->start(parcel, Parcel{}, StartOptions{})).value();
  Decision edited = approve();
  edited.edited = Value("heavy");
  EXPECT_THAT(decide(waiting, edited).error().message, HasSubstr("does not fit"));
  edited.edited = Value(7);
  waiting = decide(waiting, edited).value().view;
  ASSERT_TRUE(waiting.approval);
  EXPECT_THAT(decide(waiting, edited).error().message, HasSubstr("does not fit"));
  edited.edited = Value("rude");
  EXPECT_THAT(decide(waiting, edited).error().message, HasSubstr("Be kind"));
  edited.edited = Value("fragile");
  waiting = decide(waiting, edited).value().view;
  ASSERT_TRUE(waiting.approval);
  edited.edited = *parse_json(R"({"town":"Rome"})");
  auto last = decide(waiting, edited).value();
  EXPECT_EQ(last.view.row.status, RunStatus::completed) << last.view.row.error;
  EXPECT_EQ(last.view.state["weight"], Value(7));
  EXPECT_EQ(last.view.state["note"], Value("fragile"));
  EXPECT_EQ(last.view.state["to"]["town"], Value("Rome"));
  EXPECT_EQ(decide(waiting, edited)->kind, Kind::duplicate) << "as it was stored, with its street";
}

TEST_F(Decisions, AnEditReachesTheOneOfSeveralSubgraphsThatAsked) {
  GraphBuilder<Parcel> noting{"noting"};
  noting.approval("ask", &Parcel::note, {.question = "This note?"}).approved(end).rejected(end);
  noting.edge(start, "ask");
  auto inner = std::move(noting).build().value();
  GraphBuilder<Parcel> builder{"parcel"};
  auto whole = [](const Parcel& parcel) { return parcel; };
  builder.subgraph("weigh", inner, whole, [](const Parcel& done) {
    return set(&Parcel::weight, static_cast<int>(done.note.size()));
  });
  builder.subgraph("note", inner, whole,
                   [](const Parcel& done) { return set(&Parcel::note, done.note); });
  builder.edge(start, "weigh").edge(start, "note").edge("weigh", end).edge("note", end);
  auto parcel = std::move(builder).build().value();
  runtime->add(parcel);
  auto waiting = block_on(loop, runtime->start(parcel, Parcel{}, StartOptions{})).value();
  ASSERT_EQ(waiting.approvals.size(), 2u);
  Decision misfit = approve();
  misfit.edited = Value(42);
  for (const ApprovalRow& each : waiting.approvals) {
    RunView asked = waiting;
    asked.approval = each;
    EXPECT_THAT(decide(asked, misfit).error().message, HasSubstr("does not fit"));
  }
  for (const char* note : {"five!", "seven.."}) {
    Decision edited = approve();
    edited.edited = Value(note);
    waiting.approval = waiting.approvals.back();
    waiting = decide(waiting, edited).value().view;
  }
  EXPECT_EQ(waiting.row.status, RunStatus::completed) << waiting.row.error;
  std::int64_t weight = waiting.state["weight"].as_int().value();
  std::string said = *waiting.state["note"].as_string();
  EXPECT_TRUE((weight == 5 && said == "seven..") || (weight == 7 && said == "five!"));
}

TEST_F(Decisions, WhatAQuestionShowsIsNotDecidedOnceItsBytesHaveChanged) {
  std::function<Result<std::vector<StoredEnvelope>>(Snapshot&)> reader = [](Snapshot& view) {
    return view.envelopes(EnvelopeFilter{.tenant = default_tenant()});
  };
  auto stored =
      block_on(loop, read<std::vector<StoredEnvelope>>(*store, std::move(reader))).value();
  int changed = 0;
  for (const StoredEnvelope& each : stored) {
    if (each.subject != "payload " + paused.approval->interrupt.text()) continue;
    Commit commit;
    commit.tenant = default_tenant();
    commit.rows.rewrites.push_back(
        {each.position, sha256(each.envelope), json_envelope("\"Dear robber\"")});
    block_on(loop, store->commit(std::move(commit))).value();
    ++changed;
  }
  ASSERT_EQ(changed, 1);
  auto refused = decide(paused, approve());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  EXPECT_EQ(all_runs().at(0).status, RunStatus::quarantined);
}

TEST_F(Decisions, ARejectionTakesNoEditAndADeciderNeedsAName) {
  Decision edited = reject();
  edited.edited = Value("x");
  EXPECT_EQ(decide(paused, edited).error().code, ErrorCode::invalid);
  EXPECT_EQ(decide(paused, approve("")).error().code, ErrorCode::invalid);
}

TEST_F(Decisions, ALateDecisionPerformsTheExpiryItself) {
  clock.move(24h);
  auto late = decide(paused, approve()).value();
  EXPECT_EQ(late.kind, Kind::expired);
  EXPECT_EQ(late.approval.status, ApprovalStatus::expired);
  EXPECT_EQ(late.view.row.status, RunStatus::completed);
  EXPECT_EQ(late.view.row.outcome, "expired");
  EXPECT_EQ(decide(paused, approve())->kind, Kind::expired);
  EXPECT_FALSE(was_sent());
}

TEST_F(Decisions, ADecisionInTheLastMomentCounts) {
  clock.move(24h - 1ms);
  EXPECT_EQ(decide(paused, approve())->kind, Kind::accepted);
}

TEST_F(Decisions, WhatIsDueIsAppliedOnce) {
  EXPECT_EQ(block_on(loop, runtime->process_due(default_tenant())).value().total(), 0u);
  clock.move(25h);
  DueReport expired{.expired_approvals = 1};
  EXPECT_EQ(block_on(loop, runtime->process_due(default_tenant())).value(), expired);
  EXPECT_EQ(block_on(loop, runtime->process_due(default_tenant())).value().total(), 0u);
  auto view = block_on(loop, runtime->status(default_tenant(), paused.row.thread)).value();
  EXPECT_EQ(view.row.outcome, "expired");
}

TEST_F(Decisions, ACancelledRunsApprovalIsClosed) {
  auto cancelled = block_on(loop, runtime->cancel(default_tenant(), paused.row.thread, "ana"));
  EXPECT_EQ(cancelled->row.status, RunStatus::cancelled);
  EXPECT_FALSE(*cancelled->state["awaiting"].as_bool());
  auto answer = decide(paused, approve()).value();
  EXPECT_EQ(answer.kind, Kind::closed);
  EXPECT_FALSE(was_sent());
}

TEST_F(Decisions, AnUnknownApprovalSaysSo) {
  auto missing =
      block_on(loop, runtime->decide(default_tenant(), InterruptId(derived_uuid("x")), approve()));
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
}

TEST_F(Decisions, OnlyARoleThatMayDecideMay) {
  GraphBuilder<Mail> builder{"guarded"};
  builder.approval("ask", &Mail::draft, {.question = "?", .roles = {"lead", "boss"}})
      .approved(end)
      .rejected(end);
  builder.edge(start, "ask");
  auto guarded = std::move(builder).build().value();
  runtime->add(guarded);
  auto waiting = block_on(loop, runtime->start(guarded, Mail{}, StartOptions{})).value();
  Decision decision = approve();
  decision.roles = {"boss2"};
  EXPECT_EQ(decide(waiting, decision).error().code, ErrorCode::forbidden);
  decision.roles = {"other", "boss"};
  EXPECT_EQ(decide(waiting, decision)->kind, Kind::accepted);
}

TEST_F(Decisions, AreKeptWithWhomTheyWereMadeFor) {
  Decision decision = approve("the office");
  decision.on_behalf_of = std::string(201, 'x');
  EXPECT_EQ(decide(paused, decision).error().code, ErrorCode::invalid);
  decision.on_behalf_of = "ana";
  auto answer = decide(paused, decision).value();
  EXPECT_EQ(answer.kind, Kind::accepted);
  EXPECT_EQ(answer.approval.decided_by, "the office");
  EXPECT_EQ(answer.approval.on_behalf_of, "ana");
  std::vector<Value> said = event_bodies(answer.view.row.run, "decision");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0]["decidedBy"], Value("the office"));
  EXPECT_EQ(said[0]["onBehalfOf"], Value("ana"));
  decision.on_behalf_of = "ben";
  EXPECT_EQ(decide(paused, decision)->kind, Kind::duplicate) << "names do not make a decision";
}

TEST_F(Decisions, ACancelIsKeptWithWhomItWasMadeFor) {
  const ThreadId& thread = paused.row.thread;
  auto run = paused.row.run;
  EXPECT_FALSE(
      block_on(loop, runtime->cancel(default_tenant(), thread, "the office", "a\nb")).ok());
  EXPECT_TRUE(block_on(loop, runtime->cancel(default_tenant(), thread, "the office", "ana")).ok());
  std::vector<Value> said = event_bodies(run, "cancel");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0]["by"], Value("the office"));
  EXPECT_EQ(said[0]["onBehalfOf"], Value("ana"));
}

TEST_F(Decisions, OfManyAtOnceExactlyOneWins) {
  std::vector<Spawned> deciding;
  std::map<Kind, int> kinds;
  std::vector<std::unique_ptr<Runtime>> processes;
  for (int i = 0; i < 64; ++i) {
    processes.push_back(process());
    Decision decision = i % 2 ? approve("p" + std::to_string(i)) : reject("p" + std::to_string(i));
    deciding.push_back(spawn<Result<DecisionResult>>(
        loop, processes.back()->decide(default_tenant(), paused.approval->interrupt, decision),
        [&](Result<DecisionResult> answer) { ++kinds[answer.value().kind]; }));
  }
  loop.run();
  EXPECT_EQ(kinds[Kind::accepted], 1);
  EXPECT_EQ(kinds[Kind::duplicate], 31);
  EXPECT_EQ(kinds[Kind::conflict], 32);
}

// Imitates an older version of Belay, which left approvals open after the end of their run.
class ForgetfulStore final : public ForwardingStore {
 public:
  explicit ForgetfulStore(Store& inner) : ForwardingStore(inner) {}
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    commit.rows.ends_run = false;
    co_return co_await inner().commit(std::move(commit));
  }
};

TEST_F(Decisions, AnOpenApprovalOfARunThatHasEndedIsAConflictWithItsStatus) {
  ForgetfulStore forgetful(*store);
  auto other = Runtime::open(RuntimeParts{forgetful, loop, clock, random, model}).value();
  other->add(graph);
  block_on(loop, other->cancel(default_tenant(), paused.row.thread, "ana")).value();
  auto answer = decide(paused, approve());
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::conflict);
  EXPECT_THAT(answer.error().message, HasSubstr("is cancelled"));
}

// A superstep with an approval and with a wait whose time function throws: one commit both requests
// the approval and fails the run.
TEST_F(Decisions, ARunThatFailsAsItAsksLeavesNoApprovalOpen) {
  GraphBuilder<Mail> builder{"beside"};
  builder.approval("review", &Mail::draft, {.question = "Send?"}).approved(end).rejected(end);
  builder.wait("nap", [](const Mail&) -> std::chrono::milliseconds {
    throw Failure(error(ErrorCode::invalid, "no time"));
  });
  builder.edge(start, "review").edge(start, "nap").edge("nap", end);
  auto beside = std::move(builder).build().value();
  runtime->add(beside);
  auto view = block_on(loop, runtime->start(beside, Mail{}, StartOptions{})).value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  std::function<Result<std::vector<ApprovalRow>>(Snapshot&)> reader =
      [run = view.row.run](Snapshot& snapshot) {
        return snapshot.approvals({.tenant = default_tenant(), .run = run, .only_open = true});
      };
  EXPECT_TRUE(block_on(loop, read<std::vector<ApprovalRow>>(*store, reader)).value().empty());
  auto report = block_on(loop, check_store(*store, CheckScope{})).value();
  EXPECT_TRUE(report.violations.empty()) << report.violations.front().message;
}

}  // namespace
}  // namespace belay
