// Connections that break, servers that crash, and poolers, while commits are in progress: a commit
// is acknowledged only when it is stored, and is stored once.

#include <array>
#include <iostream>

#include "belay/testing.h"
#include "tests/crash/campaign_size.h"
#include "tests/disk/forty_nodes.h"
#include "tests/postgres/commit_load.h"
#include "tests/postgres/store_world.h"

namespace belay::postgres_tests {
namespace {

using namespace std::chrono_literals;
using conformance::Caller;
using conformance::RunScript;

constexpr std::chrono::seconds kGoesOnWithin{60};
// For each of the three cut points, in turn.
constexpr std::uint64_t kCutsEach = 70;

class PostgresConnections : public StoreWorld {
 protected:
  // Waits until `more` further commits of the load have been acknowledged.
  static bool goes_on(const CommitLoad& load, std::uint64_t more = 20) {
    std::uint64_t until = load.acknowledged() + more;
    return wait_until(kGoesOnWithin, [&] { return load.acknowledged() >= until; });
  }
  void expect_no_faults(CommitLoad& load) {
    load.stop();
    auto store = open(url());
    ASSERT_TRUE(store);
    EXPECT_EQ(load.faults_in(*store), "");
  }
};

TEST_F(PostgresConnections, ACommitIsThereOnceWhereverItsConnectionIsCut) {
  std::uint64_t seed = crash::number_from("BELAY_SOAK_SEED", 1);
  std::uint64_t cuts_each = crash::number_from("BELAY_POSTGRES_CUTS", kCutsEach);
  belay::testing::SeededRandom random(seed);
  FaultProxy proxy(server_.port());
  auto store = open(url_at(proxy.port()));
  ASSERT_TRUE(store);
  CommitLoad load(*store, 4);
  const std::array places = {CutAt::before_end, CutAt::after_end, CutAt::at_reply};
  for (std::uint64_t turn = 0; turn < cuts_each; ++turn) {
    for (CutAt place : places) {
      std::uint64_t before = proxy.counts().cuts;
      proxy.set({.cut_at = place, .every = 1 + random.bits() % 3});
      ASSERT_TRUE(wait_until(kGoesOnWithin, [&] { return proxy.counts().cuts > before; }));
      proxy.heal();
      ASSERT_TRUE(goes_on(load, 1));
    }
  }
  proxy.heal();
  expect_no_faults(load);
  ProxyCounts counts = proxy.counts();
  EXPECT_GE(counts.cuts_before_end, cuts_each);
  EXPECT_GE(counts.cuts_after_end, cuts_each);
  EXPECT_GE(counts.cuts_at_reply, cuts_each);
  std::cout << "evidence: PostgreSQL: " << counts.cuts_before_end
            << " connections cut before COMMIT, " << counts.cuts_after_end << " just after it, "
            << counts.cuts_at_reply << " between it and its reply, over " << load.acknowledged()
            << " commits, 0 lost or doubled, seed " << seed << std::endl;
}

TEST_F(PostgresConnections, ACommitIsThereOnceWhateverBytesAreTheLast) {
  FaultProxy proxy(server_.port());
  auto store = open(url_at(proxy.port()));
  ASSERT_TRUE(store);
  CommitLoad load(*store, 2);
  for (std::uint64_t bytes = 900; bytes < 9'000; bytes += 730) {
    for (bool to_server : {true, false}) {
      ProxyFaults faults;
      (to_server ? faults.bytes_to_server : faults.bytes_to_client) = bytes;
      std::uint64_t before = proxy.counts().cuts;
      proxy.set(faults);
      EXPECT_TRUE(wait_until(kGoesOnWithin, [&] { return proxy.counts().cuts > before; }));
      proxy.heal();
      ASSERT_TRUE(goes_on(load, 2));
    }
  }
  expect_no_faults(load);
}

TEST_F(PostgresConnections, AHalfOpenConnectionIsGivenUpAndTheCommitSentAgain) {
  FaultProxy proxy(server_.port());
  auto store = open(url_at(proxy.port(), "patience=1000&connect_timeout=2"));
  ASSERT_TRUE(store);
  Caller caller(*store);
  RunScript run("half open");
  EXPECT_EQ(caller.commit(run.first()), CommitOutcome::applied);
  proxy.set({.swallows = true});
  Commit next = run.next();
  auto outcome = caller.try_commit(next);
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().code, ::testing::AnyOf(ErrorCode::uncertain, ErrorCode::unavailable))
      << outcome.error().message;
  proxy.heal();
  proxy.cut_all();
  // The commit might or might not have been written: sending the same commit again must be possible
  // in both cases.
  EXPECT_TRUE(wait_until(kGoesOnWithin, [&] {
    auto again = caller.try_commit(next);
    return again.ok() && *again == CommitOutcome::applied;
  }));
  EXPECT_EQ(caller.run(run.row.run).seq, 2u);
  EXPECT_EQ(caller.events({default_tenant(), run.row.run}).size(), 2u);
}

TEST_F(PostgresConnections, ReadsGoOnAfterTheirConnectionsAreCut) {
  FaultProxy proxy(server_.port());
  auto store = open(url_at(proxy.port()));
  ASSERT_TRUE(store);
  Caller caller(*store);
  RunScript run("read");
  caller.commit(run.first());
  for (int i = 0; i < 10; ++i) {
    proxy.cut_all();
    EXPECT_EQ(caller.run(run.row.run), run.row);
  }
}

TEST_F(PostgresConnections, AServerThatIsNotThereIsWaitedForNoLongerThanItsPatience) {
  FaultProxy proxy(server_.port());
  auto store = open(url_at(proxy.port(), "patience=300"));
  ASSERT_TRUE(store);
  Caller caller(*store);
  RunScript run("gone");
  proxy.set({.refuses = true});
  proxy.cut_all();
  auto refused = caller.try_commit(run.first());
  ASSERT_FALSE(refused.ok());
  std::unique_ptr<EventLoop> loop = make_event_loop();
  auto read_nothing = [](Snapshot& view) -> Result<Done> {
    BELAY_CHECK(view.threads({default_tenant()}));
    return Done{};
  };
  EXPECT_FALSE(block_on<Result<Done>>(*loop, store->read(read_nothing)).ok());
  proxy.heal();
  RunScript again("back");
  EXPECT_EQ(caller.commit(again.first()), CommitOutcome::applied);
}

// With synchronous commits, as in production.
TEST_F(PostgresConnections, NoAcknowledgedCommitIsLostToACrashOfTheServer) {
  PostgresServer own({.sync = true});
  auto opened = try_open(own.url("postgres", options()));
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  CommitLoad load(**opened, 4);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(goes_on(load));
    own.restart_immediately();
  }
  ASSERT_TRUE(goes_on(load));
  load.stop();
  auto again = try_open(own.url("postgres", options()));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(load.faults_in(**again), "");
}

TEST_F(PostgresConnections, APoolerMayComeAndGo) {
  PgBouncer pooler(server_, 3);
  auto store = open(url_at(pooler.port()));
  ASSERT_TRUE(store);
  CommitLoad load(*store, 4);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(goes_on(load));
    pooler.stop();
    pooler.start();
  }
  ASSERT_TRUE(goes_on(load));
  expect_no_faults(load);
}

// A whole run of forty nodes with its external calls, by the real engine; the checkers verify the
// resulting store.
class PostgresRuns : public StoreWorld {
 protected:
  void play(const std::string& store_url) {
    disk::Outside outside;
    std::optional<Result<RunView>> view;
    for (bool decides : {false, true}) {
      auto opener = [&](Clock& clock, Random& random) {
        return open_tested_store(store_url, clock, random);
      };
      auto process = disk::Process::begin_on(opener, outside, *instant_from("2026-11-21T12:00:00Z"),
                                             decides ? 2 : 1);
      ASSERT_TRUE(process.ok()) << process.error().message;
      view = (*process)->play(decides);
      ASSERT_TRUE(view->ok()) << view->error().message;
      if (!decides) continue;
      auto found = (*process)->violations();
      ASSERT_TRUE(found.ok()) << found.error().message;
      EXPECT_EQ(*found, "");
    }
    EXPECT_EQ((*view)->row.status, RunStatus::completed);
    EXPECT_EQ((*view)->row.outcome, "arrived");
    EXPECT_EQ(outside.distinct("pay"), 1u);
    EXPECT_EQ(outside.count("mail"), 1u);
  }
};

TEST_F(PostgresRuns, GoToTheirEnd) { play(url()); }

TEST_F(PostgresRuns, GoToTheirEndThroughAPooler) { play(url_at(shared_pooler().port())); }

TEST_F(PostgresRuns, GoToTheirEndThoughEverySecondCommitLosesItsReply) {
  FaultProxy proxy(server_.port());
  proxy.set({.cut_at = CutAt::at_reply, .marker = "checkpoints", .every = 2});
  ASSERT_TRUE(open(url()));  // creates the schema before anything is cut
  play(url_at(proxy.port()));
  EXPECT_GT(proxy.counts().cuts_at_reply, 20u);
}

}  // namespace
}  // namespace belay::postgres_tests
