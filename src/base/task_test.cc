#include "belay/task.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "belay/limits.h"

namespace belay {
namespace {

using std::chrono::milliseconds;

Task<int> number(int value) { co_return value; }

Task<int> failing() {
  detail::throw_failure(error(ErrorCode::conflict, "It failed."));
  co_return 0;
}

Task<int> sum_up_to(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += co_await number(1);
  co_return sum;
}

Task<int> after(milliseconds delay, int value) {
  co_await sleep_for(delay);
  co_return value;
}

// Appends "gone" to `out` when it is destroyed.
struct Witness {
  explicit Witness(std::string* to) : out(to) {}
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;
  ~Witness() { *out += "gone"; }
  std::string* out;
};

Task<Done> wait_with(Task<int> wait, std::string* out) {
  Witness witness(out);
  co_await wait;
  *out += "resumed ";
  co_return Done{};
}

Task<int> of_completion(Completion<int> completion) { co_return co_await completion; }

Task<int> of_pool(std::function<Result<int>()> work) {
  auto result = co_await on_blocking_pool<int>(std::move(work));
  co_return result.ok() ? *result : -1;
}

// Runs the loop for `time`, so that an event that must not happen would have happened.
void run_for(EventLoop& loop, milliseconds time) {
  loop.post([&] { loop.call_after(time, [&] { loop.stop(); }); });
  loop.run();
}

TEST(Task, GivesItsValueAndStartsOnlyWhenAwaited) {
  auto loop = make_event_loop();
  bool started = false;
  auto work = [](bool* flag) -> Task<int> {
    *flag = true;
    co_return 7;
  };
  Task<int> task = work(&started);
  EXPECT_FALSE(started);
  EXPECT_EQ(block_on(*loop, std::move(task)), 7);
  EXPECT_TRUE(started);
}

TEST(Task, RethrowsWhatItThrewWhereItIsAwaited) {
  auto loop = make_event_loop();
  auto catching = []() -> Task<std::string> {
    std::string message = "nothing";
    try {
      (void)co_await failing();
    } catch (const Failure& failure) {
      message = failure.error().message;
    }
    co_return message;
  };
  EXPECT_EQ(block_on(*loop, catching()), "It failed.");
}

TEST(Task, ALoopOfAwaitsThatNeverWaitNeedsNoStack) {
  auto loop = make_event_loop();
  EXPECT_EQ(block_on(*loop, sum_up_to(100'000)), 100'000);
}

TEST(Task, ALoopOfCompletionsThatAreThereNeedsNoStack) {
  auto loop = make_event_loop();
  auto work = []() -> Task<int> {
    int sum = 0;
    for (int i = 0; i < 100'000; ++i) {
      Completion<int> completion;
      completion.complete(1);
      sum += co_await completion;
    }
    co_return sum;
  };
  EXPECT_EQ(block_on(*loop, work()), 100'000);
}

TEST(Completion, ArrivesFromAnotherThreadAndOnlyOnce) {
  auto loop = make_event_loop();
  for (int i = 0; i < 100; ++i) {
    Completion<int> completion;
    std::thread other([completion] {
      completion.complete(7);
      completion.complete(8);
    });
    EXPECT_EQ(block_on(*loop, of_completion(completion)), 7);
    other.join();
  }
}

TEST(Task, DestroyingOneThatSleepsNeverResumesIt) {
  auto loop = make_event_loop();
  std::string seen;
  Spawned waiting;
  loop->post([&] {
    waiting = spawn<Done>(*loop, wait_with(after(milliseconds(5), 1), &seen), [](Done) {});
    waiting.reset();
  });
  run_for(*loop, milliseconds(20));
  EXPECT_EQ(seen, "gone");
}

TEST(Task, DestroyingOneThatAwaitsACompletionNeverResumesIt) {
  auto loop = make_event_loop();
  std::string seen;
  Spawned waiting;
  Completion<int> completion;
  loop->post([&] {
    waiting = spawn<Done>(*loop, wait_with(of_completion(completion), &seen), [](Done) {});
    completion.complete(1);  // posted, but not resumed yet
    waiting.reset();
  });
  run_for(*loop, milliseconds(5));
  EXPECT_EQ(seen, "gone");
  completion.complete(2);
}

TEST(Task, DestroyingOneThatAwaitsTheBlockingPoolLetsTheCallEndAlone) {
  auto loop = make_event_loop();
  std::string seen;
  std::promise<void> go;
  std::atomic<bool> ended = false;
  auto blocking = [&]() -> Result<int> {
    go.get_future().wait();
    ended = true;
    return 1;
  };
  loop->post([&] {
    Spawned waiting = spawn<Done>(*loop, wait_with(of_pool(blocking), &seen), [](Done) {});
    waiting.reset();
    go.set_value();
  });
  run_for(*loop, milliseconds(20));
  EXPECT_EQ(seen, "gone");
  loop.reset();  // joins the pool
  EXPECT_TRUE(ended);
}

TEST(Task, OneAwaitedByADestroyedOneIsDestroyedWithIt) {
  auto loop = make_event_loop();
  std::string outer;
  std::string inner;
  auto nested = [](std::string* out) -> Task<int> {
    auto waiting = wait_with(after(milliseconds(5), 1), out);
    co_await waiting;
    co_return 1;
  };
  loop->post([&] {
    Spawned waiting = spawn<Done>(*loop, wait_with(nested(&inner), &outer), [](Done) {});
    waiting.reset();
  });
  run_for(*loop, milliseconds(20));
  EXPECT_EQ(outer, "gone");
  EXPECT_EQ(inner, "gone");
}

TEST(Spawn, RunsManyTasksSideBySide) {
  auto loop = make_event_loop();
  std::vector<Spawned> running;
  std::vector<int> ended;
  loop->post([&] {
    for (int i = 3; i > 0; --i) {
      running.push_back(spawn<int>(*loop, after(milliseconds(10 * i), i), [&](int value) {
        ended.push_back(value);
        if (ended.size() == 3) loop->stop();
      }));
    }
  });
  loop->run();
  EXPECT_EQ(ended, (std::vector<int>{1, 2, 3}));
}

TEST(EventLoop, FiresTimersInTheirOrderAndNotTheCancelledOnes) {
  auto loop = make_event_loop();
  std::vector<int> fired;
  loop->post([&] {
    loop->call_after(milliseconds(9), [&] { loop->stop(); });
    loop->call_after(milliseconds(6), [&] { fired.push_back(3); });
    loop->call_after(milliseconds(3), [&] { fired.push_back(1); });
    loop->call_after(milliseconds(3), [&] { fired.push_back(2); });
    auto cancelled = loop->call_after(milliseconds(4), [&] { fired.push_back(9); });
    loop->cancel(cancelled);
    loop->cancel(cancelled);
  });
  loop->run();
  EXPECT_EQ(fired, (std::vector<int>{1, 2, 3}));
}

TEST(EventLoop, RunsWhatIsPostedFromManyThreadsEachInItsOrder) {
  auto loop = make_event_loop();
  constexpr int threads = 4;
  constexpr int posts = 1'000;
  std::vector<int> last(threads, -1);
  int left = threads * posts;
  std::vector<std::thread> posters;
  for (int thread = 0; thread < threads; ++thread) {
    posters.emplace_back([&, thread] {
      for (int i = 0; i < posts; ++i) {
        loop->post([&, thread, i] {
          auto index = static_cast<std::size_t>(thread);
          EXPECT_EQ(last[index], i - 1);
          last[index] = i;
          if (--left == 0) loop->stop();
        });
      }
    });
  }
  loop->run();
  for (std::thread& poster : posters) poster.join();
  EXPECT_EQ(left, 0);
}

TEST(BlockingPool, GivesBackWhatTheCallReturned) {
  auto loop = make_event_loop();
  EXPECT_EQ(block_on(*loop, of_pool([]() -> Result<int> { return 7; })), 7);
  auto failed = []() -> Result<int> { return error(ErrorCode::not_found, "None."); };
  EXPECT_EQ(block_on(*loop, of_pool(failed)), -1);
}

TEST(BlockingPool, RefusesMoreThanItsQueueHolds) {
  auto loop = make_event_loop();
  std::promise<void> go;
  std::shared_future<void> gone = go.get_future().share();
  std::atomic<std::size_t> started = 0;
  auto blocking = [gone, &started] {
    ++started;
    gone.wait();
  };
  for (std::size_t i = 0; i < limits::blocking_threads_default; ++i) {
    EXPECT_TRUE(loop->offload(blocking));
  }
  while (started < limits::blocking_threads_default) std::this_thread::yield();
  for (std::size_t i = 0; i < limits::blocking_queue_max; ++i) {
    EXPECT_TRUE(loop->offload(blocking));
  }
  auto refused =
      block_on<Result<int>>(*loop, on_blocking_pool<int>([]() -> Result<int> { return 1; }));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  go.set_value();
  loop.reset();
  EXPECT_EQ(started, limits::blocking_threads_default + limits::blocking_queue_max);
}

TEST(BlockingPool, HasAsManyThreadsAsItsLoopWasMadeWith) {
  constexpr std::size_t threads = 7;
  auto loop = make_event_loop(threads);
  std::promise<void> go;
  std::shared_future<void> gone = go.get_future().share();
  std::atomic<std::size_t> started = 0;
  for (std::size_t i = 0; i < threads + 1; ++i) {
    EXPECT_TRUE(loop->offload([gone, &started] {
      ++started;
      gone.wait();
    }));
  }
  while (started < threads) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(started, threads);
  go.set_value();
  loop.reset();
  EXPECT_EQ(started, threads + 1);
}

}  // namespace
}  // namespace belay
