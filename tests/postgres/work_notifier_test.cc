// Notifications over LISTEN and NOTIFY, and the operation without them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <thread>

#include "belay/runtime.h"
#include "belay/testing.h"
#include "store/postgres/notifier.h"
#include "tests/postgres/pgbouncer.h"

namespace belay::postgres_tests {
namespace {

using namespace std::chrono_literals;
using postgres::Notifier;

constexpr std::chrono::seconds kHeardSoon{30};

struct Letter {
  int read = 0;
};

Graph<Letter> letters() {
  GraphBuilder<Letter> graph{"letters"};
  graph.node("read", [](const Letter&, Context&) { return add(&Letter::read, 1); });
  graph.edge(start, "read").edge("read", end);
  return std::move(graph).build().value();
}

// Executes one run after another; returns how many ended in time. Then ends the worker.
Task<int> runs_that_end(Runtime& client, Runtime& worker, const Graph<Letter>& graph, int runs) {
  constexpr int kLooksMax = 600;
  int ended = 0;
  for (int i = 0; i < runs; ++i) {
    StartOptions options;
    options.thread = ThreadId("letter " + std::to_string(i));
    ThreadId thread = options.thread;
    auto begun = co_await client.enqueue(graph, Letter(), std::move(options), Instant());
    bool has_ended = false;
    for (int look = 0; begun.ok() && !has_ended && look < kLooksMax; ++look) {
      co_await sleep_for(100ms);
      auto now = co_await client.status(default_tenant(), thread);
      has_ended = now.ok() && now->row.status == RunStatus::completed;
    }
    if (!has_ended) break;
    ++ended;
  }
  worker.drain();
  co_return ended;
}

class WakeUps : public ::testing::Test {
 protected:
  // Uses its own database: each test has separate channels.
  std::unique_ptr<Notifier> notifier(const std::string& url) {
    auto address = postgres::address_from(url);
    EXPECT_TRUE(address.ok());
    return std::make_unique<Notifier>(*std::move(address));
  }
  std::unique_ptr<Notifier> direct(const std::string& schema = "belay") {
    return notifier(server_.url(database_, "schema=" + schema));
  }
  static bool comes_to_listen(const Notifier& notifier) {
    return wait_until(kHeardSoon, [&] { return notifier.is_listening(); });
  }
  // Returns whether a notification leads to a call.
  static bool wakes(Notifier& notifier, const std::string& queue, std::atomic<int>& calls) {
    int before = calls;
    notifier.notify(queue);
    return wait_until(kHeardSoon, [&] { return calls > before; });
  }

  PostgresServer& server_ = shared_server();
  const std::string database_ = server_.create_database();
};

TEST_F(WakeUps, WhoListensIsCalledByOtherProcessesForItsQueueAndSchemaAlone) {
  auto worker = direct(), client = direct(), stranger = direct("another");
  std::atomic<int> own = 0, others = 0, strange = 0;
  auto listening = worker->subscribe("own", [&] { ++own; });
  auto other = worker->subscribe("other", [&] { ++others; });
  auto elsewhere = stranger->subscribe("own", [&] { ++strange; });
  ASSERT_TRUE(comes_to_listen(*worker) && comes_to_listen(*stranger));
  ASSERT_TRUE(wait_until(kHeardSoon, [&] { return own == 1 && others == 1 && strange == 1; }))
      << "whoever begins to listen looks once";
  EXPECT_TRUE(wakes(*client, "own", own));
  EXPECT_EQ(others, 1);
  EXPECT_EQ(strange, 1);
  listening.reset();
  int before = own;
  EXPECT_TRUE(wakes(*client, "other", others));
  client->notify("own");
  EXPECT_TRUE(wakes(*client, "other", others));
  EXPECT_EQ(own, before) << "whoever has left is called no more";
}

TEST_F(WakeUps, WhoHasNothingToTellOrHearUsesNoProcessor) {
  auto used = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    auto of = [](const timeval& time) { return 1s * time.tv_sec + 1us * time.tv_usec; };
    return of(usage.ru_utime) + of(usage.ru_stime);
  };
  auto worker = direct();
  std::atomic<int> calls = 0;
  auto listening = worker->subscribe("own", [&] { ++calls; });
  ASSERT_TRUE(comes_to_listen(*worker));
  EXPECT_TRUE(wakes(*worker, "own", calls));
  std::this_thread::sleep_for(500ms);
  auto before = used();
  std::this_thread::sleep_for(1s);
  EXPECT_LT(used() - before, 500ms);
}

TEST_F(WakeUps, AnyNameOfAQueueHasAChannelOfItsOwn) {
  auto worker = direct();
  for (const std::string& queue :
       {std::string(), std::string(500, 'q'), std::string("\"; DROP TABLE x; --"),
        std::string("h\u00e9llo")}) {
    EXPECT_LE(postgres::channel_of("belay", queue).size(), 63u);
    std::atomic<int> calls = 0;
    auto listening = worker->subscribe(queue, [&] { ++calls; });
    ASSERT_TRUE(wait_until(kHeardSoon, [&] { return calls == 1; }));
    EXPECT_TRUE(wakes(*worker, queue, calls));
  }
  EXPECT_NE(postgres::channel_of("a", "bc"), postgres::channel_of("ab", "c"));
}

TEST_F(WakeUps, WhatIsToldManyTimesIsSaidTwentyTimesASecondAtMost) {
  auto client = direct();
  std::atomic<int> calls = 0;
  auto listening = client->subscribe("q", [&] { ++calls; });
  ASSERT_TRUE(wait_until(kHeardSoon, [&] { return calls == 1; }));
  auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 300; ++i) {
    client->notify("q");
    nap(1ms);
  }
  ASSERT_TRUE(wait_until(kHeardSoon, [&] { return calls > 3; }));
  nap(100ms);  // for pending calls
  auto elapsed = std::chrono::steady_clock::now() - begun;
  EXPECT_LE(calls - 1, elapsed / 50ms + 1);
}

TEST_F(WakeUps, AConnectionThatIsCutIsMadeAgain) {
  auto worker = direct(), client = direct();
  std::atomic<int> calls = 0;
  auto listening = worker->subscribe("q", [&] { ++calls; });
  ASSERT_TRUE(wait_until(kHeardSoon, [&] { return calls == 1; }));
  ASSERT_TRUE(server_
                  .sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                       " WHERE datname = current_database() AND pid <> pg_backend_pid()",
                       database_)
                  .ok());
  EXPECT_TRUE(wait_until(kHeardSoon, [&] { return calls == 2; }))
      << "it may have missed something, and looks";
  EXPECT_TRUE(wakes(*client, "q", calls));
}

TEST_F(WakeUps, WithoutAServerNothingFailsAndNobodyWaits) {
  auto alone = notifier("postgresql://belay@127.0.0.1:" + std::to_string(free_port()) + "/x");
  std::atomic<int> calls = 0;
  auto listening = alone->subscribe("q", [&] { ++calls; });
  for (int i = 0; i < 1'000; ++i) alone->notify("q" + std::to_string(i));
  alone.reset();
  listening.reset();
  EXPECT_EQ(calls, 0);
}

TEST_F(WakeUps, ThroughAPoolerOneCanTellAndNothingGoesWrongWhereNothingIsHeard) {
  PgBouncer pooler(server_);
  auto pooled = notifier(server_.url_at(pooler.port(), database_));
  auto worker = direct();
  std::atomic<int> deaf = 0, calls = 0;
  auto unheard = pooled->subscribe("q", [&] { ++deaf; });
  auto listening = worker->subscribe("q", [&] { ++calls; });
  ASSERT_TRUE(wait_until(kHeardSoon, [&] { return calls == 1; }));
  EXPECT_TRUE(wakes(*pooled, "q", calls));
  EXPECT_TRUE(wakes(*pooled, "q", calls));
}

TEST_F(WakeUps, WhatIsToldAtTheEndIsStillSaid) {
  auto worker = direct();
  std::atomic<int> calls = 0;
  auto listening = worker->subscribe("q", [&] { ++calls; });
  ASSERT_TRUE(wait_until(kHeardSoon, [&] { return calls == 1; }));
  direct()->notify("q");
  EXPECT_TRUE(wait_until(kHeardSoon, [&] { return calls == 2; }));
}

TEST_F(WakeUps, AWorkerThatHardlyEverLooksBeginsWhatAnotherProcessPutsIntoTheQueue) {
  std::string url = server_.url(database_);
  auto clock = system_clock();
  auto random = system_random();
  auto loop = make_event_loop();
  testing::ScriptedModel model;
  auto graph = letters();
  auto worker_store = open_postgres_store(url, *clock, *random).value();
  auto client_store = open_postgres_store(url, *clock, *random).value();
  auto worker_wake_up = direct(), client_wake_up = direct();
  RuntimeParts of_worker{*worker_store, *loop, *clock, *random, model};
  of_worker.hints.work_notifier = worker_wake_up.get();
  RuntimeParts of_client{*client_store, *loop, *clock, *random, model};
  of_client.hints.work_notifier = client_wake_up.get();
  auto worker = Runtime::open(std::move(of_worker)).value();
  auto client = Runtime::open(std::move(of_client)).value();
  worker->add(graph);
  client->add(graph);
  WorkerOptions options;
  options.poll_interval = 1h;
  int ended = 0;
  Spawned working, asking;
  loop->post([&] {
    working = spawn<Result<std::size_t>>(*loop, worker->run_worker(options),
                                         [](const Result<std::size_t>&) {});
    asking = spawn<int>(*loop, runs_that_end(*client, *worker, graph, 3), [&](int count) {
      ended = count;
      loop->stop();
    });
  });
  loop->run();
  EXPECT_EQ(ended, 3);
}

TEST_F(WakeUps, AnAddressThatIsNoneIsRefused) {
  EXPECT_FALSE(open_postgres_wake_up("sqlite:x").ok());
  EXPECT_FALSE(open_postgres_wake_up(server_.url(), "http://x").ok());
  EXPECT_TRUE(open_postgres_wake_up(server_.url(), server_.url()).ok());
}

}  // namespace
}  // namespace belay::postgres_tests
