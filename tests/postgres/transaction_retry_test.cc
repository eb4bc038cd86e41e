// Transactions that the server aborts because of others (a serialization failure or a deadlock):
// each kind of transaction is repeated, even without `patience` for an unavailable server.

#include <functional>

#include "tests/postgres/store_world.h"

namespace belay::postgres_tests {
namespace {

using conformance::Caller;
using conformance::RunScript;

constexpr std::chrono::seconds kBeatsWithin{60};
constexpr std::uint64_t kFailures = 3;
constexpr std::uint64_t kTriesMax = 8;

class PostgresRepetition : public StoreWorld {
 protected:
  // Makes the next `times` executions of the statement that contains `marker` fail.
  void fail(const std::string& marker, const std::string& sqlstate, std::uint64_t times) {
    proxy_.set({.marker = marker, .sqlstate = sqlstate, .failures_max = times});
  }
  Opened open_through_proxy() {
    return open(url_at(proxy_.port(), "patience=0&session_expiry=900"));
  }
  Opened with_store() {
    Opened store = open_through_proxy();
    EXPECT_EQ(Caller(*store).commit(run_.first()), CommitOutcome::applied);
    return store;
  }

  FaultProxy proxy_{server_.port()};
  RunScript run_{"a"};
};

// A kind of transaction: a statement that only it contains, and an operation that must succeed
// although the statement fails several times.
struct Kind {
  const char* name;
  const char* marker;
  std::function<void(Store&, RunScript&)> act;
  bool opens = false;  // the store is opened while the statement fails
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

Result<Done> read_threads(Store& store) {
  Store::Reader reader = [](Snapshot& view) -> Result<Done> {
    BELAY_TRY(auto threads, view.threads({default_tenant()}));
    EXPECT_EQ(threads.size(), 1u);
    return Done{};
  };
  std::unique_ptr<EventLoop> loop = make_event_loop();
  return block_on<Result<Done>>(*loop, store.read(std::move(reader)));
}

template <typename T>
void expect_ok(const Result<T>& result) {
  EXPECT_TRUE(result.ok()) << result.error().message;
}

void commit_a_step(Store& store, RunScript& run) {
  EXPECT_EQ(Caller(store).commit(run.next()), CommitOutcome::applied);
}

// An import reads existing rows first, therefore it is executed alone.
void import_a_record(Store& store, RunScript&) {
  Commit import = conformance::import_of({conformance::record_put("key", "{}")});
  EXPECT_EQ(Caller(store).commit(import), CommitOutcome::applied);
}

void read_something(Store& store, RunScript&) { expect_ok(read_threads(store)); }

void claim_a_run(Store& store, RunScript&) {
  Caller caller(store);
  RunScript waits("waits");
  waits.row.due_at = *instant_from("2025-01-01T00:00:00Z");
  waits.row.status = RunStatus::queued;
  EXPECT_EQ(caller.commit(waits.first()), CommitOutcome::applied);
  PollFilter filter;
  filter.session = SessionId(waits.row.run);
  filter.now = *instant_from("2025-01-02T00:00:00Z");
  auto claimed = block_on(caller.loop(), store.poll_runs(filter));
  expect_ok(claimed);
  if (claimed.ok()) {
    EXPECT_EQ(claimed->size(), 1u);
  }
}

void open_a_session(Store& store, RunScript&) { expect_ok(store.open_session()); }

void ask_who_lives(Store& store, RunScript& run) {
  expect_ok(store.is_alive(SessionId(run.row.run)));
}

class RepetitionKinds : public PostgresRepetition,
                        public ::testing::WithParamInterface<std::tuple<Kind, const char*>> {
 protected:
  std::string lives(const SessionId& session) {
    return sql_value("SELECT count(*) FROM belay.sessions WHERE session_id = '" + session.text() +
                     "' AND expires_at > clock_timestamp()");
  }
  std::string last_beat() { return sql_value("SELECT max(seen_at) FROM belay.sessions"); }
};

TEST_P(RepetitionKinds, IsCarriedOutThoughItIsGivenUpSomeTimes) {
  const auto& [kind, sqlstate] = GetParam();
  if (kind.opens) {
    fail(kind.marker, sqlstate, kFailures);
    auto store = open_through_proxy();
    ASSERT_TRUE(store);
    EXPECT_EQ(proxy_.counts().failures, kFailures);
    EXPECT_EQ(Caller(*store).commit(run_.first()), CommitOutcome::applied);
    return;
  }
  auto store = with_store();
  ASSERT_TRUE(store);
  fail(kind.marker, sqlstate, kFailures);
  kind.act(*store, run_);
  EXPECT_EQ(proxy_.counts().failures, kFailures);
}

INSTANTIATE_TEST_SUITE_P(
    Each, RepetitionKinds,
    ::testing::Combine(
        ::testing::Values(Kind{"CommitWithOthers", "checkpoints", commit_a_step},
                          Kind{"CommitAlone", "records", import_a_record},
                          Kind{"Read", "threads t", read_something},
                          Kind{"ChoiceOfAClaim", "SKIP LOCKED", claim_a_run},
                          Kind{"Offer", "SET offered_to", claim_a_run},
                          Kind{"NewSession", "SELECT $1, $2, $4, now", open_a_session},
                          Kind{"LookAtASession", "epoch FROM expires_at", ask_who_lives},
                          Kind{"Statistics", "pg_total_relation_size",
                               [](Store& store, RunScript&) { expect_ok(store.statistics()); }},
                          Kind{"CountOfATable", "SELECT count(*) FROM",
                               [](Store& store, RunScript&) { expect_ok(store.statistics()); }},
                          Kind{"RightsToCompact", "pg_has_role",
                               [](Store& store, RunScript&) { expect_ok(store.compact()); }},
                          Kind{"Vacuum", "VACUUM (ANALYZE)",
                               [](Store& store, RunScript&) { expect_ok(store.compact()); }},
                          Kind{"LookAtTheServer", "SELECT current_user::text", nullptr, true},
                          Kind{"Migration", "CREATE VIEW", nullptr, true},
                          Kind{"LastWordOfAMigration", "compatible_from)", nullptr, true}),
        ::testing::Values("40001", "40P01")),
    [](const auto& each) {
      return std::string(std::get<0>(each.param).name) + "_" + std::get<1>(each.param);
    });

class PostgresRepetitions : public RepetitionKinds {};

TEST_P(PostgresRepetitions, OfHeartbeatsAndEndsKeepASessionAliveAndEndIt) {
  const char* sqlstate = std::get<1>(GetParam());
  auto store = with_store();
  ASSERT_TRUE(store);
  auto session = store->open_session();
  ASSERT_TRUE(session.ok());
  fail("unnest($2) AS u (id)", sqlstate, kFailures);
  std::string before = last_beat();
  ASSERT_TRUE(wait_until(kBeatsWithin, [&] { return proxy_.counts().failures == kFailures; }));
  EXPECT_TRUE(wait_until(kBeatsWithin, [&] { return last_beat() != before; }));
  fail("SET expires_at = least", sqlstate, 2 * kFailures);
  store->close_session(*session);
  EXPECT_EQ(proxy_.counts().failures, 2 * kFailures);
  EXPECT_EQ(lives(*session), "0");
  auto with_end = store->open_session();
  ASSERT_TRUE(with_end.ok());
  fail("SET expires_at = least", sqlstate, 3 * kFailures);
  store.reset();
  EXPECT_EQ(proxy_.counts().failures, 3 * kFailures);
  EXPECT_EQ(lives(*with_end), "0");
  // Rows that opening a store deletes.
  run_sql(
      "UPDATE belay.sessions SET expires_at = expires_at - interval '2 days',"
      " seen_at = seen_at - interval '2 days'");
  fail("dead AS MATERIALIZED", sqlstate, 4 * kFailures);
  ASSERT_TRUE(open_through_proxy());
  EXPECT_EQ(proxy_.counts().failures, 4 * kFailures);
  EXPECT_EQ(sql_value("SELECT count(*) FROM belay.sessions"), "0");
}

INSTANTIATE_TEST_SUITE_P(Each, PostgresRepetitions,
                         ::testing::Combine(::testing::Values(Kind{"Sessions", "", nullptr}),
                                            ::testing::Values("40001", "40P01")),
                         [](const auto& each) { return std::string(std::get<1>(each.param)); });

TEST_F(PostgresRepetition, HasAnEndAndThenNothingWasWritten) {
  auto store = with_store();
  ASSERT_TRUE(store);
  Caller caller(*store);
  std::string before = caller.all();
  fail("checkpoints", "40001", 1'000'000);
  Commit next = run_.next();
  auto refused = caller.try_commit(next);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable) << refused.error().message;
  EXPECT_EQ(proxy_.counts().failures, kTriesMax);
  fail("threads t", "40P01", 1'000'000);
  EXPECT_FALSE(read_threads(*store).ok());
  EXPECT_EQ(proxy_.counts().failures, 2 * kTriesMax);
  proxy_.heal();
  EXPECT_EQ(caller.all(), before);
  EXPECT_EQ(caller.commit(next), CommitOutcome::applied);
}

}  // namespace
}  // namespace belay::postgres_tests
