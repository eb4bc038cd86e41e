// A rolling update: workers with different versions of a graph, on one store. A run is executed
// only by workers that have its version, or an upgrade from it; others leave it unchanged.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <set>

#include "tests/cli/belay_process.h"
#include "tests/postgres/postgres_server.h"

namespace belay::postgres_tests {
namespace {

using namespace std::chrono_literals;
using cli::tests::Belay;
using cli::tests::Outcome;
using cli::tests::Words;

constexpr std::chrono::seconds kEndsWithin{60};

class VersionsOnPostgres : public ::testing::Test {
 protected:
  cli::tests::Setting setting(const std::string& knows) const {
    cli::tests::Setting setting = world_.setting;
    setting.binary = BELAY_VERSION_BINARY;
    setting.environment["PROGRAM_KNOWS"] = knows;
    setting.environment["BELAY_STORE"] = url_;
    setting.environment["BELAY_RUNS_PER_USER"] = "0";
    return setting;
  }
  Outcome tell(const std::string& knows, const Words& words) const {
    return cli::tests::run_belay(words, setting(knows));
  }
  void enqueue(const std::string& knows, const std::string& thread) const {
    Outcome queued = tell(knows, {"enqueue", "--thread", thread});
    EXPECT_EQ(queued.code, 0) << queued.err;
  }
  std::unique_ptr<Belay> worker(const std::string& knows) const {
    auto begun = std::make_unique<Belay>(Words{"worker"}, setting(knows));
    EXPECT_TRUE(begun->waits_to_say("Worker started.")) << begun->said();
    return begun;
  }
  // Returns a value directly from the store, which needs no version of the graph.
  std::string sql(const std::string& statement) const {
    return server_.value(statement, database_);
  }
  std::string outcome(const std::string& thread) const {
    return sql(
        "SELECT coalesce(max(outcome), '') FROM belay.runs WHERE status = 'completed'"
        " AND thread_id = '" +
        thread + "'");
  }
  std::string count(const std::string& condition) const {
    return sql("SELECT count(*) FROM belay.runs WHERE " + condition);
  }
  bool becomes(const std::string& thread, const std::string& wanted) const {
    return wait_until(kEndsWithin, [&] { return outcome(thread) == wanted; });
  }
  void expect_sound(const std::string& knows) const {
    Outcome checked = tell(knows, {"check"});
    EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
    EXPECT_EQ(count("status IN ('failed', 'quarantined')"), "0");
  }
  void drain(Belay& worker) const {
    worker.send(SIGTERM);
    EXPECT_EQ(worker.finish().code, 0);
  }

  PostgresServer& server_ = shared_server();
  const std::string database_ = server_.create_database();
  const std::string url_ = server_.url(database_, "pool=2&session_expiry=1000");
  cli::tests::World world_;
};

TEST_F(VersionsOnPostgres, OldAndNewWorkersEachFinishWhatIsTheirs) {
  auto first = worker("1");
  auto second = worker("1");
  auto third = worker("2");
  std::vector<std::string> old_threads, new_threads;
  for (int i = 0; i < 4; ++i) {
    enqueue("1", old_threads.emplace_back("old-" + std::to_string(i)));
    enqueue("2", new_threads.emplace_back("new-" + std::to_string(i)));
    // One worker dies while it owns runs, and the update replaces it.
    if (i == 1) {
      second->send(SIGKILL);
      second->finish();
      second = worker("2");
    }
  }
  for (const auto& thread : old_threads) EXPECT_TRUE(becomes(thread, "by the old way")) << thread;
  for (const auto& thread : new_threads) EXPECT_TRUE(becomes(thread, "by the new way")) << thread;
  for (Belay* each : {first.get(), second.get(), third.get()}) drain(*each);
  expect_sound("1,2");
}

TEST_F(VersionsOnPostgres, WhatNobodyKnowsWaitsAndIsTakenOnByWhoHasAWay) {
  enqueue("1", "upgraded");
  enqueue("1", "accepted");
  enqueue("1", "finished");
  auto newer = worker("2");
  enqueue("2", "newest");
  EXPECT_TRUE(becomes("newest", "by the new way"));
  // It has polled all due runs, and cannot execute these.
  Outcome refused = tell("2", {"resume", "upgraded"});
  EXPECT_EQ(refused.code, 2) << refused.out << refused.err;
  for (const char* part : {"Graph \"", "cannot continue a run of version", "upgrade_from("}) {
    EXPECT_NE(refused.err.find(part), std::string::npos) << refused.err;
  }
  EXPECT_TRUE(newer->waits_to_say("cannot continue a run of version")) << newer->said();
  EXPECT_EQ(count("status = 'queued' AND lost_claims = 0"), "3");
  // It has returned its candidates: other workers need not wait for the end of the visibility
  // timeout.
  EXPECT_TRUE(wait_until(kEndsWithin,
                         [&] { return count("status = 'queued' AND offered_to IS NULL") == "3"; }));
  // From now on its polls do not return these runs, which would hide them from workers that have
  // the version.
  enqueue("1", "later");
  enqueue("2", "still newer");
  EXPECT_TRUE(becomes("still newer", "by the new way"));
  EXPECT_EQ(count("thread_id = 'later' AND status = 'queued' AND offered_to IS NULL"), "1");
  EXPECT_EQ(tell("1", {"cancel", "later"}).code, 0);
  Value queues = tell("2", {"queue", "list", "--json"}).json()["queues"];
  ASSERT_TRUE(queues.as_array());
  EXPECT_EQ((*queues.as_array())[0]["due"], Value(3));
  Value finished = tell("2", {"state", "finished", "--json"}).json();
  EXPECT_EQ(finished["status"], Value("code_gone"));
  EXPECT_EQ(finished["storedStatus"], Value("queued"));
  drain(*newer);
  // With an upgrade, one at a time: which worker a run is offered to is random.
  auto pause = [&](const std::string& thread, const char* due) {
    sql("UPDATE belay.runs SET due_at = " + std::string(due) + ", offered_until = NULL WHERE " +
        thread + " AND status = 'queued' RETURNING 1");
  };
  pause("thread_id <> 'upgraded'", "now() + interval '1 hour'");
  auto upgrading = worker("1>2");
  EXPECT_TRUE(becomes("upgraded", "by the new way"));
  EXPECT_EQ(tell("1>2", {"state", "upgraded", "--json"}).json()["state"]["checked_by"],
            Value("the upgrade"));
  drain(*upgrading);
  pause("thread_id = 'accepted'", "now()");
  auto accepting = worker("any>2");
  EXPECT_TRUE(becomes("accepted", "by the new way"));
  drain(*accepting);
  pause("thread_id = 'finished'", "now()");
  auto old = worker("1,2");
  EXPECT_TRUE(becomes("finished", "by the old way"));
  drain(*old);
  expect_sound("any>2");
}

}  // namespace
}  // namespace belay::postgres_tests
