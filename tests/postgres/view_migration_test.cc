// The views are created again in a store that an older version of Belay created and still uses.

#include "tests/postgres/commit_load.h"
#include "tests/postgres/store_world.h"

namespace belay::postgres_tests {
namespace {

using conformance::Caller;
using conformance::RunScript;

class PostgresViewMigrations : public StoreWorld {};

TEST_F(PostgresViewMigrations, AreMadeAnewInAnOlderStoreForAllWhoCouldReadThem) {
  make_second_schema();
  const std::string reader = "reader_of_" + schema_;
  run_sql("CREATE ROLE " + reader + "; GRANT USAGE ON SCHEMA " + schema_ + " TO " + reader +
          "; GRANT SELECT ON belay.agent_checkpoints, belay.agent_metrics TO " + reader +
          "; GRANT SELECT ON belay.agent_execution_logs TO PUBLIC");
  auto store = open(url());
  ASSERT_TRUE(store);
  Caller call(*store);
  EXPECT_EQ(call.commit(RunScript("a").first()), CommitOutcome::applied);
  for (const char* view : {"agent_checkpoints", "agent_execution_logs", "agent_metrics"}) {
    auto rows =
        server_.sql(in_schema("SET ROLE " + reader + "; SELECT * FROM belay." + std::string(view)));
    ASSERT_TRUE(rows.ok()) << rows.error().message;
    EXPECT_EQ(rows->empty(), view == std::string("agent_metrics")) << view;
  }
  auto forbidden =
      server_.sql(in_schema("SET ROLE " + reader + "; SELECT * FROM belay.checkpoint_states"));
  EXPECT_FALSE(forbidden.ok());
  EXPECT_EQ(sql_value("SELECT compatible_from FROM belay.migrations WHERE version = 3"), "2");
  EXPECT_EQ(sql_value("SELECT count(*) FROM pg_class c JOIN pg_namespace n"
                      " ON n.oid = c.relnamespace WHERE n.nspname = '" +
                      schema_ + "' AND c.relname LIKE 'old%'"),
            "0");
  run_sql("DROP OWNED BY " + reader + "; DROP ROLE " + reader);
}

TEST_F(PostgresViewMigrations, AreMadeAnewWhileWhoKnowsThemAsTheyWereGoesOn) {
  make_second_schema();
  // While it is opened, all migrations seem to exist: the process works like an older version of
  // Belay.
  note_migration(3, 2);
  note_migration(4, 2);
  note_migration(5, 2);
  note_migration(6, 2);
  note_migration(7, 2);
  note_migration(8, 2);
  note_migration(9, 2);
  run_sql("CREATE TABLE belay.daily_sums (of_none integer)");
  auto older = open(url());
  ASSERT_TRUE(older);
  run_sql("DELETE FROM belay.migrations WHERE version >= 3; DROP TABLE belay.daily_sums");
  CommitLoad load(*older, 4);
  auto goes_on = [&] {
    std::uint64_t until = load.acknowledged() + 100;
    return wait_until(std::chrono::seconds(60), [&] { return load.acknowledged() >= until; });
  };
  ASSERT_TRUE(goes_on());
  auto newer = open(url());
  ASSERT_TRUE(newer);
  ASSERT_TRUE(goes_on());
  load.stop();
  EXPECT_EQ(load.faults_in(*newer), "");
  EXPECT_EQ(sql_value("SELECT count(*) FROM belay.agent_checkpoints WHERE state IS NULL"), "0");
  EXPECT_EQ(sql_value("SELECT max(version) FROM belay.migrations"), "9");
}

}  // namespace
}  // namespace belay::postgres_tests
