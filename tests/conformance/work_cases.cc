// Long on purpose: cases of one suite. Pending writes, appended values, tasks, effects and
// messages: the basis of parallel supersteps.

#include <gmock/gmock.h>

#include "tests/conformance/store_suite.h"

namespace belay::conformance {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> texts_of(const std::vector<ValueRow>& values) {
  std::vector<std::string> texts;
  for (const ValueRow& value : values) {
    texts.push_back(value.checkpoint_ns + "/" + value.channel + " " + std::to_string(value.seq) +
                    "." + std::to_string(value.index) + " " + std::string(name_of(value.kind)));
  }
  return texts;
}

TEST_P(StoreSuite, AValueIsItsNewestWholeOneAndWhatFollows) {
  RunScript script("a");
  call_->commit(script.first());
  for (WriteOp kind :
       {WriteOp::append, WriteOp::append, WriteOp::set, WriteOp::append, WriteOp::append}) {
    call_->commit(script.next_with({{"list", kind}}));
  }
  auto at = [&](std::uint64_t seq) {
    return texts_of(call_->values({default_tenant(), script.row.run, {}, seq}));
  };
  EXPECT_THAT(at(1), IsEmpty());
  EXPECT_THAT(at(3), ElementsAre("/list 2.0 append", "/list 3.0 append"));
  EXPECT_THAT(at(4), ElementsAre("/list 4.0 set"));
  EXPECT_THAT(at(6), ElementsAre("/list 4.0 set", "/list 5.0 append", "/list 6.0 append"));
  EXPECT_EQ(at(1'000), at(6));
}

TEST_P(StoreSuite, WithinASeqAWholeValueReplacesWhatLowerTasksWrote) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.next_with(
      {{"list", WriteOp::append, 0}, {"list", WriteOp::set, 1}, {"list", WriteOp::append, 2}}));
  EXPECT_THAT(texts_of(call_->values({default_tenant(), script.row.run, {}, 2})),
              ElementsAre("/list 2.1 set", "/list 2.2 append"));
  EXPECT_THAT(call_->values({default_tenant(), script.row.run, {}, 2, true}), SizeIs(3));
}

TEST_P(StoreSuite, OperandsOfAReducerNeverCountAsItsValue) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.next_with({{"votes", WriteOp::set}}));
  call_->commit(script.pending({{"votes", WriteOp::reduce, 0}, {"votes", WriteOp::reduce, 1}}));
  EXPECT_THAT(texts_of(call_->values({default_tenant(), script.row.run, {}, 3})),
              ElementsAre("/votes 2.0 set"));
  EXPECT_THAT(call_->values({default_tenant(), script.row.run, {}, 3, true, 2}), SizeIs(2));
}

TEST_P(StoreSuite, ValuesAreFoundByTheirSpaceInTheirOrder) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.next_with({{"b", WriteOp::set}, {"a", WriteOp::set}}));
  call_->commit(script.pending({{"a", WriteOp::add, 0, "inner", 9},
                                {"a", WriteOp::set, 0, "inner", 7},
                                {"z", WriteOp::merge, 0, "inner", 8},
                                {"a", WriteOp::set, 0, "outer", 1}}));
  RunId run = script.row.run;
  EXPECT_THAT(texts_of(call_->values({.tenant = default_tenant(), .run = run, .at_seq = 9})),
              ElementsAre("/a 2.0 set", "/b 2.0 set", "inner/a 7.0 set", "inner/a 9.0 add",
                          "inner/z 8.0 merge", "outer/a 1.0 set"));
  auto of = [&](const std::string& checkpoint_ns, std::uint64_t seq) {
    return texts_of(call_->values(
        {.tenant = default_tenant(), .run = run, .at_seq = seq, .checkpoint_ns = checkpoint_ns}));
  };
  EXPECT_THAT(of("", 9), ElementsAre("/a 2.0 set", "/b 2.0 set"));
  EXPECT_THAT(of("inner", 8), ElementsAre("inner/a 7.0 set", "inner/z 8.0 merge"));
  EXPECT_THAT(of("inn", 9), IsEmpty());
  EXPECT_THAT(texts_of(call_->values({default_tenant(), run, {}, 9, true, 2, "inner"})),
              ElementsAre("inner/a 7.0 set", "inner/z 8.0 merge", "inner/a 9.0 add"));
}

TEST_P(StoreSuite, APendingWriteLeavesTheRunWhereItStands) {
  RunScript script("a");
  call_->commit(script.first());
  RunRow before = call_->run(script.row.run);
  Commit pending = script.pending({{"list", WriteOp::append, 3}});
  pending.rows.tasks.push_back(script.task(3, TaskStatus::done));
  pending.rows.effects.push_back(script.effect("pay", EffectStatus::intended));
  pending.rows.blobs.push_back({sha256("large"), json_envelope("\"large\"")});
  EXPECT_EQ(call_->commit(pending), CommitOutcome::applied);
  EXPECT_EQ(call_->run(script.row.run), before);
  EXPECT_THAT(call_->checkpoints({default_tenant(), script.row.run}), SizeIs(1));
  EXPECT_THAT(call_->values({default_tenant(), script.row.run, {}, before.seq}), IsEmpty());
  EXPECT_EQ(call_->values({default_tenant(), script.row.run, {}, 2}), pending.rows.values);
  EXPECT_EQ(call_->tasks({default_tenant(), script.row.run}), pending.rows.tasks);
  EXPECT_EQ(call_->effects({default_tenant()}), pending.rows.effects);
  EXPECT_EQ(call_->blobs({sha256("none"), sha256("large")}), pending.rows.blobs);
}

TEST_P(StoreSuite, APendingWriteSentAgainWritesTheSameAgain) {
  RunScript script("a");
  call_->commit(script.first());
  Commit pending = script.pending({{"list", WriteOp::append, 0}});
  pending.rows.tasks.push_back(script.task(0, TaskStatus::asking));
  pending.rows.effects.push_back(script.effect("pay", EffectStatus::done));
  pending.rows.opened.push_back(script.question("q"));
  pending.rows.inner_checkpoints.push_back(script.inner_checkpoint("inner", 1));
  EXPECT_EQ(call_->commit(pending), CommitOutcome::applied);
  std::string before = call_->rows();
  EXPECT_EQ(call_->commit(pending), CommitOutcome::applied);
  EXPECT_EQ(call_->rows(), before);
}

TEST_P(StoreSuite, APendingWriteOfAFormerOwnerIsFenced) {
  RunScript script("a");
  EXPECT_EQ(call_->commit(script.pending({{"x", WriteOp::set}}, 1)), CommitOutcome::fenced)
      << "the run does not exist";
  call_->commit(script.first());
  Commit late = script.pending({{"list", WriteOp::append}});
  late.rows.tasks.push_back(script.task(0, TaskStatus::done));
  late.rows.blobs.push_back({sha256("large"), json_envelope("1")});
  call_->commit(script.next());
  std::string before = call_->all();
  EXPECT_EQ(call_->commit(late), CommitOutcome::fenced);
  late.run_guard->seq = script.row.seq;
  late.run_guard->epoch += 1;
  EXPECT_EQ(call_->commit(late), CommitOutcome::fenced);
  EXPECT_EQ(call_->all(), before);
  EXPECT_THAT(call_->blobs({sha256("large")}), IsEmpty());
}

TEST_P(StoreSuite, PendingValuesCountOnceACommitSaysSo) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.pending({{"list", WriteOp::append, 0}}));
  call_->commit(script.pending({{"list", WriteOp::append, 1}}));
  Commit attempt = script.next_with({});
  attempt.rows.checkpoint->state_seq = 1;  // the superstep is still in progress
  EXPECT_EQ(call_->commit(attempt), CommitOutcome::applied);
  auto newest = call_->checkpoints({default_tenant(), script.row.run}).at(0);
  EXPECT_EQ(newest.state_seq, 1u);
  EXPECT_THAT(call_->values({default_tenant(), script.row.run, {}, newest.state_seq}), IsEmpty());
  call_->commit(script.next_with({}));
  newest = call_->checkpoints({default_tenant(), script.row.run}).at(0);
  EXPECT_EQ(newest.state_seq, 3u);
  EXPECT_THAT(texts_of(call_->values({default_tenant(), script.row.run, {}, newest.state_seq})),
              ElementsAre("/list 2.0 append", "/list 2.1 append"));
}

TEST_P(StoreSuite, MalformedPendingWritesAreRefused) {
  RunScript script("a");
  call_->commit(script.first());
  std::string before = call_->all();
  auto refused = [&](const std::function<void(Commit&)>& spoil) {
    Commit commit = script.pending({{"list", WriteOp::append}});
    spoil(commit);
    auto outcome = call_->try_commit(std::move(commit));
    return !outcome.ok() && outcome.error().code == ErrorCode::invalid;
  };
  EXPECT_TRUE(refused([&](Commit& c) { c.rows.run = script.row; }));
  EXPECT_TRUE(refused([&](Commit& c) { c.rows.values[0].seq = c.run_guard->seq + 2; }));
  EXPECT_TRUE(refused([&](Commit& c) { c.rows.values.push_back(c.rows.values[0]); }));
  EXPECT_TRUE(refused([&](Commit& c) { c.rows.values[0].run = RunId(derived_uuid("other")); }));
  EXPECT_TRUE(refused([&](Commit& c) {
    c.rows.records.push_back(record_put("1", "{}"));
    c.rows.records.back().expected_version = 0;
  }));
  EXPECT_TRUE(refused([&](Commit& c) { c.rows.outbox.push_back(script.message(0)); }));
  EXPECT_TRUE(refused([&](Commit& c) { c.rows.ends_run = true; }));
  EXPECT_TRUE(refused([&](Commit& c) { c.rows.prune.push_back({script.row.run, {}}); }));
  EXPECT_TRUE(refused(
      [&](Commit& c) { c.rows.inner_checkpoints.push_back(script.inner_checkpoint("", 1)); }));
  EXPECT_EQ(call_->all(), before);
}

TEST_P(StoreSuite, TheLastWordOnATaskCounts) {
  RunScript script("a");
  call_->commit(script.first());
  for (TaskStatus status : {TaskStatus::waiting, TaskStatus::asking, TaskStatus::answered}) {
    Commit pending = script.pending({});
    pending.rows.tasks.push_back(script.task(1, status));
    pending.rows.tasks.push_back(script.task(0, status));
    call_->commit(pending);
  }
  auto tasks = call_->tasks({default_tenant(), script.row.run, "", 1});
  EXPECT_THAT(tasks, ElementsAre(script.task(0, TaskStatus::answered),
                                 script.task(1, TaskStatus::answered)));
  EXPECT_THAT(call_->tasks({default_tenant(), script.row.run, "", 2}), IsEmpty());
  EXPECT_THAT(call_->tasks({default_tenant(), script.row.run, "inner"}), IsEmpty());

  TaskRow inner = script.task(2, TaskStatus::done);
  inner.checkpoint_ns = "inner";
  Commit pending = script.pending({});
  pending.rows.tasks = {inner};
  call_->commit(pending);
  EXPECT_THAT(call_->tasks({default_tenant(), script.row.run, "inner"}), ElementsAre(inner));
  EXPECT_EQ(call_->tasks({default_tenant(), script.row.run, "", 1}), tasks);
}

TEST_P(StoreSuite, ASubgraphNumbersItsCheckpointsByItself) {
  RunScript script("a");
  call_->commit(script.first());
  Commit pending = script.pending({});
  for (std::uint64_t seq : {1u, 2u, 3u}) {
    pending.rows.inner_checkpoints.push_back(script.inner_checkpoint("inner", seq));
  }
  call_->commit(pending);
  auto inner = call_->checkpoints({default_tenant(), script.row.run, "inner"});
  EXPECT_THAT(inner,
              ElementsAre(pending.rows.inner_checkpoints[2], pending.rows.inner_checkpoints[1],
                          pending.rows.inner_checkpoints[0]));
  EXPECT_THAT(call_->checkpoints({default_tenant(), script.row.run, "inner", {}, 3, 1}),
              ElementsAre(inner[1]));
  EXPECT_THAT(call_->checkpoints({default_tenant(), script.row.run}), SizeIs(1));
  EXPECT_EQ(call_->run(script.row.run).seq, 1u);
}

TEST_P(StoreSuite, AnEffectThatIsKnownStaysAsItIs) {
  RunScript script("a");
  call_->commit(script.first());
  auto put = [&](EffectStatus status, std::int64_t attempt) {
    Commit pending = script.pending({});
    pending.rows.effects.push_back(script.effect("pay", status, attempt));
    EXPECT_EQ(call_->commit(pending), CommitOutcome::applied);
    EffectRow row = call_->effects({default_tenant()}).at(0);
    EXPECT_EQ(row.took_ms, script.effect("pay", row.status, row.attempt).took_ms);
    return std::pair(row.status, row.attempt);
  };
  using S = EffectStatus;
  EXPECT_EQ(put(S::intended, 1), std::pair(S::intended, std::int64_t{1}));
  EXPECT_EQ(put(S::failed, 1), std::pair(S::failed, std::int64_t{1}));
  EXPECT_EQ(put(S::intended, 1), std::pair(S::failed, std::int64_t{1})) << "that was before";
  EXPECT_EQ(put(S::done, 1), std::pair(S::failed, std::int64_t{1}));
  EXPECT_EQ(put(S::intended, 2), std::pair(S::intended, std::int64_t{2})) << "the next attempt";
  EXPECT_EQ(put(S::uncertain, 2), std::pair(S::uncertain, std::int64_t{2}));
  EXPECT_EQ(put(S::done, 2), std::pair(S::done, std::int64_t{2}));
  EXPECT_EQ(put(S::failed, 3), std::pair(S::done, std::int64_t{2}));
  EXPECT_EQ(put(S::intended, 3), std::pair(S::done, std::int64_t{2}));
  EXPECT_THAT(call_->effects({default_tenant()}), SizeIs(1));
}

TEST_P(StoreSuite, AFormerOwnerMayStillTellHowItsEffectEnded) {
  RunScript script("a");
  call_->commit(script.first());
  Commit pending = script.pending({});
  pending.rows.effects.push_back(script.effect("pay", EffectStatus::intended, 2));
  pending.rows.effects.push_back(script.effect("mail", EffectStatus::done));
  call_->commit(pending);
  auto tell = [&](const std::string& name, EffectStatus status, std::int64_t attempt) {
    Commit outcome;
    outcome.tenant = default_tenant();
    outcome.rows.effects.push_back(script.effect(name, status, attempt));
    outcome.rows.effects[0].envelope = json_envelope("\"told\"");
    EXPECT_EQ(call_->commit(outcome), CommitOutcome::applied);
    std::string all;
    for (const EffectRow& row : call_->effects({default_tenant()})) {
      all += row.name + " " + std::string(name_of(row.status)) + " " + row.envelope.substr(8) + ";";
    }
    return all;
  };
  std::string before = "pay intended 1;mail done 1;";
  EXPECT_EQ(tell("mail", EffectStatus::failed, 1), before);
  EXPECT_EQ(tell("other", EffectStatus::done, 1), before);
  EXPECT_EQ(tell("pay", EffectStatus::uncertain, 2), before);
  EXPECT_EQ(tell("pay", EffectStatus::failed, 1), before) << "the second attempt is under way";
  EXPECT_EQ(tell("pay", EffectStatus::done, 1), "pay done \"told\";mail done 1;");
}

TEST_P(StoreSuite, AnEffectThatIsUncertainIsDoneOnceItsFormerOwnerSaysSo) {
  RunScript script("a");
  call_->commit(script.first());
  Commit pending = script.pending({});
  pending.rows.effects.push_back(script.effect("pay", EffectStatus::uncertain));
  call_->commit(pending);
  Commit outcome;
  outcome.tenant = default_tenant();
  outcome.rows.effects.push_back(script.effect("pay", EffectStatus::done));
  EXPECT_EQ(call_->commit(outcome), CommitOutcome::applied);
  EffectRow row = call_->effects({default_tenant()}).at(0);
  EXPECT_EQ(row.status, EffectStatus::done);
  EXPECT_EQ(row.took_ms, outcome.rows.effects[0].took_ms);
}

TEST_P(StoreSuite, EffectsAreFoundByRunTaskAndStatus) {
  RunScript a("a");
  RunScript b("b");
  for (RunScript* script : {&a, &b}) {
    call_->commit(script->first());
    Commit pending = script->pending({});
    pending.rows.effects.push_back(script->effect("z", EffectStatus::uncertain));
    pending.rows.effects.push_back(script->effect("a", EffectStatus::intended));
    pending.rows.effects.push_back(script->effect("m", EffectStatus::done));
    call_->commit(pending);
  }
  auto names = [&](EffectFilter filter) {
    std::string all;
    for (const EffectRow& row : call_->effects(filter)) all += row.name;
    return all;
  };
  using S = EffectStatus;
  EXPECT_EQ(names({.tenant = default_tenant()}), "zamzam")
      << "in the order in which they were begun";
  EXPECT_EQ(names({.tenant = default_tenant(), .run = a.row.run}), "zam");
  EXPECT_EQ(names({.tenant = default_tenant(), .statuses = {S::intended, S::uncertain}}), "zaza");
  EXPECT_EQ(names({.tenant = default_tenant(), .statuses = {S::done, S::intended}, .limit = 3}),
            "ama");
  EXPECT_EQ(
      names({.tenant = default_tenant(), .run = b.row.run, .task = b.effect("z", S::done).task}),
      "zam");
  EXPECT_EQ(names({.tenant = default_tenant(), .task = TaskId(derived_uuid("none"))}), "");
}

TEST_P(StoreSuite, EffectsOfARunComeByPageInTheOrderOfTheirKeys) {
  RunScript script("a");
  RunScript other("b");
  call_->commit(script.first());
  call_->commit(other.first());
  Commit pending = script.pending({});
  for (const char* name : {"e", "b", "d", "a", "c"}) {
    pending.rows.effects.push_back(script.effect(name, EffectStatus::intended));
  }
  pending.rows.effects.back().status = EffectStatus::done;
  call_->commit(pending);
  Commit others = other.pending({});
  others.rows.effects.push_back(other.effect("x", EffectStatus::intended));
  call_->commit(others);
  auto pages = [&](EffectFilter filter) {
    std::string all;
    filter.after.emplace();
    for (auto page = call_->effects(filter); !page.empty(); page = call_->effects(filter)) {
      for (const EffectRow& row : page) all += row.name;
      all += "|";
      filter.after.emplace(page.back().task, page.back().name);
    }
    return all;
  };
  EffectFilter filter{.tenant = default_tenant(), .run = script.row.run, .limit = 2};
  EXPECT_EQ(pages(filter), "ab|cd|e|");
  filter.statuses = {EffectStatus::intended};
  EXPECT_EQ(pages(filter), "ab|de|");
  filter.task = TaskId(derived_uuid("none"));
  EXPECT_EQ(pages(filter), "");
}

TEST_P(StoreSuite, WhatEndsARunClosesItsApprovalsAndLeavesItsOpenEffectsUncertain) {
  RunScript script("a");
  RunScript other("b");
  call_->commit(other.first());
  Commit of_other = other.pending({});
  of_other.rows.effects.push_back(other.effect("pay", EffectStatus::intended));
  call_->commit(of_other);
  call_->commit(script.first());
  Commit pending = script.pending({});
  pending.rows.effects.push_back(script.effect("before", EffectStatus::intended));
  pending.rows.effects.push_back(script.effect("done", EffectStatus::done));
  pending.rows.effects.push_back(script.effect("failed", EffectStatus::failed));
  pending.rows.opened.push_back(script.question("early"));
  call_->commit(pending);
  clock_.advance(std::chrono::seconds(5));
  Commit end = script.next();
  end.rows.run->status = RunStatus::failed;
  end.rows.checkpoint->status = RunStatus::failed;
  end.rows.run->updated_at = clock_.now();
  end.rows.effects.push_back(script.effect("with it", EffectStatus::intended));
  end.rows.opened.push_back(script.question("late"));
  end.rows.opened[0].seq = end.rows.run->seq;
  end.rows.ends_run = true;
  ASSERT_EQ(call_->commit(end), CommitOutcome::applied);
  EXPECT_EQ(call_->commit(end), CommitOutcome::applied) << "sent again, it changes nothing";
  std::string effects;
  for (const EffectRow& row : call_->effects({default_tenant(), script.row.run})) {
    effects += row.name + " " + std::string(name_of(row.status)) + ";";
    if (row.status != EffectStatus::uncertain) continue;
    EXPECT_EQ(row.updated_at, clock_.now());
  }
  EXPECT_EQ(effects, "before uncertain;done done;failed failed;with it uncertain;");
  EXPECT_EQ(call_->effects({default_tenant(), other.row.run}).at(0).status, EffectStatus::intended);
  for (const char* name : {"early", "late"}) {
    EXPECT_EQ(call_->approval(script.question(name).interrupt).status, ApprovalStatus::closed);
  }
  EXPECT_THAT(call_->approvals({.tenant = default_tenant(), .only_open = true}), IsEmpty());
}

TEST_P(StoreSuite, MessagesComeByTopicByRunAndByPage) {
  RunScript a("a");
  RunScript b("b");
  for (RunScript* script : {&a, &b}) {
    call_->commit(script->first());
    Commit commit = script->next();
    for (std::int64_t i = 0; i < 3; ++i) commit.rows.outbox.push_back(script->message(i));
    commit.rows.outbox[1].topic = "audit";
    call_->commit(commit);
  }
  auto indexes = [&](OutboxFilter filter) {
    std::string all;
    for (const OutboxRow& row : call_->outbox(filter)) all += std::to_string(row.index);
    return all;
  };
  std::string topic = a.message(0).topic;
  EXPECT_EQ(indexes({.tenant = default_tenant(), .topics = {"audit"}}), "11");
  EXPECT_EQ(indexes({.tenant = default_tenant(), .topics = {topic, "none"}}), "0202");
  OutboxFilter first{.tenant = default_tenant(), .due_by = clock_.now()};
  first.first_of_each_run = true;
  EXPECT_EQ(indexes(first), "00");
  first.topics = {"audit"};
  EXPECT_EQ(indexes(first), "11");
  first.limit = 1;
  EXPECT_EQ(indexes(first), "1");
  OutboxFilter page{.tenant = default_tenant(), .run = b.row.run, .limit = 2};
  page.after.emplace(0, -1);
  EXPECT_EQ(indexes(page), "01");
  page.after.emplace(b.row.seq, 1);
  EXPECT_EQ(indexes(page), "2");
  page.after.emplace(b.row.seq, 2);
  EXPECT_EQ(indexes(page), "");
  OutboxFilter bare{.tenant = default_tenant(), .without_body = true};
  for (const OutboxRow& row : call_->outbox(bare)) EXPECT_EQ(row.envelope, "");
  Commit delivery;
  delivery.tenant = default_tenant();
  OutboxRow delivered = call_->outbox({.tenant = default_tenant(), .run = a.row.run}).at(1);
  delivery.message_guard = OutboxGuard{delivered.run, delivered.seq, delivered.index, 0};
  delivered.status = OutboxStatus::delivered;
  delivered.attempts = 1;
  delivery.rows.outbox.push_back(delivered);
  ASSERT_EQ(call_->commit(delivery), CommitOutcome::applied);
  OutboxFilter open{.tenant = default_tenant(), .without_delivered = true};
  EXPECT_EQ(indexes(open), "02012");
}

TEST_P(StoreSuite, MessagesLandWithTheirCommitAndWaitUntilTheyAreDue) {
  RunScript script("a");
  call_->commit(script.first());
  Commit commit = script.next();
  commit.rows.outbox.push_back(script.message(0));
  commit.rows.outbox.push_back(script.message(1));
  commit.rows.outbox[1].due_at = clock_.now() + std::chrono::hours(1);
  EXPECT_EQ(call_->commit(commit), CommitOutcome::applied);
  EXPECT_EQ(call_->commit(commit), CommitOutcome::applied) << "sent again, they land once";
  EXPECT_EQ(call_->outbox({default_tenant()}), commit.rows.outbox);
  EXPECT_THAT(call_->outbox({default_tenant(), {}, clock_.now()}), SizeIs(1));
  clock_.advance(std::chrono::hours(1));
  EXPECT_THAT(call_->outbox({default_tenant(), {}, clock_.now()}), SizeIs(2));
  OutboxFilter first{.tenant = default_tenant(), .run = script.row.run, .limit = 1};
  EXPECT_THAT(call_->outbox(first), SizeIs(1));
  EXPECT_THAT(call_->outbox({default_tenant(), RunId(derived_uuid("none"))}), IsEmpty());
}

TEST_P(StoreSuite, OfTwoWhoDeliverAMessageOneIsFenced) {
  RunScript script("a");
  call_->commit(script.first());
  Commit commit = script.next();
  commit.rows.outbox.push_back(script.message(0));
  OutboxRow message = commit.rows.outbox[0];
  call_->commit(commit);
  auto change = [&](std::int64_t attempts, OutboxStatus status) {
    Commit delivery;
    delivery.tenant = default_tenant();
    delivery.message_guard = OutboxGuard{message.run, message.seq, message.index, attempts};
    OutboxRow row = message;
    row.attempts = attempts + 1;
    row.status = status;
    row.error = "e";
    delivery.rows.outbox.push_back(row);
    return call_->commit(delivery);
  };
  EXPECT_EQ(change(0, OutboxStatus::waiting), CommitOutcome::applied);
  EXPECT_EQ(change(0, OutboxStatus::waiting), CommitOutcome::fenced);
  EXPECT_EQ(change(1, OutboxStatus::delivered), CommitOutcome::applied);
  EXPECT_EQ(change(2, OutboxStatus::waiting), CommitOutcome::fenced) << "it is delivered";
  auto revive = [&](OutboxStatus from) {
    Commit revival;
    revival.tenant = default_tenant();
    revival.message_guard = OutboxGuard{message.run, message.seq, message.index, 2, from};
    OutboxRow row = message;
    row.attempts = 2;
    revival.rows.outbox.push_back(row);
    return call_->commit(revival);
  };
  EXPECT_EQ(revive(OutboxStatus::given_up), CommitOutcome::fenced) << "it is delivered";
  EXPECT_EQ(revive(OutboxStatus::delivered), CommitOutcome::applied);
  EXPECT_EQ(revive(OutboxStatus::delivered), CommitOutcome::fenced) << "it waits";
  EXPECT_EQ(change(2, OutboxStatus::delivered), CommitOutcome::applied);
  OutboxRow stored = call_->outbox({default_tenant()}).at(0);
  EXPECT_EQ(stored.status, OutboxStatus::delivered);
  EXPECT_EQ(stored.attempts, 3);
  EXPECT_EQ(stored.envelope, message.envelope);
  EXPECT_THAT(call_->outbox({default_tenant(), {}, Instant::max()}), IsEmpty());
}

TEST_P(StoreSuite, ADecisionForARunThatIsHeldIsWrittenAlone) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.next());
  Commit asking = script.pending({});
  asking.rows.opened.push_back(script.question("q", clock_.now() + std::chrono::hours(1)));
  asking.rows.opened.push_back(script.question("p", clock_.now() + std::chrono::hours(1)));
  EXPECT_EQ(call_->commit(asking), CommitOutcome::applied);
  RunRow before = call_->run(script.row.run);
  auto decide = [&](const ApprovalRow& asked) {
    Commit decision;
    decision.tenant = default_tenant();
    decision.approval_guard = ApprovalGuard{
        .interrupt = asked.interrupt, .payload_hash = asked.payload_hash, .run_is_active = true};
    decision.rows.decided = asked;
    decision.rows.decided->status = ApprovalStatus::approved;
    decision.rows.decided->decided_by = "ana";
    decision.if_expired.emplace();
    decision.if_expired->decided = asked;
    decision.if_expired->decided->status = ApprovalStatus::expired;
    return decision;
  };
  Commit other = decide(asking.rows.opened[0]);
  other.approval_guard->payload_hash = sha256("other");
  EXPECT_EQ(call_->commit(other), CommitOutcome::approval_closed);
  EXPECT_EQ(call_->commit(decide(asking.rows.opened[0])), CommitOutcome::applied);
  EXPECT_EQ(call_->commit(decide(asking.rows.opened[0])), CommitOutcome::approval_closed);
  EXPECT_EQ(call_->approval(asking.rows.opened[0].interrupt).decided_by, "ana");
  EXPECT_EQ(call_->run(script.row.run), before);
  clock_.advance(std::chrono::hours(2));
  EXPECT_EQ(call_->commit(decide(asking.rows.opened[1])), CommitOutcome::expired);
  EXPECT_EQ(call_->approval(asking.rows.opened[1].interrupt).status, ApprovalStatus::expired);
}

TEST_P(StoreSuite, ADecisionForARunInTheQueueIsWrittenAlone) {
  RunScript script("a");
  call_->commit(script.first());
  Commit asking = script.pending({});
  asking.rows.opened.push_back(script.question("q", clock_.now() + std::chrono::hours(1)));
  call_->commit(asking);
  Commit released = script.next();
  released.rows.run->status = released.rows.checkpoint->status = RunStatus::queued;
  call_->commit(released);
  RunRow queued = call_->run(script.row.run);
  ASSERT_EQ(queued.status, RunStatus::queued);
  const ApprovalRow& asked = asking.rows.opened[0];
  Commit decision;
  decision.tenant = default_tenant();
  decision.approval_guard = ApprovalGuard{
      .interrupt = asked.interrupt, .payload_hash = asked.payload_hash, .run_is_active = true};
  decision.rows.decided = asked;
  decision.rows.decided->status = ApprovalStatus::approved;
  EXPECT_EQ(call_->commit(decision), CommitOutcome::applied);
  EXPECT_EQ(call_->approval(asked.interrupt).status, ApprovalStatus::approved);
  EXPECT_EQ(call_->run(script.row.run), queued);
}

TEST_P(StoreSuite, ADecisionForARunThatNobodyHoldsIsNotWrittenAlone) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.ask(clock_.now() + std::chrono::hours(1)));
  Commit decision;
  decision.tenant = default_tenant();
  decision.approval_guard = ApprovalGuard{.interrupt = script.opened().interrupt,
                                          .payload_hash = script.opened().payload_hash,
                                          .run_is_active = true};
  decision.rows.decided = script.opened();
  decision.rows.decided->status = ApprovalStatus::approved;
  std::string before = call_->all();
  EXPECT_EQ(call_->commit(decision), CommitOutcome::fenced);
  EXPECT_EQ(call_->all(), before);
}

TEST_P(StoreSuite, AnApprovalOfAnotherTaskIsNotAskedTwice) {
  RunScript script("a");
  call_->commit(script.first());
  Commit pending = script.pending({});
  pending.rows.opened.push_back(script.question("q"));
  call_->commit(pending);
  pending.rows.opened[0].task = TaskId(derived_uuid("another task"));
  auto outcome = call_->try_commit(pending);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::conflict);
}

TEST_P(StoreSuite, AnApprovalOfAnotherRunIsNotAskedTwice) {
  RunScript script("a");
  RunScript other("b");
  call_->commit(script.first());
  call_->commit(other.first());
  Commit pending = script.pending({});
  pending.rows.opened.push_back(script.question("q"));
  EXPECT_EQ(call_->commit(pending), CommitOutcome::applied);
  Commit foreign = other.pending({});
  foreign.rows.opened.push_back(other.question("q"));
  foreign.rows.opened[0].interrupt = pending.rows.opened[0].interrupt;
  foreign.rows.opened[0].task = pending.rows.opened[0].task;
  auto outcome = call_->try_commit(foreign);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::conflict);
  EXPECT_EQ(call_->approval(pending.rows.opened[0].interrupt), pending.rows.opened[0]);
}
}  // namespace
}  // namespace belay::conformance
