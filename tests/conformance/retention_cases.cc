// Retention and rewrites: which rows are pruned, which remain, and envelopes that are replaced.

#include <gmock/gmock.h>

#include "tests/conformance/store_suite.h"

namespace belay::conformance {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Commit pruning(std::vector<PruneRun> runs) {
  Commit commit;
  commit.tenant = default_tenant();
  commit.rows.prune = std::move(runs);
  return commit;
}

Commit preserving(const ThreadId& thread, bool preserve) {
  Commit commit;
  commit.tenant = default_tenant();
  commit.rows.preserve = {thread, preserve};
  return commit;
}

// Writes an ended run with a row of every kind.
RunScript ended_run(Caller& call, const std::string& name) {
  RunScript script(name);
  call.commit(script.first());
  Commit pending = script.pending({{"list", WriteOp::append}});
  pending.rows.tasks.push_back(script.task(0, TaskStatus::done));
  pending.rows.effects.push_back(script.effect("pay", EffectStatus::done));
  pending.rows.inner_checkpoints.push_back(script.inner_checkpoint("inner", 1));
  call.commit(pending);
  Commit commit = script.next();
  commit.rows.records.push_back(record_put(name, "{}", {{"date", "2025-11-20"}}));
  commit.rows.outbox.push_back(script.message(0));
  commit.rows.outbox[0].status = OutboxStatus::delivered;
  call.commit(commit);
  call.commit(script.ask(Instant{}));
  call.commit(script.expire());
  return script;
}

TEST_P(StoreSuite, APrunedRunIsForgottenWithItsThreadButNotItsRecords) {
  RunScript kept = ended_run(*call_, "kept");
  std::string before = call_->all();
  RunScript script = ended_run(*call_, "a");
  EXPECT_EQ(call_->commit(pruning({{script.row.run, {}}})), CommitOutcome::applied);
  EXPECT_THAT(call_->runs({.tenant = default_tenant(), .run = script.row.run}), IsEmpty());
  EXPECT_THAT(call_->threads({.tenant = default_tenant()}), SizeIs(1));
  EXPECT_THAT(call_->effects({.tenant = default_tenant()}), SizeIs(1));
  RecordQuery query;
  query.tenant = default_tenant();
  query.collection = "notes";
  query.user = UserId("ana");
  query.key = "a";
  auto records = call_->records(query);
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_TRUE(records[0].run.is_null());
  EXPECT_EQ(records[0].seq, 0u);
  Commit erase = import_of({record_put("a", "")});
  call_->commit(erase);
  EXPECT_EQ(call_->all(), before) << "nothing else is left of it, nothing of others is gone";
  EXPECT_EQ(call_->commit(pruning({{script.row.run, {}}})), CommitOutcome::applied) << "again";
  EXPECT_EQ(call_->commit(RunScript("a").first()), CommitOutcome::applied) << "its name is free";
}

TEST_P(StoreSuite, ARunThatTakesAPrunedOnesPlaceIsItsOwn) {
  RunScript script = ended_run(*call_, "a");
  RunScript stale = script;
  call_->commit(pruning({{script.row.run, {}}}));
  RunScript next("b");
  call_->commit(next.first());
  for (std::uint64_t i = 1; i < stale.row.seq; ++i) call_->commit(next.next());
  std::string before = call_->all();
  EXPECT_EQ(call_->commit(stale.next()), CommitOutcome::fenced);
  EXPECT_EQ(call_->commit(stale.pending({{"x", WriteOp::set}})), CommitOutcome::fenced);
  EXPECT_EQ(call_->all(), before);
}

TEST_P(StoreSuite, WhatGoesOnOrIsPreservedOrWaitsToBeDeliveredIsNotPruned) {
  RunScript paused("paused");
  call_->commit(paused.first());
  call_->commit(paused.ask(clock_.now()));
  RunScript running("running");
  call_->commit(running.first());
  call_->commit(running.next());
  RunScript sending("sending");
  call_->commit(sending.first());
  Commit message = sending.next();
  message.rows.outbox.push_back(sending.message(0));
  call_->commit(message);
  call_->commit(sending.ask(clock_.now()));
  call_->commit(sending.expire());
  RunScript preserved = ended_run(*call_, "preserved");
  EXPECT_EQ(call_->commit(preserving(preserved.row.thread, true)), CommitOutcome::applied);
  std::string before = call_->all();
  EXPECT_EQ(call_->commit(pruning({{paused.row.run, {}},
                                   {running.row.run, {}},
                                   {running.row.run, 2},
                                   {sending.row.run, {}},
                                   {preserved.row.run, {}},
                                   {preserved.row.run, 2},
                                   {RunId(derived_uuid("none")), {}}})),
            CommitOutcome::applied);
  EXPECT_EQ(call_->all(), before);
  call_->commit(preserving(preserved.row.thread, false));
  call_->commit(pruning({{preserved.row.run, {}}}));
  EXPECT_THAT(call_->runs({.tenant = default_tenant()}), SizeIs(3));
  auto unknown = call_->try_commit(preserving(ThreadId("none"), true));
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::invalid);
}

TEST_P(StoreSuite, AThreadLivesAsLongAsOneOfItsRuns) {
  RunScript first = ended_run(*call_, "a");
  RunScript second("second");
  second.row.thread = first.row.thread;
  call_->commit(second.first_in_thread());
  call_->commit(second.ask(clock_.now()));
  call_->commit(second.expire());
  call_->commit(pruning({{second.row.run, {}}}));
  auto threads = call_->threads({.tenant = default_tenant()});
  ASSERT_THAT(threads, SizeIs(1));
  EXPECT_EQ(threads[0].last_run, first.row.run);
  call_->commit(pruning({{first.row.run, {}}}));
  EXPECT_THAT(call_->threads({.tenant = default_tenant()}), IsEmpty());
}

TEST_P(StoreSuite, PruningBeforeACommitKeepsEveryLaterState) {
  RunScript script("a");
  call_->commit(script.first());
  using K = WriteOp;
  call_->commit(script.next_with({{"list", K::append}, {"text", K::set}, {"n", K::set}}));      // 2
  call_->commit(script.next_with({{"list", K::set}, {"text", K::set}}));                        // 3
  call_->commit(script.next_with({{"list", K::append}, {"votes", K::reduce}}));                 // 4
  call_->commit(script.next_with({{"list", K::append}, {"text", K::set}, {"votes", K::set}}));  // 5
  call_->commit(script.next_with({{"list", K::set}}));                                          // 6
  call_->commit(script.ask(clock_.now()));                                                      // 7
  RunId run = script.row.run;
  auto state = [&](std::uint64_t seq) { return call_->values({default_tenant(), run, {}, seq}); };
  std::vector<std::vector<ValueRow>> before;
  for (std::uint64_t seq = 4; seq <= 7; ++seq) before.push_back(state(seq));
  CheckpointRow anchor = call_->checkpoints({default_tenant(), run, "", 4}).at(0);

  EXPECT_EQ(call_->commit(pruning({{run, 4}})), CommitOutcome::applied);
  for (std::uint64_t seq = 4; seq <= 7; ++seq) EXPECT_EQ(state(seq), before[seq - 4]) << seq;
  auto left = call_->checkpoints({default_tenant(), run});
  ASSERT_THAT(left, SizeIs(4));
  EXPECT_EQ(left.back(), anchor) << "it still names its parent";
  for (const EventRow& event : call_->events({default_tenant(), run})) EXPECT_GE(event.seq, 4u);
  EXPECT_THAT(call_->values({default_tenant(), run, {}, 3, true}), SizeIs(3)) << "list, text, n";
  EXPECT_EQ(call_->run(run), script.row);
  std::string once = call_->all();
  call_->commit(pruning({{run, 3}}));
  EXPECT_EQ(call_->all(), once) << "no more than was asked for before";

  call_->commit(pruning({{run, 1'000}}));
  EXPECT_THAT(call_->checkpoints({default_tenant(), run}), SizeIs(1)) << "the newest stays";
  EXPECT_EQ(state(7), before[3]);
  EXPECT_THAT(call_->values({default_tenant(), run, {}, 7, true}), SizeIs(before[3].size()));
  EXPECT_EQ(call_->commit(script.expire()), CommitOutcome::applied) << "it goes on";
}

TEST_P(StoreSuite, PruningInTheMidstOfASuperstepKeepsTheCommitThatChoseItsTasks) {
  RunScript script("a");
  call_->commit(script.first());
  call_->commit(script.next());
  Commit chosen = script.next_with({{"list", WriteOp::set}});  // 3
  call_->commit(chosen);
  Commit pending = script.pending({{"list", WriteOp::append}});
  pending.rows.tasks.push_back(script.task(0, TaskStatus::done));
  pending.rows.tasks[0].superstep = chosen.rows.checkpoint->superstep;
  call_->commit(pending);
  Commit midway = script.next_with({});  // 4
  midway.rows.checkpoint->state_seq = 3;
  midway.rows.checkpoint->superstep = chosen.rows.checkpoint->superstep;
  call_->commit(midway);
  Commit paused = script.ask(Instant::max());  // 5
  paused.rows.checkpoint->state_seq = 3;
  paused.rows.checkpoint->superstep = chosen.rows.checkpoint->superstep;
  call_->commit(paused);
  RunId run = script.row.run;
  auto written = [&] { return call_->values({default_tenant(), run, {}, 5, true}); };
  std::size_t ahead = written().size();

  for (std::uint64_t before : {4u, 5u, 1'000u}) {
    EXPECT_EQ(call_->commit(pruning({{run, before}})), CommitOutcome::applied);
    auto left = call_->checkpoints({default_tenant(), run});
    ASSERT_THAT(left, SizeIs(3)) << before;
    EXPECT_EQ(left.back(), *chosen.rows.checkpoint) << "as it was, naming its parent";
    EXPECT_THAT(call_->tasks({default_tenant(), run}), SizeIs(1));
  }
  EXPECT_THAT(written(), SizeIs(ahead)) << "what is written ahead too, and all that it adds to";
  EXPECT_EQ(call_->commit(script.decide(ApprovalStatus::approved)), CommitOutcome::applied);
}

TEST_P(StoreSuite, EveryEnvelopeIsFoundPageByPage) {
  if (GetParam().is_sealed) GTEST_SKIP() << "it looks at what lies below the encryption";
  ended_run(*call_, "a");
  ended_run(*call_, "b");
  Commit blobs;
  blobs.tenant = default_tenant();
  blobs.rows.blobs.push_back({sha256("x"), json_envelope("\"x\"")});
  call_->commit(blobs);
  call_->commit(import_of({record_put("1", "{}")}, TenantId("other")));
  auto all = call_->envelopes({.tenant = default_tenant()});
  // Input, payload, two values, task, effect, message and record of each run, and the blob.
  EXPECT_THAT(all, SizeIs(2 * 8 + 1));
  std::vector<std::string> by_page;
  std::uint64_t after = 0;
  while (true) {
    auto page = call_->envelopes({.tenant = default_tenant(), .after = after, .limit = 3});
    if (page.empty()) break;
    EXPECT_LE(page.size(), 3u);
    for (const StoredEnvelope& stored : page) {
      EXPECT_GT(stored.position, after);
      after = stored.position;
      by_page.push_back(stored.subject);
    }
  }
  std::vector<std::string> subjects;
  for (const StoredEnvelope& stored : all) subjects.push_back(stored.subject);
  EXPECT_EQ(by_page, subjects);
  EXPECT_THAT(subjects, testing::Contains("blob " + to_hex(sha256("x"))));
  EXPECT_THAT(call_->envelopes({.tenant = default_tenant(), .other_than = "json"}), IsEmpty());
  EXPECT_THAT(call_->envelopes({.tenant = default_tenant(), .other_than = "json+zstd"}),
              SizeIs(all.size()));
}

TEST_P(StoreSuite, ALargeValueIsForgottenUnlessItWasPutAgainMeanwhile) {
  auto putting = [](std::vector<std::string> names) {
    Commit commit;
    commit.tenant = default_tenant();
    for (const std::string& name : names) {
      commit.rows.blobs.push_back({sha256(name), json_envelope("\"" + name + "\"")});
    }
    return commit;
  };
  call_->commit(putting({"a", "b", "c"}));
  std::vector<BlobUse> uses = call_->blob_uses();
  ASSERT_THAT(uses, SizeIs(3));
  EXPECT_THAT(call_->blob_uses(TenantId("other")), IsEmpty());
  call_->commit(putting({"b"}));
  Commit forgetting;
  forgetting.tenant = TenantId("other");
  forgetting.rows.delete_blobs = uses;
  call_->commit(forgetting);
  EXPECT_THAT(call_->blob_uses(), SizeIs(3)) << "another tenant's are none of these";
  forgetting.tenant = default_tenant();
  EXPECT_EQ(call_->commit(forgetting), CommitOutcome::applied);
  EXPECT_THAT(call_->blobs({sha256("a"), sha256("b"), sha256("c")}), SizeIs(1))
      << "b was put again";

  call_->commit(putting({"a"}));
  call_->commit(forgetting);
  EXPECT_THAT(call_->blobs({sha256("a")}), SizeIs(1)) << "it is not the one that was listed";
}

TEST_P(StoreSuite, ACommitOfARunForgetsNoLargeValues) {
  RunScript script("a");
  Commit first = script.first();
  first.rows.delete_blobs.push_back({sha256("a"), 1});
  auto refused = call_->try_commit(first);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
}

TEST_P(StoreSuite, AnEnvelopeIsRewrittenUnlessItHasChangedMeanwhile) {
  if (GetParam().is_sealed) GTEST_SKIP() << "it looks at what lies below the encryption";
  RunScript script = ended_run(*call_, "a");
  auto rewriting = [&](const std::string& text) {
    Commit commit;
    commit.tenant = default_tenant();
    for (const StoredEnvelope& stored : call_->envelopes({.tenant = default_tenant()})) {
      commit.rows.rewrites.push_back(
          {stored.position, sha256(stored.envelope), json_envelope("\"" + text + "\"")});
    }
    return commit;
  };
  Commit late = rewriting("late");
  EXPECT_EQ(call_->commit(rewriting("first")), CommitOutcome::applied);
  auto all_say = [&](const std::string& text) {
    auto all = call_->envelopes({.tenant = default_tenant()});
    for (const StoredEnvelope& stored : all) {
      if (stored.envelope != json_envelope("\"" + text + "\"")) return false;
    }
    return all.size() == 8;
  };
  EXPECT_TRUE(all_say("first"));
  EXPECT_EQ(call_->run(script.row.run).input, json_envelope("\"first\""));
  EXPECT_EQ(call_->commit(late), CommitOutcome::applied);
  EXPECT_TRUE(all_say("first")) << "those bytes were gone already";
  Commit foreign = rewriting("foreign");
  foreign.tenant = TenantId("other");
  call_->commit(foreign);
  EXPECT_TRUE(all_say("first")) << "another tenant's places are none of these";
}

}  // namespace
}  // namespace belay::conformance
