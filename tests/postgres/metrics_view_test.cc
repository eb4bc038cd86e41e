// The view of metrics: sums that outlive their runs, and the same rows on SQLite and PostgreSQL.

#include "belay/storage.h"
#include "store/sqlite/connection.h"
#include "tests/postgres/store_world.h"

namespace belay::postgres_tests {
namespace {

using conformance::Caller;
using conformance::RunScript;
using ::testing::ElementsAre;

class MetricsView : public StoreWorld {
 protected:
  std::vector<SqlRow> ask(const std::string& query) {
    auto rows = server_.sql(in_schema(query));
    EXPECT_TRUE(rows.ok()) << query << rows.error().message;
    return rows.ok() ? *std::move(rows) : std::vector<SqlRow>();
  }
};

// Commits a run with this working time that ends at `at`.
void run_that_ends(Caller& call, const std::string& name, RunStatus status, std::int64_t worked_ms,
                   Instant at, const TenantId& tenant = default_tenant()) {
  RunScript script(name, tenant);
  EXPECT_EQ(call.commit(script.first()), CommitOutcome::applied);
  script.row.updated_at = at - std::chrono::milliseconds(1);
  Commit last = script.next();
  last.rows.run->status = last.rows.checkpoint->status = status;
  last.rows.run->worked_ms = worked_ms;
  last.rows.run->retry_count = 2;
  EXPECT_EQ(call.commit(std::move(last)), CommitOutcome::applied);
}

void forget(Caller& call, const std::string& name, const TenantId& tenant = default_tenant()) {
  Commit commit;
  commit.tenant = tenant;
  commit.rows.prune.push_back({RunScript(name, tenant).row.run});
  EXPECT_EQ(call.commit(std::move(commit)), CommitOutcome::applied);
}

TEST_F(MetricsView, KeepsTheSumsOfADayWhenItsRunsAreForgotten) {
  auto store = open(url());
  ASSERT_TRUE(store);
  Caller call(*store);
  const TenantId other{"other"};
  const Instant late = *instant_from("2026-03-01T23:59:59Z");
  for (int i = 1; i <= 40; ++i) {
    RunStatus status = i % 10 == 0   ? RunStatus::failed
                       : i % 10 == 1 ? RunStatus::cancelled
                                     : RunStatus::completed;
    run_that_ends(call, std::to_string(i), status, i * 100, late);
  }
  run_that_ends(call, "next day", RunStatus::completed, 70, late + std::chrono::seconds(1));
  run_that_ends(call, "other's", RunStatus::completed, 9, late, other);
  EXPECT_EQ(call.commit(RunScript("at work").first()), CommitOutcome::applied);
  const std::string sums =
      "SELECT tenant_id, agent_type, date, total_executions, successful_executions,"
      " failed_executions, avg_duration_ms, total_retries, created_at AT TIME ZONE 'UTC', id"
      " FROM belay.agent_metrics ORDER BY tenant_id, date";
  const auto before = ask(sums);
  ASSERT_EQ(before.size(), 3u);
  EXPECT_THAT(std::vector(before[0].begin(), before[0].begin() + 8),
              ElementsAre("local", "daily_auditor", "2026-03-01", "40", "32", "8", "2050", "80"));
  EXPECT_EQ(before[1][2], "2026-03-02");
  EXPECT_EQ(before[2][0], "other");
  auto is_within = [&](int most) {
    return sql_value("SELECT abs(p95_duration_ms - 3800) <= " + std::to_string(most) +
                     " FROM belay.agent_metrics WHERE date = '2026-03-01'"
                     " AND tenant_id = 'local'") == "t";
  };
  EXPECT_TRUE(is_within(0));
  // First some runs of a day, then all.
  for (int i = 1; i <= 40; i += 2) forget(call, std::to_string(i));
  EXPECT_EQ(ask(sums), before);
  EXPECT_TRUE(is_within(380));
  for (int i = 2; i <= 40; i += 2) forget(call, std::to_string(i));
  forget(call, "next day");
  forget(call, "other's", other);
  forget(call, "at work");  // which has not ended, and remains
  EXPECT_EQ(ask(sums), before);
  EXPECT_TRUE(is_within(380));
  EXPECT_EQ(sql_value("SELECT count(*) FROM belay.runs"), "1");
}

// Returns the result of a query on a SQLite file, as another program reads it.
std::vector<SqlRow> sqlite_rows(const std::string& path, const std::string& sql, int columns) {
  auto file = sqlite::Connection::open(path, sqlite::Connection::Mode::read_only).value();
  auto row = file->prepare(sql);
  EXPECT_TRUE(row.ok()) << sql;
  std::vector<SqlRow> rows;
  while (row.ok() && row->step() == sqlite::Statement::Step::row) {
    SqlRow& read = rows.emplace_back();
    for (int column = 0; column < columns; ++column) read.push_back(row->text(column));
  }
  return rows;
}

// The same history on both stores: runs of several tenants and days with every end, of which then
// some, and at last all, are deleted.
TEST_F(MetricsView, HasTheSameRowsOnSqlite) {
  conformance::TemporaryFolder folder;
  const std::string path = folder.file("store.db");
  EncryptionOptions encryption;
  encryption.keys = KeyRing::from_text("k1:" + std::string(64, '7')).value();
  auto postgres = open(url());
  ASSERT_TRUE(postgres);
  conformance::StandingClock clock;
  conformance::SeededRandom random;
  auto file = open_sqlite_store(path, clock, random).value();
  auto sqlite = make_encrypted_store(*file, random, std::move(encryption));
  Caller here(*postgres);
  Caller there(*sqlite);
  const TenantId other{std::string("tenant ") + std::string(60, 'x') + " \xc3\xb1"};
  const Instant late = *instant_from("2026-03-01T23:59:59.999Z");
  auto expect_same = [&](const std::string& when) {
    SCOPED_TRACE(when);
    const std::string sums =
        "SELECT id, tenant_id, agent_type, date, total_executions, successful_executions,"
        " failed_executions, avg_duration_ms, p95_duration_ms, total_retries, ";
    std::vector<SqlRow> on_postgres =
        ask(sums +
            "to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
            " FROM belay.agent_metrics ORDER BY id");
    EXPECT_EQ(on_postgres.size(), 4u);
    EXPECT_EQ(sqlite_rows(path, sums + "created_at FROM agent_metrics ORDER BY id", 11),
              on_postgres);
  };
  std::vector<std::pair<std::string, TenantId>> runs;
  for (int i = 1; i <= 60; ++i) {
    RunStatus status = i % 10 == 0   ? RunStatus::failed
                       : i % 10 == 1 ? RunStatus::cancelled
                                     : RunStatus::completed;
    const TenantId& tenant = i % 3 == 0 ? other : default_tenant();
    auto at = late + std::chrono::seconds(i % 5 == 0 ? 1 : 0);
    std::int64_t worked_ms = i == 1 ? 0 : i * i * i * 997;
    runs.emplace_back(std::to_string(i), tenant);
    for (Caller* call : {&here, &there}) {
      run_that_ends(*call, runs.back().first, status, worked_ms, at, tenant);
    }
  }
  for (Caller* call : {&here, &there}) {
    EXPECT_EQ(call->commit(RunScript("at work").first()), CommitOutcome::applied);
  }
  std::string columns_there;
  for (const auto& row :
       sqlite_rows(path, "SELECT name FROM pragma_table_info('agent_metrics')", 1)) {
    columns_there += row[0] + " ";
  }
  EXPECT_EQ(columns_there,
            "id tenant_id agent_type date total_executions successful_executions"
            " failed_executions avg_duration_ms p95_duration_ms total_retries created_at ");
  expect_same("all are stored");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (Caller* call : {&here, &there}) forget(*call, runs[i].first, runs[i].second);
    if (i == 7 || i == 30) expect_same(std::to_string(i) + " are deleted");
  }
  expect_same("all are deleted");
}

}  // namespace
}  // namespace belay::postgres_tests
