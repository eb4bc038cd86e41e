// A primary dies while commits and runs are in progress, and its standby is promoted: acknowledged
// data exists, every run ends, and the former primary cannot cause damage when it returns. If there
// is no synchronous standby, data can be lost; processes that depended on it get an error.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "tests/cli/belay_process.h"
#include "tests/crash/scenario.h"
#include "tests/postgres/commit_load.h"
#include "tests/postgres/fleet_server.h"
#include "tests/postgres/server_pair.h"

namespace belay::postgres_tests {
namespace {

using namespace std::chrono_literals;
using conformance::Caller;
using conformance::RunScript;
using crash::kSanitized;
using ::testing::AnyOf;

constexpr std::chrono::seconds kGoesOnWithin{120};
// A process makes an uncertain call only while a third of its lease is left. A server that is
// copied for its standby can keep the disk busy for longer than a third of the lease of other
// fleets, and each process with it: the call would then be late, and counted as repeated.
constexpr int kLeaseMs = 3 * kFleetLeaseMs;
constexpr const char* kOptions =
    "target_session_attrs=read-write&schema=belay&pool=2&session_expiry=1000&patience=120000";

std::uint64_t promotions() { return crash::number_from("BELAY_CHAOS_FAILOVERS", 3); }

// Alternately, the primary dies before the standby is promoted, or continues for a moment in
// parallel.
class Failovers {
 public:
  explicit Failovers(ServerPair& pair) : pair_(pair) {}

  void strike() {
    PostgresServer& old = pair_.primary();
    bool is_alive_beside = count_++ % 2 == 1;
    if (!is_alive_beside) old.stop(Stop::immediate);
    pair_.promote_standby();
    if (is_alive_beside) old.stop(Stop::immediate);
  }
  std::uint64_t count() const { return count_; }

 private:
  ServerPair& pair_;
  std::uint64_t count_ = 0;
};

class PostgresFailover : public ::testing::Test {
 protected:
  std::unique_ptr<Store> open(const std::string& url) {
    auto opened = open_store(url, clock_, random_);
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  static bool goes_on(const CommitLoad& load) {
    std::uint64_t until = load.acknowledged() + 20;
    return wait_until(kGoesOnWithin, [&] { return load.acknowledged() >= until; });
  }

  conformance::StandingClock clock_;
  conformance::SeededRandom random_;
};

TEST_F(PostgresFailover, WithASynchronousStandbyNoAcknowledgedCommitIsLost) {
  ServerPair pair(Replication::synchronous);
  Failovers failovers(pair);
  auto store = open(pair.url(kOptions));
  ASSERT_TRUE(store);
  CommitLoad load(*store, 4);
  while (failovers.count() < promotions()) {
    ASSERT_TRUE(goes_on(load));
    failovers.strike();
    pair.rejoin();
  }
  ASSERT_TRUE(goes_on(load));
  load.stop();
  auto again = open(pair.primary().url("postgres", "pool=2"));
  ASSERT_TRUE(again);
  std::string faults = load.faults_in(*again);
  EXPECT_EQ(faults, "");
  std::cout << "evidence: PostgreSQL: " << failovers.count()
            << " promotions of a synchronous standby while its primary died, over "
            << load.acknowledged() << " commits, of which " << load.sent_again()
            << " were sent again by their caller: " << (faults.empty() ? "0" : "some")
            << " lost or doubled" << std::endl;
}

TEST_F(PostgresFailover, AFleetGoesOnOnWhatWasTheStandby) {
  std::uint64_t seed = crash::chosen_seed();
  ServerPair pair(Replication::synchronous);
  Failovers failovers(pair);
  crash::FleetPlan plan;
  plan.seed = seed;
  plan.workers = 3;
  plan.runs = 8;
  plan.zombie_every = 0;
  plan.kills = promotions();
  plan.disturbances = promotions();
  plan.site.store = pair.url("target_session_attrs=read-write&schema=belay&pool=4&session_expiry=" +
                             std::to_string(kLeaseMs));
  plan.site.disturb_every = 2;
  plan.site.disturb = [&] {
    failovers.strike();
    pair.rejoin();
    return true;
  };
  crash::FleetReport report = play_fleet(plan);
  std::cout << report.evidence("fleet of three workers on PostgreSQL whose standby is promoted",
                               seed)
            << std::endl;
  EXPECT_GE(report.disturbances, plan.disturbances);
}

// The former primary is started again unchanged, and a process has only its host name. It waits for
// a standby, which now follows another primary: it acknowledges nothing.
TEST_F(PostgresFailover, AFormerPrimaryThatComesBackAcknowledgesNothing) {
  ServerPair pair(Replication::synchronous);
  PostgresServer& old = pair.primary();
  auto store = open(pair.url(kOptions));
  ASSERT_TRUE(store);
  Caller caller(*store);
  RunScript run("a"), waits("waits");
  EXPECT_EQ(caller.commit(run.first()), CommitOutcome::applied);
  waits.row.status = RunStatus::queued;
  waits.row.due_at = clock_.now() - 1s;
  EXPECT_EQ(caller.commit(waits.first()), CommitOutcome::applied);
  old.stop(Stop::immediate);
  pair.promote_standby();
  // With one server left, its administrator configures it to wait for no standby.
  PostgresServer& now = pair.primary();
  ASSERT_TRUE(now.sql("ALTER SYSTEM SET synchronous_standby_names = ''").ok());
  ASSERT_TRUE(now.sql("SELECT pg_reload_conf()").ok());
  RunScript at_old = run;
  EXPECT_EQ(caller.commit(run.next()), CommitOutcome::applied);
  old.start();
  {
    auto lost = open(old.url("postgres", "pool=2&session_expiry=1000&patience=1000"));
    ASSERT_TRUE(lost);
    EXPECT_FALSE(lost->open_session().ok()) << "it could own runs";
    Caller there(*lost);
    at_old.become("another");
    auto outcome = there.try_commit(at_old.next());
    ASSERT_FALSE(outcome.ok()) << "acknowledged: " << static_cast<int>(*outcome);
    EXPECT_THAT(outcome.error().code, AnyOf(ErrorCode::uncertain, ErrorCode::unavailable));
    // A poll waits neither for the disk nor for a standby; the claim is a commit.
    PollFilter filter;
    filter.session = SessionId(waits.row.run);
    filter.now = clock_.now();
    EXPECT_TRUE(block_on(there.loop(), lost->poll_runs(filter)).ok());
    RunScript taken = waits;
    taken.become("another");
    EXPECT_FALSE(there.try_commit(taken.next()).ok());
  }
  cli::tests::TempFolder folder;
  cli::tests::Setting setting = crash::setting_for(folder.path());
  setting.binary = BELAY_FLEET_BINARY;
  setting.environment["FLEET_RECEIVERS"] = folder.path();
  setting.environment["BELAY_STORE"] =
      old.url("postgres", "pool=2&session_expiry=1000&patience=1000");
  cli::tests::Outcome worker = cli::tests::run_belay({"worker", "--until-idle"}, setting);
  EXPECT_EQ(worker.code, 6) << worker.err;
  // The other processes are not affected.
  EXPECT_EQ(caller.commit(run.next()), CommitOutcome::applied);
  auto others = open(now.url("postgres", "pool=2"));
  ASSERT_TRUE(others);
  Caller here(*others);
  EXPECT_EQ(here.run(run.row.run), run.row);
  EXPECT_EQ(here.run(waits.row.run), waits.row);
  // As a standby again, it loses its own commits.
  old.stop(Stop::immediate);
  pair.rejoin();
  ASSERT_TRUE(pair.is_level());
  EXPECT_EQ(old.value("SELECT max(seq) FROM belay.runs"), "3");
}

TEST_F(PostgresFailover, WithoutOneWhoHadCommitsThatAreLostIsFenced) {
  ServerPair pair(Replication::asynchronous);
  auto store = open(pair.url(kOptions));
  ASSERT_TRUE(store);
  Caller caller(*store);
  RunScript run("a"), never("never");
  EXPECT_EQ(caller.commit(run.first()), CommitOutcome::applied);
  ASSERT_TRUE(pair.is_level());
  pair.standby().stop(Stop::fast);
  EXPECT_EQ(caller.commit(run.next()), CommitOutcome::applied) << "which the standby never sees";
  EXPECT_EQ(caller.commit(never.first()), CommitOutcome::applied);
  pair.primary().stop(Stop::immediate);
  pair.standby().start();
  pair.promote_standby();
  EXPECT_EQ(caller.commit(run.next()), CommitOutcome::fenced);
  EXPECT_EQ(caller.commit(never.next()), CommitOutcome::fenced);
  EXPECT_EQ(caller.run(run.row.run).seq, 1u);
  EXPECT_EQ(caller.threads({default_tenant()}).size(), 1u) << "and no trace of the other run";
}

}  // namespace
}  // namespace belay::postgres_tests
