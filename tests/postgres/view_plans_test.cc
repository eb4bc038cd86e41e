// The cost of the views: the index that serves each query, and that the views do not make commits
// slower.

#include <thread>

#include "tests/postgres/store_world.h"

namespace belay::postgres_tests {
namespace {

using conformance::Caller;
using conformance::RunScript;
using ::testing::HasSubstr;
using ::testing::Not;

// 4,000 threads of 21 graphs over 80 days with one run each, 50 of which are quarantined; three
// commits and three values per run; and as many sums of former days.
constexpr const char* kManyRuns = R"(
  CREATE TEMP TABLE made AS SELECT i, 'thread ' || i AS thread, md5('run ' || i)::uuid AS run,
      CASE WHEN i % 400 = 7 THEN 'rare graph' ELSE 'graph ' || i % 20 END AS graph,
      CASE WHEN i % 80 = 0 THEN 'quarantined' WHEN i % 10 = 1 THEN 'failed' ELSE 'completed' END
        AS status,
      timestamptz '2026-01-01 00:00Z' + i * interval '30 minutes' AS at
    FROM generate_series(1, 4000) AS i;
  INSERT INTO belay.threads (tenant, thread_id, user_id, graph, created_at)
    SELECT 'tenant ' || i % 3, thread, 'ana', graph, at FROM made;
  INSERT INTO belay.runs (tenant, run_id, thread_id, status, reason, outcome, error_code, error,
      seq, epoch, checkpoint_id, node, retry_count, worked_ms, updated_at, lost_claims, queue,
      priority, concurrency_key)
    SELECT 'tenant ' || i % 3, run, thread, status, '', '', '', '', 3, 1,
      md5('checkpoint ' || i || ' 3')::uuid, 'end', 0, i, at + interval '3 seconds', 0, 'default',
      0, '' FROM made;
  INSERT INTO belay.run_starts (tenant, run_id, user_id, graph, graph_hash, input, options,
      created_at)
    SELECT 'tenant ' || i % 3, run, 'ana', graph, sha256('graph'),
      '\x040000006a736f6e7b7d', '{}', at FROM made;
  INSERT INTO belay.checkpoints (tenant, run_id, namespace, seq, checkpoint_id, state_seq, epoch,
      kind, node, superstep, next_tasks, chain_hash, retry_count, status, created_at)
    SELECT 'tenant ' || i % 3, run, '', seq, md5('checkpoint ' || i || ' ' || seq)::uuid, seq, 1,
      'node', 'n', seq - 1, '[]', sha256('chain'), 0,
      CASE seq WHEN 3 THEN status ELSE 'running' END, at + seq * interval '1 second'
    FROM made, generate_series(1, 3) AS seq;
  INSERT INTO belay.channel_values (tenant, run_id, namespace, channel, seq, value_index, envelope)
    SELECT 'tenant ' || i % 3, run, '', 'draft', seq, 0, '\x040000006a736f6e37'
    FROM made, generate_series(1, 3) AS seq;
  INSERT INTO belay.thread_values (tenant, thread_id, channel, seq, value_index, envelope)
    SELECT 'tenant ' || i % 3, thread, 'draft', (1::bigint << 32) + seq, 0, '\x040000006a736f6e37'
    FROM made, generate_series(1, 3) AS seq;
  INSERT INTO belay.events (tenant, run_id, seq, event_index, type, body, created_at)
    SELECT 'tenant ' || i % 3, run, 3, 0, 'node', '{}', at FROM made;
  INSERT INTO belay.blobs (tenant, blob_id, envelope)
    SELECT 'tenant ' || i % 3, sha256(thread::bytea), '\x040000006a736f6e37' FROM made;
  INSERT INTO belay.daily_sums (graph, date, tenant, duration_class, executions, successful,
      worked_ms, retries, first_ended_at)
    SELECT 'graph ' || i % 20, date '2025-01-01' + i / 20, 'tenant 1', 8, 9, 9, 18, 0,
      timestamptz '2025-01-01' FROM generate_series(1, 4000) AS i;
  DROP TABLE made;
  ANALYZE;
)";

class PostgresViewPlans : public StoreWorld {
 protected:
  std::string plan_of(const std::string& query) {
    auto rows = server_.sql(in_schema("EXPLAIN " + query));
    EXPECT_TRUE(rows.ok()) << query << rows.error().message;
    std::string plan;
    if (rows.ok()) {
      for (const SqlRow& row : *rows) plan += row[0] + "\n";
    }
    return plan;
  }
  std::vector<SqlRow> ask(const std::string& query) {
    auto rows = server_.sql(in_schema(query));
    EXPECT_TRUE(rows.ok()) << query << rows.error().message;
    return rows.ok() ? *std::move(rows) : std::vector<SqlRow>();
  }
};

TEST_F(PostgresViewPlans, ServeEveryPromisedQueryByAnIndexWithoutATenant) {
  ASSERT_TRUE(open(url()));
  run_sql(kManyRuns);
  struct Promise {
    const char* query;
    std::vector<const char*> indexes;
    const char* rows;
  };
  const Promise promises[] = {
      {"SELECT * FROM belay.agent_checkpoints WHERE thread_id = 'thread 77'"
       " ORDER BY created_at DESC LIMIT 1",
       {"runs_in_thread", "checkpoints_pkey", "channel_values_pkey"},
       "1"},
      {"SELECT * FROM belay.agent_checkpoints WHERE analysis_id = 'thread 77'"
       " AND agent_type = 'graph 17' ORDER BY checkpoint_time DESC LIMIT 1",
       {"runs_in_thread", "checkpoints_pkey"},
       "1"},
      {"SELECT * FROM belay.agent_execution_logs WHERE thread_id = 'thread 77'"
       " ORDER BY started_at DESC",
       {"runs_in_thread", "run_starts_pkey"},
       "1"},
      {"SELECT * FROM belay.agent_execution_logs WHERE status = 'failed'"
       " ORDER BY started_at DESC LIMIT 20",
       {"run_starts_newest", "runs_pkey"},
       "20"},
      {"SELECT * FROM belay.agent_execution_logs WHERE status = 'running'"
       " ORDER BY started_at DESC LIMIT 20",
       {"runs_"},
       "0"},
      {"SELECT * FROM belay.agent_execution_logs WHERE status = 'completed'"
       " AND started_at >= '2026-03-25 00:00Z'",
       {"run_starts_newest", "runs_pkey"},
       "15"},
      {"SELECT * FROM belay.agent_execution_logs WHERE agent_type = 'graph 3'"
       " ORDER BY started_at DESC LIMIT 20",
       {"run_starts_", "runs_pkey"},  // of_graph, or newest for a frequent graph
       "20"},
      {"SELECT * FROM belay.agent_execution_logs WHERE agent_type = 'rare graph'"
       " ORDER BY started_at DESC",
       {"run_starts_of_graph", "runs_pkey"},
       "10"},
      {"SELECT * FROM belay.agent_execution_logs ORDER BY started_at DESC LIMIT 20",
       {"run_starts_newest", "runs_pkey"},
       "20"},
      {"SELECT * FROM belay.agent_metrics WHERE agent_type = 'graph 3' AND date = '2026-02-02'",
       {"checkpoints_ends", "daily_sums_pkey"},
       "3"},
      {"SELECT * FROM belay.agent_metrics WHERE agent_type = 'graph 3' AND date = '2025-02-02'",
       {"checkpoints_ends", "daily_sums_pkey"},
       "1"},
  };
  for (const Promise& promise : promises) {
    std::string plan = plan_of(promise.query);
    EXPECT_THAT(plan, Not(HasSubstr("Seq Scan"))) << promise.query;
    for (const char* index : promise.indexes) EXPECT_THAT(plan, HasSubstr(index)) << promise.query;
    auto counted = ask(std::string("SELECT count(*) FROM (") + promise.query + ") AS found");
    EXPECT_EQ(counted.at(0).at(0), promise.rows) << promise.query;
  }
}

// A user's own rows among all users' rows: the queries behind each key's lists.
TEST_F(PostgresViewPlans, ServeTheListsOfAUserByAnIndex) {
  auto store = open(url());
  ASSERT_TRUE(store);
  run_sql(kManyRuns);
  run_sql(
      "UPDATE belay.threads SET user_id = 'ben' WHERE thread_number % 100 = 1;"
      "UPDATE belay.run_starts SET user_id = 'ben' WHERE start_number % 100 = 1; ANALYZE");
  Caller call(*store);
  TenantId tenant("tenant 1");
  auto threads = call.threads({.tenant = tenant, .limit = 5, .user = UserId("ben")});
  ASSERT_EQ(threads.size(), 5u);
  auto runs = call.runs({.tenant = tenant, .limit = 5, .user = UserId("ben")});
  ASSERT_EQ(runs.size(), 5u);
  for (const RunRow& each : runs) EXPECT_EQ(each.user, UserId("ben"));
  for (const char* index : {"threads_of_user", "run_starts_of_user"}) {
    std::string scans = "0";
    // A backend reports its counts some time after its transaction.
    for (int i = 0; i < 100 && scans == "0"; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      scans = ask("SELECT idx_scan FROM pg_stat_all_indexes WHERE schemaname = '" + schema_ +
                  "' AND indexrelname = '" + index + "'")
                  .at(0)
                  .at(0);
    }
    EXPECT_NE(scans, "0") << index;
  }
}

// Both checkpointers query the newest checkpoint of a long thread.
TEST_F(PostgresViewPlans, PutOnlyThoseStatesTogetherThatAreAskedFor) {
  auto store = open(url());
  ASSERT_TRUE(store);
  Caller call(*store);
  RunScript script("long");
  EXPECT_EQ(call.commit(script.first()), CommitOutcome::applied);
  for (int i = 0; i < 300; ++i) EXPECT_EQ(call.commit(script.next()), CommitOutcome::applied);
  run_sql("ANALYZE belay.checkpoints; ANALYZE belay.channel_values");
  auto rows =
      ask("EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) SELECT * FROM"
          " belay.agent_checkpoints WHERE thread_id = 'thread long'"
          " ORDER BY created_at DESC LIMIT 1");
  int looks = 0;
  for (const SqlRow& row : rows) {
    if (row[0].find("channel_values") == std::string::npos) continue;
    ++looks;
    EXPECT_THAT(row[0], Not(HasSubstr("loops=301)")));
  }
  EXPECT_GE(looks, 3);
}

TEST_F(PostgresViewPlans, HaveTheStateOfTheThreadAtTheCheckpointsOfLaterRuns) {
  auto store = open(url());
  ASSERT_TRUE(store);
  Caller call(*store);
  RunScript first("first");
  RunScript second = first.later("second");
  RunScript third = second.later("third");
  call.commit(first.first());
  call.commit(first.next());
  call.commit(second.first_in_thread());
  call.commit(second.next_with({{"list"}, {"text"}, {"inner", WriteOp::set, 0, "in"}}));
  call.commit(second.next_with({{"text"}, {"list", WriteOp::append}}));
  call.commit(third.first_in_thread());
  call.commit(third.next_with({{"list", WriteOp::append}}));
  auto state_of = [&](const RunScript& run, int seq) {
    return sql_value("SELECT state FROM belay.agent_checkpoints WHERE run_id = '" +
                     run.row.run.text() + "' AND seq = " + std::to_string(seq));
  };
  auto written = [](const RunScript& run, std::uint64_t seq) {
    return std::to_string(value_seq(run.row, seq) * 100);
  };
  std::string two = written(second, 2), three = written(second, 3), later = written(third, 2);
  EXPECT_THAT(state_of(first, 2), HasSubstr("\"text\": \"firstfirst2\""));
  EXPECT_EQ(state_of(second, 1), "{}");
  EXPECT_EQ(state_of(second, 2), "{\"list\": [" + two + "], \"text\": [" + two + "]}");
  std::string before = "{\"list\": [" + two + ", " + three + "], \"text\": [" + three + "]}";
  EXPECT_EQ(state_of(second, 3), before);
  EXPECT_EQ(state_of(third, 1), before);
  EXPECT_EQ(state_of(third, 2),
            "{\"list\": [" + two + ", " + three + ", " + later + "], \"text\": [" + three + "]}");
}

// Every commit updates a row of belay.runs: within its page (HOT), so that no index is updated.
TEST_F(PostgresViewPlans, LeaveTheCommitsOfARunWithinThePagesOfItsRow) {
  auto store = open(url());
  ASSERT_TRUE(store);
  constexpr int commits = 400;
  {
    Caller call(*store);
    RunScript script("hot");
    EXPECT_EQ(call.commit(script.first()), CommitOutcome::applied);
    for (int i = 0; i < commits; ++i) {
      EXPECT_EQ(call.commit(script.next()), CommitOutcome::applied);
    }
  }
  store.reset();  // the server counts a connection's updates when it ends
  auto counted = [&](const std::string& column, int at_least) {
    return sql_value("SELECT " + column + " >= " + std::to_string(at_least) +
                     " FROM pg_stat_user_tables WHERE relid = 'belay.runs'::regclass") == "t";
  };
  EXPECT_TRUE(wait_until(std::chrono::seconds(20), [&] { return counted("n_tup_upd", commits); }));
  // The first commit, which removes the run from its queue, cannot be a HOT update.
  EXPECT_TRUE(counted("n_tup_hot_upd", commits * 95 / 100));
  // Only a run's end adds an entry to the index of ends.
  EXPECT_EQ(sql_value("SELECT count(*) FROM pg_index WHERE indrelid = 'belay.checkpoints'::regclass"
                      " AND indpred IS NULL"),
            "2");
}

}  // namespace
}  // namespace belay::postgres_tests
