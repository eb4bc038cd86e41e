#include <gtest/gtest.h>

#include "belay/testing.h"

namespace belay::testing {
namespace {

using namespace std::chrono_literals;

struct SimulatedTime : ::testing::Test {
  SimulatedClock clock{*instant_from("2026-01-01T00:00:00Z")};
  SimulatedLoop loop{clock};
  Instant began = clock.now();
};

Task<Done> sleep_twice(std::vector<std::string>& log, std::string name, milliseconds nap) {
  co_await sleep_for(nap);
  log.push_back(name + "1");
  co_await sleep_for(nap);
  log.push_back(name + "2");
  co_return Done{};
}

TEST_F(SimulatedTime, JumpsToTheNextTimerWhenNothingElseCanHappen) {
  std::vector<std::string> log;
  auto slow = spawn<Done>(loop, sleep_twice(log, "slow", 2h), [](Done) {});
  auto fast = spawn<Done>(loop, sleep_twice(log, "fast", 90min), [](Done) {});
  loop.run();
  EXPECT_EQ(log, (std::vector<std::string>{"fast1", "slow1", "fast2", "slow2"}));
  EXPECT_EQ(clock.now() - began, 4h);
}

TEST_F(SimulatedTime, StandsAtTheGivenMomentAfterRunUntil) {
  std::vector<std::string> log;
  auto task = spawn<Done>(loop, sleep_twice(log, "a", 1h), [](Done) {});
  loop.run_until(began + 90min);
  EXPECT_EQ(log, (std::vector<std::string>{"a1"}));
  EXPECT_EQ(clock.now() - began, 90min);
}

TEST_F(SimulatedTime, ADestroyedTaskLeavesNoTimerBehind) {
  std::vector<std::string> log;
  {
    auto task = spawn<Done>(loop, sleep_twice(log, "a", 1h), [](Done) {});
  }
  loop.run();
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(clock.now(), began);
}

TEST_F(SimulatedTime, ACancelledTimerDoesNotFire) {
  int fired = 0;
  auto first = loop.call_after(1s, [&] { ++fired; });
  loop.call_after(2s, [&] { ++fired; });
  loop.cancel(first);
  loop.run();
  EXPECT_EQ(fired, 1);
}

TEST_F(SimulatedTime, BlockOnReturnsWhatTheTaskReturns) {
  ScriptedModel model;
  model.takes(5s).replies("first").fails(error(ErrorCode::unavailable, "busy"));
  EXPECT_EQ(*block_on(loop, model.complete("one")), "first");
  EXPECT_EQ(block_on(loop, model.complete("two")).error().message, "busy");
  EXPECT_EQ(block_on(loop, model.complete("three")).error().code, ErrorCode::unavailable);
  EXPECT_EQ(model.requests().size(), 3u);
  EXPECT_EQ(clock.now() - began, 15s);
}

TEST(SeededRandom, GivesTheSameBitsForTheSameSeed) {
  SeededRandom first(42), second(42), other(43);
  for (int i = 0; i < 100; ++i) {
    std::uint64_t bits = first.bits();
    EXPECT_EQ(bits, second.bits());
    EXPECT_NE(bits, other.bits());
  }
}

}  // namespace
}  // namespace belay::testing
