// Retention for every store: which rows the policy prunes and which it keeps.

#include <gmock/gmock.h>

#include "belay/storage.h"
#include "tests/conformance/store_suite.h"

namespace belay::conformance {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

Result<RetentionReport> retain(Store& store, Caller& call, Instant now, bool dry_run = false) {
  RetentionPolicy policy;
  policy.dry_run = dry_run;
  return block_on<Result<RetentionReport>>(call.loop(),
                                           apply_retention(store, default_tenant(), policy, now));
}

void end(Caller& call, RunScript& script) {
  call.commit(script.ask(Instant{}));
  call.commit(script.expire());
}

TEST_P(StoreSuite, ThreadsThatEndedLongAgoAreForgottenPageByPage) {
  std::vector<RunScript> scripts;
  for (int i = 0; i < 230; ++i) {
    scripts.emplace_back(std::to_string(i));
    call_->commit(scripts.back().first());
    if (i % 10 != 0) end(*call_, scripts.back());  // otherwise it waits without end
  }
  Instant late = scripts[0].row.updated_at + std::chrono::hours(24 * 31);
  std::string before = call_->all();
  auto dry = retain(*store_, *call_, late, true);
  ASSERT_TRUE(dry.ok()) << dry.error().message;
  EXPECT_EQ(dry->threads, 207u);
  EXPECT_EQ(call_->all(), before);
  auto early = retain(*store_, *call_, scripts[0].row.updated_at + std::chrono::hours(24));
  EXPECT_EQ(early->threads, 0u);
  auto report = retain(*store_, *call_, late);
  EXPECT_EQ(report->threads, 207u);
  EXPECT_EQ(report->runs, 207u);
  EXPECT_THAT(call_->threads({.tenant = default_tenant()}), SizeIs(23));
  EXPECT_EQ(retain(*store_, *call_, late)->runs, 0u) << "nothing is left to forget";
}

TEST_P(StoreSuite, AThreadIsKeptForItsYoungestRunAndWhenItIsPreserved) {
  RunScript over("a");
  call_->commit(over.first());
  end(*call_, over);
  RunScript waiting("waiting");
  waiting.row.thread = over.row.thread;
  call_->commit(waiting.first_in_thread());
  RunScript preserved("preserved");
  Commit first = preserved.first();
  first.rows.thread->preserve = true;
  call_->commit(first);
  end(*call_, preserved);
  Instant late = over.row.updated_at + std::chrono::hours(24 * 31);
  auto report = retain(*store_, *call_, late);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->threads, 0u);
  EXPECT_EQ(report->preserved, 1u);
  end(*call_, waiting);
  report = retain(*store_, *call_, late);
  EXPECT_EQ(report->threads, 1u);
  EXPECT_EQ(report->runs, 2u);
}

TEST_P(StoreSuite, AThreadOfManyRunsIsForgottenAsAWhole) {
  RunScript newest("first");
  call_->commit(newest.first());
  end(*call_, newest);
  for (int i = 0; i < 120; ++i) {
    RunScript next = newest.later(std::to_string(i));
    call_->commit(next.first_in_thread());
    end(*call_, next);
    newest = next;
  }
  RunScript other("other");
  call_->commit(other.first());
  end(*call_, other);
  Instant late = newest.row.updated_at + std::chrono::hours(24 * 31);
  EXPECT_EQ(retain(*store_, *call_, late, true)->runs, 122u);
  auto report = retain(*store_, *call_, late);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->threads, 2u);
  EXPECT_EQ(report->runs, 122u);
  EXPECT_THAT(call_->threads({.tenant = default_tenant()}), IsEmpty());
}

TEST_P(StoreSuite, AThreadThatHasExpiredIsForgottenWhenItsRunsHaveEnded) {
  std::vector<RunScript> scripts;
  for (const char* name : {"expired", "later", "busy", "preserved", "unset"}) {
    RunScript& script = scripts.emplace_back(name);
    Commit first = script.first();
    ThreadRow& thread = *first.rows.thread;
    thread.preserve = name == std::string("preserved");
    if (name != std::string("unset")) {
      thread.updated_at = clock_.now();
      thread.expires_at = clock_.now() + std::chrono::hours(name == std::string("later") ? 2 : 1);
    }
    call_->commit(first);
    if (name != std::string("busy")) end(*call_, script);
  }
  RunScript second = scripts[0].later("second");
  call_->commit(second.first_in_thread());
  end(*call_, second);
  RetentionPolicy policy;
  policy.keep_finished = std::chrono::hours(24 * 365 * 100);
  auto retained = [&](std::chrono::hours after, bool dry_run = false) {
    policy.dry_run = dry_run;
    return block_on<Result<RetentionReport>>(
               call_->loop(),
               apply_retention(*store_, default_tenant(), policy, clock_.now() + after))
        .value();
  };
  EXPECT_EQ(retained(std::chrono::hours(0)).threads, 0u);
  EXPECT_EQ(retained(std::chrono::hours(1), true).runs, 2u);
  RetentionReport report = retained(std::chrono::hours(1));
  EXPECT_EQ(report.threads, 1u);
  EXPECT_EQ(report.runs, 2u);
  EXPECT_EQ(report.preserved, 1u);
  EXPECT_THAT(call_->threads({default_tenant(), scripts[0].row.thread}), IsEmpty());
  EXPECT_THAT(call_->threads({.tenant = default_tenant()}), SizeIs(4));
  EXPECT_EQ(retained(std::chrono::hours(2)).threads, 1u);
  end(*call_, scripts[2]);
  EXPECT_EQ(retained(std::chrono::hours(2)).threads, 1u);
  EXPECT_THAT(call_->threads({.tenant = default_tenant()}), SizeIs(2));
}

TEST_P(StoreSuite, ALongRunIsForgottenInSteps) {
  RunScript script("a");
  call_->commit(script.first());
  for (int i = 0; i < 600; ++i) call_->commit(script.next());
  end(*call_, script);
  Instant late = script.row.updated_at + std::chrono::hours(24 * 31);
  auto report = retain(*store_, *call_, late);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->runs, 1u);
  EXPECT_THAT(call_->runs({.tenant = default_tenant()}), IsEmpty());
}

TEST_P(StoreSuite, StatisticsCountTheRowsOfEveryTableAndCompactingChangesNothing) {
  RunScript script("a");
  call_->commit(script.first());
  for (int i = 0; i < 100; ++i) call_->commit(script.next());
  auto statistics = store_->statistics();
  ASSERT_TRUE(statistics.ok()) << statistics.error().message;
  std::uint64_t checkpoints = 0;
  for (const TableStatistics& table : statistics->tables) {
    if (table.name == "checkpoints") checkpoints = table.rows;
  }
  EXPECT_EQ(checkpoints, 101u);
  EXPECT_GT(statistics->bytes, 1'000u);
  std::string before = call_->all();
  auto places = call_->envelopes({.tenant = default_tenant()});
  ASSERT_TRUE(store_->compact().ok());
  EXPECT_EQ(call_->all(), before);
  auto places_after = call_->envelopes({.tenant = default_tenant()});
  ASSERT_EQ(places.size(), places_after.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(places[i].position, places_after[i].position);
  }
  EXPECT_EQ(call_->commit(script.next()), CommitOutcome::applied);
}

}  // namespace
}  // namespace belay::conformance
