#include "base/dependency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/testing.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

struct Dependencies : ::testing::Test {
  testing::SimulatedClock clock{*instant_from("2026-11-21T12:00:00Z")};
  testing::SeededRandom random{7};
  testing::SimulatedLoop loop{clock};
  std::unique_ptr<Dependency> smtp;
  std::vector<int> begun;
  std::vector<Error> refused;
  std::size_t at_once = 0;
  std::size_t most_at_once = 0;
  int ended = 0;
  std::vector<Spawned> users;

  Dependency& with(DependencyOptions options) {
    smtp = std::make_unique<Dependency>("smtp", options, clock);
    return *smtp;
  }
  ~Dependencies() override { users.clear(); }

  Task<Done> use(int number, std::chrono::milliseconds time, Dependency::Verdict verdict) {
    auto slot = co_await smtp->enter();
    if (!slot.ok()) {
      refused.push_back(slot.error());
      co_return Done{};
    }
    begun.push_back(number);
    most_at_once = std::max(most_at_once, ++at_once);
    co_await sleep_for(time);
    --at_once;
    ++ended;
    slot->ended(verdict);
    co_return Done{};
  }
  void begin(int number, std::chrono::milliseconds time = 1s,
             Dependency::Verdict verdict = Dependency::Verdict::worked) {
    users.push_back(spawn<Done>(loop, use(number, time, verdict), [](Done) {}));
  }
};

TEST_F(Dependencies, LetsInAsManyAsMayUseItAndTheOthersInTheirOrder) {
  with({.concurrency_max = 2});
  for (int i = 1; i <= 6; ++i) begin(i);
  EXPECT_THAT(begun, ElementsAre(1, 2));
  EXPECT_EQ(smtp->waiting(), 4u);
  loop.run();
  EXPECT_THAT(begun, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(most_at_once, 2u);
  EXPECT_EQ(smtp->in_use(), 0u);
}

TEST_F(Dependencies, AreNeverUsedByMoreThanMayUnderTenThousand) {
  with({.concurrency_max = 7, .queue_max = 10'000, .failure_threshold = 0});
  for (int i = 0; i < 10'000; ++i) {
    auto verdict = static_cast<Dependency::Verdict>(random.bits() % 3);
    begin(i, std::chrono::milliseconds(random.bits() % 50), verdict);
  }
  loop.run();
  EXPECT_EQ(ended, 10'000);
  EXPECT_EQ(most_at_once, 7u);
  EXPECT_TRUE(std::is_sorted(begun.begin(), begun.end()));
}

TEST_F(Dependencies, SendAwayWhoFindsTheQueueFull) {
  with({.concurrency_max = 1, .queue_max = 2});
  for (int i = 1; i <= 4; ++i) begin(i);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].code, ErrorCode::unavailable);
  EXPECT_TRUE(refused[0].retry_after);
  loop.run();
  EXPECT_THAT(begun, ElementsAre(1, 2, 3));
}

TEST_F(Dependencies, AreLeftByThoseWhoWaitNoLonger) {
  with({.concurrency_max = 1});
  for (int i = 1; i <= 4; ++i) begin(i);
  users[1].reset();
  EXPECT_EQ(smtp->waiting(), 2u);
  users[0].reset();  // destroyed while it uses its slot: 3 is next
  users[2].reset();  // destroyed after it was called, before it continued
  loop.run();
  EXPECT_THAT(begun, ElementsAre(1, 4));
  EXPECT_EQ(smtp->in_use(), 0u);
}

TEST_F(Dependencies, SendEverybodyAwayOnceTheCircuitOpens) {
  with({.concurrency_max = 1, .failure_threshold = 2, .open_duration = 10s});
  begin(1, 1s, Dependency::Verdict::failed);
  begin(2, 1s, Dependency::Verdict::failed);
  begin(3);
  begin(4);
  loop.run();
  EXPECT_THAT(begun, ElementsAre(1, 2));
  ASSERT_EQ(refused.size(), 2u);
  EXPECT_EQ(refused[0].code, ErrorCode::unavailable);
  EXPECT_EQ(refused[0].retry_after, 10s);
  clock.move(4s);
  begin(5);
  EXPECT_EQ(refused.at(2).retry_after, 6s);
}

TEST_F(Dependencies, AreTriedOutByAFewWhileTheOthersWait) {
  with({.failure_threshold = 1, .open_duration = 10s, .half_open_max = 1});
  begin(1, 1s, Dependency::Verdict::failed);
  loop.run();
  clock.move(10s);
  for (int i = 2; i <= 5; ++i) begin(i);
  EXPECT_THAT(begun, ElementsAre(1, 2));
  EXPECT_EQ(smtp->waiting(), 3u);
  loop.run();
  EXPECT_THAT(begun, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(most_at_once, 3u) << "the circuit is closed: all at once";
}

TEST_F(Dependencies, ThatFailTheirTrialSendTheOthersAway) {
  with({.failure_threshold = 1, .open_duration = 10s, .half_open_max = 1});
  begin(1, 1s, Dependency::Verdict::failed);
  loop.run();
  clock.move(10s);
  begin(2, 1s, Dependency::Verdict::failed);
  begin(3);
  loop.run();
  EXPECT_THAT(begun, ElementsAre(1, 2));
  EXPECT_EQ(refused.size(), 1u);
}

}  // namespace
}  // namespace belay
