// The real program on a real PostgreSQL: runs that other processes continue, and the diagnostics of
// doctor for a misconfigured server.

#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "tests/cli/queue_retry.h"
#include "tests/cli/served.h"
#include "tests/postgres/pgbouncer.h"
#include "tests/postgres/scripted_postgres.h"

namespace belay::postgres_tests {
namespace {

using namespace std::chrono_literals;
using cli::tests::Belay;
using cli::tests::Outcome;
using cli::tests::Words;

class ProgramOnPostgres : public ::testing::Test {
 protected:
  ProgramOnPostgres() { use(url_); }
  void use(const std::string& url) { world_.setting.environment["BELAY_STORE"] = url; }
  Outcome shop(const Words& words) {
    world_.setting.binary = BELAY_SHOP_BINARY;
    Outcome outcome = world_.run(words);
    world_.setting.binary.clear();
    return outcome;
  }
  // Returns the diagnostic with that name from doctor; null if there is none.
  Value finding(const std::string& name) {
    Outcome told = world_.run({"doctor", "--json"});
    Value document = told.json();
    const auto* checks = document["checks"].as_array();
    if (!checks) return Value(told.err);
    bool is_bad = false;
    Value found;
    for (const Value& check : *checks) {
      is_bad = is_bad || check["status"] == Value("bad");
      if (check["name"] == Value(name)) found = check;
    }
    EXPECT_EQ(told.code, is_bad ? 6 : 0);
    EXPECT_EQ(told.out.find("sesame"), std::string::npos) << "the password";
    return found;
  }
  void expect_finding(const std::string& name, const std::string& status,
                      const std::string& advice) {
    Value found = finding(name);
    EXPECT_EQ(found["status"], Value(status)) << to_json(found);
    EXPECT_NE(to_json(found["advice"]).find(advice), std::string::npos) << to_json(found);
  }
  // Uses a role that has rights only on the existing tables, as a runtime has.
  void use_runtime_role() {
    sql("DO $$ BEGIN CREATE ROLE runtime LOGIN; EXCEPTION WHEN duplicate_object THEN END $$;"
        "GRANT USAGE ON SCHEMA belay TO runtime;"
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA belay TO runtime;"
        "GRANT USAGE ON ALL SEQUENCES IN SCHEMA belay TO runtime;"
        "REVOKE INSERT, UPDATE, DELETE ON belay.migrations FROM runtime");
    use_role("runtime");
  }
  void use_role(const std::string& name) {
    use("postgresql://" + name + "@127.0.0.1:" + std::to_string(server_.port()) + "/" + database_ +
        "?pool=2");
  }
  void import_a_day() {
    std::string notes = cli::tests::note_line("2026-01-01", cli::tests::hard_day());
    Outcome imported = world_.run({"notes", "import", "-"}, notes);
    ASSERT_EQ(imported.code, 0) << imported.err;
  }
  void sql(const std::string& statements) {
    auto done = server_.sql(statements, database_);
    ASSERT_TRUE(done.ok()) << done.error().message;
  }

  PostgresServer& server_ = shared_server();
  const std::string database_ = server_.create_database();
  const std::string url_ = server_.url(database_, "pool=2");
  cli::tests::World world_;
};

TEST_F(ProgramOnPostgres, WhatOneProcessAsksAnotherDecidesAndTheStoreIsSound) {
  std::string notes = cli::tests::note_line("2026-01-01", cli::tests::hard_day());
  Outcome imported = world_.run({"notes", "import", "-"}, notes);
  ASSERT_EQ(imported.code, 0) << imported.err;
  EXPECT_EQ(world_.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"}).code, 3);
  EXPECT_NE(world_.run({"approvals", "list"}).out.find("t"), std::string::npos);
  Outcome approved = world_.run({"approvals", "approve", "t", "--by", "ana", "--json"});
  EXPECT_EQ(approved.code, 0) << approved.err;
  EXPECT_EQ(approved.json()["run"]["outcome"], Value("saved"));
  EXPECT_EQ(world_.run({"check"}).code, 0);
  Outcome statistics = world_.run({"store", "stats", "--json"});
  EXPECT_EQ(statistics.code, 0) << statistics.err;
  EXPECT_NE(statistics.out.find("checkpoints"), std::string::npos);
  EXPECT_EQ(world_.run({"store", "compact"}).code, 0);
  EXPECT_EQ(world_.run({"resume", "--all"}).code, 0);
}

// A killed worker's runs continue in another one when its session has expired.
TEST_F(ProgramOnPostgres, TheUsageOfAgentsIsExactAfterWorkersWereKilled) {
  world_.setting.environment["AGENT_REQUIRE_APPROVAL"] = "false";
  for (const char* commit : {"2", "3", "5"}) {
    EXPECT_EQ(shop({"enqueue", "order", "--input", "item=hat"}).code, 0);
    EXPECT_EQ(shop({"enqueue", "errand", "--input", "to=nowhere"}).code, 0);
    cli::tests::Setting paused = world_.setting;
    paused.binary = BELAY_SHOP_BINARY;
    paused.environment["BELAY_TEST_PAUSE_AT_COMMIT"] = commit;
    Belay worker({"worker", "--until-idle"}, paused);
    EXPECT_TRUE(worker.waits_to_say("belay-test: paused")) << commit;
    worker.send(SIGKILL);
    worker.finish();
  }
  auto count = [this](const char* member) {
    std::int64_t sum = 0;
    Value shown = shop({"analytics", "--json"}).json();
    if (!shown["summary"].as_array()) return sum;
    for (const Value& each : *shown["summary"].as_array()) sum += each[member].as_int().value_or(0);
    return sum;
  };
  for (int tries = 0; tries < 120 && count("invocationCount") < 6; ++tries) {
    EXPECT_EQ(shop({"worker", "--until-idle"}).code, 0);
    std::this_thread::sleep_for(500ms);
  }
  auto expect_three_of_each = [&count] {
    EXPECT_EQ(count("invocationCount"), 6);
    EXPECT_EQ(count("successCount"), 3);
    EXPECT_EQ(count("errorCount"), 3);
  };
  expect_three_of_each();
  EXPECT_EQ(shop({"analytics", "rebuild", "--json"}).json()["runs"], Value(6));
  expect_three_of_each();
}

TEST_F(ProgramOnPostgres, CompactingByWhoDoesNotOwnTheTablesSaysThatNothingWasDone) {
  import_a_day();
  use_runtime_role();
  EXPECT_EQ(world_.run({"threads"}).code, 0) << "all else it may";
  for (const char* name : {"schema", "write", "sessions", "vacuum"}) expect_finding(name, "ok", "");
  Outcome refused = world_.run({"store", "compact"});
  EXPECT_EQ(refused.code, 6);
  EXPECT_TRUE(refused.says({"was not compacted", "\"runtime\"", "owner, \"belay\""}))
      << refused.err;
  use(url_);
  EXPECT_EQ(world_.run({"store", "compact"}).code, 0);
}

TEST_F(ProgramOnPostgres, ARunThatWasKilledIsResumedByAnother) {
  use(server_.url(database_, "pool=2&session_expiry=1000"));
  std::string notes = cli::tests::note_line("2026-01-01", cli::tests::hard_day());
  ASSERT_EQ(world_.run({"notes", "import", "-"}, notes).code, 0);
  {
    cli::tests::Setting paused = world_.setting;
    paused.environment["BELAY_TEST_PAUSE_AT_COMMIT"] = "2";
    Belay killed({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"}, paused);
    ASSERT_TRUE(killed.waits_to_say("belay-test: paused"));
    killed.send(SIGKILL);
    EXPECT_EQ(killed.finish().code, 128 + SIGKILL);
  }
  // The process counts as alive until its lease has ended.
  Outcome resumed;
  EXPECT_TRUE(wait_until(30s, [&] {
    resumed = world_.run({"resume", "t"});
    return resumed.code == 3;
  })) << resumed.err;
  EXPECT_EQ(world_.run({"check"}).code, 0);
}

TEST_F(ProgramOnPostgres, AFailedRunGoesAgainInAnotherThread) {
  cli::tests::expect_a_failed_run_goes_again(world_);
}

TEST_F(ProgramOnPostgres, ARunThatKilledItsWorkersGoesAgainInAnotherThread) {
  use(server_.url(database_, "pool=2&session_expiry=500"));
  world_.setting.binary = BELAY_SHOP_BINARY;
  cli::tests::expect_a_quarantined_run_goes_again(world_);
}

TEST_F(ProgramOnPostgres, AWorkerTakesUpWhatAServerWasAskedFor) {
  cli::tests::Setting shop_setting = world_.setting;
  shop_setting.binary = BELAY_SHOP_BINARY;
  Belay worker({"worker"}, shop_setting);
  ASSERT_TRUE(worker.waits_to_say("Worker started."));
  for (const char* thread : {"a", "b"}) {
    Outcome queued = shop({"enqueue", "order", "--thread", thread, "--input", "item=hat"});
    EXPECT_EQ(queued.code, 0) << queued.err;
    ASSERT_TRUE(wait_until(30s, [&] {
      return shop({"state", thread, "--json"}).json()["status"] == Value("paused");
    }));
  }
  cli::tests::Served served(shop_setting);
  ASSERT_TRUE(served.is_up());
  EXPECT_EQ(served.get("/healthz").status, 200);
  EXPECT_NE(served.get("/api/runs").body.find("paused"), std::string::npos);
  EXPECT_NE(finding("sessions")["detail"], Value("0 live processes"));
  worker.send(SIGTERM);
  EXPECT_EQ(worker.finish().code, 0);
}

TEST_F(ProgramOnPostgres, ARunOfASqliteStoreGoesInto) {
  cli::tests::World file;
  std::string notes = cli::tests::note_line("2026-01-01", cli::tests::hard_day());
  ASSERT_EQ(file.run({"notes", "import", "-"}, notes).code, 0);
  ASSERT_EQ(file.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"}).code, 3);
  ASSERT_EQ(file.run({"approvals", "approve", "t", "--by", "ana"}).code, 0);
  std::string run = file.run({"export", "t"}).out;
  Outcome read = world_.run({"import", "-"}, run);
  ASSERT_EQ(read.code, 0) << read.err;
  for (const char* verb : {"history", "calls", "state", "events"}) {
    EXPECT_EQ(world_.run({verb, "t", "--json"}).out, file.run({verb, "t", "--json"}).out) << verb;
  }
  EXPECT_EQ(world_.run({"check"}).code, 0);
}

TEST_F(ProgramOnPostgres, DatabaseUrlIsTheStoreWhereNothingElseNamesOne) {
  auto& environment = world_.setting.environment;
  auto origin = [&] {
    Value document = world_.run({"config", "explain", "--json"}).json();
    for (const Value& each : *document["settings"].as_array()) {
      if (each["name"] == Value("store")) return cli::tests::text(each["from"]);
    }
    return std::string();
  };
  environment["DATABASE_URL"] = "postgresql://ana:sesame@127.0.0.1:1/x";
  EXPECT_EQ(origin(), "environment BELAY_STORE");
  environment.erase("BELAY_STORE");
  EXPECT_EQ(origin(), "environment DATABASE_URL");
  EXPECT_EQ(world_.run({"config", "explain"}).out.find("sesame"), std::string::npos);
  EXPECT_EQ(world_.run({"threads"}).code, 6) << "nobody listens there";
  environment["DATABASE_URL"] = "mysql://127.0.0.1/x";
  EXPECT_EQ(origin(), "default");
  environment["DATABASE_URL"] = url_;
  EXPECT_EQ(world_.run({"threads"}).code, 0);
  Outcome other = world_.run({"threads", "--store", "memory:"});
  EXPECT_EQ(other.code, 0);
}

TEST_F(ProgramOnPostgres, DoctorFindsASoundStoreSoundBeforeItIsThereAndAfter) {
  for (const char* name : {"store", "schema", "write", "room", "clock", "pooler"}) {
    expect_finding(name, "ok", "");
  }
  EXPECT_EQ(server_.value("SELECT count(*) FROM pg_namespace WHERE nspname = 'belay'", database_),
            "0")
      << "doctor makes nothing";
  ASSERT_EQ(world_.run({"notes", "import", "-"}, cli::tests::note_line("2026-01-01", "x")).code, 0);
  for (const char* name : {"schema", "write", "sessions", "approvals", "vacuum"}) {
    expect_finding(name, "ok", "");
  }
  EXPECT_EQ(server_.value("SELECT count(*) FROM belay.sessions WHERE name = 'doctor'", database_),
            "0");
}

TEST_F(ProgramOnPostgres, DoctorNamesTheSettingThatIsWrong) {
  use("postgresql://ana:sesame@127.0.0.1:" + std::to_string(free_port()) + "/x");
  expect_finding("store", "bad", "host and port in the store's URL");
  use("postgresql://ana:sesame@host.invalid/x");
  expect_finding("store", "bad", "host in the store's URL");
  use(server_.url("no_such_database"));
  expect_finding("store", "bad", "create the database");
  std::string guarded = server_.url(database_);
  sql("DO $$ BEGIN CREATE ROLE doctored LOGIN; EXCEPTION WHEN duplicate_object THEN END $$");
  std::size_t user = guarded.find("belay@");
  ASSERT_NE(user, std::string::npos) << guarded;
  use(guarded.replace(user, 6, "doctored@"));
  expect_finding("schema", "bad", "GRANT CREATE ON DATABASE");
}

TEST_F(ProgramOnPostgres, DoctorKnowsSchemasThatAreNotOurs) {
  ASSERT_EQ(world_.run({"notes", "import", "-"}, cli::tests::note_line("2026-01-01", "x")).code, 0);
  sql("UPDATE belay.migrations SET checksum = '\\x00'");
  expect_finding("schema", "bad", "use the Belay that created it");
  sql("DELETE FROM belay.migrations");
  expect_finding("schema", "bad", "restore it from a backup");
  sql("INSERT INTO belay.migrations (version, name, checksum, compatible_from)"
      " VALUES (99, 'later', '\\x00', 99)");
  expect_finding("schema", "bad", "use a newer Belay");
  sql("CREATE SCHEMA foreign_one; CREATE TABLE foreign_one.runs (x int)");
  use(server_.url(database_, "schema=foreign_one"));
  expect_finding("schema", "bad", "schema=");
}

TEST_F(ProgramOnPostgres, DoctorSeesWhatTheServerDoesNotDo) {
  sql("ALTER DATABASE " + database_ + " SET synchronous_commit = off");
  Value durable = finding("durable");
  EXPECT_EQ(durable["status"], Value("bad")) << "this server runs without fsync, too";
  EXPECT_THAT(*durable["detail"].as_string(),
              HasSubstr("fsync, full_page_writes, synchronous_commit are off"));
  sql("ALTER DATABASE " + database_ + " SET default_transaction_read_only = on");
  expect_finding("schema", "bad", "name the primary");
}

TEST_F(ProgramOnPostgres, DoctorSeesServersThatAreOldFullOrInRecovery) {
  PostgresScript old;
  old.version = "12.3";
  ScriptedPostgres twelve(old);
  use(twelve.url());
  expect_finding("schema", "bad", "use a newer server");
  PostgresScript spent;
  spent.sqlstate = "53300";
  spent.message = "sorry, too many clients already";
  spent.refuses_connections = true;
  ScriptedPostgres crowded(spent);
  use(crowded.url());
  expect_finding("store", "bad", "pool=");
  PostgresScript full;
  full.sqlstate = "53100";
  full.message = "could not extend file: No space left on device";
  ScriptedPostgres disk(full);
  use(disk.url());
  expect_finding("schema", "bad", "make room on the server's disk");
}

TEST_F(ProgramOnPostgres, DoctorSaysWhatAPoolerInBetweenCosts) {
  PgBouncer pooler(server_);
  std::string pooled = server_.url_at(pooler.port(), database_);
  use(pooled);
  expect_finding("pooler", "warning", "BELAY_NOTIFY_URL");
  world_.setting.environment["BELAY_NOTIFY_URL"] = url_;
  expect_finding("pooler", "ok", "");
  expect_finding("notify", "ok", "");
  world_.setting.environment["BELAY_NOTIFY_URL"] = pooled;
  expect_finding("notify", "warning", "the server itself");
  world_.setting.environment["BELAY_NOTIFY_URL"] = "http://nothing";
  expect_finding("notify", "bad", "postgresql://");
}

TEST_F(ProgramOnPostgres, DoctorCountsConnectionsAndOldApprovals) {
  use(server_.url(database_, "pool=100"));
  ASSERT_EQ(world_
                .run({"notes", "import", "-"},
                     cli::tests::note_line("2026-01-01", cli::tests::hard_day()))
                .code,
            0);
  ASSERT_EQ(world_.run({"run", "daily-audit", "--date", "2026-01-01"}).code, 3);
  expect_finding("room", "ok", "");
  sql("UPDATE belay.approvals SET expires_at = now() - interval '1 hour'");
  expect_finding("approvals", "warning", "approvals list --all");
}

}  // namespace
}  // namespace belay::postgres_tests
