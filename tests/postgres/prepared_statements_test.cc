// Statements that the server keeps prepared: only where it is reached directly, at most 128,
// and without harm to any transaction when the server lacks one or its tables have changed.

#include "store/postgres/address.h"
#include "store/postgres/connection.h"
#include "tests/postgres/commit_load.h"
#include "tests/postgres/store_world.h"

namespace belay::postgres_tests {
namespace {

using conformance::Caller;
using conformance::RunScript;
using postgres::Connection;
using postgres::PreparedStatements;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Le;

constexpr std::chrono::seconds kGoesOnSoon{60};
constexpr const char* kOwnNames = "SELECT count(*) FROM pg_prepared_statements";

class PostgresPreparedStatements : public StoreWorld {
 protected:
  using Handle = std::unique_ptr<Connection>;

  static Handle connect(const std::string& url) {
    auto address = postgres::address_from(url);
    EXPECT_TRUE(address.ok()) << address.error().message;
    auto opened = address.ok() ? Connection::open(*address) : std::move(address).error();
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  static Result<std::int64_t> number(Connection& connection, const std::string& sql) {
    BELAY_TRY(postgres::Rows rows, connection.query(sql));
    return rows.number(0, 0);
  }
  static std::int64_t names_of(Connection& connection) {
    auto names = number(connection, kOwnNames);
    EXPECT_TRUE(names.ok()) << names.error().message;
    return names.ok() ? *names : -1;
  }
  // Uses a statement often enough to be prepared where that is possible.
  static void use_often(Connection& connection, const std::string& sql) {
    for (int i = 0; i < 8; ++i) {
      auto rows = connection.query(sql);
      ASSERT_TRUE(rows.ok()) << rows.error().message;
    }
  }
  static bool goes_on(const CommitLoad& load, std::uint64_t more = 60) {
    std::uint64_t until = load.acknowledged() + more;
    return wait_until(kGoesOnSoon, [&] { return load.acknowledged() >= until; });
  }
  void expect_no_faults(CommitLoad& load) {
    load.stop();
    auto store = open(url());
    ASSERT_TRUE(store);
    EXPECT_EQ(load.faults_in(*store), "");
  }
};

TEST_F(PostgresPreparedStatements, AreUsedWhereTheServerIsReachedDirectly) {
  auto connection = connect(url());
  ASSERT_TRUE(connection);
  EXPECT_FALSE(connection->prepares()) << "it is not known yet";
  use_often(*connection, "SELECT 7::bigint");
  EXPECT_TRUE(connection->prepares());
  EXPECT_GE(names_of(*connection), 1);
  auto seven = number(*connection, "SELECT 7::bigint");
  ASSERT_TRUE(seven.ok());
  EXPECT_EQ(*seven, 7);
}

TEST_F(PostgresPreparedStatements, AreNotUsedBehindAPoolerOfEitherMode) {
  for (const char* mode : {"transaction", "session"}) {
    PgBouncer pooler(server_, 2, mode);
    auto connection = connect(url_at(pooler.port()));
    ASSERT_TRUE(connection);
    use_often(*connection, "SELECT 7::bigint");
    EXPECT_FALSE(connection->prepares()) << mode;
    EXPECT_EQ(names_of(*connection), 0) << mode;
  }
}

TEST_F(PostgresPreparedStatements, AreUsedOrNotAsTheUrlDeclares) {
  auto without = connect(url("pooler=yes"));
  PgBouncer sessions(server_, 2, "session");
  auto with = connect(url_at(sessions.port(), "pooler=no"));
  ASSERT_TRUE(without && with);
  use_often(*without, "SELECT 7::bigint");
  use_often(*with, "SELECT 7::bigint");
  EXPECT_EQ(names_of(*without), 0);
  EXPECT_GE(names_of(*with), 1);
}

// A pooler that is declared absent: the server connection of a transaction lacks a name, or has one
// that another client has prepared there.
TEST_F(PostgresPreparedStatements, EndWithoutHarmWhereAPoolerIsPresentAllTheSame) {
  PgBouncer pooler(server_, 3);
  auto store = open(url_at(pooler.port(), "pooler=no"));
  ASSERT_TRUE(store);
  CommitLoad load(*store, 4);
  EXPECT_TRUE(goes_on(load, 300));
  load.stop();
  EXPECT_EQ(load.sent_again(), 0u) << "a commit failed for the lack of a name";
  expect_no_faults(load);
  auto other = open(url_at(pooler.port(), "pooler=no"));
  ASSERT_TRUE(other);
  CommitLoad rival(*other, 4);
  EXPECT_TRUE(goes_on(rival, 300));
  rival.stop();
  EXPECT_EQ(rival.sent_again(), 0u) << "a commit failed for a name of another client";
}

TEST_F(PostgresPreparedStatements, ArePreparedAgainAfterTheServerHasForgottenThem) {
  auto connection = connect(url());
  ASSERT_TRUE(connection);
  use_often(*connection, "SELECT 7::bigint");
  ASSERT_TRUE(connection->execute("DEALLOCATE ALL").ok());
  auto missing = connection->query("SELECT 7::bigint");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(connection->is_retryable());
  EXPECT_FALSE(connection->is_lost());
  use_often(*connection, "SELECT 7::bigint");
  EXPECT_TRUE(connection->prepares());
  EXPECT_GE(names_of(*connection), 1);
  // A second time, and the connection no longer depends on names.
  ASSERT_TRUE(connection->execute("DEALLOCATE ALL").ok());
  EXPECT_FALSE(connection->query("SELECT 7::bigint").ok());
  use_often(*connection, "SELECT 7::bigint");
  EXPECT_FALSE(connection->prepares());
}

TEST_F(PostgresPreparedStatements, FailNoTransactionOfWhichAnEarlierStatementFails) {
  auto connection = connect(url());
  ASSERT_TRUE(connection);
  use_often(*connection, "SELECT 7::bigint");
  ASSERT_TRUE(connection->prepares());
  ASSERT_TRUE(connection->query("SELECT 8::bigint").ok());
  // Its second use, in a pipeline that ends before the server prepares it.
  connection->send("BEGIN");
  connection->send("SELECT 1 / 0");
  connection->send("SELECT 8::bigint");
  EXPECT_FALSE(connection->sync().ok());
  EXPECT_EQ(connection->state(), postgres::state_of_guard);
  connection->roll_back();
  for (int i = 0; i < 3; ++i) {
    auto eight = number(*connection, "SELECT 8::bigint");
    ASSERT_TRUE(eight.ok()) << eight.error().message;
    EXPECT_EQ(*eight, 8);
  }
  EXPECT_TRUE(connection->prepares());
}

TEST_F(PostgresPreparedStatements, AreOutdatedForOneTransactionByAMigration) {
  auto connection = connect(url());
  ASSERT_TRUE(connection);
  run_sql("CREATE SCHEMA " + schema_ +
          "; CREATE TABLE belay.made (a bigint);"
          "INSERT INTO belay.made VALUES (7)");
  use_often(*connection, "SELECT * FROM belay.made");
  for (const char* column : {"b", "c", "d"}) {
    run_sql(std::string("ALTER TABLE belay.made ADD COLUMN ") + column + " bigint");
    auto outdated = connection->query("SELECT * FROM belay.made");
    ASSERT_FALSE(outdated.ok());
    EXPECT_TRUE(connection->is_retryable());
    EXPECT_EQ(outdated.error().code, ErrorCode::unavailable);
    use_often(*connection, "SELECT * FROM belay.made");
    EXPECT_TRUE(connection->prepares());
  }
}

TEST_F(PostgresPreparedStatements, LoseAndRepeatNoCommitDuringAMigration) {
  auto store = open(url());
  ASSERT_TRUE(store);
  CommitLoad load(*store, 4);
  ASSERT_TRUE(goes_on(load));
  run_sql("ALTER TABLE belay.runs ADD COLUMN extra bigint; DROP INDEX belay.runs_newest");
  ASSERT_TRUE(goes_on(load));
  run_sql(
      "CREATE INDEX runs_newest ON belay.runs (tenant, run_number);"
      "ALTER TABLE belay.runs DROP COLUMN extra");
  ASSERT_TRUE(goes_on(load));
  load.stop();
  EXPECT_EQ(load.sent_again(), 0u);
  expect_no_faults(load);
}

TEST_F(PostgresPreparedStatements, AreGoneWithTheirConnectionAndNoCommitIsLostOrRepeated) {
  auto store = open(url());
  ASSERT_TRUE(store);
  CommitLoad load(*store, 4);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(goes_on(load));
    run_sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name = 'belay' AND pid <> pg_backend_pid()");
  }
  ASSERT_TRUE(goes_on(load));
  expect_no_faults(load);
}

TEST_F(PostgresPreparedStatements, AreNoMoreThanTheirLimit) {
  auto connection = connect(url());
  ASSERT_TRUE(connection);
  for (int i = 0; i < 300; ++i) {
    use_often(*connection, "SELECT " + std::to_string(i) + "::bigint");
  }
  EXPECT_TRUE(connection->prepares());
  auto most = static_cast<std::int64_t>(PreparedStatements::statements_max);
  EXPECT_THAT(names_of(*connection), AllOf(Ge(most / 2), Le(most)));
  // One that was dropped is prepared again.
  use_often(*connection, "SELECT 0::bigint");
  auto nothing = number(*connection, "SELECT 0::bigint");
  ASSERT_TRUE(nothing.ok());
  EXPECT_EQ(*nothing, 0);
}

TEST_F(PostgresPreparedStatements, AreNoneOfThoseWhosePlanDependsOnTheirValues) {
  auto connection = connect(url());
  ASSERT_TRUE(connection);
  use_often(*connection, "SELECT 7::bigint");
  std::int64_t before = names_of(*connection);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(connection->query("SELECT 8::bigint", {}, postgres::Plan::fresh).ok());
  }
  EXPECT_LE(names_of(*connection), before + 1) << "the count itself";
}

// A plan that was made while the tables were empty would read all of their rows for each commit.
TEST_F(PostgresPreparedStatements, HavePlansThatFitTheTablesAfterTheyHaveGrown) {
  auto store = open(url());
  ASSERT_TRUE(store);
  CommitLoad load(*store, 2);
  ASSERT_TRUE(goes_on(load, 200));
  run_sql(
      "INSERT INTO belay.threads (tenant, thread_id, user_id, graph, created_at)"
      " SELECT 'local', 'made ' || i, 'ana', 'g', now() FROM generate_series(1, 20000) AS i;"
      "INSERT INTO belay.runs (tenant, run_id, thread_id, status, reason, outcome, error_code,"
      " error, seq, epoch, checkpoint_id, node, retry_count, worked_ms, updated_at, lost_claims,"
      " queue, priority, concurrency_key) SELECT 'local', md5('run ' || i)::uuid, 'made ' || i,"
      " 'completed', '', '', '', '', 3, 1, md5('checkpoint ' || i)::uuid, 'end', 0, 1, now(), 0,"
      " 'default', 0, '' FROM generate_series(1, 20000) AS i");
  ASSERT_TRUE(goes_on(load, 2'000));
  std::string rows_scanned =
      "coalesce(sum(seq_tup_read), 0)::bigint FROM pg_stat_user_tables WHERE schemaname = '" +
      schema_ + "'";
  std::this_thread::sleep_for(std::chrono::seconds(2));  // until the statistics are reported
  std::string before = sql_value("SELECT " + rows_scanned);
  ASSERT_TRUE(goes_on(load, 300));
  std::this_thread::sleep_for(std::chrono::seconds(2));
  EXPECT_EQ(sql_value("SELECT " + before + " + 20000 > " + rows_scanned), "t") << before;
  load.stop();
}

}  // namespace
}  // namespace belay::postgres_tests
