// The SQL of docs/postgresql.md and docs/operations.md on a real server: every statement succeeds,
// the rights are sufficient and minimal, and the alarm queries return nothing on a sound store and
// exactly the faults on another.

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "belay/testing.h"
#include "tests/conformance/store_suite.h"
#include "tests/postgres/postgres_server.h"

namespace belay::postgres_tests {
namespace {

using conformance::Caller;
using conformance::RunScript;
using ::testing::AnyOf;
using ::testing::HasSubstr;

std::string page_of(const std::string& name) {
  std::ifstream file(std::string(BELAY_SOURCE_DIR) + "/docs/" + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns the blocks of SQL of a page, or of one section: from its heading to the next one of the
// same level.
std::vector<std::string> sql_in(const std::string& page, const std::string& heading = "") {
  std::vector<std::string> blocks;
  std::istringstream lines(page);
  bool is_in_part = heading.empty();
  bool is_in_block = false;
  for (std::string line; std::getline(lines, line);) {
    if (!heading.empty() && line.starts_with("## ")) is_in_part = line == "## " + heading;
    std::string word = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    if (word.starts_with("```")) {
      is_in_block = is_in_part && word == "```sql";
      if (is_in_block) blocks.emplace_back();
    } else if (is_in_block) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

class PostgresDocuments : public ::testing::Test {
 protected:
  // Returns the URL for a role of the pages.
  std::string url_of(const std::string& role) const {
    return "postgresql://" + role + "@127.0.0.1:" + std::to_string(server_.port()) + "/" +
           database_ + "?pool=1";
  }
  std::unique_ptr<Store> open_as(const std::string& role) {
    auto opened = open_postgres_store(url_of(role), *clock_, random_);
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  std::vector<SqlRow> ask(const std::string& sql) {
    auto rows = server_.sql(sql, database_);
    EXPECT_TRUE(rows.ok()) << sql << rows.error().message;
    return rows.ok() ? *std::move(rows) : std::vector<SqlRow>();
  }
  Result<std::vector<SqlRow>> try_as(const std::string& role, const std::string& sql) {
    return server_.sql("SET ROLE " + role + "; " + sql, database_);
  }

  // Executes the steps that docs/operations.md lists for a new database.
  void set_up_roles() {
    std::vector<std::string> steps = sql_in(page_of("operations.md"), "Roles and rights");
    ASSERT_EQ(steps.size(), 2u);
    ask(steps[0]);
    has_roles_ = true;
    ASSERT_NE(open_as("belay_owner"), nullptr);
    ask(steps[1]);
  }

  // Roles belong to the whole server: the next test creates them again.
  void TearDown() override {
    if (!has_roles_) return;
    ask("DROP OWNED BY belay_runtime, belay_reader");
    ask("DROP OWNED BY belay_owner CASCADE");
    ask("DROP ROLE belay_owner, belay_runtime, belay_reader");
  }

  PostgresServer& server_ = shared_server();
  const std::string database_ = server_.create_database();
  bool has_roles_ = false;
  std::unique_ptr<Clock> clock_ = system_clock();
  belay::testing::SeededRandom random_{1};
};

// Commits a run that has ended a node and has an approval that expires in an hour.
RunScript run_that_asks(Caller& call, const std::string& name, Instant now) {
  RunScript script(name);
  script.row.thread = ThreadId(name);
  EXPECT_EQ(call.commit(script.first()), CommitOutcome::applied);
  EXPECT_EQ(call.commit(script.next()), CommitOutcome::applied);
  EXPECT_EQ(call.commit(script.ask(now + std::chrono::hours(1))), CommitOutcome::applied);
  return script;
}

TEST_F(PostgresDocuments, EveryQueryAboutTheStoreFindsRows) {
  auto store = open_as("belay");
  ASSERT_NE(store, nullptr);
  ASSERT_TRUE(store->open_session().ok());
  Caller call(*store);
  run_that_asks(call, "my-thread", clock_->now());
  std::vector<std::string> queries = sql_in(page_of("postgresql.md"));
  EXPECT_GE(queries.size(), 8u);
  for (const std::string& query : queries) {
    // No run has ended yet.
    bool is_of_ended = query.find("agent_metrics") != std::string::npos ||
                       query.find("output -> ") != std::string::npos;
    EXPECT_EQ(ask(query).empty(), is_of_ended) << query;
  }
  ask("UPDATE belay.runs SET status = 'completed'");
  ask("UPDATE belay.checkpoints SET status = 'completed'");
  ask("UPDATE belay.channel_values SET channel = 'analysis', envelope ="
      " '\\x040000006a736f6e'::bytea || convert_to('{\"riskLevel\":8}', 'UTF8')");
  for (const std::string& query : queries) {
    EXPECT_FALSE(ask(query).empty()) << query;
  }
}

TEST_F(PostgresDocuments, TheRightsOfTheRuntimeRoleAreEnoughAndNoMore) {
  set_up_roles();
  auto store = open_as("belay_runtime");
  ASSERT_NE(store, nullptr);
  ASSERT_TRUE(store->open_session().ok());
  Caller call(*store);
  RunScript script = run_that_asks(call, "asks", clock_->now());
  EXPECT_EQ(call.commit(script.decide(ApprovalStatus::approved)), CommitOutcome::applied);
  EXPECT_EQ(call.commit(conformance::import_of({conformance::record_put("1", "{}")})),
            CommitOutcome::applied);
  ThreadFilter threads;
  threads.tenant = script.row.tenant;
  EXPECT_EQ(call.threads(threads).size(), 1u);
  EXPECT_TRUE(store->statistics().ok());
  for (const char* forbidden :
       {"DELETE FROM belay.migrations", "UPDATE belay.migrations SET name = ''",
        "CREATE TABLE belay.another (number int)", "DROP TABLE belay.runs"}) {
    auto done = try_as("belay_runtime", forbidden);
    ASSERT_FALSE(done.ok()) << forbidden;
    EXPECT_THAT(done.error().message, AnyOf(HasSubstr("permission denied"), HasSubstr("owner")));
  }
}

TEST_F(PostgresDocuments, TheReaderSeesTheViewsAndNothingElse) {
  set_up_roles();
  for (const char* view : {"agent_checkpoints", "agent_execution_logs", "agent_metrics"}) {
    EXPECT_TRUE(try_as("belay_reader", std::string("SELECT count(*) FROM belay.") + view).ok());
  }
  auto done = try_as("belay_reader", "SELECT count(*) FROM belay.records");
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message, HasSubstr("permission denied"));
}

TEST_F(PostgresDocuments, EveryStatementAboutOperationsIsCarriedOut) {
  std::vector<std::string> statements = sql_in(page_of("operations.md"));
  EXPECT_GE(statements.size(), 14u);
  set_up_roles();
  for (const std::string& statement : statements) {
    if (statement.find("CREATE ROLE") == std::string::npos) ask(statement);
  }
}

// One fault of each kind that the page contains a query for.
constexpr const char* kTrouble = R"(
  UPDATE belay.sessions SET expires_at = clock_timestamp() - interval '5 minutes';
  UPDATE belay.runs SET status = 'queued', due_at = clock_timestamp() - interval '5 minutes'
    WHERE thread_id = 'late';
  UPDATE belay.runs SET status = 'running', session_id = (SELECT session_id FROM belay.sessions)
    WHERE thread_id = 'orphan';
  UPDATE belay.runs SET status = 'quarantined' WHERE thread_id = 'quarantined';
  INSERT INTO belay.effects (tenant, run_id, task_id, name, node, effect_class, status, attempt,
      created_at, updated_at, envelope)
    SELECT tenant, run_id, gen_random_uuid(), 'smtp', 'send', 'unkeyed', 'uncertain', 1, now(),
      now(), '' FROM belay.runs WHERE thread_id = 'late';
  INSERT INTO belay.outbox (tenant, run_id, seq, message_index, topic, status, attempts, error,
      due_at, created_at, envelope)
    SELECT tenant, run_id, 1, 0, 'mail', 'given_up', 9, 'refused', now(), now(), ''
      FROM belay.runs WHERE thread_id = 'late';
  UPDATE belay.approvals SET expires_at = clock_timestamp() - interval '1 hour';
)";

TEST_F(PostgresDocuments, AnAlarmIsSilentOnAStoreThatIsWellAndFindsWhatIsWrong) {
  auto store = open_as("belay");
  ASSERT_NE(store, nullptr);
  ASSERT_TRUE(store->open_session().ok());
  Caller call(*store);
  for (const char* name : {"late", "orphan", "quarantined"}) {
    run_that_asks(call, name, clock_->now());
  }
  std::vector<std::string> alarms = sql_in(page_of("operations.md"), "Alerts");
  EXPECT_GE(alarms.size(), 10u);
  for (const std::string& alarm : alarms) EXPECT_TRUE(ask(alarm).empty()) << alarm;
  ask(kTrouble);
  int of_the_store = 0;
  for (const std::string& alarm : alarms) {
    if (alarm.find("FROM belay.") == std::string::npos) continue;
    ++of_the_store;
    EXPECT_FALSE(ask(alarm).empty()) << alarm;
  }
  EXPECT_EQ(of_the_store, 7);
}

}  // namespace
}  // namespace belay::postgres_tests
