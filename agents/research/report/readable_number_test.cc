#include "agents/research/report/readable_number.h"

#include <gtest/gtest.h>

#include <charconv>
#include <limits>
#include <string>
#include <vector>

namespace belay::research {
namespace {

using report::exact_number;
using report::grouped_number;
using report::readable_number;

TEST(ReadableNumber, AmountsOfMoneyAreInMillionsOrBillions) {
  EXPECT_EQ(readable_number(416'161'000'000, "USD", false), "416.2 bn");
  EXPECT_EQ(readable_number(1'853'214'578'969.585, "USD", false), "1,853 bn");
  EXPECT_EQ(readable_number(35'340'000, "EUR", false), "35.34 mn");
  EXPECT_EQ(readable_number(64'000'000'000'000, "JPY", false), "64.00 tn");
  EXPECT_EQ(readable_number(12'346, "USD", false), "12,350");  // four significant digits
  EXPECT_EQ(readable_number(0.25, "USD", false), "0.250");
  EXPECT_EQ(readable_number(14'773'000'000, "shares", false), "14.77 bn");
}

TEST(ReadableNumber, AnAmountThatRoundsToTheNextMagnitudeTakesIt) {
  EXPECT_EQ(readable_number(999'960'000, "USD", false), "1.000 bn");
  EXPECT_EQ(readable_number(999'940'000, "USD", false), "999.9 mn");
}

TEST(ReadableNumber, ARatioIsAPercentageOrAMultiple) {
  EXPECT_EQ(readable_number(0.4690516410716045, "ratio", true), "46.9%");
  EXPECT_EQ(readable_number(0.00512, "ratio", true), "0.512%");
  EXPECT_EQ(readable_number(1.5, "ratio", true), "150%");
  EXPECT_EQ(readable_number(12.34, "ratio", true), "1,234%");
  EXPECT_EQ(readable_number(1e-7, "ratio", true), "<0.001%");
  EXPECT_EQ(readable_number(1.2345, "ratio", false), "1.23");
  EXPECT_EQ(readable_number(0.012, "ratio", false), "0.0120");
  EXPECT_EQ(readable_number(12'345.6, "ratio", false), "12,350");
}

TEST(ReadableNumber, PricesHaveTwoDecimals) {
  EXPECT_EQ(readable_number(7.46, "USD/shares", false), "7.46");
  EXPECT_EQ(readable_number(2.3025, "USD/shares", false), "2.30");
  EXPECT_EQ(readable_number(120.65, "USD/shares", false), "120.7");
  EXPECT_EQ(readable_number(0.0123, "USD/shares", false), "0.0123");
}

TEST(ReadableNumber, WholeCountsDaysAndScoresStayWhole) {
  EXPECT_EQ(readable_number(60, "count", false), "60");
  EXPECT_EQ(readable_number(63'214, "count", false), "63,214");
  EXPECT_EQ(readable_number(34, "days", false), "34");
  EXPECT_EQ(readable_number(45.678, "days", false), "45.7");
  EXPECT_EQ(readable_number(6, "score", false), "6");
  EXPECT_EQ(readable_number(12.148749758213372, "score", false), "12.1");
}

TEST(ReadableNumber, ANegativeNumberHasAMinusSign) {
  EXPECT_EQ(readable_number(-0.9608358173358142, "score", false), "−0.961");
  EXPECT_EQ(readable_number(-0.05, "ratio", true), "−5.00%");
  EXPECT_EQ(readable_number(-3'000'000'000, "USD", false), "−3.000 bn");
}

TEST(ReadableNumber, ZeroHasNoSignAndNoDecimals) {
  EXPECT_EQ(readable_number(0, "USD", false), "0");
  EXPECT_EQ(readable_number(-0.0, "score", false), "0");
  EXPECT_EQ(readable_number(0, "ratio", true), "0%");
}

TEST(ReadableNumber, EveryFiniteNumberIsShort) {
  for (const double value : {1e300, -1e300, 1e-300, 1e20, 5e-324, 123456789012345678.0}) {
    for (const std::string unit : {"USD", "ratio", "USD/shares", "count", "score", "days", "x"}) {
      for (const bool as_percentage : {false, true}) {
        const std::string text = readable_number(value, unit, as_percentage);
        EXPECT_LE(text.size(), 24U) << text;
        EXPECT_FALSE(text.empty());
      }
    }
  }
  EXPECT_EQ(readable_number(std::numeric_limits<double>::quiet_NaN(), "USD", false), "n/a");
}

TEST(ExactNumber, ReadsBackAsTheSameDouble) {
  for (const double value : {0.4690516410716045, 195'201'000'000.0, -1.6333333333333333, 1e300,
                             5e-324, 1e-7, 2.0 / 3, 1e15, 1e16, 123456789.125}) {
    const std::string text = exact_number(value);
    double read = 0;
    std::from_chars(text.data(), text.data() + text.size(), read);
    EXPECT_EQ(read, value) << text;
  }
}

TEST(ExactNumber, ACommonSizeHasNoPowerOfTen) {
  EXPECT_EQ(exact_number(195'201'000'000), "195201000000");
  EXPECT_EQ(exact_number(0.00001), "0.00001");
  EXPECT_EQ(exact_number(0), "0");
}

TEST(GroupedNumber, SeparatesThousandsOfTheWholePart) {
  EXPECT_EQ(grouped_number(195'201'000'000), "195,201,000,000");
  EXPECT_EQ(grouped_number(-1234.56789), "-1,234.56789");
  EXPECT_EQ(grouped_number(999), "999");
  EXPECT_EQ(grouped_number(1e300), "1e+300");
}

TEST(ReadableUnit, AValuePerShareIsInWords) {
  EXPECT_EQ(report::readable_unit("USD/shares"), "USD per share");
  EXPECT_EQ(report::readable_unit("days"), "days");
}

}  // namespace
}  // namespace belay::research
