// The view of the usage of agents: the same rows on SQLite and PostgreSQL.

#include "belay/storage.h"
#include "driver/run_driver.h"
#include "store/sqlite/connection.h"
#include "tests/postgres/store_world.h"

namespace belay::postgres_tests {
namespace {

using ::testing::ElementsAre;

class UsageView : public StoreWorld {
 protected:
  void save(Store& store, const std::string& key) {
    RecordWrite write;
    write.collection = "agent_usage_analytics";
    write.is_of_tenant = true;
    write.key = key;
    write.json =
        R"({"invocation_count":7,"success_count":5,"error_count":2,"total_input_tokens":10,)"
        R"("total_output_tokens":20,"total_cost":30,"total_retries":1,"total_latency_ms":140,)"
        R"("min_latency_ms":4,"max_latency_ms":60,"avg_latency_ms":20,"p50_latency_ms":12,)"
        R"("p95_latency_ms":58,"created_at":"2026-11-28T12:00:00.000000Z"})";
    auto loop = make_event_loop();
    std::vector<RecordWrite> writes{std::move(write)};
    ASSERT_TRUE(block_on(*loop, save_records(store, default_tenant(), std::move(writes))).ok());
  }
  std::vector<SqlRow> on_postgres(const std::string& columns) {
    auto rows = server_.sql(
        in_schema("SELECT " + columns + " FROM belay.agent_usage_analytics ORDER BY id"));
    EXPECT_TRUE(rows.ok());
    return rows.ok() ? *std::move(rows) : std::vector<SqlRow>();
  }
  std::vector<SqlRow> on_sqlite(const std::string& columns, int count) {
    auto file = sqlite::Connection::open(path_, sqlite::Connection::Mode::read_only).value();
    auto row = file->prepare("SELECT " + columns + " FROM agent_usage_analytics ORDER BY id");
    EXPECT_TRUE(row.ok());
    std::vector<SqlRow> rows;
    while (row.ok() && row->step() == sqlite::Statement::Step::row) {
      SqlRow& read = rows.emplace_back();
      for (int column = 0; column < count; ++column) read.push_back(row->text(column));
    }
    return rows;
  }

  conformance::TemporaryFolder folder_;
  const std::string path_ = folder_.file("store.db");
  conformance::StandingClock clock_;
  conformance::SeededRandom random_;
};

constexpr const char* kUsageColumns =
    "id, date, agent_id, invocation_count, success_count, error_count, total_input_tokens,"
    " total_output_tokens, total_cost, total_retries, total_latency_ms, min_latency_ms,"
    " max_latency_ms, avg_latency_ms, p50_latency_ms, p95_latency_ms";

TEST_F(UsageView, HasTheTotalsOfEachAgentAndDayOnBothStores) {
  auto postgres = open(url());
  ASSERT_TRUE(postgres);
  auto sqlite = open_sqlite_store(path_, clock_, random_).value();
  for (const char* key : {"2026-11-27 daily auditor", "2026-11-28 mail"}) {
    save(*postgres, key);
    save(*sqlite, key);
  }
  auto rows = on_postgres(kUsageColumns);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0],
              ElementsAre("local/2026-11-27 daily auditor", "2026-11-27", "daily auditor", "7", "5",
                          "2", "10", "20", "30", "1", "140", "4", "60", "20", "12", "58"));
  EXPECT_EQ(on_sqlite(kUsageColumns, 16), rows);
}

TEST_F(UsageView, HasTheDaysAndAgentsOfAnEncryptedStoreWithoutTheirTotals) {
  EncryptionOptions encryption;
  encryption.keys = KeyRing::from_text("k1:" + std::string(64, '7')).value();
  auto postgres = open(url());
  ASSERT_TRUE(postgres);
  auto sealed = make_encrypted_store(*postgres, random_, encryption);
  auto file = open_sqlite_store(path_, clock_, random_).value();
  auto sealed_file = make_encrypted_store(*file, random_, encryption);
  save(*sealed, "2026-11-28 mail");
  save(*sealed_file, "2026-11-28 mail");
  const std::string columns = "date, agent_id, invocation_count, p95_latency_ms, created_at";
  auto rows = on_postgres(columns);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_THAT(rows[0], ElementsAre("2026-11-28", "mail", "", "", ""));
  EXPECT_EQ(on_sqlite(columns, 5), rows);
}

}  // namespace
}  // namespace belay::postgres_tests
