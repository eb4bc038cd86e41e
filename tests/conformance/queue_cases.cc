// Long on purpose: one suite of queues for every store.

// Queues: concurrency limits, polls and visibility timeouts, and the owners of runs.

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <thread>

#include "tests/conformance/store_suite.h"

namespace belay::conformance {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Returns the script of a queued run that is due at `due_at`.
RunScript waiting(const std::string& name, Instant due_at, TenantId tenant = default_tenant()) {
  RunScript script(name, std::move(tenant));
  script.row.due_at = due_at;
  return script;
}

Commit begun(RunScript& script, std::vector<ConcurrencyGuard> places) {
  script.row.due_at = Instant{};
  Commit commit = script.next();
  commit.concurrency = std::move(places);
  return commit;
}

class QueueSuite : public StoreSuite {
 protected:
  std::vector<RunId> claimed(PollFilter filter) {
    filter.now = clock_.now();
    std::vector<RunId> runs;
    for (const RunRow& row : call_->poll_runs(std::move(filter))) runs.push_back(row.run);
    return runs;
  }
  PollFilter of_tenant() const {
    PollFilter filter;
    filter.tenant = default_tenant();
    return filter;
  }
  void put(QueueRow row) {
    Commit commit;
    row.tenant = commit.tenant = default_tenant();
    commit.rows.queues.push_back(std::move(row));
    EXPECT_EQ(call_->commit(std::move(commit)), CommitOutcome::applied);
  }
};

TEST_P(QueueSuite, ARunKeepsItsQueueItsPriorityAndItsKey) {
  RunScript script("a");
  script.row.queue = "nightly";
  script.row.priority = -7;
  script.row.concurrency_key = "repo é";
  call_->commit(script.first());
  RunRow first = script.row;
  script.row.queue = "another";
  script.row.priority = 9;
  script.row.concurrency_key.clear();
  call_->commit(script.next());
  RunRow stored = call_->run(script.row.run);
  EXPECT_EQ(stored.queue, first.queue);
  EXPECT_EQ(stored.priority, first.priority);
  EXPECT_EQ(stored.concurrency_key, first.concurrency_key);
}

TEST_P(QueueSuite, OffersGoByPriorityThenByTime) {
  std::vector<RunScript> scripts;
  for (int i = 0; i < 5; ++i) {
    scripts.push_back(waiting(std::to_string(i), clock_.now() - std::chrono::minutes(i)));
    scripts.back().row.priority = i == 1 ? 5 : 0;
    if (i == 4) scripts.back().row.due_at = clock_.now() + std::chrono::minutes(1);
    call_->commit(scripts.back().first());
  }
  EXPECT_THAT(claimed(of_tenant()), ElementsAre(scripts[1].row.run, scripts[3].row.run,
                                                scripts[2].row.run, scripts[0].row.run));
  PollFilter some = of_tenant();
  some.limit = 2;
  some.except_runs = {scripts[1].row.run};
  EXPECT_THAT(claimed(some), ElementsAre(scripts[3].row.run, scripts[2].row.run));
  some.now = clock_.now();
  for (const RunRow& row : call_->poll_runs(some)) EXPECT_EQ(row.input + row.options, "");
}

TEST_P(QueueSuite, OffersAreOfTheQueuesAndGraphsAskedFor) {
  std::vector<RunScript> scripts;
  for (const char* queue : {"default", "a", "b"}) {
    scripts.push_back(waiting(queue, clock_.now()));
    scripts.back().row.queue = queue;
    if (scripts.size() == 3) scripts.back().row.graph = "other";
    call_->commit(scripts.back().first());
  }
  PollFilter filter = of_tenant();
  filter.queues = {"a", "default"};
  EXPECT_THAT(claimed(filter), ElementsAre(scripts[0].row.run, scripts[1].row.run));
  filter.queues.clear();
  filter.graphs = {"other"};
  EXPECT_THAT(claimed(filter), ElementsAre(scripts[2].row.run));
}

TEST_P(QueueSuite, NothingIsOfferedOfAPausedQueueUntilItIsResumed) {
  RunScript script = waiting("a", clock_.now());
  call_->commit(script.first());
  put({.name = "default", .paused = true, .updated_at = clock_.now()});
  EXPECT_THAT(claimed(of_tenant()), IsEmpty());
  EXPECT_THAT(call_->queues(default_tenant()), SizeIs(1));
  EXPECT_TRUE(call_->queues(default_tenant())[0].paused);
  put({.name = "default"});
  EXPECT_THAT(claimed(of_tenant()), ElementsAre(script.row.run));
  EXPECT_THAT(call_->queues(TenantId("other")), IsEmpty());
}

TEST_P(QueueSuite, WhoHasNoPlaceIsNotInTheWayOfOthers) {
  for (int i = 0; i < 250; ++i) {
    RunScript script = waiting("busy" + std::to_string(i), clock_.now() - std::chrono::hours(1));
    call_->commit(script.first());
  }
  RunScript other = waiting("other", clock_.now());
  other.row.user = UserId("ben");
  call_->commit(other.first());
  PollFilter filter = of_tenant();
  filter.concurrency.per_user = 2;
  auto found = claimed(filter);
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[2], other.row.run);
}

TEST_P(QueueSuite, OffersRespectTheLimitsOfQueuesAndKeys) {
  for (int i = 0; i < 6; ++i) {
    RunScript script = waiting(std::to_string(i), clock_.now());
    script.row.queue = i < 3 ? "a" : "b";
    script.row.concurrency_key = i == 5 ? "two" : "one";
    call_->commit(script.first());
  }
  put({.name = "a", .runs_max = 1});
  PollFilter filter = of_tenant();
  EXPECT_THAT(claimed(filter), SizeIs(4));
  filter.concurrency.per_key = 1;
  EXPECT_THAT(claimed(filter), SizeIs(2));
  put({.name = "b", .per_key_max = 2});
  EXPECT_THAT(claimed(filter), SizeIs(3));
  filter.concurrency = {.per_tenant = 2};
  EXPECT_THAT(claimed(filter), SizeIs(2));
}

TEST_P(QueueSuite, ATenantWithManyRunsDoesNotStarveAnother) {
  for (int i = 0; i < 200; ++i) {
    RunScript script =
        waiting(std::to_string(i), clock_.now() - std::chrono::hours(1), TenantId("many"));
    call_->commit(script.first());
  }
  for (int i = 0; i < 3; ++i) {
    RunScript script = waiting("few" + std::to_string(i), clock_.now(), TenantId("few"));
    call_->commit(script.first());
  }
  PollFilter filter;
  filter.now = clock_.now();
  std::map<std::string, int> found;
  std::set<RunId> twice;
  filter.limit = 1;
  for (int i = 0; i < 6; ++i, ++filter.round_robin_position) {
    auto rows = call_->poll_runs(filter);
    ASSERT_THAT(rows, SizeIs(1));
    ++found[rows[0].tenant.text];
    EXPECT_TRUE(twice.insert(rows[0].run).second);
    filter.except_runs.push_back(rows[0].run);
  }
  EXPECT_EQ(found["few"], 3);
  filter.round_robin_position = 0;
  filter.except_runs.clear();
  filter.limit = 8;
  filter.weights = {{TenantId("many"), 3}};
  found.clear();
  for (const RunRow& row : call_->poll_runs(filter)) ++found[row.tenant.text];
  EXPECT_EQ(found["few"], 2);
  EXPECT_EQ(found["many"], 6);
  EXPECT_THAT(call_->tenants(), ElementsAre(TenantId("few"), TenantId("many")));
}

TEST_P(QueueSuite, ACommitTakesAPlaceOnlyWhereOneIsLeft) {
  RunScript first("first");
  RunScript second("second");
  RunScript third("third");
  for (RunScript* script : {&first, &second, &third}) {
    script->row.concurrency_key = script == &third ? "" : "repo";
    call_->commit(script->first());
  }
  std::vector<ConcurrencyGuard> one_a_key{{ConcurrencyScope::key, 1}};
  Commit taken = begun(first, one_a_key);
  EXPECT_EQ(call_->commit(taken), CommitOutcome::applied);
  RunRow before = call_->run(second.row.run);
  Commit refused = begun(second, one_a_key);
  EXPECT_EQ(call_->commit(refused), CommitOutcome::limit_reached);
  EXPECT_EQ(call_->run(second.row.run), before);
  EXPECT_EQ(call_->commit(begun(third, one_a_key)), CommitOutcome::applied) << "it has no key";
  EXPECT_EQ(call_->commit(taken), CommitOutcome::applied) << "sent again";
  Commit next = first.next();  // the run is already counted
  next.concurrency = one_a_key;
  EXPECT_EQ(call_->commit(next), CommitOutcome::applied);
  first.row.status = RunStatus::completed;
  Commit last = first.next();
  last.rows.run->status = last.rows.checkpoint->status = RunStatus::completed;
  EXPECT_EQ(call_->commit(last), CommitOutcome::applied);
  EXPECT_EQ(call_->commit(refused), CommitOutcome::applied) << "the very same, now with a place";
}

TEST_P(QueueSuite, PlacesAreCountedByUserQueueAndTenant) {
  std::vector<RunScript> scripts;
  for (int i = 0; i < 4; ++i) {
    scripts.emplace_back(std::to_string(i));
    scripts.back().row.user = UserId(i % 2 == 0 ? "ana" : "ben");
    scripts.back().row.queue = i < 3 ? "default" : "other";
    scripts.back().row.concurrency_key = i == 0 ? "k" : "";
    call_->commit(scripts.back().first());
  }
  EXPECT_EQ(call_->commit(begun(scripts[0], {{ConcurrencyScope::user, 1}})),
            CommitOutcome::applied);
  EXPECT_EQ(call_->commit(begun(scripts[1], {{ConcurrencyScope::user, 1}})),
            CommitOutcome::applied);
  RunScript late = scripts[2];
  EXPECT_EQ(call_->commit(begun(late, {{ConcurrencyScope::user, 1}})),
            CommitOutcome::limit_reached);
  late = scripts[2];
  EXPECT_EQ(call_->commit(begun(late, {{ConcurrencyScope::queue, 2}})),
            CommitOutcome::limit_reached);
  RunScript other = scripts[3];
  EXPECT_EQ(call_->commit(begun(other, {{ConcurrencyScope::tenant, 2}})),
            CommitOutcome::limit_reached);
  EXPECT_EQ(call_->commit(begun(scripts[3], {{ConcurrencyScope::queue, 2}})),
            CommitOutcome::applied);
  using Counts = std::vector<ConcurrencyCount>;
  EXPECT_EQ(call_->running_counts(default_tenant(), ConcurrencyScope::user),
            (Counts{{"ana", 1}, {"ben", 2}}));
  EXPECT_EQ(call_->running_counts(default_tenant(), ConcurrencyScope::queue),
            (Counts{{"default", 2}, {"other", 1}}));
  EXPECT_EQ(call_->running_counts(default_tenant(), ConcurrencyScope::key), (Counts{{"k", 1}}));
  EXPECT_EQ(call_->running_counts(default_tenant(), ConcurrencyScope::tenant), (Counts{{"", 3}}));
  EXPECT_THAT(call_->running_counts(TenantId("none"), ConcurrencyScope::tenant), IsEmpty());
}

TEST_P(QueueSuite, ARunThatBeginsAtOnceNeedsAPlaceToo) {
  RunScript first("first");
  first.row.status = RunStatus::running;
  Commit begins = first.first();
  begins.concurrency = {{ConcurrencyScope::queue, 1}};
  EXPECT_EQ(call_->commit(begins), CommitOutcome::applied);
  RunScript second("second");
  second.row.status = RunStatus::running;
  begins = second.first();
  begins.concurrency = {{ConcurrencyScope::queue, 1}};
  EXPECT_EQ(call_->commit(begins), CommitOutcome::limit_reached);
  EXPECT_THAT(call_->threads({.tenant = default_tenant()}), SizeIs(1));
}

TEST_P(QueueSuite, ManyAtOnceNeverExceedALimit) {
  constexpr int runs = 24;
  std::vector<Commit> commits;
  for (int i = 0; i < runs; ++i) {
    RunScript script("run " + std::to_string(i));
    script.row.concurrency_key = "k";
    call_->commit(script.first());
    commits.push_back(begun(script, {{ConcurrencyScope::key, 3}}));
  }
  std::atomic<int> applied = 0;
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      Caller call(*store_);
      for (int i = thread; i < runs; i += 4) {
        auto outcome = call.commit(commits[static_cast<std::size_t>(i)]);
        ++(outcome == CommitOutcome::applied ? applied : refused);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(applied, 3);
  EXPECT_EQ(refused, runs - 3);
}

TEST_P(QueueSuite, CountsSayWhatWaitsInAQueue) {
  RunScript due = waiting("due", clock_.now() - std::chrono::minutes(5));
  RunScript later = waiting("later", clock_.now() + std::chrono::minutes(5));
  RunScript running("running");
  for (RunScript* script : {&due, &later, &running}) {
    script->row.queue = "a";
    call_->commit(script->first());
  }
  call_->commit(begun(running, {}));
  put({.name = "empty", .paused = true});
  auto counts = call_->queue_counts(default_tenant(), clock_.now());
  ASSERT_THAT(counts, SizeIs(2));
  QueueCount expected{.name = "a", .queued = 2, .running = 1, .due = 1};
  expected.oldest_due = due.row.due_at;
  EXPECT_EQ(counts[0], expected);
  EXPECT_EQ(counts[1], QueueCount{.name = "empty"});
}

TEST_P(QueueSuite, CountsOfAUserLeaveOthersRunsOut) {
  int number = 0;
  for (const char* user : {"ana", "ben", "ben"}) {
    RunScript script = waiting(std::string(user) + std::to_string(++number), clock_.now());
    script.row.user = UserId(user);
    script.row.queue = user;
    call_->commit(script.first());
  }
  put({.name = "empty", .paused = true});
  auto counts = call_->queue_counts(default_tenant(), clock_.now(), UserId("ben"));
  ASSERT_THAT(counts, SizeIs(2)) << "a queue that only others have runs in is none";
  EXPECT_EQ(counts[0].name, "ben");
  EXPECT_EQ(counts[0].queued, 2u);
  EXPECT_EQ(counts[0].due, 2u);
  EXPECT_EQ(counts[1], QueueCount{.name = "empty"});
  EXPECT_THAT(call_->queue_counts(default_tenant(), clock_.now(), UserId("cara")), SizeIs(1));
}

TEST_P(QueueSuite, SessionsSayWhatTheyOwn) {
  SessionId mine = store_->open_session().value();
  SessionId idle = store_->open_session().value();
  RunScript script("a");
  script.row.session = mine;
  call_->commit(script.first());
  call_->commit(script.next());
  auto owners = call_->sessions({.tenant = default_tenant(), .only_owners = true});
  ASSERT_THAT(owners, SizeIs(1));
  EXPECT_EQ(owners[0].session, mine);
  EXPECT_EQ(owners[0].runs, 1u);
  EXPECT_EQ(owners[0].oldest, script.row.updated_at);
  if (GetParam().is_remote) {
    EXPECT_NE(owners[0].started_at, Instant{});
    EXPECT_GE(owners[0].seen_at, owners[0].started_at);
  } else {
    EXPECT_EQ(owners[0].started_at, clock_.now());
  }
  EXPECT_THAT(call_->sessions({.tenant = TenantId("other"), .only_owners = true}), IsEmpty());
  auto all = call_->sessions({});
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].session, idle);

  // Each of two tenants sees only its own runs, even if one session owns runs of both.
  SessionId others = store_->open_session().value();
  for (auto [name, session] : {std::pair("b", others), std::pair("c", others), {"d", mine}}) {
    RunScript other(name, TenantId("other"));
    other.row.session = session;
    call_->commit(other.first());
    call_->commit(other.next());
  }
  auto owned_by = [&](std::optional<TenantId> tenant) {
    std::map<SessionId, std::uint64_t> runs;
    SessionFilter filter;
    filter.tenant = std::move(tenant);
    filter.only_owners = true;
    for (const SessionRow& each : call_->sessions(filter)) runs[each.session] = each.runs;
    return runs;
  };
  using Owned = std::map<SessionId, std::uint64_t>;
  EXPECT_EQ(owned_by(default_tenant()), (Owned{{mine, 1}}));
  EXPECT_EQ(owned_by(TenantId("other")), (Owned{{others, 2}, {mine, 1}}));
  EXPECT_EQ(owned_by(std::nullopt), (Owned{{others, 2}, {mine, 2}}));
  EXPECT_THAT(call_->sessions({.tenant = TenantId("other"), .only_owners = true, .limit = 1}),
              SizeIs(1));
  EXPECT_THAT(owned_by(TenantId("nobody")), IsEmpty());
  store_->close_session(others);
  store_->close_session(mine);
  EXPECT_EQ(owned_by(std::nullopt), (Owned{{others, 2}, {mine, 2}}))
      << "their runs are still in their names";

  // A run that was imported while it was running refers to a session of another store.
  RunScript imported("e");
  Uuid of_another_store;
  of_another_store.bytes.fill(7);
  imported.row.session = SessionId(of_another_store);
  call_->commit(imported.first());
  call_->commit(imported.next());
  EXPECT_EQ(owned_by(default_tenant()), (Owned{{mine, 1}, {imported.row.session, 1}}));
}

TEST_P(QueueSuite, RunsAreFoundByWhoOwnsThem) {
  SessionId mine = store_->open_session().value();
  std::vector<RunScript> scripts;
  for (int i = 0; i < 3; ++i) {
    scripts.emplace_back(std::to_string(i));
    if (i > 0) scripts.back().row.session = mine;
    call_->commit(scripts.back().first());
    call_->commit(scripts.back().next());
  }
  RunFilter filter{.tenant = default_tenant(), .statuses = {RunStatus::running}};
  filter.owners = {mine};
  EXPECT_THAT(call_->runs(filter), SizeIs(2));
  filter.except_runs = {scripts[2].row.run};
  auto found = call_->runs(filter);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0], scripts[1].row);
  filter.owners = {SessionId()};
  EXPECT_THAT(call_->runs(filter), SizeIs(1)) << "nobody's";
}

TEST_P(QueueSuite, MalformedCommitsOfQueuesAreRefused) {
  RunScript script("a");
  Commit first = script.first();
  first.rows.queues.push_back({.tenant = default_tenant(), .name = "a"});
  EXPECT_EQ(call_->try_commit(first).error().code, ErrorCode::invalid);
  first.rows.queues.clear();
  first.concurrency = {{ConcurrencyScope::user, 0}};
  EXPECT_EQ(call_->try_commit(first).error().code, ErrorCode::invalid);
  Commit unguarded;
  unguarded.tenant = default_tenant();
  unguarded.concurrency = {{ConcurrencyScope::user, 1}};
  EXPECT_EQ(call_->try_commit(unguarded).error().code, ErrorCode::invalid);
  unguarded.concurrency.clear();
  unguarded.rows.queues.push_back({.tenant = default_tenant()});
  EXPECT_EQ(call_->try_commit(unguarded).error().code, ErrorCode::invalid);
}

INSTANTIATE_TEST_SUITE_P(Stores, QueueSuite, testing::ValuesIn(store_kinds()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace belay::conformance
