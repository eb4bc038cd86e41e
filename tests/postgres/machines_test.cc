// Several machines on one database: sessions that end or stop responding, clocks that differ, and
// rivals for one run.

#include <libpq-fe.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <thread>

#include "store/postgres/postgres_store.h"
#include "tests/postgres/store_world.h"

namespace belay::postgres_tests {
namespace {

using namespace std::chrono_literals;
using conformance::Caller;
using conformance::RunScript;
using conformance::StandingClock;

// Longer than any expiry here, for a busy machine.
constexpr std::chrono::seconds kSoon{30};

class PostgresMachines : public StoreWorld {
 protected:
  bool comes_to_be_dead(Store& store, const SessionId& session) {
    return wait_until(kSoon, [&] {
      auto alive = store.is_alive(session);
      return alive.ok() && !*alive;
    });
  }
};

TEST_F(PostgresMachines, FenceEachOther) {
  auto first = open(url());
  auto second = open(url());
  ASSERT_TRUE(first && second);
  Caller one(*first), two(*second);
  RunScript script("a");
  EXPECT_EQ(one.commit(script.first()), CommitOutcome::applied);
  EXPECT_EQ(two.run(script.row.run), script.row);
  RunScript rival = script;
  rival.become("rival");
  EXPECT_EQ(two.commit(rival.next()), CommitOutcome::applied);
  EXPECT_EQ(one.commit(script.next()), CommitOutcome::fenced);
  EXPECT_EQ(one.run(script.row.run), rival.row);
}

// An import is committed alone: its guards are read before its rows are inserted, and a rival can
// insert the same thread in between.
TEST_F(PostgresMachines, OfManyImportsOfOneThreadExactlyOneIsApplied) {
  constexpr int machines = 4;
  constexpr int imports = 40;
  std::vector<Opened> stores;
  for (int i = 0; i < machines; ++i) {
    stores.push_back(open(url()));
    ASSERT_TRUE(stores.back());
  }
  std::array<std::atomic<int>, imports> applied{};
  std::vector<std::thread> threads;
  for (int machine = 0; machine < machines; ++machine) {
    threads.emplace_back([&, machine] {
      Caller call(*stores[static_cast<std::size_t>(machine)]);
      for (std::size_t i = 0; i < imports; ++i) {
        RunScript script(std::to_string(machine) + "-" + std::to_string(i));
        script.row.thread = ThreadId("thread " + std::to_string(i));
        Commit commit = script.first();
        commit.imports = true;
        auto outcome = call.try_commit(std::move(commit));
        ASSERT_TRUE(outcome.ok()) << outcome.error().message;
        EXPECT_TRUE(*outcome == CommitOutcome::applied || *outcome == CommitOutcome::exists);
        applied[i] += *outcome == CommitOutcome::applied;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  for (const std::atomic<int>& count : applied) EXPECT_EQ(count, 1);
}

// Both have the same name, as two containers with the same host name and process number have.
TEST_F(PostgresMachines, SeeEachOthersSessionsEndThoughTheirNamesAreTheSame) {
  auto first = open(url());
  auto second = open(url());
  ASSERT_TRUE(first && second);
  SessionId session = *first->open_session();
  SessionId other = *second->open_session();
  EXPECT_TRUE(*second->is_alive(session));
  EXPECT_TRUE(*first->is_alive(other));
  EXPECT_EQ(sql_value("SELECT count(DISTINCT name) FROM belay.sessions"), "1");
  first->close_session(session);
  EXPECT_TRUE(comes_to_be_dead(*second, session));
  EXPECT_TRUE(*second->is_alive(other));
  second.reset();
  EXPECT_TRUE(comes_to_be_dead(*first, other)) << "it ends with its store";
}

TEST_F(PostgresMachines, ASessionIsKeptAliveFarBeyondItsExpiry) {
  auto first = open(url("session_expiry=300"));
  auto second = open(url("session_expiry=300"));
  ASSERT_TRUE(first && second);
  SessionId session = *first->open_session();
  std::string began = sql_value("SELECT seen_at FROM belay.sessions");
  // Waits for five of its heartbeats, however long they take.
  for (int i = 0; i < 5; ++i) {
    std::string seen = sql_value("SELECT seen_at FROM belay.sessions");
    EXPECT_TRUE(
        wait_until(kSoon, [&] { return sql_value("SELECT seen_at FROM belay.sessions") != seen; }));
  }
  EXPECT_TRUE(*second->is_alive(session));
  auto rows = Caller(*second).sessions({});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_LT(rows[0].started_at, rows[0].seen_at);
}

TEST_F(PostgresMachines, AMachineThatNothingIsHeardOfLosesItsRunsAndThenGoesOn) {
  FaultProxy proxy(server_.port());
  auto cut_off = open(url_at(proxy.port(), "session_expiry=300&patience=500"));
  auto other = open(url("session_expiry=300"));
  ASSERT_TRUE(cut_off && other);
  Caller one(*cut_off), two(*other);
  SessionId session = *cut_off->open_session();
  RunScript run("a");
  run.row.session = session;
  EXPECT_EQ(one.commit(run.first()), CommitOutcome::applied);
  EXPECT_TRUE(*other->is_alive(session));
  EXPECT_TRUE(wait_until(kSoon, [&] { return cut_off->lease_is_fresh(); }));
  proxy.set({.swallows = true});
  EXPECT_TRUE(wait_until(kSoon, [&] { return !cut_off->lease_is_fresh(); }));
  EXPECT_TRUE(comes_to_be_dead(*other, session));
  RunScript taken = run;
  taken.become("other");
  ++taken.row.epoch;
  Commit claim = taken.next();
  --claim.run_guard->epoch;
  EXPECT_EQ(two.commit(claim), CommitOutcome::applied);
  // It received no error, and its connections seemed to be alive; now it can reach the server
  // again.
  proxy.heal();
  proxy.cut_all();
  EXPECT_EQ(one.commit(run.next()), CommitOutcome::fenced);
  EXPECT_EQ(two.run(run.row.run), taken.row);
  EXPECT_TRUE(wait_until(kSoon, [&] { return *other->is_alive(session); }));
  EXPECT_TRUE(wait_until(kSoon, [&] { return cut_off->lease_is_fresh(); }));
  RunScript anew("b");
  EXPECT_EQ(one.commit(anew.first()), CommitOutcome::applied);
}

// The state after a machine disappears while it sends: the server has started the transaction and
// waits for more.
class HalfSent {
 public:
  HalfSent(const std::string& url, const std::string& application, const std::string& statement)
      : handle_(PQconnectdb((url + "?application_name=" + application).c_str())) {
    bool is_sent = PQenterPipelineMode(handle_) == 1 && send("BEGIN") && send(statement) &&
                   PQsendFlushRequest(handle_) == 1 && PQflush(handle_) == 0;
    EXPECT_TRUE(is_sent) << PQerrorMessage(handle_);
    for (int results = 0; results < 2; ++results) {
      PQclear(PQgetResult(handle_));
      PQgetResult(handle_);  // a null result follows each result
    }
  }
  HalfSent(const HalfSent&) = delete;
  HalfSent& operator=(const HalfSent&) = delete;
  ~HalfSent() { PQfinish(handle_); }

  bool is_ended() {
    while (PQconsumeInput(handle_) == 1) {
      pollfd more{PQsocket(handle_), POLLIN, 0};
      if (poll(&more, 1, 0) <= 0) return false;
    }
    return true;
  }

 private:
  bool send(const std::string& statement) {
    return PQsendQueryParams(handle_, statement.c_str(), 0, nullptr, nullptr, nullptr, nullptr,
                             0) == 1;
  }
  pg_conn* handle_;
};

TEST_F(PostgresMachines, ATransactionThatAMachineLeftInItsMidstHoldsNobodyUp) {
  postgres::PostgresStoreOptions options;
  options.lock_patience = 100ms;
  options.silence = 500ms;
  auto store = postgres::open_postgres_store(url(), clock_, random_, options);
  ASSERT_TRUE(store.ok());
  Caller caller(**store);
  RunScript run("a"), other("b");
  caller.commit(run.first());
  caller.commit(other.first());
  HalfSent left(server_.url(), "belay", in_schema("UPDATE belay.runs SET seq = 77"));
  EXPECT_EQ(caller.commit(run.next()), CommitOutcome::applied);
  EXPECT_EQ(caller.commit(other.next()), CommitOutcome::applied);
  EXPECT_TRUE(left.is_ended());
}

TEST_F(PostgresMachines, WhatAnotherProgramHasLockedIsWaitedFor) {
  postgres::PostgresStoreOptions options;
  options.lock_patience = 50ms;
  options.silence = 50ms;
  auto store = postgres::open_postgres_store(url("patience=1000"), clock_, random_, options);
  ASSERT_TRUE(store.ok());
  Caller caller(**store);
  RunScript run("a");
  caller.commit(run.first());
  Commit next = run.next();
  {
    HalfSent left(server_.url(), "psql", in_schema("UPDATE belay.runs SET seq = 77"));
    auto refused = caller.try_commit(next);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
    EXPECT_THAT(refused.error().message, ::testing::HasSubstr("find the owner of the lock"));
    EXPECT_FALSE(left.is_ended());
  }
  EXPECT_EQ(caller.commit(next), CommitOutcome::applied);
}

TEST_F(PostgresMachines, AgreeOnASessionThoughTheirClocksDisagreeByHours) {
  StandingClock early, late;
  early.advance(-3h);
  late.advance(3h);
  auto first = open_store(url(), early, random_);
  auto second = open_store(url(), late, random_);
  ASSERT_TRUE(first.ok() && second.ok());
  SessionId one = *(*first)->open_session();
  SessionId two = *(*second)->open_session();
  EXPECT_TRUE(*(*second)->is_alive(one));
  EXPECT_TRUE(*(*first)->is_alive(two));
}

TEST_F(PostgresMachines, TheServersClockJudgesAnApproval) {
  StandingClock early, late;  // 2025, far from the real time
  early.advance(-3h);
  late.advance(3h);
  Instant now = system_clock()->now();
  for (Clock* clock : {static_cast<Clock*>(&early), static_cast<Clock*>(&late)}) {
    auto store = open_store(url(), *clock, random_);
    ASSERT_TRUE(store.ok());
    Caller caller(**store);
    std::string name = clock == &early ? "early" : "late";
    RunScript in_time(name + " in time");
    caller.commit(in_time.first());
    caller.commit(in_time.ask(now + 24h));
    EXPECT_EQ(caller.commit(in_time.decide(ApprovalStatus::approved)), CommitOutcome::applied);
    RunScript too_late(name + " too late");
    caller.commit(too_late.first());
    caller.commit(too_late.ask(now - 1h));
    EXPECT_EQ(caller.commit(too_late.decide(ApprovalStatus::approved)), CommitOutcome::expired);
  }
}

TEST_F(PostgresMachines, OfEightDecisionsOnEightMachinesExactlyOneApplies) {
  RunScript script("a");
  {
    auto store = open(url());
    ASSERT_TRUE(store);
    Caller caller(*store);
    caller.commit(script.first());
    caller.commit(script.ask(system_clock()->now() + 24h));
  }
  std::atomic<int> applied = 0, answered = 0;
  std::vector<std::thread> deciders;
  for (int i = 0; i < 8; ++i) {
    deciders.emplace_back([&, i] {
      auto store = open(url());
      if (!store) return;
      RunScript rival = script;
      rival.become(std::to_string(i));
      Caller caller(*store);
      applied += caller.commit(rival.decide(ApprovalStatus::approved)) == CommitOutcome::applied;
      ++answered;
    });
  }
  for (std::thread& decider : deciders) decider.join();
  EXPECT_EQ(applied, 1);
  EXPECT_EQ(answered, 8);
}

TEST_F(PostgresMachines, WhatOneIsOfferedOthersPassOverUntilItIsGivenBack) {
  auto first = open(url());
  auto second = open(url());
  ASSERT_TRUE(first && second);
  Caller one(*first), two(*second);
  std::vector<RunId> due;
  for (const char* name : {"a", "b"}) {
    RunScript script(name);
    script.row.due_at = clock_.now();
    one.commit(script.first());
    due.push_back(script.row.run);
  }
  PollFilter of_one;
  of_one.session = *first->open_session();
  of_one.now = clock_.now();
  PollFilter of_two = of_one;
  of_two.session = *second->open_session();
  auto runs = [](const std::vector<RunRow>& rows) {
    std::vector<RunId> found;
    for (const RunRow& row : rows) found.push_back(row.run);
    return found;
  };
  EXPECT_EQ(runs(one.poll_runs(of_one)), due);
  EXPECT_THAT(two.poll_runs(of_two), ::testing::IsEmpty());
  // A session cannot return a candidate that another session received.
  of_two.returned_candidates = {{default_tenant(), due[0]}};
  two.poll_runs(of_two);
  of_two.returned_candidates.clear();
  EXPECT_THAT(two.poll_runs(of_two), ::testing::IsEmpty());
  of_one.returned_candidates = {{default_tenant(), due[0]}};
  of_one.except_runs = due;
  EXPECT_THAT(one.poll_runs(of_one), ::testing::IsEmpty());
  EXPECT_EQ(runs(two.poll_runs(of_two)), std::vector<RunId>{due[0]});
}

TEST_F(PostgresMachines, DeadSessionsThatNoRunNamesGoAfterADay) {
  auto store = open(url());
  ASSERT_TRUE(store);
  SessionId alive = *store->open_session();
  SessionId named = *store->open_session();
  SessionId forgotten = *store->open_session();
  Caller caller(*store);
  RunScript script("a");
  script.row.session = named;
  caller.commit(script.first());
  store->close_session(named);
  store->close_session(forgotten);
  run_sql(
      "UPDATE belay.sessions SET seen_at = seen_at - interval '2 days',"
      " expires_at = expires_at - interval '2 days' WHERE expires_at <= clock_timestamp()");
  auto second = open(url());
  ASSERT_TRUE(second);
  std::string left = sql_value("SELECT string_agg(session_id::text, ' ') FROM belay.sessions");
  EXPECT_THAT(left, ::testing::HasSubstr(alive.text()));
  EXPECT_THAT(left, ::testing::HasSubstr(named.text()));
  EXPECT_THAT(left, ::testing::Not(::testing::HasSubstr(forgotten.text())));
}

}  // namespace
}  // namespace belay::postgres_tests
