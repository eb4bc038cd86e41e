// The columns of the three views, their types and their values, for runs of every kind, compared
// with the values that the engine itself reads.

#include <set>

#include "belay/runtime.h"
#include "belay/storage.h"
#include "belay/testing.h"
#include "tests/postgres/store_world.h"

namespace belay::postgres_tests {
namespace {

using conformance::Caller;
using conformance::RunScript;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Study {
  std::string stock_ticker{};
  std::vector<std::string> log{};
  std::map<std::string, int> sizes{};
  std::map<std::string, int> working_memory{};
  int total = 0;
  double weight = 0;
  int longest = 0;
  std::string draft{};
  bool approved = false;
};

// split -> {a, b} -> join -> review, which requests an approval -> finish -> end. With all write
// operations.
Graph<Study> study_graph() {
  GraphBuilder<Study> graph{"study"};
  auto visits = [](std::string name, double weight) {
    return [name, weight](const Study&, Context&) {
      return append(&Study::log, name)
          .merge(&Study::sizes, name, 1)
          .merge(&Study::sizes, "last", static_cast<int>(name[0]))
          .add(&Study::total, 1)
          .add(&Study::weight, weight)
          .reduce(&Study::longest, static_cast<int>(name.size()));
    };
  };
  graph.node("split", [](const Study&, Context&) {
    return append(&Study::log, "split").add(&Study::total, 5);
  });
  graph.node("a", visits("a", 0.1));
  graph.node("b", visits("b", 0.2));
  graph.node("join", [](const Study& study, Context&) {
    return set(&Study::draft, study.stock_ticker + " is worth it")
        .merge(&Study::working_memory, "pages", 7)
        .append(&Study::log, "join");
  });
  graph.approval("review", &Study::draft, {.question = "Send it?"})
      .approved("finish")
      .rejected(end)
      .decision_flag(&Study::approved);
  graph.node("finish", [](const Study&, Context& context) {
    context.outcome("saved");
    return append(&Study::log, "finish").merge(&Study::working_memory, "pages", 8);
  });
  graph.reducer(&Study::longest, [](int held, const int& other) { return std::max(held, other); });
  graph.edge(start, "split").edge("split", "a").edge("split", "b");
  graph.edge("a", "join").edge("b", "join").edge("join", "review").edge("finish", end);
  return std::move(graph).build().value();
}

// Its only node fails, is retried, and fails permanently.
Graph<Study> failing_graph() {
  GraphBuilder<Study> graph{"failing"};
  graph
      .node("fetch",
            [](const Study&, Context&) -> Result<Update<Study>> {
              return error(ErrorCode::unavailable, "The exchange is closed.");
            })
      .retry({.attempts = 2, .base = std::chrono::milliseconds(1)});
  graph.edge(start, "fetch").edge("fetch", end);
  return std::move(graph).build().value();
}

class PostgresViews : public StoreWorld {
 protected:
  // Opens the store; without encryption it is like that of belay without a key.
  void begin(EncryptionOptions encryption) {
    bare_ = open_store(url(), *system_, random_).value();
    store_ = make_encrypted_store(*bare_, random_, std::move(encryption));
    runtime_ = Runtime::open(RuntimeParts{*store_, *loop_, *system_, random_, model_, {}}).value();
    runtime_->add(study_);
    runtime_->add(failing_);
  }
  void begin() {
    EncryptionOptions encryption;
    encryption.compress = EncryptionOptions::Compress::with_key;
    begin(std::move(encryption));
  }
  Result<RunView> start(const Graph<Study>& graph, const std::string& thread) {
    Study study;
    study.stock_ticker = "ACME";
    study.log = {"begun"};
    StartOptions options;
    options.thread = ThreadId(thread);
    return block_on(*loop_, runtime_->start(graph, std::move(study), std::move(options)));
  }
  // Executes a complete run of study_graph().
  void study(const std::string& thread) {
    auto paused = start(study_, thread);
    ASSERT_TRUE(paused.ok()) << paused.error().message;
    ASSERT_TRUE(paused->approval);
    Decision decision{.approved = true, .decided_by = "ana"};
    auto decided = block_on(*loop_, runtime_->decide(default_tenant(), paused->approval->interrupt,
                                                     std::move(decision)));
    ASSERT_TRUE(decided.ok()) << decided.error().message;
    ASSERT_EQ(decided->view.row.status, RunStatus::completed);
  }
  std::vector<SqlRow> ask(const std::string& query) {
    auto rows = server_.sql(in_schema(query));
    EXPECT_TRUE(rows.ok()) << query << rows.error().message;
    return rows.ok() ? *std::move(rows) : std::vector<SqlRow>();
  }
  // Returns the differences between the states in the view and those of the engine, for all commits
  // of a thread. The view omits channels that neither a node nor the input has written.
  std::string differences_in(const std::string& thread) {
    std::string differing;
    std::uint64_t seq = 0;
    for (const SqlRow& row : ask("SELECT seq, state FROM belay.agent_checkpoints"
                                 " WHERE thread_id = '" +
                                 thread + "' ORDER BY seq")) {
      EXPECT_EQ(row[0], std::to_string(++seq));
      auto engine = block_on(*loop_, runtime_->status_at(default_tenant(), ThreadId(thread), seq));
      auto found = parse_json(row[1]);
      if (!engine.ok() || !found.ok()) return "can't be read at " + row[0];
      for (const auto& [name, value] : *engine->state.as_object()) {
        const Value* seen = found->find(name);
        if (seen ? *seen == value : is_default(value)) continue;
        differing += row[0] + " " + name + ": " + to_json(value) + " is " +
                     (seen ? to_json(*seen) : "not there") + "\n";
      }
    }
    EXPECT_GE(seq, 7u);
    return differing;
  }
  static bool is_default(const Value& value) {
    static const std::set<std::string> texts{"0", "0.0", "\"\"", "[]", "{}", "false", "null"};
    return texts.contains(to_json(value));
  }
  std::unique_ptr<Clock> system_ = system_clock();
  testing::ScriptedModel model_;
  std::unique_ptr<EventLoop> loop_ = make_event_loop();
  std::unique_ptr<Store> bare_;
  std::unique_ptr<Store> store_;
  Graph<Study> study_ = study_graph();
  Graph<Study> failing_ = failing_graph();
  std::unique_ptr<Runtime> runtime_;
};

TEST_F(PostgresViews, HaveTheColumnsAndTypesThatWereAskedFor) {
  begin();
  auto columns = [&](const std::string& view) {
    return sql_value(
        "SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', '"
        " ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = 'belay." +
        view + "'::regclass");
  };
  EXPECT_EQ(columns("agent_checkpoints"),
            "id text, tenant_id text, thread_id text, state jsonb, node_id text, agent_type text,"
            " created_at timestamp with time zone, run_id text, namespace text, seq bigint,"
            " epoch bigint, kind text, superstep bigint, status text, next_tasks jsonb,"
            " retry_count integer, chain_hash text, stock_ticker text, analysis_id text,"
            " progress_pct numeric(5,2), current_subtask text, completed_subtasks text[],"
            " pending_subtasks text[], working_memory jsonb, interim_results jsonb,"
            " agent_config jsonb, failure_reason text, error_details jsonb,"
            " checkpoint_time timestamp with time zone, agent_version text");
  EXPECT_EQ(columns("agent_execution_logs"),
            "id text, tenant_id text, thread_id text, agent_type text, status text, input jsonb,"
            " output jsonb, error text, duration_ms integer, retry_count integer,"
            " started_at timestamp with time zone, completed_at timestamp with time zone,"
            " outcome text");
  EXPECT_EQ(columns("agent_metrics"),
            "id text, tenant_id text, agent_type text, date date, total_executions integer,"
            " successful_executions integer, failed_executions integer, avg_duration_ms integer,"
            " p95_duration_ms integer, total_retries integer,"
            " created_at timestamp with time zone");
}

TEST_F(PostgresViews, HaveTheStateOfEveryCommitAsTheEngineReadsIt) {
  begin();
  study("s");
  EXPECT_EQ(differences_in("s"), "");
  EXPECT_EQ(sql_value("SELECT state FROM belay.agent_checkpoints WHERE seq = 1"),
            R"({"log": ["begun"], "stock_ticker": "ACME"})");
  EXPECT_THAT(ask("SELECT output ->> 'log', output ->> 'sizes', output ->> 'total',"
                  " output ->> 'weight', output ->> 'longest', outcome, input ->> 'stock_ticker',"
                  " duration_ms > 0, error IS NULL, completed_at >= started_at"
                  " FROM belay.agent_execution_logs WHERE thread_id = 's'"),
              ElementsAre(ElementsAre(R"(["begun", "split", "a", "b", "join", "finish"])",
                                      R"({"a": 1, "b": 1, "last": 98})", "7", "0.30000000000000004",
                                      "1", "saved", "ACME", "t", "t", "t")));
  EXPECT_EQ(sql_value("SELECT l.output = c.state FROM belay.agent_execution_logs l"
                      " JOIN belay.agent_checkpoints c ON c.run_id = l.id"
                      " WHERE c.status = 'completed' AND c.namespace = ''"),
            "t");
}

// A node counts as a subtask, a thread as an analysis.
TEST_F(PostgresViews, SayHowFarARunHasComeInSubtasks) {
  begin();
  study("s");
  EXPECT_THAT(
      ask("SELECT kind, node_id, completed_subtasks, pending_subtasks, current_subtask,"
          " progress_pct, working_memory, stock_ticker, analysis_id"
          " FROM belay.agent_checkpoints WHERE thread_id = 's'"
          " AND kind IN ('input', 'node', 'pause', 'decision') ORDER BY seq"),
      ElementsAre(ElementsAre("input", "", "{}", "{split}", "split", "", "", "ACME", "s"),
                  ElementsAre("node", "split", "{split}", "{a,b}", "a", "", "", "ACME", "s"),
                  ElementsAre("node", "a,b", "{split,a,b}", "{join}", "join", "", "", "ACME", "s"),
                  ElementsAre("node", "join", "{split,a,b,join}", "{review}", "review", "",
                              R"({"pages": 7})", "ACME", "s"),
                  ElementsAre("pause", "review", "{split,a,b,join}", "{review}", "review", "",
                              R"({"pages": 7})", "ACME", "s"),
                  ElementsAre("decision", "review", "{split,a,b,join,review}", "{finish}", "finish",
                              "", R"({"pages": 7})", "ACME", "s"),
                  ElementsAre("node", "finish", "{split,a,b,join,review,finish}", "{}", "",
                              "100.00", R"({"pages": 8})", "ACME", "s")));
  EXPECT_EQ(sql_value("SELECT count(*) FROM belay.agent_checkpoints WHERE agent_config IS NULL"
                      " OR jsonb_typeof(agent_config) <> 'object' OR length(agent_version) <> 64"
                      " OR interim_results IS NOT NULL OR checkpoint_time <> created_at"),
            "0");
}

TEST_F(PostgresViews, SayWhyARunFailed) {
  begin();
  auto failed = start(failing_, "f");
  ASSERT_TRUE(failed.ok());
  ASSERT_EQ(failed->row.status, RunStatus::failed);
  const std::string why = failed->row.error;
  EXPECT_THAT(why, HasSubstr("The exchange is closed."));
  EXPECT_THAT(ask("SELECT kind, failure_reason IS NOT NULL, error_details ->> 'code',"
                  " error_details ->> 'attempt', error_details ->> 'node', status"
                  " FROM belay.agent_checkpoints WHERE thread_id = 'f'"
                  " AND kind IN ('input', 'attempt', 'failure') ORDER BY seq"),
              ElementsAre(ElementsAre("input", "f", "", "", "", "running"),
                          ElementsAre("attempt", "t", "", "1", "fetch", "running"),
                          ElementsAre("failure", "t", "unavailable", "", "fetch", "failed")));
  EXPECT_EQ(sql_value("SELECT failure_reason FROM belay.agent_checkpoints WHERE kind = 'failure'"),
            why);
  EXPECT_THAT(ask("SELECT status, error, output IS NULL, outcome IS NULL, retry_count,"
                  " input ->> 'stock_ticker' FROM belay.agent_execution_logs"),
              ElementsAre(ElementsAre("failed", why, "t", "t", "2", "ACME")));
  EXPECT_THAT(ask("SELECT agent_type, total_executions, successful_executions,"
                  " failed_executions, total_retries FROM belay.agent_metrics"),
              ElementsAre(ElementsAre("failing", "1", "0", "1", "2")));
}

TEST_F(PostgresViews, HaveLargeValuesInPlainToo) {
  EncryptionOptions encryption;
  encryption.compress = EncryptionOptions::Compress::never;
  encryption.blob_above = 8;
  begin(std::move(encryption));
  study("s");
  EXPECT_NE(sql_value("SELECT count(*) FROM belay.blobs"), "0");
  EXPECT_EQ(differences_in("s"), "");
  EXPECT_EQ(sql_value("SELECT input ->> 'stock_ticker' FROM belay.agent_execution_logs"), "ACME");
}

TEST_F(PostgresViews, HaveNullForACompressedValueAndTheOthersBesideIt) {
  begin();
  study("s");
  run_sql(
      "UPDATE belay.channel_values SET envelope ="
      " '\\x090000006a736f6e2b7a73746428b52ffd' WHERE channel = 'sizes' AND value_index = 1");
  EXPECT_THAT(ask("SELECT state -> 'sizes', state ->> 'draft' FROM belay.agent_checkpoints"
                  " WHERE status = 'completed'"),
              ElementsAre(ElementsAre("null", "ACME is worth it")));
}

TEST_F(PostgresViews, HaveNoStateWhereItIsEncrypted) {
  EncryptionOptions encryption;
  encryption.keys = KeyRing::from_text("k1:" + std::string(64, '7')).value();
  begin(std::move(encryption));
  study("s");
  EXPECT_EQ(sql_value("SELECT count(*) FROM belay.agent_checkpoints WHERE state IS NOT NULL"
                      " OR working_memory IS NOT NULL OR stock_ticker IS NOT NULL"
                      " OR chain_hash IS NOT NULL"),
            "0");
  EXPECT_THAT(ask("SELECT status, outcome, input IS NULL, output IS NULL"
                  " FROM belay.agent_execution_logs"),
              ElementsAre(ElementsAre("completed", "saved", "t", "t")));
  // Names of nodes are not encrypted.
  EXPECT_EQ(sql_value("SELECT completed_subtasks FROM belay.agent_checkpoints"
                      " WHERE status = 'completed'"),
            "{split,a,b,join,review,finish}");
}

}  // namespace
}  // namespace belay::postgres_tests
