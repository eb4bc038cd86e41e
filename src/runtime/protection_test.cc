// Tests the protection of dependencies and the limits of runs.
// Long on purpose: all of it with one fixture.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/limits.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct EncryptedParcel {
  std::vector<std::string> log{};
  std::string answer{};
};

// A receiver with a given number of failures that counts concurrent calls.
struct Receiver {
  int failures = 0;
  std::chrono::milliseconds time{1'000};
  std::vector<Instant> calls;
  int at_once = 0;
  int most_at_once = 0;
  int delivered = 0;

  struct Call {
    Receiver& at;
    explicit Call(Receiver& receiver) : at(receiver) {
      at.most_at_once = std::max(at.most_at_once, ++at.at_once);
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call() { --at.at_once; }
  };
};

struct Protected : CrashingStoreFixture {
  Receiver receiver;
  std::vector<Spawned> spawned;
  std::vector<Result<RunView>> ended;

  ~Protected() override { spawned.clear(); }

  Task<Result<Update<EncryptedParcel>>> deliver(std::string name) {
    Receiver::Call call(receiver);
    receiver.calls.push_back(clock.now());
    co_await sleep_for(receiver.time);
    if (receiver.failures > 0) {
      --receiver.failures;
      co_return error(ErrorCode::unavailable, "The receiver is away.");
    }
    ++receiver.delivered;
    co_return append(&EncryptedParcel::log, std::move(name));
  }
  auto delivering() {
    return
        [this](const EncryptedParcel&, Context& context) { return deliver(context.thread().text); };
  }
  Graph<EncryptedParcel> sending(RetryPolicy retry = {}) {
    GraphBuilder<EncryptedParcel> graph{"sending"};
    graph.node("send", delivering()).depends_on("smtp").retry(retry);
    graph.edge(start, "send").edge("send", end);
    return std::move(graph).build().value();
  }
  void begin(Runtime& runtime, const Graph<EncryptedParcel>& graph, std::string thread,
             std::string user = "local") {
    StartOptions options;
    options.thread = ThreadId(std::move(thread));
    options.user = UserId(std::move(user));
    spawned.push_back(
        spawn<Result<RunView>>(loop, runtime.start(graph, EncryptedParcel{}, options),
                               [this](Result<RunView> view) { ended.push_back(std::move(view)); }));
  }
  std::vector<RunRow> all_runs() {
    std::function<Result<std::vector<RunRow>>(Snapshot&)> reader = [](Snapshot& view) {
      RunFilter filter;
      filter.tenant = default_tenant();
      filter.limit = 1'000;
      return view.runs(filter);
    };
    return block_on(loop, read<std::vector<RunRow>>(store, std::move(reader))).value();
  }
};

TEST_F(Protected, ADependencyThatFailsIsLeftAloneAndTriedAgain) {
  auto graph = sending({.attempts = 10, .base = 100ms, .cap = 100ms});
  auto runtime = process(graph);
  DependencyOptions options;
  options.failure_threshold = 3;
  options.open_duration = 30s;
  runtime->protect("smtp", options);
  receiver.failures = 4;
  Instant began = clock.now();
  begin(*runtime, graph, "t");
  loop.run();
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].value().row.status, RunStatus::completed) << ended[0].value().row.error;
  // Three failures open the circuit breaker; the test call after its open time fails and opens it
  // again; the next one closes it.
  ASSERT_EQ(receiver.calls.size(), 5u);
  EXPECT_LT(receiver.calls[2] - began, 5s);
  EXPECT_GE(receiver.calls[3] - receiver.calls[2], 30s);
  EXPECT_GE(receiver.calls[4] - receiver.calls[3], 30s);
  EXPECT_EQ(ended[0].value().row.retry_count, 6) << "four failures, and two sent away at once";
}

TEST_F(Protected, WhileTheCircuitIsOpenAnAttemptFailsAtOnceAndSaysWhenToComeAgain) {
  auto graph = sending();
  auto runtime = process(graph);
  DependencyOptions options;
  options.failure_threshold = 1;
  runtime->protect("smtp", options);
  receiver.failures = 1;
  begin(*runtime, graph, "first");
  loop.run();
  begin(*runtime, graph, "second");
  loop.run();
  EXPECT_EQ(receiver.calls.size(), 1u);
  EXPECT_EQ(ended.at(1).value().row.error_code, "unavailable");
  EXPECT_THAT(ended.at(1).value().row.error,
              HasSubstr("Circuit breaker of dependency \"smtp\" is open"));
}

TEST_F(Protected, ATimeOutCountsAsAFailure) {
  GraphBuilder<EncryptedParcel> builder{"slow"};
  builder.node("send", delivering()).depends_on("smtp").timeout(500ms);
  builder.edge(start, "send").edge("send", end);
  auto graph = std::move(builder).build().value();
  auto runtime = process(graph);
  DependencyOptions options;
  options.failure_threshold = 1;
  runtime->protect("smtp", options);
  begin(*runtime, graph, "first");
  loop.run();
  begin(*runtime, graph, "second");
  loop.run();
  EXPECT_EQ(receiver.calls.size(), 1u);
  EXPECT_THAT(ended.at(1).value().row.error, HasSubstr("Circuit breaker of dependency"));
}

TEST_F(Protected, SlotsAreNeverExceededUnderTenThousandSends) {
  GraphBuilder<EncryptedParcel> builder{"many"};
  builder.node("plan",
               [](const EncryptedParcel&, Context&) { return unchanged<EncryptedParcel>(); });
  builder
      .node("part",
            [this](const EncryptedParcel&, Context& context) {
              receiver.time = std::chrono::milliseconds(context.random_bits() % 20);
              return deliver("part");
            })
      .depends_on("smtp");
  builder.edge(start, "plan").edge("part", end);
  builder.branch("plan",
                 [](const EncryptedParcel&) {
                   std::vector<Send> sends;
                   for (int i = 0; i < 10'000; ++i) sends.push_back(send_to("part", i));
                   return sends;
                 },
                 {"part"});
  auto graph = std::move(builder).build().value();
  auto runtime = process(graph);
  DependencyOptions options;
  options.concurrency_max = 9;
  runtime->protect("smtp", options);
  begin(*runtime, graph, "t");
  loop.run();
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].value().row.status, RunStatus::completed) << ended[0].value().row.error;
  EXPECT_EQ(receiver.delivered, 10'000);
  EXPECT_EQ(receiver.most_at_once, 9);
}

TEST_F(Protected, RunsWaitForASlotInTheOrderInWhichTheyCame) {
  auto graph = sending();
  auto runtime = process(graph);
  DependencyOptions options;
  options.concurrency_max = 1;
  runtime->protect("smtp", options);
  for (int i = 0; i < 5; ++i) begin(*runtime, graph, "t" + std::to_string(i));
  loop.run();
  std::vector<std::string> order;
  for (auto& each : ended) order.push_back(each.value().row.thread.text);
  EXPECT_THAT(order, ElementsAre("t0", "t1", "t2", "t3", "t4"));
  EXPECT_EQ(receiver.most_at_once, 1);
}

TEST_F(Protected, TheWaitForASlotIsNoPartOfTheNodesTime) {
  GraphBuilder<EncryptedParcel> builder{"slow"};
  builder.node("send", delivering()).depends_on("smtp").timeout(1'500ms);
  builder.edge(start, "send").edge("send", end);
  auto graph = std::move(builder).build().value();
  auto runtime = process(graph);
  DependencyOptions options;
  options.concurrency_max = 1;
  runtime->protect("smtp", options);
  for (int i = 0; i < 5; ++i) begin(*runtime, graph, "t" + std::to_string(i));
  loop.run();
  ASSERT_EQ(ended.size(), 5u);
  for (auto& each : ended) EXPECT_EQ(each.value().row.status, RunStatus::completed);
}

TEST_F(Protected, ARunThatWaitsForASlotCanBeCancelled) {
  auto graph = sending();
  auto runtime = process(graph);
  DependencyOptions options;
  options.concurrency_max = 1;
  runtime->protect("smtp", options);
  receiver.time = 1h;
  begin(*runtime, graph, "holds");
  begin(*runtime, graph, "waits");
  loop.run_until(clock.now() + 1s);
  auto view = block_on(loop, runtime->cancel(default_tenant(), ThreadId("waits"), "ana")).value();
  EXPECT_EQ(view.row.status, RunStatus::cancelled);
  block_on(loop, runtime->cancel(default_tenant(), ThreadId("holds"), "ana")).value();
  receiver.time = 1s;
  begin(*runtime, graph, "next");
  loop.run();
  EXPECT_EQ(receiver.calls.size(), 2u);
  EXPECT_EQ(receiver.delivered, 1) << "the slot of the cancelled run is free";
}

TEST_F(Protected, TheRunsTimeEndsAWaitForASlot) {
  auto graph = sending();
  auto runtime = process(graph);
  DependencyOptions options;
  options.concurrency_max = 1;
  runtime->protect("smtp", options);
  receiver.time = 4min;
  begin(*runtime, graph, "holds");
  begin(*runtime, graph, "second");
  begin(*runtime, graph, "third");
  loop.run();
  EXPECT_EQ(receiver.delivered, 1);
  int exhausted = 0;
  for (auto& each : ended) exhausted += each.value().row.error_code == "exhausted";
  EXPECT_EQ(exhausted, 2) << "five minutes are over while they wait, or just after";
}

TEST_F(Protected, APlainNodeWaitsToo) {
  GraphBuilder<EncryptedParcel> builder{"plain"};
  int mails = 0;
  builder.node("hold", delivering()).depends_on("smtp");
  builder
      .node("mail",
            [&mails](const EncryptedParcel&, Context& context) {
              auto sent = context.unkeyed_effect("smtp", {}, [&mails] { return ++mails; });
              return append(&EncryptedParcel::log, "mail " + std::to_string(*sent));
            })
      .depends_on("smtp");
  builder.edge(start, "hold").edge(start, "mail").edge("hold", end).edge("mail", end);
  auto graph = std::move(builder).build().value();
  auto runtime = process(graph);
  DependencyOptions options;
  options.concurrency_max = 1;
  runtime->protect("smtp", options);
  begin(*runtime, graph, "t");
  EXPECT_EQ(mails, 0);
  loop.run();
  EXPECT_EQ(ended.at(0).value().row.status, RunStatus::completed) << ended[0].value().row.error;
  EXPECT_EQ(mails, 1);
}

TEST_F(Protected, SeveralDependenciesAreTakenInOneOrderByAll) {
  GraphBuilder<EncryptedParcel> builder{"two"};
  builder.node("one", delivering()).depends_on("a").depends_on("b");
  builder.node("other", delivering()).depends_on("b").depends_on("a");
  builder.edge(start, "one").edge(start, "other").edge("one", end).edge("other", end);
  auto graph = std::move(builder).build().value();
  auto runtime = process(graph);
  DependencyOptions options;
  options.concurrency_max = 1;
  runtime->protect("a", options);
  runtime->protect("b", options);
  for (int i = 0; i < 20; ++i) begin(*runtime, graph, "t" + std::to_string(i));
  loop.run();
  EXPECT_EQ(ended.size(), 20u);
  EXPECT_EQ(receiver.delivered, 40);
  EXPECT_EQ(receiver.most_at_once, 1);
}

struct ProtectedCalls : Protected {
  static Graph<EncryptedParcel> asking(RetryPolicy retry = {}) {
    GraphBuilder<EncryptedParcel> graph{"asking"};
    auto node = [](const EncryptedParcel&, Context& context) -> Task<Update<EncryptedParcel>> {
      auto answer = (co_await context.model().complete("What is new?")).value();
      co_return set(&EncryptedParcel::answer, answer);
    };
    graph.node("ask", node).retry(retry).timeout(5s);
    graph.edge(start, "ask").edge("ask", end);
    return std::move(graph).build().value();
  }
};

TEST_F(ProtectedCalls, OfTheModelWaitForTheirTurnOutsideOfTheNodesTime) {
  model.takes(4s).then_always([](const ModelRequest&) { return std::string("Nothing."); });
  auto graph = asking();
  auto runtime = process(graph);
  DependencyOptions options;
  options.concurrency_max = 1;
  runtime->protect("model", options);
  for (int i = 0; i < 4; ++i) begin(*runtime, graph, "t" + std::to_string(i));
  Instant began = clock.now();
  loop.run_until(clock.now() + 1h);
  ASSERT_EQ(ended.size(), 4u);
  for (auto& each : ended) EXPECT_EQ(each.value().row.status, RunStatus::completed);
  EXPECT_EQ(ended.back().value().row.updated_at - began, 16s);
}

TEST_F(ProtectedCalls, OfAModelThatIsAwayAreNotMadeForAWhile) {
  model.takes(1s).then_always([](const ModelRequest&) {
    return Result<std::string>(error(ErrorCode::unavailable, "It is away."));
  });
  auto graph = asking();
  auto runtime = process(graph);
  DependencyOptions options;
  options.failure_threshold = 2;
  runtime->protect("model", options);
  for (int i = 0; i < 5; ++i) begin(*runtime, graph, "t" + std::to_string(i));
  loop.run();
  EXPECT_EQ(model.requests().size(), 5u) << "all were under way by then";
  for (int i = 5; i < 8; ++i) begin(*runtime, graph, "t" + std::to_string(i));
  loop.run();
  EXPECT_EQ(model.requests().size(), 5u);
  EXPECT_THAT(ended.back().value().row.error,
              HasSubstr("Circuit breaker of dependency \"model\" is open"));
}

TEST_F(ProtectedCalls, ThatTakeTooLongCountAsFailed) {
  model.takes(10s).then_always([](const ModelRequest&) { return std::string("Nothing."); });
  auto graph = asking();
  auto runtime = process(graph);
  DependencyOptions options;
  options.failure_threshold = 1;
  runtime->protect("model", options);
  begin(*runtime, graph, "first");
  loop.run();
  begin(*runtime, graph, "second");
  loop.run();
  EXPECT_EQ(model.requests().size(), 1u);
}

TEST(GraphDependencies, TheModelIsNoneThatANodeNames) {
  GraphBuilder<EncryptedParcel> builder{"asking"};
  builder.node("ask", [](const EncryptedParcel&, Context&) { return unchanged<EncryptedParcel>(); })
      .depends_on("model");
  builder.edge(start, "ask").edge("ask", end);
  auto built = std::move(builder).build();
  ASSERT_FALSE(built.ok());
  EXPECT_THAT(built.error().message, HasSubstr("which Belay protects for each call"));
}

TEST(GraphDependencies, AreNoPartOfTheVersion) {
  auto hash_of = [](bool uses) {
    GraphBuilder<EncryptedParcel> builder{"sending"};
    auto node = builder.node(
        "send", [](const EncryptedParcel&, Context&) { return unchanged<EncryptedParcel>(); });
    if (uses) node.depends_on("smtp");
    builder.edge(start, "send").edge("send", end);
    return std::move(builder).build().value().definition()->hash;
  };
  EXPECT_EQ(hash_of(false), hash_of(true));
}

// Process limits of runs.
struct LimitedRuns : Protected {
  std::unique_ptr<Runtime> limited(ProcessLimits limits, const Graph<EncryptedParcel>& graph) {
    RuntimeParts parts{store, loop, clock, random, model};
    parts.process_limits = limits;
    auto runtime = Runtime::open(std::move(parts)).value();
    runtime->add(graph);
    return runtime;
  }
  Result<RunView> enqueue(Runtime& runtime, const Graph<EncryptedParcel>& graph, std::string user) {
    StartOptions options;
    options.user = UserId(std::move(user));
    return block_on(loop, runtime.enqueue(graph, EncryptedParcel{}, options, clock.now()));
  }
};

TEST_F(LimitedRuns, OfAUserBeyondTheLimitAreNotBegunAndNothingIsWritten) {
  auto graph = sending();
  auto runtime = limited({.per_user = 2}, graph);
  for (int i = 0; i < 3; ++i) begin(*runtime, graph, "ana" + std::to_string(i), "ana");
  begin(*runtime, graph, "ben", "ben");
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].error().code, ErrorCode::unavailable);
  EXPECT_EQ(ended[0].error().retry_after, limits::busy_retry_after);
  EXPECT_THAT(ended[0].error().message, HasSubstr("2 runs of user \"ana\""));
  loop.run();
  EXPECT_EQ(all_runs().size(), 3u);
  begin(*runtime, graph, "ana2", "ana");
  loop.run();
  EXPECT_EQ(ended.back().value().row.status, RunStatus::completed) << "there is room again";
}

TEST_F(LimitedRuns, OfTheQueueAreTakenUpAsThereIsRoomAndOfOthersMeanwhile) {
  auto graph = sending();
  auto runtime = limited({.per_user = 2}, graph);
  for (int i = 0; i < 10; ++i) enqueue(*runtime, graph, "ana").value();
  for (int i = 0; i < 2; ++i) enqueue(*runtime, graph, "ben").value();
  WorkerOptions options;
  options.runs_max = 4;
  std::optional<Result<std::size_t>> worked;
  spawned.push_back(
      spawn<Result<std::size_t>>(loop, runtime->run_worker(options),
                                 [&](Result<std::size_t> count) { worked = std::move(count); }));
  loop.run_until(clock.now() + 900ms);
  EXPECT_EQ(receiver.most_at_once, 4) << "two of ana's, two of ben's";
  loop.run_until(clock.now() + 1min);
  runtime->drain();
  loop.run();
  ASSERT_TRUE(worked);
  EXPECT_EQ(worked->value(), 12u);
  for (const RunRow& row : all_runs()) EXPECT_EQ(row.status, RunStatus::completed);
}

TEST_F(LimitedRuns, OfTenantsAndGraphsAreCountedForThemselves) {
  auto graph = sending();
  auto runtime = limited({.per_tenant = 3, .per_graph = 2}, graph);
  for (int i = 0; i < 3; ++i) begin(*runtime, graph, "t" + std::to_string(i));
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_THAT(ended[0].error().message, HasSubstr("2 runs of graph \"sending\""));
  loop.run();
}

TEST_F(LimitedRuns, BeyondTheQueueAreRefusedAndNothingIsWritten) {
  auto graph = sending();
  auto runtime = limited({.queued = 3}, graph);
  for (int i = 0; i < 3; ++i) enqueue(*runtime, graph, "ana").value();
  int commits = store.commits;
  auto refused = enqueue(*runtime, graph, "ana");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(refused.error().retry_after);
  EXPECT_EQ(store.commits, commits);
  EXPECT_EQ(all_runs().size(), 3u);
}

TEST_F(LimitedRuns, AtOnceInTheQueueDoNotPassTheLimitTogether) {
  auto graph = sending();
  auto runtime = limited({.queued = 3}, graph);
  for (int i = 0; i < 8; ++i) {
    spawned.push_back(spawn<Result<RunView>>(
        loop, runtime->enqueue(graph, EncryptedParcel{}, StartOptions{}, clock.now()),
        [this](Result<RunView> view) { ended.push_back(std::move(view)); }));
  }
  loop.run();
  EXPECT_EQ(all_runs().size(), 3u);
}

}  // namespace
}  // namespace belay
