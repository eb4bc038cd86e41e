#include "cron/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cron_fixture.h"

namespace belay::cron {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::ElementsAre;

TEST(Schedules, FireAtTheirTimesInTheirZone) {
  EXPECT_THAT(ticks(schedule("0 9 * * MON-FRI", "Europe/Madrid"), "2026-11-20T12:00:00Z", 3),
              ElementsAre("2026-11-23T08:00:00Z", "2026-11-24T08:00:00Z", "2026-11-25T08:00:00Z"));
  EXPECT_THAT(ticks(schedule("0 9 * * MON-FRI", "UTC"), "2026-11-20T12:00:00Z", 1),
              ElementsAre("2026-11-23T09:00:00Z"));
  EXPECT_THAT(ticks(schedule("30 15,45 */12 L * *", "Asia/Kathmandu"), "2026-02-01T00:00:00Z", 4),
              ElementsAre("2026-02-27T18:30:30Z", "2026-02-27T19:00:30Z", "2026-02-28T06:30:30Z",
                          "2026-02-28T07:00:30Z"));
}

TEST(Schedules, FireStrictlyAfterAnInstantAndBeforeIt) {
  Schedule nine = schedule("0 9 * * *", "UTC");
  Instant tick = at("2026-11-20T09:00:00Z");
  const Instant::duration moment(1);
  EXPECT_EQ(nine.next(tick - moment), tick);
  EXPECT_EQ(nine.next(tick), tick + hours(24));
  EXPECT_EQ(nine.next(tick + moment), tick + hours(24));
  EXPECT_EQ(nine.previous(tick - moment), tick - hours(24));
  EXPECT_EQ(nine.previous(tick), tick - hours(24));
  EXPECT_EQ(nine.previous(tick + moment), tick);
  EXPECT_TRUE(nine.is_tick(tick));
  EXPECT_FALSE(nine.is_tick(tick + moment));
  EXPECT_FALSE(nine.is_tick(tick + hours(1)));
}

TEST(Schedules, HaveNoTickAfterTheirEnd) {
  Instant end = at("2026-11-21T09:00:00Z");
  Schedule nine(expression("0 9 * * *"), zone("UTC"), end);
  Instant before = at("2026-11-19T12:00:00Z");
  EXPECT_THAT(nine.ticks(before, Instant::max(), 5), ElementsAre(end - hours(24), end));
  EXPECT_EQ(nine.count(before, Instant::max()), 2);
  EXPECT_EQ(nine.next(end), std::nullopt);
  EXPECT_EQ(nine.previous(Instant::max()), end);
  EXPECT_TRUE(nine.is_tick(end));
  EXPECT_FALSE(nine.is_tick(end + hours(24)));
}

TEST(Schedules, OfRareDatesFindThemInAnyYear) {
  EXPECT_THAT(ticks(schedule("0 0 29 2 +MON", "UTC"), "2026-03-01T00:00:00Z", 4),
              ElementsAre("2044-02-29T00:00:00Z", "2072-02-29T00:00:00Z", "2112-02-29T00:00:00Z",
                          "2140-02-29T00:00:00Z"));
  EXPECT_THAT(ticks(schedule("0 0 29 2 *", "UTC"), "2095-01-01T00:00:00Z", 2),
              ElementsAre("2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"));
  EXPECT_THAT(ticks(schedule("0 12 13 * +FRI", "UTC"), "2026-03-14T00:00:00Z", 2),
              ElementsAre("2026-11-13T12:00:00Z", "2027-08-13T12:00:00Z"));
  EXPECT_THAT(ticks(schedule("0 0 31W * *", "UTC"), "2026-11-01T00:00:00Z", 3),
              ElementsAre("2026-12-31T00:00:00Z", "2027-01-29T00:00:00Z", "2027-03-31T00:00:00Z"));
  EXPECT_EQ(schedule("0 0 29 2 +MON", "UTC").previous(at("2026-03-01T00:00:00Z")),
            at("2016-02-29T00:00:00Z"));
}

// Of these and all further literal instants: the offsets are those of the zone's history.
TEST(FixedTimes, ThatAreSkippedFireOnceAtTheEndOfTheGap) {
  // 02:00 to 03:00 is skipped.
  EXPECT_THAT(ticks(schedule("30 2 * * *", "Europe/Madrid"), "2026-03-28T12:00:00Z", 2),
              ElementsAre("2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"));
  EXPECT_THAT(ticks(schedule("0,15,30 2,3 * * *", "Europe/Madrid"), "2026-03-28T12:00:00Z", 4),
              ElementsAre("2026-03-29T01:00:00Z", "2026-03-29T01:15:00Z", "2026-03-29T01:30:00Z",
                          "2026-03-30T00:00:00Z"));
  EXPECT_THAT(ticks(schedule("30 1-3 * * *", "Europe/Madrid"), "2026-03-28T23:00:00Z", 3),
              ElementsAre("2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"));
  EXPECT_THAT(ticks(schedule("30 2 * * *", "America/New_York"), "2026-03-07T12:00:00Z", 2),
              ElementsAre("2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"));
  // Half an hour.
  EXPECT_THAT(ticks(schedule("15 2 * * *", "Australia/Lord_Howe"), "2026-10-03T00:00:00Z", 2),
              ElementsAre("2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"));
}

TEST(FixedTimes, ThatAreRepeatedFireTheFirstTime) {
  EXPECT_THAT(ticks(schedule("30 2 * * *", "Europe/Madrid"), "2026-10-24T12:00:00Z", 2),
              ElementsAre("2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"));
  EXPECT_THAT(ticks(schedule("0,30 2,3 * * *", "Europe/Madrid"), "2026-10-24T12:00:00Z", 4),
              ElementsAre("2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z", "2026-10-25T02:00:00Z",
                          "2026-10-25T02:30:00Z"));
  EXPECT_THAT(ticks(schedule("30 1 * * *", "America/New_York"), "2026-10-31T12:00:00Z", 2),
              ElementsAre("2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"));
  EXPECT_THAT(ticks(schedule("45 1 * * *", "Australia/Lord_Howe"), "2026-04-04T00:00:00Z", 2),
              ElementsAre("2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"));
  // Asked within the second pass, the time is over.
  EXPECT_EQ(schedule("30 2 * * *", "Europe/Madrid").next(at("2026-10-25T01:10:00Z")),
            at("2026-10-26T01:30:00Z"));
  EXPECT_EQ(schedule("30 2 * * *", "Europe/Madrid").previous(at("2026-10-25T01:10:00Z")),
            at("2026-10-25T00:30:00Z"));
}

TEST(RepeatingExpressions, FollowElapsedTimeThroughBothChanges) {
  Schedule quarters = schedule("*/15 * * * *", "Europe/Madrid");
  for (const char* change : {"2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"}) {
    Instant before = at(change) - hours(2);
    auto found = quarters.ticks(before, at(change) + hours(2), 100);
    ASSERT_EQ(found.size(), 16u);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i], before + minutes(15) * static_cast<int>(i + 1));
    }
  }
  EXPECT_THAT(ticks(schedule("*/30 2 * * *", "Europe/Madrid"), "2026-10-24T12:00:00Z", 5),
              ElementsAre("2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z",
                          "2026-10-25T01:30:00Z", "2026-10-26T01:00:00Z"));
  // On a day without the hour from 02:00, it has no tick.
  EXPECT_THAT(ticks(schedule("*/30 2 * * *", "Europe/Madrid"), "2026-03-28T12:00:00Z", 2),
              ElementsAre("2026-03-30T00:00:00Z", "2026-03-30T00:30:00Z"));
  EXPECT_THAT(ticks(schedule("0 */2 * * *", "Europe/Madrid"), "2026-03-28T22:30:00Z", 3),
              ElementsAre("2026-03-28T23:00:00Z", "2026-03-29T02:00:00Z", "2026-03-29T04:00:00Z"));
  // A change of half an hour: 02:00 is skipped, and 01:30 to 02:00 is repeated.
  EXPECT_THAT(ticks(schedule("0 * * * *", "Australia/Lord_Howe"), "2026-10-03T13:45:00Z", 3),
              ElementsAre("2026-10-03T14:30:00Z", "2026-10-03T16:00:00Z", "2026-10-03T17:00:00Z"));
  EXPECT_THAT(ticks(schedule("45 * * * *", "Australia/Lord_Howe"), "2026-04-04T14:00:00Z", 3),
              ElementsAre("2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z", "2026-04-04T16:15:00Z"));
}

TEST(FixedTimes, AtMidnightFireOnADayThatBeginsLater) {
  // 00:00 to 01:00 is skipped.
  EXPECT_THAT(ticks(schedule("0 0 * * *", "America/Sao_Paulo"), "2018-11-03T12:00:00Z", 2),
              ElementsAre("2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"));
  EXPECT_THAT(ticks(schedule("0 0 * * SUN", "Asia/Beirut"), "2026-03-28T00:00:00Z", 2),
              ElementsAre("2026-03-28T22:00:00Z", "2026-04-04T21:00:00Z"));
  EXPECT_THAT(ticks(schedule("30 0 * * FRI", "Africa/Cairo"), "2026-04-23T00:00:00Z", 2),
              ElementsAre("2026-04-23T22:00:00Z", "2026-04-30T21:30:00Z"));
  // 23:00 to 24:00 is skipped: the first instant after it is on the next day.
  EXPECT_THAT(ticks(schedule("30 23 * * SAT", "America/Nuuk"), "2026-03-28T00:00:00Z", 2),
              ElementsAre("2026-03-29T01:00:00Z", "2026-04-05T00:30:00Z"));
  // 23:00 to 24:00 is repeated: midnight comes after the second pass.
  EXPECT_THAT(ticks(schedule("30 23 * * *", "America/Sao_Paulo"), "2019-02-16T12:00:00Z", 2),
              ElementsAre("2019-02-17T01:30:00Z", "2019-02-18T02:30:00Z"));
  EXPECT_THAT(ticks(schedule("0 0 * * *", "America/Sao_Paulo"), "2019-02-16T12:00:00Z", 1),
              ElementsAre("2019-02-17T03:00:00Z"));
}

TEST(FixedTimes, OfADayThatTheZoneSkipsDoNotFire) {
  // Samoa moved across the date line: 2011-12-30 does not exist.
  EXPECT_THAT(ticks(schedule("0 9 * * *", "Pacific/Apia"), "2011-12-29T12:00:00Z", 2),
              ElementsAre("2011-12-29T19:00:00Z", "2011-12-30T19:00:00Z"));
  EXPECT_THAT(ticks(schedule("0 0 * * *", "Pacific/Apia"), "2011-12-29T09:00:00Z", 3),
              ElementsAre("2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"));
  EXPECT_THAT(ticks(schedule("0 0 30 12 *", "Pacific/Apia"), "2011-01-01T00:00:00Z", 1),
              ElementsAre("2012-12-29T10:00:00Z"));
  EXPECT_EQ(schedule("0 0 30 12 *", "Pacific/Apia").previous(at("2012-01-01T00:00:00Z")),
            at("2010-12-30T10:00:00Z"));
  EXPECT_EQ(schedule("0 9 * * *", "Pacific/Apia")
                .count(at("2011-12-27T00:00:00Z"), at("2012-01-02T00:00:00Z")),
            6);
  EXPECT_THAT(ticks(schedule("0 9 * * *", "Pacific/Kiritimati"), "1994-12-30T12:00:00Z", 2),
              ElementsAre("1994-12-30T19:00:00Z", "1994-12-31T19:00:00Z"));
  // Hours continue.
  EXPECT_EQ(schedule("0 * * * *", "Pacific/Apia")
                .count(at("2011-12-30T00:00:00Z"), at("2011-12-31T00:00:00Z")),
            24);
}

TEST(FixedTimes, FollowTheHistoryOfAZone) {
  // Madrid's clocks were set forward by 14:44 at the end of 1900.
  EXPECT_THAT(ticks(schedule("50 23 31 12 *", "Europe/Madrid"), "1900-06-01T00:00:00Z", 2),
              ElementsAre("1901-01-01T00:00:00Z", "1901-12-31T23:50:00Z"));
  EXPECT_THAT(ticks(schedule("30 0 7 1 *", "Africa/Monrovia"), "1972-01-01T00:00:00Z", 2),
              ElementsAre("1972-01-07T00:44:30Z", "1973-01-07T00:30:00Z"));
  // Double summer time: two hours before Greenwich.
  EXPECT_THAT(ticks(schedule("0 12 1 7 *", "Europe/London"), "1943-01-01T00:00:00Z", 1),
              ElementsAre("1943-07-01T10:00:00Z"));
  // Winter time is the exception in Ireland, and Morocco's follows the moon.
  EXPECT_THAT(ticks(schedule("30 1 * * *", "Europe/Dublin"), "2026-03-28T12:00:00Z", 2),
              ElementsAre("2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"));
  EXPECT_THAT(ticks(schedule("30 2 * * *", "Africa/Casablanca"), "2026-02-14T12:00:00Z", 2),
              ElementsAre("2026-02-15T01:30:00Z", "2026-02-16T02:30:00Z"));
}

TEST(FixedTimes, HaveDaylightTimeInTheFarFuture) {
  EXPECT_THAT(ticks(schedule("30 2 * * *", "America/New_York"), "2100-03-13T12:00:00Z", 2),
              ElementsAre("2100-03-14T07:00:00Z", "2100-03-15T06:30:00Z"));
  EXPECT_THAT(ticks(schedule("0 12 1 7 *", "Europe/Madrid"), "9998-01-01T00:00:00Z", 3),
              ElementsAre("9998-07-01T10:00:00Z", "9999-07-01T10:00:00Z"));
}

TEST(Intervals, AreTheSameInEveryZone) {
  for (const char* zone : {"UTC", "Europe/Madrid", "Pacific/Apia"}) {
    EXPECT_THAT(
        ticks(schedule("@every 90m", zone), "2026-03-29T00:00:00Z", 3),
        ElementsAre("2026-03-29T01:30:00Z", "2026-03-29T03:00:00Z", "2026-03-29T04:30:00Z"));
  }
  EXPECT_THAT(ticks(schedule("@every 7d", "UTC"), "1969-12-20T00:00:00Z", 3),
              ElementsAre("1969-12-25T00:00:00Z", "1970-01-01T00:00:00Z", "1970-01-08T00:00:00Z"));
  EXPECT_EQ(schedule("@every 7d", "UTC").previous(at("1969-12-25T00:00:00Z")),
            at("1969-12-18T00:00:00Z"));
  EXPECT_EQ(
      schedule("@every 1s", "UTC").count(at("1960-01-01T00:00:00Z"), at("1970-01-02T00:00:00Z")),
      3'654 * 86'400);
}

TEST(Schedules, HaveTicksInTheYears1To9999) {
  for (const char* text : {"0 0 * * *", "* * * * *", "@every 1d"}) {
    Schedule daily = schedule(text, "UTC");
    EXPECT_EQ(text_of(*daily.next(Instant::min())), "0001-01-01T00:00:00Z") << text;
    EXPECT_EQ(daily.previous(at("0001-01-01T00:00:00Z")), std::nullopt) << text;
    EXPECT_EQ(daily.previous(Instant::min()), std::nullopt) << text;
    EXPECT_EQ(daily.next(at("9999-12-31T23:59:00Z")), std::nullopt) << text;
    EXPECT_EQ(daily.next(Instant::max()), std::nullopt) << text;
    EXPECT_EQ(to_text(*daily.previous(Instant::max())).substr(0, 10), "9999-12-31") << text;
    EXPECT_FALSE(daily.is_tick(Instant::min()));
    EXPECT_FALSE(daily.is_tick(Instant::max()));
  }
  const std::int64_t all_days_count = 3'652'059;  // of 9,999 years
  EXPECT_EQ(schedule("0 0 * * *", "UTC").count(Instant::min(), Instant::max()), all_days_count);
  EXPECT_EQ(schedule("* * * * * *", "UTC").count(Instant::min(), Instant::max()),
            all_days_count * 86'400);
  EXPECT_EQ(schedule("* * * * * *", "Europe/Madrid").count(Instant::min(), Instant::max()),
            all_days_count * 86'400);
  // The local days of the bounds differ from those of UTC.
  EXPECT_EQ(schedule("0 12 * * *", "Europe/Madrid").count(Instant::min(), Instant::max()),
            all_days_count);
}

TEST(Schedules, ReturnAtMostAsManyTicksAsRequested) {
  Schedule every_second = schedule("* * * * * *", "Europe/Madrid");
  EXPECT_EQ(every_second.ticks(at("2026-01-01T00:00:00Z"), Instant::max(), 7).size(), 7u);
  EXPECT_TRUE(every_second.ticks(at("2026-01-01T00:00:00Z"), Instant::max(), 0).empty());
  // The first bound is excluded, the last one is included.
  EXPECT_EQ(every_second.ticks(at("2026-01-01T00:00:00Z"), at("2026-01-01T00:00:03Z"), 7).size(),
            3u);
  EXPECT_TRUE(
      every_second.ticks(at("2026-01-02T00:00:00Z"), at("2026-01-01T00:00:00Z"), 7).empty());
  EXPECT_EQ(every_second.count(at("2026-01-01T00:00:00Z"), at("2026-01-01T00:00:03Z")), 3);
  EXPECT_EQ(every_second.count(at("2026-01-02T00:00:00Z"), at("2026-01-01T00:00:00Z")), 0);
}

TEST(Schedules, ShowTheLocalTimeOfATickAndWhetherItWasMoved) {
  Schedule madrid = schedule("30 2 * * *", "Europe/Madrid");
  EXPECT_EQ(madrid.local_text(at("2026-03-28T01:30:00Z")), "2026-03-28 02:30:00 +01:00");
  EXPECT_EQ(madrid.local_text(at("2026-03-29T01:00:00Z")), "2026-03-29 03:00:00 +02:00");
  EXPECT_FALSE(madrid.is_moved(at("2026-03-28T01:30:00Z")));
  EXPECT_TRUE(madrid.is_moved(at("2026-03-29T01:00:00Z")));
  EXPECT_FALSE(madrid.is_moved(at("2026-03-29T01:00:01Z")));
  EXPECT_FALSE(schedule("0 2,3 * * *", "Europe/Madrid").is_moved(at("2026-03-29T01:00:00Z")));
  EXPECT_FALSE(schedule("@every 1h", "Europe/Madrid").is_moved(at("2026-03-29T01:00:00Z")));
  EXPECT_EQ(schedule("@daily", "America/St_Johns").local_text(at("2026-01-01T00:00:00Z")),
            "2025-12-31 20:30:00 -03:30");
  EXPECT_EQ(madrid.local_text(at("1899-06-01T12:00:00Z")), "1899-06-01 11:45:16 -00:14:44");
  EXPECT_EQ(madrid.local_text(Instant::max()).substr(0, 10), "9999-12-31");
}

TEST(Schedules, AreEqualIfExpressionAndZoneAre) {
  EXPECT_EQ(schedule("@daily", "UTC"), schedule("0 0 * * *", "Etc/UTC"));
  EXPECT_NE(schedule("@daily", "UTC"), schedule("0 0 * * *", "Europe/Madrid"));
  EXPECT_NE(schedule("@daily", "UTC"), schedule("@hourly", "UTC"));
}

}  // namespace
}  // namespace belay::cron
