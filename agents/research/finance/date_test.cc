#include "agents/research/finance/date.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace belay::research {
namespace {

TEST(Date, DaysAreCountedFrom1970) {
  EXPECT_EQ(Date::parse("1970-01-01")->days, 0);
  EXPECT_EQ(Date::parse("1969-12-31")->days, -1);
  EXPECT_EQ(Date::parse("2000-03-01")->days, 11017);
  EXPECT_EQ(Date::parse("0001-01-01")->days, -719162);
  EXPECT_EQ(Date::parse("9999-12-31")->days, 2932896);
}

TEST(Date, EveryDayOfFourCenturiesReadsBackAndFollowsTheDayBefore) {
  const Date first = *Date::parse("1800-01-01");
  const Date last = *Date::parse("2200-12-31");
  ASSERT_EQ(last - first + 1, 401 * 365 + 97);
  for (Date date = first; date <= last; ++date.days) {
    const auto read = Date::parse(date.text());
    ASSERT_TRUE(read) << date.text();
    ASSERT_EQ(*read, date);
  }
}

TEST(Date, DifferencesAreInDays) {
  EXPECT_EQ(*Date::parse("2025-09-27") - *Date::parse("2024-09-29"), 363);
  EXPECT_EQ(*Date::parse("2024-02-28") - *Date::parse("2024-03-01"), -2);
}

TEST(Date, LaterDatesAreGreater) {
  EXPECT_LT(*Date::parse("2024-12-31"), *Date::parse("2025-01-01"));
  EXPECT_GT(*Date::parse("1970-01-01"), *Date::parse("1969-12-31"));
}

TEST(Date, HasYearMonthAndDay) {
  const Date date = *Date::parse("2024-02-29");
  EXPECT_EQ(date.year(), 2024);
  EXPECT_EQ(date.month(), 2);
  EXPECT_EQ(date.day(), 29);
}

TEST(Date, OnlyDaysOfTheCalendarAreDates) {
  EXPECT_TRUE(Date::parse("2000-02-29"));
  EXPECT_TRUE(Date::parse("1600-02-29"));
  for (const char* text : {"1900-02-29", "2023-02-29", "2023-04-31", "2023-13-01", "2023-00-10",
                           "2023-01-00", "2023-01-32", "0000-01-01"}) {
    EXPECT_FALSE(Date::parse(text)) << text;
  }
}

TEST(Date, OtherTextIsNoDate) {
  for (const char* text :
       {"", "2023", "2023-1-1", "2023-01-1", "2023/01/01", "2023-01/01", "2023-01-01 ",
        " 2023-01-01", "2023-01-01T00:00", "+023-01-01", "-023-01-01", "20230101", "2023-01-0x",
        "2023-0x-01", "x023-01-01", "2023-01- 1"}) {
    EXPECT_FALSE(Date::parse(text)) << text;
  }
  EXPECT_FALSE(Date::parse(std::string_view("2023-01-0\0", 10)));
  EXPECT_FALSE(Date::parse(std::string(1000000, '9')));
}

TEST(Date, DatesFarOutsideTheCalendarHaveSomeText) {
  EXPECT_FALSE(Date{std::numeric_limits<std::int32_t>::max()}.text().empty());
  EXPECT_FALSE(Date{std::numeric_limits<std::int32_t>::min()}.text().empty());
}

TEST(Month, IsReadFromAMonthOrADate) {
  EXPECT_EQ(Month::parse("2022-12")->months, 2022 * 12 + 11);
  EXPECT_EQ(Month::parse("2022-12-28"), Month::parse("2022-12"));
  EXPECT_EQ(Month::of(*Date::parse("2022-12-28")), *Month::parse("2022-12"));
  EXPECT_EQ(Month::of(*Date::parse("0001-01-31")), *Month::parse("0001-01"));
}

TEST(Month, OtherTextIsNoMonth) {
  for (const char* text : {"", "2022-1", "2022-13", "2022-00", "2022/12", "0000-12", "2022-12-32",
                           "2022-12-", "2022-12-28x", "202-12-", "22-12"}) {
    EXPECT_FALSE(Month::parse(text)) << text;
  }
}

TEST(Month, ArithmeticCrossesYears) {
  const Month january = *Month::parse("2022-01");
  EXPECT_EQ(january.minus(1).text(), "2021-12");
  EXPECT_EQ(january.minus(12).text(), "2021-01");
  EXPECT_EQ(january.minus(13).text(), "2020-12");
  EXPECT_EQ(january.plus(23).text(), "2023-12");
  EXPECT_EQ(january - *Month::parse("2020-11"), 14);
  EXPECT_LT(january.minus(1), january);
}

}  // namespace
}  // namespace belay::research
