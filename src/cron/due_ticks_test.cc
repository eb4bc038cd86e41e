#include "cron/due_ticks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "tests/support/cron_fixture.h"

namespace belay::cron {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

const Instant kNine = at("2026-11-20T09:00:00Z");
Schedule hourly() { return schedule("0 * * * *", "UTC"); }

TEST(DueTicks, AreThoseSinceTheLastDecision) {
  DueTicks due = due_ticks(hourly(), kNine - minutes(30), kNine);
  EXPECT_THAT(due.fire, ElementsAre(kNine));
  EXPECT_EQ(due.missed, std::nullopt);
  EXPECT_EQ(due.decided, kNine);
  EXPECT_EQ(due.next, kNine + hours(1));
  // The same tick is decided once.
  DueTicks again = due_ticks(hourly(), due.decided, kNine + seconds(1));
  EXPECT_THAT(again.fire, IsEmpty());
  EXPECT_EQ(again.decided, kNine);
  EXPECT_EQ(again.next, kNine + hours(1));
}

TEST(DueTicks, OutsideOfTheCatchUpWindowAreMissed) {
  DueOptions options;
  options.catch_up = hours(2);
  DueTicks due = due_ticks(hourly(), kNine - hours(10), kNine + minutes(30), options);
  EXPECT_EQ(due.missed, (MissedTicks{8, kNine - hours(9), kNine - hours(2)}));
  EXPECT_THAT(due.fire, ElementsAre(kNine - hours(1), kNine));
  EXPECT_EQ(due.decided, kNine);
  // The bound of the window is within it.
  due = due_ticks(hourly(), kNine - hours(10), kNine, options);
  EXPECT_EQ(due.missed, (MissedTicks{7, kNine - hours(9), kNine - hours(3)}));
  EXPECT_THAT(due.fire, ElementsAre(kNine - hours(2), kNine - hours(1), kNine));
}

TEST(DueTicks, ThatAreAllMissedAreDecided) {
  DueTicks due = due_ticks(hourly(), kNine - hours(2), kNine + minutes(30));
  EXPECT_EQ(due.missed, (MissedTicks{2, kNine - hours(1), kNine}));
  EXPECT_THAT(due.fire, IsEmpty());
  EXPECT_EQ(due.decided, kNine);
  EXPECT_EQ(due.next, kNine + hours(1));
}

TEST(DueTicks, FireInPartsIfThereAreMoreThanTheLimit) {
  DueOptions options;
  options.catch_up = days(1);
  options.limit = 2;
  Instant decided = kNine - hours(6);
  std::vector<Instant> fired;
  for (int call = 0; call < 3; ++call) {
    DueTicks due = due_ticks(hourly(), decided, kNine - minutes(1), options);
    EXPECT_EQ(due.missed, std::nullopt);
    fired.insert(fired.end(), due.fire.begin(), due.fire.end());
    decided = due.decided;
    EXPECT_EQ(due.next, decided + hours(1));
  }
  EXPECT_THAT(fired, ElementsAre(kNine - hours(5), kNine - hours(4), kNine - hours(3),
                                 kNine - hours(2), kNine - hours(1)));
  // No limit is treated as 1, and a large one is bounded.
  options.limit = 0;
  EXPECT_EQ(due_ticks(hourly(), kNine - hours(6), kNine, options).fire.size(), 1u);
  options.limit = std::numeric_limits<std::size_t>::max();
  Schedule every_second = schedule("* * * * * *", "UTC");
  EXPECT_EQ(due_ticks(every_second, kNine - hours(6), kNine, options).fire.size(), due_ticks_max);
}

TEST(DueTicks, AreNotRepeatedByAClockThatIsSetBack) {
  DueTicks due = due_ticks(hourly(), kNine, kNine - hours(3));
  EXPECT_THAT(due.fire, IsEmpty());
  EXPECT_EQ(due.missed, std::nullopt);
  EXPECT_EQ(due.decided, kNine);
  EXPECT_EQ(due.next, kNine + hours(1));
}

TEST(DueTicks, OfTenYearsAreCountedAndNotListed) {
  Schedule every_second = schedule("* * * * * *", "Europe/Madrid");
  Instant now = kNine + days(3'652);
  DueTicks due = due_ticks(every_second, kNine, now);
  EXPECT_EQ(due.missed, (MissedTicks{3'652 * 86'400 - 61, kNine + seconds(1), now - seconds(61)}));
  EXPECT_EQ(due.fire.size(), 61u);
  EXPECT_EQ(due.decided, now);
}

TEST(DueTicks, OfAnyInstantsAreBounded) {
  DueOptions options;
  options.catch_up = microseconds::max();
  for (const char* text : {"* * * * * *", "0 9 * * *", "@every 1s", "0 0 29 2 +MON"}) {
    Schedule each = schedule(text, "America/New_York");
    DueTicks due = due_ticks(each, Instant::min(), Instant::max(), options);
    EXPECT_EQ(due.missed, std::nullopt) << text;
    EXPECT_EQ(due.fire.size(), 100u) << text;
    EXPECT_EQ(due.fire.front(), *each.next(Instant::min())) << text;
    options.catch_up = microseconds::min();
    due = due_ticks(each, Instant::min(), Instant::max(), options);
    EXPECT_EQ(due.missed->first, *each.next(Instant::min())) << text;
    EXPECT_EQ(due.next, std::nullopt) << text;
    EXPECT_EQ(due_ticks(each, Instant::max(), Instant::min(), options).next, std::nullopt) << text;
    options.catch_up = microseconds::max();
  }
}

TEST(DueTicks, OfAShortCatchUpWindowCanStillFire) {
  DueOptions options;
  options.catch_up = seconds(0);
  EXPECT_THAT(due_ticks(hourly(), kNine - hours(1), kNine + seconds(10), options).fire,
              ElementsAre(kNine));
  EXPECT_THAT(due_ticks(hourly(), kNine - hours(1), kNine + seconds(11), options).fire, IsEmpty());
}

TEST(DueTicks, OfARepeatedHourFireOnce) {
  Schedule half_past_two = schedule("30 2 * * *", "Europe/Madrid");
  Instant first = at("2026-10-25T00:30:00Z");
  DueTicks due = due_ticks(half_past_two, first - hours(1), first + seconds(5));
  EXPECT_THAT(due.fire, ElementsAre(first));
  due = due_ticks(half_past_two, due.decided, first + hours(1) + seconds(5));
  EXPECT_THAT(due.fire, IsEmpty());
  EXPECT_EQ(due.missed, std::nullopt);
}

// Whatever a clock does, each tick up to its latest time is decided once: it fires, or is missed.
TEST(DueTicks, AreDecidedOnceEachByAClockThatJumps) {
  std::mt19937_64 random(20'262);
  auto number = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (const char* text : {"*/10 * * * * *", "*/20 * * * *", "30 1,2 * * *", "@every 47m"}) {
    Schedule each = schedule(text, "Europe/Madrid");
    const Instant start = at("2026-10-24T12:00:00Z");
    Instant decided = start;
    Instant now = start;
    Instant latest = start;
    std::int64_t count = 0;
    Instant last_fired = start;
    for (int step = 0; step < 300; ++step) {
      now += number(0, 9) == 0 ? seconds(number(-7'200, 7'200)) : seconds(number(0, 600));
      DueOptions options;
      options.catch_up = seconds(number(0, 1'200));
      options.limit = static_cast<std::size_t>(number(1, 20));
      DueTicks due = due_ticks(each, decided, now, options);
      count += due.missed ? due.missed->count : 0;
      count += static_cast<std::int64_t>(due.fire.size());
      for (Instant tick : due.fire) {
        EXPECT_GT(tick, last_fired);
        EXPECT_LE(tick, now);
        EXPECT_TRUE(each.is_tick(tick));
        last_fired = tick;
      }
      EXPECT_GE(due.decided, decided);
      decided = due.decided;
      latest = std::max(latest, now);
      EXPECT_EQ(count, each.count(start, decided)) << text;
      EXPECT_EQ(due.next, each.next(decided));
    }
    EXPECT_GT(count, 1) << text;
    DueOptions rest;
    rest.limit = due_ticks_max;
    DueTicks due = due_ticks(each, decided, latest, rest);
    count += (due.missed ? due.missed->count : 0) + static_cast<std::int64_t>(due.fire.size());
    EXPECT_EQ(count, each.count(start, latest)) << text;
  }
}

}  // namespace
}  // namespace belay::cron
