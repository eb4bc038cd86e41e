// A primary that rejects writes while connections to it remain: it was demoted or set to read-only,
// or the pooler now connects to a standby. Runs do not fail, and no read returns outdated data.

#include <optional>

#include "tests/postgres/commit_load.h"
#include "tests/postgres/server_pair.h"
#include "tests/postgres/store_world.h"

namespace belay::postgres_tests {
namespace {

using namespace std::chrono_literals;
using conformance::Caller;
using conformance::RunScript;
using ::testing::HasSubstr;

constexpr std::chrono::seconds kTurnsWithin{60};

class PostgresReadOnly : public StoreWorld {
 protected:
  static bool goes_on(const CommitLoad& load, std::uint64_t more = 20) {
    std::uint64_t until = load.acknowledged() + more;
    return wait_until(kTurnsWithin, [&] { return load.acknowledged() >= until; });
  }
  static void set_read_only(PostgresServer& server, bool is_so) {
    std::string how =
        is_so ? "SET default_transaction_read_only = on" : "RESET default_transaction_read_only";
    for (const std::string& statement :
         {"ALTER SYSTEM " + how, std::string("SELECT pg_reload_conf()")}) {
      auto done = server.sql(statement);
      ASSERT_TRUE(done.ok()) << done.error().message;
    }
    std::string wanted = is_so ? "on" : "off";
    ASSERT_TRUE(wait_until(kTurnsWithin, [&] {
      return server.value("SHOW default_transaction_read_only") == wanted;
    }));
  }
  // Counts Belay's connections, except those that wait for notifications.
  static std::string connections_to(PostgresServer& server) {
    return server.value("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'belay'");
  }
  static Result<Done> try_to_read(Caller& caller, Store& store) {
    Store::Reader reader = [](Snapshot& view) -> Result<Done> {
      BELAY_CHECK(view.tenants());
      return Done{};
    };
    return block_on<Result<Done>>(caller.loop(), store.read(std::move(reader)));
  }
};

// As in a planned failover: the old primary is set to reject writes, and continues.
TEST_F(PostgresReadOnly, WhoHasTwoHostsGoesOverToTheNewPrimaryAndNothingFails) {
  ServerPair pair(Replication::asynchronous);
  PostgresServer& old = pair.primary();
  auto store = open(pair.url(options("session_expiry=900&patience=120000")));
  ASSERT_TRUE(store);
  auto session = store->open_session();
  ASSERT_TRUE(session.ok());
  CommitLoad load(*store, 3);
  ASSERT_TRUE(goes_on(load));
  Caller caller(*store);
  ASSERT_TRUE(try_to_read(caller, *store).ok());
  set_read_only(old, true);
  ASSERT_TRUE(pair.is_level());
  pair.promote_standby();
  ASSERT_TRUE(goes_on(load)) << "commits stay with a server that takes none";
  EXPECT_TRUE(try_to_read(caller, *store).ok());
  load.stop();
  EXPECT_EQ(load.sent_again(), 0u) << "somebody was told of it";
  EXPECT_EQ(load.faults_in(*store), "");
  // Heartbeats use the new primary too.
  std::string beat = in_schema("SELECT max(seen_at) FROM belay.sessions");
  std::string last = pair.primary().value(beat);
  EXPECT_TRUE(wait_until(kTurnsWithin, [&] { return pair.primary().value(beat) != last; }));
  auto other = open(pair.url(options("session_expiry=900")));
  ASSERT_TRUE(other);
  auto alive = other->is_alive(*session);
  ASSERT_TRUE(alive.ok()) << alive.error().message;
  EXPECT_TRUE(*alive);
  EXPECT_TRUE(wait_until(kTurnsWithin, [&] {
    (void)store->is_alive(SessionId(random_uuid(random_)));
    return connections_to(old) == "0";
  })) << connections_to(old);
}

TEST_F(PostgresReadOnly, ACommitThatItRefusesIsNotInDoubt) {
  PostgresServer own;
  auto store = open(own.url("postgres", options("patience=0")));
  ASSERT_TRUE(store);
  Caller caller(*store);
  RunScript run("refused");
  EXPECT_EQ(caller.commit(run.first()), CommitOutcome::applied);
  ASSERT_TRUE(try_to_read(caller, *store).ok()) << "on a connection that lives on";
  set_read_only(own, true);
  Commit next = run.next();
  auto refused = caller.try_commit(next);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable) << refused.error().message;
  EXPECT_THAT(refused.error().message, HasSubstr("set to read only"));
  EXPECT_THAT(refused.error().message, HasSubstr("target_session_attrs=read-write"));
  auto read = try_to_read(caller, *store);
  ASSERT_FALSE(read.ok()) << "what a former primary knows";
  EXPECT_THAT(read.error().message, HasSubstr("accepts no writes: it is set to read only"));
  set_read_only(own, false);
  EXPECT_EQ(caller.commit(next), CommitOutcome::applied);
  EXPECT_EQ(caller.run(run.row.run).seq, 2u);
}

// Returns a decision on an approval that the standby does not have yet: the response must not be
// that there is no such approval.
Commit decision_on(const ApprovalRow& asked) {
  Commit decision;
  decision.tenant = default_tenant();
  decision.approval_guard = ApprovalGuard{
      .interrupt = asked.interrupt, .payload_hash = asked.payload_hash, .run_is_active = true};
  decision.rows.decided = asked;
  decision.rows.decided->status = ApprovalStatus::approved;
  return decision;
}

TEST_F(PostgresReadOnly, APoolerThatHasComeToAStandbyTellsNothingOfLongAgo) {
  ServerPair pair(Replication::asynchronous);
  PgBouncer pooler(pair.primary(), 6);
  auto store = open(url_at(pooler.port(), "patience=0&session_expiry=600000"));
  auto other = open(pair.primary().url("postgres", options("session_expiry=600000")));
  ASSERT_TRUE(store && other);
  Caller caller(*store), direct(*other);
  RunScript run("a");
  EXPECT_EQ(caller.commit(run.first()), CommitOutcome::applied);
  ASSERT_TRUE(try_to_read(caller, *store).ok());
  (void)store->is_alive(SessionId(random_uuid(random_)));  // its connection exists, too
  ASSERT_TRUE(pair.is_level());
  ASSERT_TRUE(pair.standby().sql("SELECT pg_wal_replay_pause()").ok());
  auto session = other->open_session();
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(direct.commit(run.next()), CommitOutcome::applied);
  Commit asking = run.pending({});
  asking.rows.opened.push_back(run.question("q"));
  EXPECT_EQ(direct.commit(asking), CommitOutcome::applied);
  pooler.turn_to(pair.standby());
  std::optional<Error> refused;
  ASSERT_TRUE(wait_until(kTurnsWithin, [&] {
    auto read = try_to_read(caller, *store);
    if (!read.ok()) refused = read.error();
    return refused.has_value();
  })) << "reads of a standby are taken for the store's";
  EXPECT_THAT(refused->message, HasSubstr("it is a standby"));
  auto alive = store->is_alive(*session);
  EXPECT_FALSE(alive.ok()) << "it would be robbed of its runs";
  auto decided = caller.try_commit(decision_on(asking.rows.opened[0]));
  ASSERT_FALSE(decided.ok()) << "outcome " << static_cast<int>(*decided);
  EXPECT_EQ(decided.error().code, ErrorCode::unavailable) << decided.error().message;
  PollFilter filter;
  filter.session = *session;
  filter.now = system_clock()->now();
  EXPECT_FALSE(block_on(caller.loop(), store->poll_runs(filter)).ok());
  pooler.turn_to(pair.primary());
  ASSERT_TRUE(wait_until(kTurnsWithin, [&] { return try_to_read(caller, *store).ok(); }));
  EXPECT_EQ(caller.commit(decision_on(asking.rows.opened[0])), CommitOutcome::applied);
  EXPECT_EQ(caller.run(run.row.run).seq, 2u);
  EXPECT_TRUE(*store->is_alive(*session));
}

TEST_F(PostgresReadOnly, WhereNoHostTakesWritesItSaysSo) {
  PostgresServer one({.is_standby = true}), two({.is_standby = true});
  Error error = refusal("postgresql://belay@127.0.0.1:" + std::to_string(one.port()) +
                        ",127.0.0.1:" + std::to_string(two.port()) + "/postgres?" + options());
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  EXPECT_THAT(error.message, HasSubstr(std::to_string(two.port())));
  EXPECT_THAT(error.message, HasSubstr("name the primary"));
}

}  // namespace
}  // namespace belay::postgres_tests
