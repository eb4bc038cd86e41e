#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "belay/clock.h"

namespace belay {
namespace {

TEST(Date, IsADayOfTheCalendar) {
  for (const char* date : {"2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31", "2026-11-21"}) {
    EXPECT_TRUE(is_date(date)) << date;
  }
  for (const char* date : {"", "2023-02-29", "1900-02-29", "0000-01-01", "2026-00-01", "2026-13-01",
                           "2026-01-00", "2026-01-32", "2026-04-31", "2026-1-01", "26-01-01",
                           "2026/01/01", "2026-01-01 ", " 2026-01-01", "2026-01-0a", "20260101"}) {
    EXPECT_FALSE(is_date(date)) << date;
  }
}

TEST(Date, FollowsAndPrecedesOverMonthsAndLeapDays) {
  EXPECT_EQ(day_after("2024-02-28"), "2024-02-29");
  EXPECT_EQ(day_after("1900-02-28"), "1900-03-01");
  EXPECT_EQ(day_after("2000-02-28"), "2000-02-29");
  EXPECT_EQ(day_after("2026-12-31"), "2027-01-01");
  EXPECT_EQ(day_before("2027-01-01"), "2026-12-31");
  EXPECT_EQ(day_before("2024-03-01"), "2024-02-29");
}

TEST(Instant, IsPrintedInUtcWithItsMicroseconds) {
  Instant at = Instant(std::chrono::microseconds(1'795'305'240'123'456));
  EXPECT_EQ(to_text(at), "2026-11-21T23:54:00.123456Z");
  EXPECT_EQ(to_text(Instant()), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(to_text(Instant(std::chrono::microseconds(-1))), "1969-12-31T23:59:59.999999Z");
}

TEST(Instant, IsReadWithAnyPartOfASecond) {
  EXPECT_EQ(to_text(*instant_from("2026-11-21T23:54:00Z")), "2026-11-21T23:54:00.000000Z");
  EXPECT_EQ(to_text(*instant_from("2026-11-21T23:54:00.5Z")), "2026-11-21T23:54:00.500000Z");
  EXPECT_EQ(to_text(*instant_from("0001-01-01T00:00:00Z")), "0001-01-01T00:00:00.000000Z");
  for (const char* text :
       {"", "2026-11-21", "2026-11-21T23:54:00", "2026-11-21T24:00:00Z", "2026-11-21T23:60:00Z",
        "2026-11-21T23:54:60Z", "2026-02-29T00:00:00Z", "2026-11-21 23:54:00Z",
        "2026-11-21T23:54:00.Z", "2026-11-21T23:54:00.1234567Z", "2026-11-21T23:54:00+01:00"}) {
    EXPECT_FALSE(instant_from(text)) << text;
  }
}

RC_GTEST_PROP(Instant, ReadsBackFromItsText, ()) {
  // From year 1 to 9999.
  auto count = *rc::gen::inRange<std::int64_t>(-62'135'596'800'000'000, 253'402'300'800'000'000);
  Instant at = Instant(std::chrono::microseconds(count));
  RC_ASSERT(*instant_from(to_text(at)) == at);
}

RC_GTEST_PROP(Date, TheDayAfterTheDayBeforeIsTheDay, ()) {
  auto days = *rc::gen::inRange<std::int64_t>(-700'000, 2'900'000);
  std::string date = to_text(Instant(std::chrono::hours(24 * days))).substr(0, 10);
  RC_ASSERT(is_date(date));
  RC_ASSERT(day_after(day_before(date)) == date);
  RC_ASSERT(day_before(date) < date);
}

}  // namespace
}  // namespace belay
