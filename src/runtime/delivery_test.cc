// Tests the delivery of outbox messages; the receivers count them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/check.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Order {
  std::string name{};
  std::vector<std::string> log{};
};

// The first node publishes two messages, the last node one.
Graph<Order> order_graph() {
  GraphBuilder<Order> graph{"order"};
  graph.one_run_per_thread();
  graph.node("take", [](const Order& order, Context& context) {
    context.publish("mail", Value("taken " + order.name));
    context.publish("mail", Value("thanks " + order.name));
    return append(&Order::log, "take");
  });
  graph.node("send", [](const Order& order, Context& context) {
    context.publish("mail", Value("sent " + order.name));
    return append(&Order::log, "send");
  });
  graph.edge(start, "take").edge("take", "send").edge("send", end);
  return std::move(graph).build().value();
}

struct Deliveries : CrashingStoreFixture {
  Graph<Order> graph = order_graph();
  std::map<std::string, int> arrived;  // by id
  std::vector<std::string> bodies;     // in the order of their arrival
  std::vector<Instant> times;
  int calls_at_once = 0;
  int most_at_once = 0;
  std::set<std::string> at_receiver;  // message ids of the calls in progress, of all processes

  // Returns a receiver that accepts every message after `time`.
  Receiver takes_all(std::chrono::milliseconds time = 10ms) {
    return [this, time](OutboxMessage message) -> Task<Result<Done>> {
      EXPECT_TRUE(at_receiver.insert(message.id).second) << "one call at a time for a message";
      most_at_once = std::max(most_at_once, ++calls_at_once);
      Leaving leaving{*this, message.id};
      co_await sleep_for(time);
      ++arrived[message.id];
      bodies.push_back(*message.body.as_string());
      co_return Done{};
    };
  }
  struct Leaving {
    Leaving(Deliveries& world, std::string message) : world_(world), id_(std::move(message)) {}
    Leaving(const Leaving&) = delete;
    Leaving& operator=(const Leaving&) = delete;
    ~Leaving() {
      world_.at_receiver.erase(id_);
      --world_.calls_at_once;
    }
    Deliveries& world_;
    std::string id_;
  };
  // Returns a receiver that fails once with each of these errors, then accepts every message.
  Receiver fails_first(std::vector<Error> errors) {
    auto left = std::make_shared<std::vector<Error>>(std::move(errors));
    return [this, left](OutboxMessage message) -> Task<Result<Done>> {
      times.push_back(clock.now());
      if (!left->empty()) {
        Error why = left->front();
        left->erase(left->begin());
        co_return why;
      }
      ++arrived[message.id];
      co_return Done{};
    };
  }

  std::unique_ptr<Runtime> shop(Receiver receiver, DeliveryOptions options = {}) {
    auto runtime = process(graph);
    runtime->deliver("mail", std::move(receiver), options);
    return runtime;
  }
  RunView order(Runtime& runtime, std::string name) {
    StartOptions options;
    options.thread = ThreadId(name);
    Order order;
    order.name = std::move(name);
    return block_on(loop, runtime.start(graph, std::move(order), options)).value();
  }
  Spawned working(Runtime& runtime) {
    return spawn<Result<std::size_t>>(loop, runtime.run_worker(WorkerOptions{}),
                                      [this](const Result<std::size_t>&) { ++ended; });
  }
  void pass(std::chrono::microseconds time) { loop.run_until(clock.now() + time); }

  std::vector<OutboxRow> outbox() {
    std::function<Result<std::vector<OutboxRow>>(Snapshot&)> reader = [](Snapshot& view) {
      OutboxFilter filter;
      filter.tenant = default_tenant();
      return view.outbox(filter);
    };
    return block_on(loop, read<std::vector<OutboxRow>>(*kept, std::move(reader))).value();
  }
  std::string violations() {
    CheckScope scope;
    scope.graphs = {graph.definition()};
    std::string told;
    CheckReport report = block_on(loop, check_store(*kept, scope)).value();
    for (const Violation& each : report.violations) {
      told += each.rule + " " + each.subject + ": " + each.message + "\n";
    }
    return told;
  }

  int ended = 0;
};

TEST_F(Deliveries, GoToTheirReceiverInTheOrderOfTheirRunOnceAllIsWell) {
  auto runtime = shop(takes_all());
  Instant began = clock.now();
  auto view = order(*runtime, "ana");
  EXPECT_EQ(view.row.status, RunStatus::completed);
  pass(1s);
  EXPECT_THAT(bodies, ElementsAre("taken ana", "thanks ana", "sent ana"));
  EXPECT_EQ(arrived.size(), 3u);
  EXPECT_EQ(arrived.count(view.row.run.text() + "/2/0"), 1u);
  EXPECT_EQ(arrived.count(view.row.run.text() + "/2/1"), 1u);
  for (const OutboxRow& each : outbox()) {
    EXPECT_EQ(each.status, OutboxStatus::delivered);
    EXPECT_EQ(each.created_at, began) << "when its node ended";
    EXPECT_EQ(each.attempts, 1);
  }
  EXPECT_EQ(violations(), "");
}

TEST_F(Deliveries, DoNotHoldTheirRunUp) {
  auto runtime = shop(takes_all(10s));
  Instant began = clock.now();
  order(*runtime, "ana");
  EXPECT_LT(clock.now() - began, 1s);
  pass(1min);
  EXPECT_EQ(arrived.size(), 3u);
}

TEST_F(Deliveries, TellWhoseTheyAre) {
  OutboxMessage seen;
  auto runtime = shop([&seen](OutboxMessage message) -> Task<Result<Done>> {
    seen = std::move(message);
    co_return Done{};
  });
  auto view = order(*runtime, "ana");
  pass(1s);
  EXPECT_EQ(seen.thread, ThreadId("ana"));
  EXPECT_EQ(seen.run, view.row.run);
  EXPECT_EQ(seen.topic, "mail");
  EXPECT_EQ(seen.attempt, 1);
  EXPECT_EQ(seen.body, Value("sent ana"));
}

TEST_F(Deliveries, OfTopicsWithoutAReceiverWait) {
  auto runtime = process(graph);
  runtime->deliver("fax", takes_all());
  order(*runtime, "ana");
  Spawned work = working(*runtime);
  pass(1h);
  for (const OutboxRow& each : outbox()) {
    EXPECT_EQ(each.status, OutboxStatus::waiting);
    EXPECT_EQ(each.attempts, 0);
  }
  work.reset();
  auto other = shop(takes_all());
  Spawned later = working(*other);
  pass(1min);
  EXPECT_EQ(arrived.size(), 3u);
}

TEST_F(Deliveries, ThatFailWaitLongerEachTimeAndArriveInTheEnd) {
  Error busy = error(ErrorCode::unavailable, "busy");
  DeliveryOptions options;
  options.retry = {.attempts = 10, .base = 1s, .cap = 10s};
  auto runtime = shop(fails_first({busy, busy, busy, busy, busy}), options);
  graph = [] {
    GraphBuilder<Order> single{"single"};
    single.one_run_per_thread();
    single.node("n", [](const Order&, Context& context) {
      context.publish("mail", Value("one"));
      return unchanged<Order>();
    });
    single.edge(start, "n").edge("n", end);
    return std::move(single).build().value();
  }();
  runtime->add(graph);
  order(*runtime, "ana");
  Spawned work = working(*runtime);
  pass(10min);
  ASSERT_EQ(times.size(), 6u);
  std::vector<std::chrono::milliseconds> ideal = {2s, 4s, 8s, 10s, 10s};
  for (std::size_t i = 0; i < ideal.size(); ++i) {
    auto waited = times[i + 1] - times[i];
    EXPECT_GE(waited, ideal[i] * 8 / 10) << i;
    EXPECT_LE(waited, ideal[i] * 12 / 10 + 1s) << i;
  }
  EXPECT_EQ(outbox().at(0).status, OutboxStatus::delivered);
  EXPECT_EQ(outbox().at(0).attempts, 6);
}

TEST_F(Deliveries, ObeyARetryAfter) {
  Error busy = error(ErrorCode::unavailable, "busy");
  busy.retry_after = 1h;
  auto runtime = shop(fails_first({busy}));
  order(*runtime, "ana");
  Spawned work = working(*runtime);
  pass(59min);
  EXPECT_EQ(arrived.size(), 2u) << "the others go on meanwhile";
  pass(2min);
  EXPECT_EQ(arrived.size(), 3u);
}

TEST_F(Deliveries, ThatFailTooOftenAreGivenUpWithTheirErrorKept) {
  DeliveryOptions options;
  options.retry = {.attempts = 3, .base = 1s, .cap = 1s};
  int calls = 0;
  auto runtime = shop(
      [&calls](OutboxMessage) -> Task<Result<Done>> {
        ++calls;
        if (calls % 2 == 0) throw std::runtime_error("it broke");
        co_return error(ErrorCode::unavailable, "no route");
      },
      options);
  order(*runtime, "ana");
  Spawned work = working(*runtime);
  pass(1h);
  EXPECT_EQ(calls, 9);
  for (const OutboxRow& each : outbox()) {
    EXPECT_EQ(each.status, OutboxStatus::given_up);
    EXPECT_EQ(each.attempts, 3);
    EXPECT_THAT(each.error, ::testing::AnyOf(HasSubstr("no route"), HasSubstr("it broke")));
  }
  EXPECT_EQ(violations(), "");
}

TEST_F(Deliveries, ThatWereGivenUpAreTriedOnceMoreWhenAPersonSaysSo) {
  Error closed = error(ErrorCode::unavailable, "closed");
  DeliveryOptions options;
  options.retry = {.attempts = 1};
  auto runtime = shop(fails_first({closed, closed, closed, closed}), options);
  order(*runtime, "ana");
  pass(1min);
  std::vector<OutboxRow> rows = outbox();
  ASSERT_EQ(rows.size(), 3u);
  auto id_of = [](const OutboxRow& row) {
    return row.run.text() + "/" + std::to_string(row.seq) + "/" + std::to_string(row.index);
  };
  auto retry = [&](const std::string& id) {
    auto moved = block_on(loop, runtime->retry_message(default_tenant(), id));
    pass(1s);
    return moved;
  };
  ASSERT_TRUE(retry(id_of(rows[0])).ok());
  EXPECT_EQ(outbox()[0].status, OutboxStatus::given_up) << "closed once more";
  EXPECT_EQ(outbox()[0].attempts, 2);
  ASSERT_TRUE(retry(id_of(rows[0])).ok());
  EXPECT_EQ(outbox()[0].status, OutboxStatus::delivered);
  EXPECT_EQ(outbox()[0].attempts, 3);
  EXPECT_EQ(arrived.size(), 1u);
  EXPECT_EQ(retry(id_of(rows[0])).error().code, ErrorCode::conflict);
  EXPECT_EQ(outbox()[1].status, OutboxStatus::given_up) << "nobody asked for that one";
  EXPECT_EQ(violations(), "");
}

TEST_F(Deliveries, ThatWaitAreGivenUpOrTriedNowWhenAPersonSaysSo) {
  Error busy = error(ErrorCode::unavailable, "busy");
  busy.retry_after = 10min;
  auto runtime = shop(fails_first({busy, busy, busy}));
  auto view = order(*runtime, "ana");
  Spawned work = working(*runtime);
  pass(1min);
  std::string run = view.row.run.text();
  ASSERT_TRUE(block_on(loop, runtime->retry_message(default_tenant(), run + "/2/0")).ok());
  ASSERT_TRUE(block_on(loop, runtime->give_up_message(default_tenant(), run + "/2/1")).ok());
  pass(1min);
  EXPECT_EQ(arrived.size(), 1u);
  EXPECT_EQ(arrived.count(run + "/2/0"), 1u);
  pass(20min);
  EXPECT_EQ(arrived.size(), 2u);
  EXPECT_EQ(arrived.count(run + "/2/1"), 0u);
  auto again = block_on(loop, runtime->give_up_message(default_tenant(), run + "/2/1"));
  EXPECT_TRUE(again.ok()) << "it is given up already: nothing changes";
  for (std::string bad : {run + "/2/9", run + "/99/0"}) {
    auto moved = block_on(loop, runtime->retry_message(default_tenant(), bad));
    EXPECT_EQ(moved.error().code, ErrorCode::not_found) << bad;
  }
  for (std::string bad : {std::string(), std::string("x"), run, run + "/2", run + "/2/x"}) {
    auto moved = block_on(loop, runtime->retry_message(default_tenant(), bad));
    EXPECT_EQ(moved.error().code, ErrorCode::invalid) << bad;
  }
  auto others = block_on(loop, runtime->retry_message(TenantId("other"), run + "/2/1"));
  EXPECT_EQ(others.error().code, ErrorCode::not_found);
  EXPECT_EQ(violations(), "");
}

TEST_F(Deliveries, OfAReceiverThatNeverAnswersAreStoppedAndTriedAgain) {
  DeliveryOptions options;
  options.timeout = 5s;
  options.retry.attempts = 2;
  auto runtime = shop(takes_all(24h), options);
  order(*runtime, "ana");
  Spawned work = working(*runtime);
  pass(1h);
  EXPECT_EQ(arrived.size(), 0u);
  EXPECT_TRUE(at_receiver.empty());
  for (const OutboxRow& each : outbox()) {
    EXPECT_EQ(each.status, OutboxStatus::given_up);
    EXPECT_THAT(each.error, HasSubstr("took too long"));
  }
}

TEST_F(Deliveries, ArriveAtLeastOnceWhereverTheProcessDies) {
  int repeated_in_all = 0;
  auto counted = [&](int commit, bool lands) {
    store.commits = 0;
    store.halt_at = commit;
    store.lands = lands;
    arrived.clear();
    std::string name = "t" + std::to_string(commit) + (lands ? "l" : "");
    auto first = shop(takes_all());
    Spawned starting;
    loop.post([&] {
      StartOptions options;
      options.thread = ThreadId(name);
      starting = spawn<Result<RunView>>(loop, first->start(graph, Order{}, options),
                                        [](const Result<RunView>&) {});
    });
    pass(10s);
    store.halt_at = 0;
    starting.reset();
    first.reset();
    auto second = shop(takes_all());
    StartOptions options;
    options.thread = ThreadId(name);
    auto view = block_on(loop, second->start(graph, Order{}, options)).value();
    EXPECT_EQ(view.row.status, RunStatus::completed);
    Spawned work = working(*second);
    pass(10min);
    EXPECT_EQ(arrived.size(), 3u) << name;
    int repeated = 0;
    for (const auto& [id, times_seen] : arrived) {
      EXPECT_LE(times_seen, 2) << id;
      repeated += times_seen - 1;
    }
    EXPECT_LE(repeated, 1) << "only what was under way comes again";
    repeated_in_all += repeated;
  };
  for (int commit = 1; commit <= 9; ++commit) {
    for (bool lands : {false, true}) counted(commit, lands);
  }
  EXPECT_GE(repeated_in_all, 3) << "what had arrived and was not noted, of each message";
  for (const OutboxRow& each : outbox()) EXPECT_EQ(each.status, OutboxStatus::delivered);
  EXPECT_EQ(violations(), "");
}

TEST_F(Deliveries, OfTwoProcessesOneCallsForAMessage) {
  auto client = process(graph);
  for (int i = 0; i < 30; ++i) order(*client, "t" + std::to_string(i));
  auto one = shop(takes_all(2s));
  auto two = shop(takes_all(3s));
  Spawned first = working(*one);
  Spawned second = working(*two);
  pass(10min);
  EXPECT_EQ(arrived.size(), 90u);
  for (const auto& [id, times_seen] : arrived) EXPECT_EQ(times_seen, 1) << id;
  EXPECT_GT(most_at_once, static_cast<int>(limits::deliveries_max)) << "both worked";
  EXPECT_LE(most_at_once, 2 * static_cast<int>(limits::deliveries_max));
  EXPECT_EQ(violations(), "");
}

TEST_F(Deliveries, UnderWayAreWaitedForByADrain) {
  auto runtime = shop(takes_all(10s));
  order(*runtime, "ana");
  Spawned work = working(*runtime);
  pass(1s);
  runtime->drain();
  pass(5s);
  EXPECT_EQ(ended, 0);
  pass(10s);
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(arrived.size(), 1u) << "what had begun ends, and nothing more is begun";
}

}  // namespace
}  // namespace belay
