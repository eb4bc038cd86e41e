// Tests the limit of queued runs with concurrent requests.

#include <gmock/gmock.h>

#include "tests/support/crashing_store_fixture.h"
#include "tests/support/slow_store.h"

namespace belay {
namespace {

using namespace std::chrono_literals;

struct Letter {
  std::vector<std::string> log{};
};

struct QueueLimit : CrashingStoreFixture {
  static Graph<Letter> sending() {
    GraphBuilder<Letter> graph{"sending"};
    graph.node("send", [](const Letter&, Context&) { return append(&Letter::log, "sent"); });
    graph.edge(start, "send").edge("send", end);
    return std::move(graph).build().value();
  }
  void enqueue(Runtime& runtime, std::vector<Result<RunView>>& ended) {
    spawned.push_back(spawn<Result<RunView>>(
        loop, runtime.enqueue(sending(), Letter{}, StartOptions{}, clock.now()),
        [&ended](Result<RunView> view) { ended.push_back(std::move(view)); }));
  }

  std::vector<Spawned> spawned;
};

TEST_F(QueueLimit, HoldsForAStartWhoseCountOfTheQueueIsOldWhenItComes) {
  int refused = 0;
  for (int late = 1; late <= 4; ++late) {
    auto memory = open_memory_store(clock, random);
    SlowStore slow(*memory);
    RuntimeParts parts{slow, loop, clock, random, model};
    parts.process_limits = {.queued = 3};
    auto runtime = Runtime::open(std::move(parts)).value();
    runtime->add(sending());
    std::vector<Result<RunView>> ended;
    for (int i = 0; i < 2; ++i) enqueue(*runtime, ended);
    loop.run();
    ASSERT_EQ(ended.size(), 2u);
    slow.stale_read = slow.reads + late;
    enqueue(*runtime, ended);
    loop.run_until(clock.now() + 1s);
    enqueue(*runtime, ended);
    loop.run();
    ASSERT_EQ(ended.size(), 4u);
    refused += static_cast<int>(
        std::count_if(ended.begin(), ended.end(), [](const auto& view) { return !view.ok(); }));
    ended.clear();
    enqueue(*runtime, ended);
    loop.run();
    EXPECT_FALSE(ended.front().ok()) << "the queue is full";
    spawned.clear();
  }
  EXPECT_EQ(refused, 4) << "one each time";
}

}  // namespace
}  // namespace belay
