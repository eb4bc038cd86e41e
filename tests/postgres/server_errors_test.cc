// Errors of the server while commits are in progress: those after which a transaction is simply
// repeated, and those that must leave no rows.

#include <thread>

#include "store/commit_weight.h"
#include "store/postgres/postgres_store.h"
#include "tests/postgres/store_world.h"

namespace belay::postgres_tests {
namespace {

using conformance::Caller;
using conformance::RunScript;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class PostgresErrors : public StoreWorld {
 protected:
  // Makes the next `times` inserts into checkpoints fail with this error. The sequence counts
  // across transactions that are rolled back.
  void fail_inserts(const std::string& sqlstate, int times) {
    run_sql(
        "CREATE SEQUENCE IF NOT EXISTS belay.failures;"
        "CREATE OR REPLACE FUNCTION belay.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " IF nextval('belay.failures') <= " +
        std::to_string(times) + " THEN RAISE EXCEPTION 'told to' USING ERRCODE = '" + sqlstate +
        "'; END IF;"
        " RETURN NULL; END $$;"
        "CREATE TRIGGER fail AFTER INSERT ON belay.checkpoints"
        " FOR EACH STATEMENT EXECUTE FUNCTION belay.fail()");
  }
  std::string failures() { return sql_value("SELECT last_value FROM belay.failures"); }
  void stop_failing() { run_sql("DROP TRIGGER fail ON belay.checkpoints"); }
};

TEST_F(PostgresErrors, ASerializationFailureOrADeadlockIsTriedAgain) {
  for (const char* sqlstate : {"40001", "40P01"}) {
    auto store = open(url());
    ASSERT_TRUE(store);
    Caller caller(*store);
    RunScript run(sqlstate);
    fail_inserts(sqlstate, 3);
    EXPECT_EQ(caller.commit(run.first()), CommitOutcome::applied);
    EXPECT_THAT(failures(), ::testing::AnyOf("4", "5", "6", "7", "8")) << "each was tried again";
    EXPECT_EQ(caller.run(run.row.run).seq, 1u);
    EXPECT_EQ(caller.events({default_tenant(), run.row.run}).size(), 1u) << "once, and no more";
    stop_failing();
    run_sql("DROP SEQUENCE belay.failures CASCADE");
  }
}

TEST_F(PostgresErrors, WarningsOfTheServerAreNotPrinted) {
  auto store = open(url());
  ASSERT_TRUE(store);
  Caller caller(*store);
  run_sql(
      "CREATE OR REPLACE FUNCTION belay.warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
      " RAISE WARNING 'the server warns'; RETURN NULL; END $$;"
      "CREATE TRIGGER warn AFTER INSERT ON belay.checkpoints"
      " FOR EACH STATEMENT EXECUTE FUNCTION belay.warn()");
  RunScript run("warned");
  ::testing::internal::CaptureStderr();
  auto outcome = caller.try_commit(run.first());
  std::string printed = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(outcome.ok());
  EXPECT_EQ(printed, "") << "standard error is the program's";
}

TEST_F(PostgresErrors, AFullDiskAcknowledgesNothingAndWritesNothing) {
  auto store = open(url("patience=0"));
  ASSERT_TRUE(store);
  Caller caller(*store);
  RunScript run("full");
  caller.commit(run.first());
  std::string before = caller.all();
  fail_inserts("53100", 1'000'000);
  Commit next = run.next();
  auto outcome = caller.try_commit(next);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::unavailable) << outcome.error().message;
  EXPECT_EQ(caller.all(), before);
  stop_failing();
  EXPECT_EQ(caller.commit(next), CommitOutcome::applied);
  EXPECT_EQ(caller.run(run.row.run).seq, 2u);
}

TEST_F(PostgresErrors, OneCommitThatTheServerRefusesDoesNotTakeOthersWithIt) {
  auto store = open(url());
  ASSERT_TRUE(store);
  run_sql(
      "CREATE FUNCTION belay.pick() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
      " IF NEW.node = 'cursed' THEN RAISE EXCEPTION 'cursed' USING ERRCODE = '23514'; END IF;"
      " RETURN NEW; END $$;"
      "CREATE TRIGGER pick BEFORE INSERT ON belay.checkpoints"
      " FOR EACH ROW EXECUTE FUNCTION belay.pick()");
  std::unique_ptr<EventLoop> loop = make_event_loop();
  constexpr int count = 20;
  int applied = 0, refused = 0, answered = 0;
  std::vector<Spawned> under_way;
  for (int i = 0; i < count; ++i) {
    RunScript run("batch " + std::to_string(i));
    if (i == 7) run.row.node = "cursed";
    std::function<void(Result<CommitOutcome>)> done = [&](Result<CommitOutcome> outcome) {
      applied += outcome.ok() && *outcome == CommitOutcome::applied;
      refused += !outcome.ok();
      if (++answered == count) loop->stop();
    };
    under_way.push_back(spawn<Result<CommitOutcome>>(*loop, store->commit(run.first()), done));
  }
  loop->run();
  EXPECT_EQ(applied, count - 1);
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(sql_value("SELECT count(*) FROM belay.runs"), std::to_string(count - 1));
}

// With a small bound instead of a gigabyte.
TEST_F(PostgresErrors, ACommitWithTooManyBytesForOneTableIsRefusedNamingTheBound) {
  constexpr std::size_t bound = 20'000;
  EXPECT_LT(postgres::PostgresStoreOptions().statement_bytes_max, std::size_t{1} << 30)
      << "the server accepts no longer message";
  postgres::PostgresStoreOptions options;
  options.statement_bytes_max = bound;
  auto opened = postgres::open_postgres_store(url(), clock_, random_, std::move(options));
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  Caller caller(**opened);
  RunScript run("large");
  caller.commit(run.first());
  const std::string before = caller.all();
  // Two values for one table, neither of which is too large alone; `beyond`: bytes above the bound.
  auto with_values = [&](RunScript& script, std::size_t beyond) {
    Commit commit = script.next_with({{"one"}, {"two"}});
    std::vector<ValueRow>& values = commit.rows.values;
    values[0].envelope = json_envelope("\"" + std::string(bound / 2, 'x') + "\"");
    values[1].envelope = json_envelope("\"\"");
    std::size_t missing = bound + beyond - store::largest_table_of(commit);
    values[1].envelope = json_envelope("\"" + std::string(missing, 'y') + "\"");
    EXPECT_EQ(store::largest_table_of(commit), bound + beyond);
    return commit;
  };
  RunScript same = run;
  auto refused = caller.try_commit(with_values(same, 1));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr(std::to_string(bound + 1) + " bytes"));
  EXPECT_THAT(refused.error().message, HasSubstr("maximum of PostgreSQL is 20000"));
  EXPECT_EQ(caller.all(), before);
  RunScript other("small");
  EXPECT_EQ(caller.commit(other.first()), CommitOutcome::applied);
  EXPECT_EQ(caller.commit(with_values(run, 0)), CommitOutcome::applied) << "exactly the bound";
  EXPECT_EQ(caller.run(run.row.run).seq, 2u);
}

TEST_F(PostgresErrors, AReadWaitsItsTurnWhereAllOfThePoolAreAtWork) {
  auto store = open(server_.url("postgres", "schema=" + schema_ + "&pool=1&patience=0"));
  ASSERT_TRUE(store);
  Caller caller(*store);
  RunScript run("read");
  caller.commit(run.first());
  std::unique_ptr<EventLoop> loop = make_event_loop();
  constexpr int count = 10;
  int answered = 0, failed = 0;
  std::vector<Spawned> under_way;
  for (int i = 0; i < count; ++i) {
    Store::Reader slow = [](Snapshot& view) -> Result<Done> {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      BELAY_CHECK(view.tenants());
      return Done{};
    };
    std::function<void(Result<Done>)> done = [&](Result<Done> outcome) {
      failed += !outcome.ok();
      if (++answered == count) loop->stop();
    };
    under_way.push_back(spawn<Result<Done>>(*loop, store->read(std::move(slow)), done));
  }
  // Commits do not wait for readers either.
  EXPECT_EQ(caller.commit(run.next()), CommitOutcome::applied);
  loop->run();
  EXPECT_EQ(answered, count);
  EXPECT_EQ(failed, 0) << "though it has no patience for a server that is away";
}

TEST_F(PostgresErrors, InHasteAServerThatIsAwayIsGivenUpAndAfterItWaitedForAgain) {
  FaultProxy proxy(server_.port());
  auto store = open(url_at(proxy.port(), "patience=600000"));
  ASSERT_TRUE(store);
  Caller caller(*store);
  RunScript run("hasty");
  caller.commit(run.first());
  proxy.set({.refuses = true});
  proxy.cut_all();
  store->set_shutting_down(true);
  Commit next = run.next();
  auto outcome = caller.try_commit(next);
  ASSERT_FALSE(outcome.ok());
  // It was sent on a connection that had already been cut.
  EXPECT_THAT(outcome.error().code, AnyOf(ErrorCode::unavailable, ErrorCode::uncertain));
  Store::Reader reader = [](Snapshot& view) -> Result<Done> {
    BELAY_CHECK(view.tenants());
    return Done{};
  };
  auto read = block_on(caller.loop(), store->read(std::move(reader)));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::unavailable) << read.error().message;
  store->set_shutting_down(false);
  std::thread healing([&proxy] {
    nap(std::chrono::seconds(1));
    proxy.heal();
  });
  EXPECT_EQ(caller.commit(next), CommitOutcome::applied);
  healing.join();
  EXPECT_EQ(caller.run(run.row.run).seq, 2u);
}

TEST_F(PostgresErrors, WhatAPersonLocksIsWaitedForAndThenWritten) {
  auto store = open(url());
  ASSERT_TRUE(store);
  Caller caller(*store);
  RunScript run("locked");
  caller.commit(run.first());
  // A psql session locks the run and keeps its transaction open for half a second.
  std::thread person([this] {
    run_sql("BEGIN; SELECT 1 FROM belay.runs FOR UPDATE; SELECT pg_sleep(0.5); COMMIT");
  });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(caller.commit(run.next()), CommitOutcome::applied);
  person.join();
  EXPECT_EQ(caller.run(run.row.run).seq, 21u);
}

}  // namespace
}  // namespace belay::postgres_tests
