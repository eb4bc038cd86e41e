// Lists of runs and threads.

#include <gmock/gmock.h>

#include <set>

#include "tests/conformance/store_suite.h"

namespace belay::conformance {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST_P(StoreSuite, RunsOfOneIdInTwoTenantsDoNotKnowOfEachOther) {
  TenantId tenant("other");
  RunScript here("a");
  RunScript there("a", tenant);
  ASSERT_EQ(here.row.run, there.row.run);
  EXPECT_EQ(call_->commit(here.first()), CommitOutcome::applied);
  EXPECT_EQ(call_->commit(there.first()), CommitOutcome::applied);
  EXPECT_EQ(call_->commit(here.next()), CommitOutcome::applied);
  std::string before = call_->all(tenant);
  EXPECT_EQ(call_->commit(here.next()), CommitOutcome::applied);
  EXPECT_EQ(call_->all(tenant), before);
  EXPECT_EQ(call_->commit(there.next()), CommitOutcome::applied);
  EXPECT_EQ(call_->run(here.row.run).seq, 3u);
  RunFilter filter;
  filter.tenant = tenant;
  EXPECT_EQ(call_->runs(filter).at(0), there.row);
}

TEST_P(StoreSuite, RunsAreFoundWhenTheyAreDue) {
  std::vector<RunScript> scripts;
  for (int i = 0; i < 4; ++i) {
    scripts.emplace_back(std::to_string(i));
    scripts.back().row.due_at = clock_.now() + std::chrono::minutes(10 - i);
    if (i == 3) scripts.back().row.due_at = Instant{};
    call_->commit(scripts.back().first());
  }
  auto due = [&](std::chrono::minutes in, std::size_t limit = 10) {
    std::vector<RunId> found;
    RunFilter filter{.tenant = default_tenant(), .due_by = clock_.now() + in, .limit = limit};
    for (const RunRow& row : call_->runs(filter)) found.push_back(row.run);
    return found;
  };
  EXPECT_THAT(due(std::chrono::minutes(7)), IsEmpty());
  EXPECT_THAT(due(std::chrono::minutes(10)),
              ElementsAre(scripts[2].row.run, scripts[1].row.run, scripts[0].row.run));
  EXPECT_THAT(due(std::chrono::minutes(10), 1), ElementsAre(scripts[2].row.run));
  call_->commit(scripts[2].next());  // it is running now
  EXPECT_THAT(due(std::chrono::minutes(9)), ElementsAre(scripts[1].row.run));
}

TEST_P(StoreSuite, RunsAndThreadsComeByPage) {
  std::vector<RunScript> scripts;
  for (int i = 0; i < 5; ++i) {
    scripts.emplace_back(std::to_string(i));
    call_->commit(scripts.back().first());
  }
  for (std::size_t i = 5; i-- > 1;) {
    auto runs = call_->runs({.tenant = default_tenant(), .before = scripts[i].row.run, .limit = 1});
    ASSERT_THAT(runs, SizeIs(1));
    EXPECT_EQ(runs[0].run, scripts[i - 1].row.run);
    auto threads =
        call_->threads({.tenant = default_tenant(), .before = scripts[i].row.thread, .limit = 1});
    ASSERT_THAT(threads, SizeIs(1));
    EXPECT_EQ(threads[0].thread, scripts[i - 1].row.thread);
  }
  EXPECT_THAT(call_->runs({.tenant = default_tenant(), .before = scripts[0].row.run}), IsEmpty());
  call_->commit(scripts[4].next());
  EXPECT_THAT(
      call_->runs({.tenant = default_tenant(), .updated_before = scripts[4].row.updated_at}),
      SizeIs(4));
}

TEST_P(StoreSuite, AForkNamesWhereItCameFrom) {
  RunScript script("a");
  script.row.forked_from = RunId(derived_uuid("another run"));
  script.row.forked_at = 7;
  script.row.lost_claims = 2;
  call_->commit(script.first());
  EXPECT_EQ(call_->run(script.row.run), script.row);
}

TEST_P(StoreSuite, TenThousandTasksAndValuesFitIntoACommit) {
  RunScript script("a");
  call_->commit(script.first());
  Commit pending = script.pending({});
  for (std::int64_t i = 0; i < 10'000; ++i) {
    pending.rows.tasks.push_back(script.task(i, TaskStatus::done));
    pending.rows.values.push_back(script.value({"list", WriteOp::append, i}, 2));
  }
  EXPECT_EQ(call_->commit(pending), CommitOutcome::applied);
  EXPECT_EQ(call_->commit(pending), CommitOutcome::applied);
  EXPECT_THAT(call_->tasks({default_tenant(), script.row.run}), SizeIs(10'000));
  EXPECT_EQ(call_->values({default_tenant(), script.row.run, {}, 2}), pending.rows.values);
}

TEST_P(StoreSuite, RunsThatHaveNotEndedAreReadInPages) {
  std::vector<RunScript> scripts;
  std::set<RunId> unfinished;
  for (int i = 0; i < 7; ++i) {
    RunScript& script = scripts.emplace_back(std::to_string(i));
    call_->commit(script.first());
    if (i % 3 == 0) {  // ends
      call_->commit(script.ask(clock_.now()));
      call_->commit(script.expire());
      continue;
    }
    if (i % 3 == 1) call_->commit(script.ask(clock_.now() + std::chrono::hours(1)));
    unfinished.insert(script.row.run);
  }
  RunFilter filter{.tenant = default_tenant(), .limit = 3, .in_pages = true};
  std::vector<RunRow> first = call_->runs(filter);
  ASSERT_EQ(first.size(), 3u);
  filter.after = first.back().run;
  std::vector<RunRow> second = call_->runs(filter);
  ASSERT_EQ(second.size(), unfinished.size() - 3);
  std::set<RunId> found;
  for (const auto& page : {first, second}) {
    for (const RunRow& row : page) EXPECT_TRUE(found.insert(row.run).second) << "twice";
  }
  EXPECT_EQ(found, unfinished);
  filter.after = second.back().run;
  EXPECT_THAT(call_->runs(filter), IsEmpty());
  filter.after = RunId(derived_uuid("deleted"));
  EXPECT_THAT(call_->runs(filter), IsEmpty());
  filter.after = scripts[0].row.run;  // has ended since the page that it was on
  EXPECT_LE(call_->runs(filter).size(), 3u);
  filter.after.reset();
  filter.tenant = TenantId("other");
  EXPECT_THAT(call_->runs(filter), IsEmpty());
}

}  // namespace
}  // namespace belay::conformance
