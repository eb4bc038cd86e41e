#include "base/circuit_breaker.h"

#include <gtest/gtest.h>

#include <random>

namespace belay {
namespace {

using namespace std::chrono_literals;
using State = CircuitBreaker::State;
using Verdict = CircuitBreaker::Verdict;

struct Breaker : ::testing::Test {
  Instant now = *instant_from("2026-11-21T12:00:00Z");
  DependencyOptions options = [] {
    DependencyOptions made;
    made.failure_threshold = 3;
    made.open_duration = 10s;
    made.half_open_max = 2;
    return made;
  }();
  CircuitBreaker breaker{options};

  bool use(Verdict verdict) {
    auto pass = breaker.enter(now);
    if (pass) breaker.ended(*pass, verdict, now);
    return pass.has_value();
  }
  void open() {
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(use(Verdict::failed));
    ASSERT_EQ(breaker.state(now), State::open);
  }
};

TEST_F(Breaker, OpensAfterFailuresInARow) {
  EXPECT_TRUE(use(Verdict::failed));
  EXPECT_TRUE(use(Verdict::failed));
  EXPECT_TRUE(use(Verdict::worked)) << "the row is broken";
  EXPECT_TRUE(use(Verdict::failed));
  EXPECT_TRUE(use(Verdict::failed));
  EXPECT_EQ(breaker.state(now), State::closed);
  EXPECT_TRUE(use(Verdict::failed));
  EXPECT_EQ(breaker.state(now), State::open);
  EXPECT_FALSE(use(Verdict::worked));
}

TEST_F(Breaker, WhatSaysNothingNeitherBreaksTheRowNorAddsToIt) {
  EXPECT_TRUE(use(Verdict::failed));
  EXPECT_TRUE(use(Verdict::unknown));
  EXPECT_TRUE(use(Verdict::failed));
  EXPECT_TRUE(use(Verdict::unknown));
  EXPECT_EQ(breaker.state(now), State::closed);
  EXPECT_TRUE(use(Verdict::failed));
  EXPECT_EQ(breaker.state(now), State::open);
}

TEST_F(Breaker, SaysHowLongItStaysOpen) {
  EXPECT_FALSE(breaker.open_duration(now));
  open();
  EXPECT_EQ(breaker.open_duration(now), 10s);
  now += 4s;
  EXPECT_EQ(breaker.open_duration(now), 6s);
  now += 6s;
  EXPECT_FALSE(breaker.open_duration(now));
  EXPECT_EQ(breaker.state(now), State::half_open);
}

TEST_F(Breaker, LetsAFewTryItOutAndClosesOnceTheyAllWorked) {
  open();
  now += 10s;
  auto first = breaker.enter(now);
  auto second = breaker.enter(now);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(breaker.enter(now)) << "two probes are out";
  breaker.ended(*first, Verdict::worked, now);
  EXPECT_EQ(breaker.state(now), State::half_open);
  EXPECT_FALSE(breaker.enter(now)) << "one worked, the other one is still out";
  breaker.ended(*second, Verdict::worked, now);
  EXPECT_EQ(breaker.state(now), State::closed);
}

TEST_F(Breaker, OpensAgainWhenOneOfThemFails) {
  open();
  now += 10s;
  auto first = breaker.enter(now);
  auto second = breaker.enter(now);
  breaker.ended(*first, Verdict::failed, now);
  EXPECT_EQ(breaker.open_duration(now), 10s);
  breaker.ended(*second, Verdict::worked, now);
  EXPECT_EQ(breaker.open_duration(now), 10s) << "it was let through before";
}

TEST_F(Breaker, AProbeThatSaysNothingLeavesItsPlaceToAnother) {
  open();
  now += 10s;
  EXPECT_TRUE(use(Verdict::unknown));
  EXPECT_TRUE(use(Verdict::unknown));
  EXPECT_TRUE(use(Verdict::worked));
  EXPECT_TRUE(use(Verdict::worked));
  EXPECT_EQ(breaker.state(now), State::closed);
}

TEST_F(Breaker, WhatWasLetThroughBeforeItOpenedDoesNotCountAfterwards) {
  auto late = breaker.enter(now);
  open();
  now += 10s;
  EXPECT_EQ(breaker.state(now), State::half_open);
  breaker.ended(*late, Verdict::failed, now);
  EXPECT_EQ(breaker.state(now), State::half_open);
}

TEST_F(Breaker, NeverOpensWhereItIsNotAskedTo) {
  options.failure_threshold = 0;
  breaker = CircuitBreaker(options);
  for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(use(Verdict::failed));
}

// Random sequences of events: never more than half_open_max probes, and no use passes while open.
TEST_F(Breaker, HoldsItsLimitsInAnyOrderOfEvents) {
  std::mt19937 random(11);
  std::vector<CircuitBreaker::Pass> out;
  int opened = 0;
  for (int i = 0; i < 100'000; ++i) {
    now += std::chrono::milliseconds(random() % 500);
    State before = breaker.state(now);
    if (random() % 2 == 0) {
      auto pass = breaker.enter(now);
      if (before == State::closed) {
        EXPECT_TRUE(pass);
      }
      if (before == State::open) {
        EXPECT_FALSE(pass);
      }
      if (pass) out.push_back(*pass);
    } else if (!out.empty()) {
      std::size_t which = random() % out.size();
      auto pass = out[which];
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(which));
      breaker.ended(pass, static_cast<Verdict>(random() % 3), now);
    }
    State after = breaker.state(now);
    if (after == State::open && before != State::open) ++opened;
    if (before == State::closed) {
      EXPECT_NE(after, State::half_open);
    }
    if (before == State::open) {
      EXPECT_EQ(after, State::open);
    }
  }
  EXPECT_GT(opened, 100);
}

TEST(CircuitBreakers, OpenAtTheNextFailureOnceTheyAreWarnedAndNotBefore) {
  DependencyOptions options;
  options.failure_threshold = 5;
  CircuitBreaker breaker(options);
  Instant now{};
  breaker.warn();
  auto pass = breaker.enter(now);
  ASSERT_TRUE(pass);
  breaker.ended(*pass, CircuitBreaker::Verdict::worked, now);
  breaker.ended(*breaker.enter(now), CircuitBreaker::Verdict::failed, now);
  EXPECT_EQ(breaker.state(now), CircuitBreaker::State::closed) << "a success makes up for it";
  breaker.warn();
  breaker.ended(*breaker.enter(now), CircuitBreaker::Verdict::failed, now);
  EXPECT_EQ(breaker.state(now), CircuitBreaker::State::open);
}

TEST(CircuitBreakers, ThatNeverOpenAreNotOpenedByAWarning) {
  DependencyOptions options;
  options.failure_threshold = 0;
  CircuitBreaker breaker(options);
  Instant now{};
  breaker.warn();
  breaker.ended(*breaker.enter(now), CircuitBreaker::Verdict::failed, now);
  EXPECT_EQ(breaker.state(now), CircuitBreaker::State::closed);
}

}  // namespace
}  // namespace belay
