#include "http/asio_loop.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "belay/limits.h"
#include "belay/task.h"

namespace belay::http {
namespace {

using namespace std::chrono_literals;

TEST(AsioLoop, RunsWhatIsPostedInItsOrder) {
  auto loop = make_asio_loop();
  std::vector<int> order;
  loop->post([&] {
    order.push_back(1);
    loop->post([&] {
      order.push_back(3);
      loop->stop();
    });
    order.push_back(2);
  });
  loop->run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(AsioLoop, RunsAgainAfterItWasStopped) {
  auto loop = make_asio_loop();
  loop->stop();
  loop->run();
  int ran = 0;
  for (int i = 0; i < 3; ++i) {
    loop->post([&] {
      ++ran;
      loop->stop();
    });
    loop->run();
    EXPECT_EQ(ran, i + 1);
  }
}

TEST(AsioLoop, FiresTimersInTheOrderOfTheirTimes) {
  auto loop = make_asio_loop();
  std::vector<int> order;
  loop->call_after(20ms, [&] { order.push_back(3); });
  loop->call_after(0ms, [&] { order.push_back(1); });
  loop->call_after(10ms, [&] { order.push_back(2); });
  auto cancelled = loop->call_after(5ms, [&] { order.push_back(0); });
  loop->cancel(cancelled);
  loop->call_after(30ms, [&] { loop->stop(); });
  loop->run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
  loop->cancel(cancelled);  // fired long ago: no effect
}

TEST(AsioLoop, LetsATimerSetAndCancelOthers) {
  auto loop = make_asio_loop();
  int fired = 0;
  Executor::TimerId later = loop->call_after(10ms, [&] { fired += 100; });
  loop->call_after(1ms, [&] {
    loop->cancel(later);
    loop->call_after(0ms, [&] { ++fired; });
    loop->call_after(15ms, [&] { loop->stop(); });
  });
  loop->run();
  EXPECT_EQ(fired, 1);
}

TEST(AsioLoop, TakesWorkFromOtherThreads) {
  auto loop = make_asio_loop();
  int ran = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1'000; ++i) {
        loop->post([&] {
          if (++ran == 4'000) loop->stop();
        });
      }
    });
  }
  loop->run();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran, 4'000);
}

TEST(AsioLoop, RunsTasksAndBlockingCalls) {
  auto loop = make_asio_loop();
  auto sum = [](int a, int b) -> Task<int> {
    co_await sleep_for(1ms);
    std::function<Result<int>()> add = [a, b] { return Result<int>(a + b); };
    Result<int> added = co_await on_blocking_pool<int>(std::move(add));
    co_return *added;
  };
  EXPECT_EQ(block_on(*loop, sum(2, 3)), 5);
}

TEST(AsioLoop, RefusesBlockingCallsWhenItsPoolIsFull) {
  auto loop = make_asio_loop();
  std::promise<void> release;
  auto held = release.get_future().share();
  std::size_t accepted = 0;
  while (loop->offload([held] { held.wait(); })) ++accepted;
  EXPECT_GE(accepted, limits::blocking_queue_max);
  EXPECT_LE(accepted, limits::blocking_queue_max + limits::blocking_threads_default);
  release.set_value();
}

TEST(AsioLoop, DestroysWhatHasNotRun) {
  auto witness = std::make_shared<int>(0);
  {
    auto loop = make_asio_loop();
    loop->post([witness] {});
    loop->call_after(1h, [witness] {});
    EXPECT_EQ(witness.use_count(), 3);
  }
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(AsioLoop, OutlivesTasksThatWaitOnItsTimers) {
  auto loop = make_asio_loop();
  auto wait = []() -> Task<int> {
    co_await sleep_for(1h);
    co_return 1;
  };
  Spawned running = spawn<int>(*loop, wait(), [](int) {});
  auto shared = std::make_shared<Spawned>(std::move(running));
  loop->post([shared] {});  // destroyed with the loop's queue; it then cancels its timer
  shared.reset();
  loop.reset();
}

}  // namespace
}  // namespace belay::http
