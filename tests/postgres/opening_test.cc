// Opening a store on PostgreSQL: the errors, their texts, and that nothing was changed.

#include <thread>

#include "tests/postgres/scripted_postgres.h"
#include "tests/postgres/store_world.h"

namespace belay::postgres_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PostgresOpening : public StoreWorld {
 protected:
  // Creates a role with only the default rights; returns its URL.
  std::string url_of_role(const std::string& name, const std::string& database) {
    run_sql("CREATE ROLE " + name + " LOGIN");
    return "postgresql://" + name + "@127.0.0.1:" + std::to_string(server_.port()) + "/" +
           database + "?" + options();
  }
};

TEST_F(PostgresOpening, MakesItsSchemaOnceAndFindsItAgain) {
  auto first = open(url());
  ASSERT_TRUE(first);
  std::string made = sql_value("SELECT max(applied_at) FROM belay.migrations");
  auto second = open(url());
  ASSERT_TRUE(second);
  EXPECT_EQ(sql_value("SELECT max(applied_at) FROM belay.migrations"), made);
  auto by_socket = open(server_.socket_url("postgres", options()));
  EXPECT_TRUE(by_socket);
}

TEST_F(PostgresOpening, ManyAtOnceMakeOneSchema) {
  std::vector<std::thread> machines;
  std::vector<std::string> faults(6);
  for (std::string& fault : faults) {
    machines.emplace_back([this, &fault] {
      auto opened = try_open(url());
      if (!opened.ok()) fault = opened.error().message;
    });
  }
  for (std::thread& machine : machines) machine.join();
  for (const std::string& fault : faults) EXPECT_EQ(fault, "");
  EXPECT_EQ(sql_value("SELECT count(*) FROM belay.migrations WHERE version = 1"), "1");
}

TEST_F(PostgresOpening, RefusesAUrlThatCantBeOne) {
  for (const char* wrong : {"postgresql://ana:hidden-word@[::1/db",
                            "postgresql://ana:hidden-word@127.0.0.1/db?no_such_option=1",
                            "postgresql://ana:hidden-word@127.0.0.1/db?schema=Sch%22ema",
                            "postgresql://ana:hidden-word@127.0.0.1/db?pool=0",
                            "postgresql://ana:hidden-word@127.0.0.1/db?session_expiry=soon"}) {
    Error error = refusal(wrong);
    EXPECT_EQ(error.code, ErrorCode::invalid) << error.message;
    EXPECT_THAT(error.message, Not(HasSubstr("hidden-word")));
  }
}

TEST_F(PostgresOpening, NeverShowsAPassword) {
  run_sql(
      "DO $$ BEGIN CREATE ROLE guarded LOGIN PASSWORD 'right-word';"
      " EXCEPTION WHEN duplicate_object THEN END $$");
  std::string at = "@127.0.0.1:" + std::to_string(server_.port()) + "/postgres?" + options();
  Error error = refusal("postgresql://guarded:hidden-word" + at);
  EXPECT_THAT(error.message, HasSubstr("password"));
  EXPECT_THAT(error.message, Not(HasSubstr("hidden-word")));
  EXPECT_THAT(error.message, HasSubstr("127.0.0.1"));
  error = refusal("postgresql://guarded" + at);
  EXPECT_THAT(error.message, HasSubstr("password"));
}

TEST_F(PostgresOpening, NamesAServerThatIsNotThere) {
  int port = free_port();
  Error error = refusal("postgresql://ana:hidden-word@127.0.0.1:port/db");
  EXPECT_THAT(error.message, HasSubstr("\"port\""));
  EXPECT_THAT(error.message, Not(HasSubstr("hidden-word")));
  error = refusal(url_at(port, "patience=0&connect_timeout=2"));
  EXPECT_EQ(error.code, ErrorCode::unavailable) << error.message;
  EXPECT_THAT(error.message, HasSubstr(std::to_string(port)));
  error = refusal("postgresql:///postgres?user=belay&patience=0&host=" + folder_.path());
  EXPECT_EQ(error.code, ErrorCode::unavailable) << error.message;
  EXPECT_THAT(error.message, HasSubstr(folder_.path()));
}

TEST_F(PostgresOpening, NamesADatabaseThatIsNotThere) {
  Error error = refusal(server_.url("no_such_database", options("patience=0")));
  EXPECT_THAT(error.message, HasSubstr("no_such_database"));
}

TEST_F(PostgresOpening, RefusesAServerThatIsTooOld) {
  ScriptedPostgres twelve({.version = "12.3"});
  Error error = refusal(twelve.url(options("patience=0")));
  EXPECT_THAT(error.message, HasSubstr("14"));
  EXPECT_THAT(error.message, HasSubstr("12.3"));
  EXPECT_EQ(twelve.statements(), 0) << "nothing is asked of it";
}

TEST_F(PostgresOpening, RefusesAStandbyAndAReadOnlyDatabase) {
  PostgresServer standby({.is_standby = true});
  Error error = refusal(standby.url("postgres", options("patience=0")));
  EXPECT_THAT(error.message, HasSubstr("standby"));
  EXPECT_THAT(error.message, HasSubstr("target_session_attrs=read-write"));
  std::string database = server_.create_database();
  run_sql("ALTER DATABASE " + database + " SET default_transaction_read_only = on");
  error = refusal(server_.url(database, options("patience=0")));
  EXPECT_THAT(error.message, HasSubstr("read only"));
  EXPECT_EQ(server_.value("SELECT count(*) FROM pg_namespace WHERE nspname = '" + schema_ + "'",
                          database),
            "0");
}

TEST_F(PostgresOpening, TellsOfAServerThatIsFullOrStarting) {
  struct Case {
    const char* sqlstate;
    const char* message;
  };
  for (Case each : {Case{"53300", "sorry, too many clients already"},
                    Case{"57P03", "the database system is starting up"}}) {
    ScriptedPostgres busy(
        {.sqlstate = each.sqlstate, .message = each.message, .refuses_connections = true});
    Error error = refusal(busy.url(options("patience=0")));
    EXPECT_EQ(error.code, ErrorCode::unavailable) << error.message;
    EXPECT_THAT(error.message, HasSubstr(each.message));
  }
  ScriptedPostgres full({.sqlstate = "53100", .message = "could not extend file"});
  EXPECT_EQ(refusal(full.url(options("patience=0"))).code, ErrorCode::unavailable);
}

TEST_F(PostgresOpening, LeavesANewerSchemaAsItIsUnlessThatSaysItIsCompatible) {
  ASSERT_TRUE(open(url()));
  std::string newest = sql_value("SELECT max(version) FROM belay.migrations");
  run_sql(
      "INSERT INTO belay.migrations (version, name, checksum, compatible_from)"
      " VALUES (1000, 'of the future', '\\x00', " +
      newest + ")");
  EXPECT_TRUE(open(url()));
  run_sql("UPDATE belay.migrations SET compatible_from = 1000 WHERE version = 1000");
  Error error = refusal(url());
  EXPECT_EQ(error.code, ErrorCode::corrupt) << error.message;
  EXPECT_THAT(error.message, HasSubstr("newer Belay"));
  EXPECT_EQ(sql_value("SELECT max(version) FROM belay.migrations"), "1000");
}

TEST_F(PostgresOpening, RefusesASchemaMadeByAnotherMigration) {
  ASSERT_TRUE(open(url()));
  run_sql("UPDATE belay.migrations SET checksum = '\\x00' WHERE version = 1");
  Error error = refusal(url());
  EXPECT_EQ(error.code, ErrorCode::corrupt) << error.message;
}

TEST_F(PostgresOpening, LeavesTablesOfOthersAlone) {
  run_sql("CREATE SCHEMA " + schema_ + "; CREATE TABLE belay.runs (distance float)");
  Error error = refusal(url());
  EXPECT_THAT(error.message, HasSubstr("another program"));
  EXPECT_EQ(sql_value("SELECT count(*) FROM pg_tables WHERE schemaname = '" + schema_ + "'"), "1");
}

TEST_F(PostgresOpening, AMigrationThatWasCutOffLeavesNothingHalf) {
  FaultProxy proxy(server_.port());
  for (std::uint64_t bytes = 1'000; bytes < 26'000; bytes += 5'000) {
    proxy.set({.bytes_to_server = bytes});
    auto cut = try_open(url_at(proxy.port(), "patience=0&connect_timeout=2"));
    std::string tables =
        sql_value("SELECT count(*) FROM pg_tables WHERE schemaname = '" + schema_ + "'");
    if (!cut.ok()) {
      EXPECT_EQ(tables, "0") << "after " << bytes << " bytes";
    }
  }
  EXPECT_GT(proxy.counts().cuts, 0u);
  EXPECT_TRUE(open(url()));
}

TEST_F(PostgresOpening, SaysWhichRightsAreMissing) {
  std::string database = server_.create_database();
  Error error = refusal(url_of_role("weak", database));
  EXPECT_THAT(error.message,
              HasSubstr("GRANT CREATE ON DATABASE \"" + database + "\" TO \"weak\""));
  // When the schema exists, the rights of its owner suffice.
  run_sql("GRANT CREATE ON DATABASE " + database + " TO weak");
  ASSERT_TRUE(open("postgresql://weak@127.0.0.1:" + std::to_string(server_.port()) + "/" +
                   database + "?" + options()));
  run_sql("REVOKE CREATE ON DATABASE " + database + " FROM weak");
  EXPECT_TRUE(open("postgresql://weak@127.0.0.1:" + std::to_string(server_.port()) + "/" +
                   database + "?" + options()));
  error = refusal(url_of_role("stranger", database));
  EXPECT_THAT(error.message, HasSubstr("GRANT"));
  EXPECT_THAT(error.message, HasSubstr("\"stranger\""));
}

}  // namespace
}  // namespace belay::postgres_tests
