// Approvals: requested in a commit, decided once, expired by the store's clock.

#include <thread>

#include "belay/detail/expiry_envelope.h"
#include "tests/conformance/store_suite.h"

namespace belay::conformance {
namespace {

using std::chrono::hours;

TEST_P(StoreSuite, AnApprovalIsKeptAsItWasAsked) {
  RunScript script("a");
  call_->commit(script.first());
  EXPECT_EQ(call_->commit(script.ask(clock_.now() + hours(24))), CommitOutcome::applied);
  EXPECT_EQ(call_->approval(script.opened().interrupt), script.opened());
}

TEST_P(StoreSuite, ADecisionIsKeptWithItsRun) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.ask(clock_.now() + hours(24)));
  Commit decision = script.decide(ApprovalStatus::approved);
  decision.rows.decided->edited = json_envelope("{\"risk\":5}");
  decision.rows.decided->edited_hash = sha256("{\"risk\":5}");
  decision.rows.records.push_back(record_put("1", "{}"));
  ApprovalRow expected = *decision.rows.decided;
  EXPECT_EQ(call_->commit(std::move(decision)), CommitOutcome::applied);
  EXPECT_EQ(call_->approval(expected.interrupt), expected);
  EXPECT_EQ(call_->run(script.row.run), script.row);
}

TEST_P(StoreSuite, ADecisionSaysForWhomItWasMade) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.ask(clock_.now() + hours(24)));
  EXPECT_EQ(call_->approval(script.opened().interrupt).on_behalf_of, "");
  Commit decision = script.decide(ApprovalStatus::approved, "a service");
  decision.rows.decided->on_behalf_of = "ana";
  ApprovalRow expected = *decision.rows.decided;
  EXPECT_EQ(call_->commit(std::move(decision)), CommitOutcome::applied);
  EXPECT_EQ(call_->approval(expected.interrupt), expected);
}

TEST_P(StoreSuite, ApprovalsAreFoundByWhereTheirIdsLie) {
  RunScript script("a");
  call_->commit(script.first());
  std::vector<ApprovalRow> asked;
  for (int i = 0; i < 20; ++i) {
    Commit commit = script.pending({});
    asked.push_back(script.question(std::to_string(i)));
    commit.rows.opened.push_back(asked.back());
    EXPECT_EQ(call_->commit(std::move(commit)), CommitOutcome::applied);
  }
  auto found = [&](const InterruptId& first, const InterruptId& last) {
    ApprovalFilter filter;
    filter.tenant = default_tenant();
    filter.between = {first, last};
    return call_->approvals(filter);
  };
  for (const ApprovalRow& each : asked) {
    auto only = found(each.interrupt, each.interrupt);
    ASSERT_EQ(only.size(), 1u);
    EXPECT_EQ(only[0], each);
    std::size_t expected = 0;
    for (const ApprovalRow& other : asked) expected += other.interrupt >= each.interrupt;
    Uuid greatest;
    greatest.bytes.fill(0xff);
    EXPECT_EQ(found(each.interrupt, InterruptId(greatest)).size(), expected);
  }
  EXPECT_TRUE(found(InterruptId(), InterruptId()).empty());
}

TEST_P(StoreSuite, ADecisionChangesNothingOfWhatWasAsked) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.ask(clock_.now() + hours(24)));
  Commit decision = script.decide(ApprovalStatus::approved);
  decision.rows.decided->payload = "forged";
  decision.rows.decided->question = "forged";
  call_->commit(std::move(decision));
  ApprovalRow stored = call_->approval(script.opened().interrupt);
  EXPECT_EQ(stored.payload, script.opened().payload);
  EXPECT_EQ(stored.question, script.opened().question);
}

TEST_P(StoreSuite, TheSameDecisionSentAgainIsAppliedOnce) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.ask(clock_.now() + hours(24)));
  Commit decision = script.decide(ApprovalStatus::approved);
  EXPECT_EQ(call_->commit(decision), CommitOutcome::applied);
  std::string before = call_->all();
  EXPECT_EQ(call_->commit(decision), CommitOutcome::applied);
  clock_.advance(hours(48));
  EXPECT_EQ(call_->commit(decision), CommitOutcome::applied) << "although it has expired since";
  EXPECT_EQ(call_->all(), before);
}

TEST_P(StoreSuite, ASecondDecisionAndOneOnAnotherPayloadAreRefused) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.ask(clock_.now() + hours(24)));
  RunScript rival = script;
  rival.become("rival");
  Commit wrong_payload = rival.decide(ApprovalStatus::approved);
  wrong_payload.approval_guard->payload_hash = sha256("another");
  std::string before = call_->all();
  EXPECT_EQ(call_->commit(wrong_payload), CommitOutcome::approval_closed);
  EXPECT_EQ(call_->all(), before);

  call_->commit(script.decide(ApprovalStatus::approved));
  before = call_->all();
  RunScript late = script;
  late.become("late");
  EXPECT_EQ(call_->commit(late.decide(ApprovalStatus::rejected)), CommitOutcome::approval_closed);
  RunScript unknown = script;
  Commit of_nothing = unknown.decide(ApprovalStatus::approved);
  of_nothing.approval_guard->interrupt = interrupt_named("nothing");
  of_nothing.rows.decided->interrupt = interrupt_named("nothing");
  of_nothing.if_expired.reset();
  EXPECT_EQ(call_->commit(of_nothing), CommitOutcome::approval_closed);
  EXPECT_EQ(call_->all(), before);
}

TEST_P(StoreSuite, OfSixtyFourDecisionsAtOnceExactlyOneApplies) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.ask(clock_.now() + hours(24)));
  std::atomic<int> applied = 0;
  std::string winner;
  std::vector<std::thread> deciders;
  for (int i = 0; i < 64; ++i) {
    deciders.emplace_back([&, i] {
      std::string name = "person " + std::to_string(i);
      RunScript rival = script;
      rival.become(name);
      Caller caller(*store_);
      auto verdict = i % 2 == 0 ? ApprovalStatus::approved : ApprovalStatus::rejected;
      CommitOutcome outcome = caller.commit(rival.decide(verdict, name));
      if (outcome != CommitOutcome::applied) return;
      ++applied;
      winner = name;
    });
  }
  for (std::thread& decider : deciders) decider.join();
  EXPECT_EQ(applied, 1);
  EXPECT_EQ(call_->approval(script.opened().interrupt).decided_by, winner);
  EXPECT_EQ(call_->run(script.row.run).seq, 3u);
}

TEST_P(StoreSuite, AfterItsExpiryADecisionWritesTheExpiryInstead) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.ask(clock_.now() + hours(24)));
  clock_.advance(hours(24));  // the expiry is exclusive: a decision at that moment is rejected
  Commit decision = script.decide(ApprovalStatus::approved);
  RunRow expected = *decision.if_expired->run;
  EXPECT_EQ(call_->commit(decision), CommitOutcome::expired);
  EXPECT_EQ(call_->approval(script.opened().interrupt).status, ApprovalStatus::expired);
  EXPECT_EQ(call_->run(script.row.run), expected);
  EXPECT_EQ(call_->commit(decision), CommitOutcome::expired) << "sent again";
}

TEST_P(StoreSuite, AfterItsExpiryADecisionWithoutARemedyWritesNothing) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.ask(clock_.now() + hours(24)));
  clock_.advance(hours(25));
  std::string before = call_->all();
  Commit decision = script.decide(ApprovalStatus::approved);
  decision.if_expired.reset();
  EXPECT_EQ(call_->commit(std::move(decision)), CommitOutcome::approval_closed);
  EXPECT_EQ(call_->all(), before);
}

TEST_P(StoreSuite, ACommitThatTakesAnApprovalForOpenIsRefusedOnceItIsNot) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.ask(clock_.now() + hours(24)));
  RunScript fenced = script;
  Commit of_another_epoch = fenced.next();
  of_another_epoch.require_open = {script.opened().interrupt};
  ++of_another_epoch.run_guard->epoch;
  ++of_another_epoch.rows.run->epoch;
  EXPECT_EQ(call_->commit(of_another_epoch), CommitOutcome::fenced);
  Commit open = script.next();
  open.require_open = {script.opened().interrupt, interrupt_named("asked by this very commit")};
  EXPECT_EQ(call_->commit(open), CommitOutcome::applied);
  EXPECT_EQ(call_->commit(script.decide(ApprovalStatus::approved)), CommitOutcome::applied);
  std::string before = call_->all();
  Commit closed = script.next();
  closed.require_open = {script.opened().interrupt};
  EXPECT_EQ(call_->commit(closed), CommitOutcome::approval_closed);
  EXPECT_EQ(call_->all(), before);
}

TEST_P(StoreSuite, ADecisionGuardedByAnApprovalOfAnotherRunIsRefused) {
  RunScript asks("a");
  call_->commit(asks.first());
  call_->commit(asks.ask(clock_.now() + hours(24)));
  RunScript other("b");
  Commit first = other.first();
  RunScript stranger("c");
  Commit of_a_new_run = stranger.first();
  call_->commit(first);
  std::string before = call_->all();
  for (Commit* commit : {&of_a_new_run, &first}) {
    if (commit == &first) *commit = other.next();
    commit->approval_guard.emplace();
    commit->approval_guard->interrupt = asks.opened().interrupt;
    commit->approval_guard->payload_hash = asks.opened().payload_hash;
    EXPECT_EQ(call_->commit(*commit), CommitOutcome::approval_closed);
  }
  EXPECT_EQ(call_->all(), before);
}

TEST_P(StoreSuite, AnApprovalsIdIsAskedUnderOnce) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.ask(clock_.now() + hours(24)));
  std::string before = call_->all();
  RunScript other("b");
  Commit taken = other.first();
  taken.rows.opened = {other.question("new")};
  taken.rows.opened[0].seq = 1;
  taken.rows.opened[0].interrupt = script.opened().interrupt;
  EXPECT_EQ(call_->try_commit(taken).error().code, ErrorCode::conflict);
  Commit twice = taken;
  twice.rows.opened[0].interrupt = interrupt_named("new");
  twice.rows.opened.push_back(twice.rows.opened[0]);
  EXPECT_EQ(call_->try_commit(twice).error().code, ErrorCode::conflict);
  EXPECT_EQ(call_->all(), before) << "nothing of a refused commit stays";
}

TEST_P(StoreSuite, AnExpiryAppliesOnlyOnceItsTimeHasPassed) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.ask(clock_.now() + hours(24)));
  RunScript early = script;
  EXPECT_EQ(call_->commit(early.expire()), CommitOutcome::approval_closed);
  clock_.advance(hours(24));
  EXPECT_EQ(call_->commit(script.expire()), CommitOutcome::applied);
  EXPECT_EQ(call_->approval(script.opened().interrupt).status, ApprovalStatus::expired);
}

OutboxRow expiry_message(const ApprovalRow& approval, Instant now) {
  OutboxRow row;
  row.run = approval.run;
  row.seq = approval.seq;
  row.index = belay::detail::expiry_message_index(approval.interrupt);
  row.topic = "late";
  row.envelope = json_envelope("{\"decision\":\"rejected\"}");
  row.due_at = now;
  row.created_at = now;
  return row;
}

std::vector<OutboxRow> outbox_of(Caller& call) {
  OutboxFilter filter;
  filter.tenant = default_tenant();
  return call.outbox(filter);
}

TEST_P(StoreSuite, TheMessageOfAnExpiryIsWrittenWithItAndOnlyWithIt) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.ask(clock_.now() + hours(24)));
  OutboxRow message = expiry_message(script.opened(), clock_.now());
  RunScript early = script;
  Commit decision = early.decide(ApprovalStatus::approved);
  decision.if_expired->outbox.push_back(message);
  RunScript late = script;
  Commit expiry = late.expire();
  expiry.rows.outbox.push_back(message);
  EXPECT_EQ(call_->commit(expiry), CommitOutcome::approval_closed);
  EXPECT_TRUE(outbox_of(*call_).empty());
  clock_.advance(hours(24));
  EXPECT_EQ(call_->commit(decision), CommitOutcome::expired);
  EXPECT_EQ(outbox_of(*call_), std::vector{message});
  EXPECT_EQ(call_->commit(decision), CommitOutcome::expired) << "sent again";
  EXPECT_EQ(call_->commit(expiry), CommitOutcome::fenced) << "another process";
  EXPECT_EQ(outbox_of(*call_), std::vector{message});
}

TEST_P(StoreSuite, TheMessageOfAnExpiryIsWrittenWithoutTheRun) {
  RunScript script("a");
  call_->commit(script.first());
  ApprovalRow asked = script.question("q", clock_.now() + hours(24));
  asked.payload = belay::detail::expiry_envelope("{\"topic\":\"late\"}", "7");
  asked.payload_hash = sha256("7");
  Commit request = script.pending({});
  request.rows.opened.push_back(asked);
  call_->commit(request);
  EXPECT_EQ(call_->approval(asked.interrupt), asked);
  clock_.advance(hours(25));
  Commit expiry;
  expiry.tenant = default_tenant();
  expiry.approval_guard = ApprovalGuard{.interrupt = asked.interrupt,
                                        .payload_hash = asked.payload_hash,
                                        .expiry = ApprovalGuard::Expiry::passed,
                                        .run_is_active = true};
  expiry.rows.decided = asked;
  expiry.rows.decided->status = ApprovalStatus::expired;
  expiry.rows.decided->decided_at = clock_.now();
  OutboxRow message = expiry_message(asked, clock_.now());
  expiry.rows.outbox.push_back(message);
  Commit two = expiry;
  two.rows.outbox.push_back(message);
  EXPECT_EQ(call_->try_commit(two).error().code, ErrorCode::invalid);
  EXPECT_EQ(call_->commit(expiry), CommitOutcome::applied);
  EXPECT_EQ(outbox_of(*call_), std::vector{message});
  EXPECT_EQ(call_->commit(expiry), CommitOutcome::approval_closed) << "sent again";
  EXPECT_EQ(outbox_of(*call_), std::vector{message});
  // It is delivered like every other message.
  OutboxRow delivered = message;
  delivered.status = OutboxStatus::delivered;
  delivered.attempts = 1;
  Commit move;
  move.tenant = default_tenant();
  move.message_guard = OutboxGuard{message.run, message.seq, message.index};
  move.rows.outbox.push_back(delivered);
  EXPECT_EQ(call_->commit(move), CommitOutcome::applied);
  EXPECT_EQ(outbox_of(*call_), std::vector{delivered});
}

TEST_P(StoreSuite, ARunsOpenApprovalsCanBeClosedWithIt) {
  RunScript script("a");
  RunScript other("b");
  call_->commit(script.first());
  call_->commit(other.first());
  call_->commit(script.ask(clock_.now() + hours(24)));
  InterruptId earlier = script.opened().interrupt;
  call_->commit(script.decide(ApprovalStatus::approved));
  call_->commit(script.ask(clock_.now() + hours(24)));
  call_->commit(other.ask(clock_.now() + hours(24)));
  Commit cancel = script.next();
  cancel.rows.run->status = RunStatus::cancelled;
  cancel.rows.checkpoint->status = RunStatus::cancelled;
  cancel.rows.ends_run = true;
  EXPECT_EQ(call_->commit(std::move(cancel)), CommitOutcome::applied);
  EXPECT_EQ(call_->approval(earlier).status, ApprovalStatus::approved);
  EXPECT_EQ(call_->approval(script.opened().interrupt).status, ApprovalStatus::closed);
  EXPECT_EQ(call_->approval(other.opened().interrupt).status, ApprovalStatus::open);
}

TEST_P(StoreSuite, ApprovalsAreFoundByRunStateAndExpiry) {
  std::vector<InterruptId> ids;
  std::vector<RunScript> scripts;
  for (int i = 0; i < 4; ++i) {
    RunScript& script = scripts.emplace_back(std::to_string(i));
    call_->commit(script.first());
    call_->commit(script.ask(clock_.now() + hours(i + 1)));
    ids.push_back(script.opened().interrupt);
  }
  call_->commit(scripts[1].decide(ApprovalStatus::rejected));

  auto found = [&](ApprovalFilter filter) {
    std::vector<InterruptId> interrupts;
    for (const ApprovalRow& row : call_->approvals(filter)) interrupts.push_back(row.interrupt);
    return interrupts;
  };
  using Ids = std::vector<InterruptId>;
  const TenantId& tenant = default_tenant();
  EXPECT_EQ(found(ApprovalFilter{tenant, {}, {}}), (Ids{ids[3], ids[2], ids[1], ids[0]}));
  EXPECT_EQ(found(ApprovalFilter{.tenant = tenant, .limit = 2}), (Ids{ids[3], ids[2]}));
  EXPECT_EQ(found(ApprovalFilter{.tenant = tenant, .limit = 0}), Ids{});
  EXPECT_EQ(found(ApprovalFilter{tenant, {}, {}, true}), (Ids{ids[3], ids[2], ids[0]}));
  EXPECT_EQ(found(ApprovalFilter{tenant, {}, {}, true, clock_.now() + hours(3)}),
            (Ids{ids[2], ids[0]}));
  EXPECT_EQ(found(ApprovalFilter{tenant, {}, scripts[1].row.run}), Ids{ids[1]});
  EXPECT_EQ(found(ApprovalFilter{tenant, {}, scripts[1].row.run, true}), Ids{});
  EXPECT_EQ(found(ApprovalFilter{tenant, ids[2], scripts[1].row.run}), Ids{});
  EXPECT_EQ(found(ApprovalFilter{TenantId("other"), ids[2], {}}), Ids{});
  EXPECT_EQ(found({.tenant = tenant, .before = ids[2], .limit = 1}), Ids{ids[1]});
  EXPECT_EQ(found({.tenant = tenant, .only_open = true, .before = ids[2]}), Ids{ids[0]});
  EXPECT_EQ(found({.tenant = tenant, .run = scripts[1].row.run, .before = ids[1]}), Ids{});
  EXPECT_EQ(found({.tenant = tenant, .before = interrupt_named("none")}), Ids{});
  EXPECT_EQ(found({.tenant = tenant, .graphs = {scripts[0].row.graph}}),
            (Ids{ids[3], ids[2], ids[1], ids[0]}));
  EXPECT_EQ(found({.tenant = tenant, .graphs = {"none"}}), Ids{});
}

}  // namespace
}  // namespace belay::conformance
