// The schema is created or migrated while servers crash and programs run: it is complete or absent,
// and programs that it is compatible with continue.

#include <libpq-fe.h>

#include <atomic>
#include <iostream>
#include <thread>

#include "store/postgres/postgres_store.h"
#include "tests/crash/campaign_size.h"
#include "tests/postgres/commit_load.h"
#include "tests/postgres/store_world.h"

namespace belay::postgres_tests {
namespace {

using conformance::Caller;
using conformance::RunScript;
using ::testing::HasSubstr;

constexpr std::chrono::seconds kGetsThereWithin{60};

class PostgresMigrations : public StoreWorld {
 protected:
  // Migrates the schema as a later version of Belay would: with additions that an older version can
  // ignore, unless it is older than `compatible_from`.
  void migrate_to_the_future(const std::string& compatible_from) {
    run_sql(
        "ALTER TABLE belay.runs ADD COLUMN mood text NOT NULL DEFAULT 'calm';"
        "CREATE TABLE belay.moods (mood text PRIMARY KEY);"
        "CREATE INDEX runs_by_mood ON belay.runs (mood);"
        "INSERT INTO belay.migrations (version, name, checksum, compatible_from)"
        " VALUES (1000, 'of the future', '\\x00', " +
        compatible_from + ")");
  }
  std::string newest_migration() {
    return sql_value("SELECT max(version) FROM belay.migrations WHERE version < 1000");
  }
  static bool goes_on(const CommitLoad& load) {
    std::uint64_t until = load.acknowledged() + 40;
    return wait_until(kGetsThereWithin, [&] { return load.acknowledged() >= until; });
  }
  void expect_no_faults(CommitLoad& load, Store& store) {
    load.stop();
    EXPECT_EQ(load.faults_in(store), "");
  }
};

TEST_F(PostgresMigrations, WhoWorksWhileTheSchemaIsMadeNewerGoesOnBesideTheNew) {
  auto old = open(url());
  ASSERT_TRUE(old);
  CommitLoad load(*old, 4);
  ASSERT_TRUE(goes_on(load));
  migrate_to_the_future(newest_migration());
  ASSERT_TRUE(goes_on(load));
  // A second process of the same version can start while the first one still runs.
  auto beside = open(url());
  ASSERT_TRUE(beside);
  RunScript script("beside");
  Caller caller(*beside);
  EXPECT_EQ(caller.commit(script.first()), CommitOutcome::applied);
  EXPECT_EQ(caller.commit(script.next()), CommitOutcome::applied);
  EXPECT_EQ(caller.run(script.row.run), script.row);
  ASSERT_TRUE(goes_on(load));
  expect_no_faults(load, *beside);
  EXPECT_EQ(sql_value("SELECT count(*) FROM belay.runs WHERE mood <> 'calm'"), "0");
}

TEST_F(PostgresMigrations, WhatIsTooOldIsRefusedAndWhatWorksAlreadyEndsInGoodOrder) {
  auto old = open(url());
  ASSERT_TRUE(old);
  CommitLoad load(*old, 2);
  ASSERT_TRUE(goes_on(load));
  migrate_to_the_future("1000");
  Error error = refusal(url());
  EXPECT_EQ(error.code, ErrorCode::corrupt);
  EXPECT_THAT(error.message, HasSubstr("newer Belay"));
  // Compatibility is checked when a store is opened: processes with an open store must be stopped
  // before such a migration.
  EXPECT_TRUE(goes_on(load));
  expect_no_faults(load, *old);
}

// Returns the contents of the schema: one line per column, and one per migration.
std::string shape_of(PostgresServer& server, const std::string& schema) {
  return server.value(
      "SELECT string_agg(line, E'\\n' ORDER BY line) FROM ("
      " SELECT table_name || '.' || column_name || ' ' || data_type AS line"
      "   FROM information_schema.columns WHERE table_schema = '" +
      schema + "' UNION ALL SELECT 'index ' || indexname FROM pg_indexes WHERE schemaname = '" +
      schema +
      "' UNION ALL SELECT 'routine ' || routine_name FROM information_schema.routines"
      "   WHERE routine_schema = '" +
      schema + "') AS lines");
}

TEST_F(PostgresMigrations, AServerThatCrashesInTheMidstOfOneLeavesItWholeOrNotThere) {
  PostgresServer own;
  FaultProxy proxy(own.port());
  auto url_of = [&](int port, const std::string& schema) {
    return own.url_at(port, "postgres", "pool=1&patience=0&connect_timeout=5&schema=" + schema);
  };
  ASSERT_TRUE(open(url_of(own.port(), "whole")));
  const std::string whole = shape_of(own, "whole");
  ASSERT_THAT(whole, HasSubstr("runs.status"));
  std::uint64_t rounds = crash::number_from("BELAY_CHAOS_MIGRATIONS", 14);
  std::uint64_t crashes = 0, made = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::string schema = "crashed_" + std::to_string(round);
    ProxyFaults faults{.holds = true};
    if (round % 7 == 5) {  // everything is executed, and the reply is lost
      faults.cut_at = CutAt::at_reply;
      faults.marker = "INSERT INTO";
    } else if (round % 7 == 6) {  // everything except the end has been sent
      faults.cut_at = CutAt::before_end;
      faults.marker = "INSERT INTO";
    } else {
      faults.bytes_to_server = 2'000 + round % 7 * 5'000 + round * 97;
    }
    std::uint64_t held = proxy.counts().held;
    proxy.set(faults);
    std::atomic<bool> is_over = false;
    std::thread opening([&] {
      (void)try_open(url_of(proxy.port(), schema));
      is_over = true;
    });
    EXPECT_TRUE(
        wait_until(kGetsThereWithin, [&] { return proxy.counts().held > held || is_over; }));
    crashes += proxy.counts().held > held;
    own.restart_immediately();
    proxy.heal();
    proxy.cut_all();
    opening.join();
    std::string count = own.value(
        "SELECT count(*) FROM information_schema.tables WHERE table_schema = '" + schema + "'");
    if (count != "0") {
      ++made;
      EXPECT_EQ(shape_of(own, schema), whole) << "round " << round;
    }
    auto store = open(url_of(own.port(), schema));
    ASSERT_TRUE(store) << "round " << round;
    EXPECT_EQ(shape_of(own, schema), whole) << "round " << round;
    RunScript script("after");
    EXPECT_EQ(Caller(*store).commit(script.first()), CommitOutcome::applied);
  }
  std::cout << "evidence: PostgreSQL crashed " << crashes << " times under a migration, " << made
            << " of them after it was carried out: it was whole, or not there" << std::endl;
  EXPECT_GE(crashes, std::min<std::uint64_t>(rounds, 10));
}

// A psql session that has read the table of runs and keeps its transaction open.
class Ponderer {
 public:
  Ponderer(const std::string& url, const std::string& table)
      : handle_(PQconnectdb((url + "?application_name=psql").c_str()), PQfinish) {
    std::string statements = "BEGIN; LOCK TABLE " + table + " IN ROW EXCLUSIVE MODE";
    PGresult* done = PQexec(handle_.get(), statements.c_str());
    EXPECT_EQ(PQresultStatus(done), PGRES_COMMAND_OK) << PQerrorMessage(handle_.get());
    PQclear(done);
  }

 private:
  std::unique_ptr<PGconn, void (*)(PGconn*)> handle_;
};

TEST_F(PostgresMigrations, OneThatComesByNoLockLeavesTheSchemaAsItWasAndSaysWhoHasIt) {
  auto old = open(url());
  ASSERT_TRUE(old);
  const std::string whole = shape_of(server_, schema_);
  run_sql("SET client_min_messages = warning; DROP SCHEMA " + schema_ + " CASCADE");
  make_second_schema();
  const std::string before = shape_of(server_, schema_);
  CommitLoad load(*old, 2);
  ASSERT_TRUE(goes_on(load));
  postgres::PostgresStoreOptions options;
  options.migration_locks = {std::chrono::milliseconds(150), 4};
  {
    Ponderer person(server_.url(), schema_ + ".runs");
    auto refused = postgres::open_postgres_store(url(), clock_, random_, options);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
    for (const char* words : {"in 4 tries", "psql", "its table runs", "pg_terminate_backend(",
                              "and reopen the store"}) {
      EXPECT_THAT(refused.error().message, HasSubstr(words));
    }
    EXPECT_EQ(shape_of(server_, schema_), before);
    EXPECT_EQ(newest_migration(), "2");
    // A writer waits behind the migration's lock request for one try at most.
    ASSERT_TRUE(goes_on(load));
    options.migration_locks.tries = 1'000;
    std::atomic<bool> is_over = false;
    std::thread opening([&] {
      auto opened = postgres::open_postgres_store(url(), clock_, random_, options);
      EXPECT_TRUE(opened.ok()) << opened.error().message;
      is_over = true;
    });
    EXPECT_TRUE(goes_on(load));
    EXPECT_FALSE(is_over);
    std::string pid = server_.value(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'psql'"
        " AND state = 'idle in transaction'");
    EXPECT_EQ(pid, "t");
    opening.join();
  }
  EXPECT_EQ(shape_of(server_, schema_), whole);
  EXPECT_EQ(load.sent_again(), 0u);
  expect_no_faults(load, *old);
}

}  // namespace
}  // namespace belay::postgres_tests
