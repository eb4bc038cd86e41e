#include "store/postgres/server_clock.h"

#include <gtest/gtest.h>

namespace belay::postgres {
namespace {

using namespace std::chrono_literals;

class HandClock final : public Clock {
 public:
  Instant now() override { return at; }
  Instant at{std::chrono::hours(24 * 365 * 50)};
};

class ServerClocks : public testing::Test {
 protected:
  // Simulates a server that is ahead by `ahead` and replies after half of `round_trip`.
  void ask(std::chrono::microseconds ahead, std::chrono::microseconds round_trip) {
    Instant before = own.at;
    own.at += round_trip;
    clock.learn(before, before + round_trip / 2 + ahead, own.at);
  }
  std::chrono::microseconds ahead() { return clock.now() - own.at; }

  HandClock own;
  ServerClock clock{own};
};

TEST_F(ServerClocks, OneThatAgreesIsLeftAlone) {
  ask(0us, 300us);
  EXPECT_EQ(ahead(), 0us);
  ask(100us, 300us);
  EXPECT_EQ(ahead(), 0us) << "the reply's way may have taken that long";
}

TEST_F(ServerClocks, OneThatIsMinutesOffIsFollowed) {
  for (auto off : {5min, -5min}) {
    ask(off, 2ms);
    EXPECT_LE(std::chrono::abs(ahead() - off), 1ms);
  }
}

TEST_F(ServerClocks, ASlowReplyTellsNothingThatAQuickOneHasNotToldBetter) {
  ask(1h, 200us);
  auto known = ahead();
  ask(1h + 20ms, 800ms);
  EXPECT_EQ(ahead(), known);
  ask(1h + 500ms, 200us);
  EXPECT_LE(std::chrono::abs(ahead() - (1h + 500ms)), 100us) << "a clock that was set is followed";
}

TEST_F(ServerClocks, AReplyOverWhichOurClockWasSetBackCountsForNothing) {
  clock.learn(own.at, own.at + 1h, own.at - 1s);
  EXPECT_EQ(ahead(), 0us);
}

}  // namespace
}  // namespace belay::postgres
