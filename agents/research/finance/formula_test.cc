#include "agents/research/finance/formula.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace belay::research {
namespace {

using ::testing::HasSubstr;

// Values by name for the years 0 to 9; a name without a value in a year is missing.
class FixedValues final : public FormulaSource {
 public:
  void set(const std::string& name, std::map<std::size_t, double> by_year) {
    values_[name] = std::move(by_year);
  }

  Quantity value(std::string_view name, std::size_t year) const override {
    auto found = values_.find(std::string(name));
    if (found == values_.end() || !found->second.contains(year)) {
      return Quantity::missing(Missing::missing_input, std::string(name));
    }
    Input input{std::string(name), {}, std::to_string(year), found->second.at(year)};
    return Quantity::of(input.value, Inputs(input));
  }
  Quantity optional_value(std::string_view name, std::size_t year) const override {
    Quantity known = value(name, year);
    if (known.is_available()) return known;
    Quantity zero = Quantity::of(0);
    zero.assume_zero(std::string(name));
    return zero;
  }
  std::optional<std::size_t> before(std::size_t year, int count) const override {
    auto back = static_cast<std::size_t>(count);
    if (year < back) return std::nullopt;
    return year - back;
  }

 private:
  std::map<std::string, std::map<std::size_t, double>> values_;
};

FixedValues sample_values() {
  FixedValues values;
  values.set("a", {{5, 2}, {6, 3}, {7, 5}, {8, 8}, {9, 12}});
  values.set("b", {{8, 4}, {9, 0}});
  values.set("negative", {{9, -1}});
  return values;
}

Quantity result_of(std::string_view text, std::size_t year = 9) {
  std::string error;
  std::optional<Formula> formula = Formula::parse(text, error);
  EXPECT_TRUE(formula) << error;
  FixedValues values = sample_values();
  return formula ? formula->evaluate(values, year)
                 : Quantity::missing(Missing::missing_input, error);
}

std::string error_of(std::string_view text) {
  std::string error;
  EXPECT_FALSE(Formula::parse(text, error)) << text;
  return error;
}

TEST(Formula, OperatorsBindAsInArithmetic) {
  EXPECT_EQ(result_of("1 + 2 * 3").value(), 7);
  EXPECT_EQ(result_of("(1 + 2) * 3").value(), 9);
  EXPECT_EQ(result_of("10 - 4 - 3").value(), 3);
  EXPECT_EQ(result_of("12 / 2 / 3").value(), 2);
  EXPECT_EQ(result_of("1 + 1 < 3").value(), 1);
  EXPECT_EQ(result_of("3 <= 2").value(), 0);
  EXPECT_EQ(result_of("3 >= 3").value(), 1);
  EXPECT_EQ(result_of("3 > 3").value(), 0);
}

TEST(Formula, FunctionsOverYearsBeginWithTheLatest) {
  EXPECT_EQ(result_of("a[-2]").value(), 5);
  EXPECT_EQ(result_of("avg(a)").value(), 10);
  EXPECT_EQ(result_of("avg(a)[-1]").value(), 6.5);
  EXPECT_DOUBLE_EQ(result_of("cagr(a, 4)").value(), std::pow(6.0, 0.25) - 1);
  EXPECT_EQ(result_of("mean(a, 5)").value(), 6);
  EXPECT_DOUBLE_EQ(result_of("sd(a, 5)").value(), std::sqrt(66.0 / 4));
  EXPECT_EQ(result_of("ln(a / a)").value(), 0);
}

TEST(Formula, OnlyTheAvailableYearsCountIfEnoughAre) {
  EXPECT_EQ(result_of("meanav(a, 10, 3)").value(), 6);
  EXPECT_EQ(result_of("sumav(a, 3, 2)").value(), 25);
  Quantity few = result_of("sumav(b, 10, 3)");
  EXPECT_EQ(few.code(), Missing::too_little_history);
  EXPECT_EQ(few.reason(), "too_little_history: b of 3 years");
}

TEST(Formula, TheReasonIsThatOfTheFirstOperandThatFails) {
  EXPECT_EQ(result_of("absent / pos(negative)").reason(), "missing_input: absent");
  EXPECT_EQ(result_of("a / pos(negative)").reason(),
            "non_positive: negative is not greater than 0");
  EXPECT_EQ(result_of("a / b").reason(), "non_positive: the denominator of a / b is 0");
  EXPECT_EQ(result_of("a[-10] + absent").reason(), "too_little_history: a[-10]");
  EXPECT_EQ(result_of("ln(negative)").code(), Missing::non_positive);
  EXPECT_EQ(result_of("mean(a, 6)").reason(), "missing_input: a");
}

TEST(Formula, AResultHasTheInputsOfAllItsOperands) {
  Quantity average = result_of("avg(a) + a + opt(absent)");
  EXPECT_EQ(average.inputs().all().size(), 2u) << "each once";
  EXPECT_TRUE(average.assumed_zero().contains("absent"));
}

TEST(Formula, ATextThatIsNoneIsRefusedWithItsPlace) {
  EXPECT_THAT(error_of("a +"), HasSubstr("expected a value"));
  EXPECT_THAT(error_of("a b"), HasSubstr("expected an operator at \"b\""));
  EXPECT_THAT(error_of("unknown(a)"), HasSubstr("expected a function"));
  EXPECT_THAT(error_of("mean(a)"), HasSubstr("expected a count"));
  EXPECT_THAT(error_of("mean(a, 0)"), HasSubstr("expected a count"));
  EXPECT_THAT(error_of("opt(a + a)"), HasSubstr("expected an item"));
  EXPECT_THAT(error_of("(a"), HasSubstr("expected )"));
  EXPECT_THAT(error_of("a[-x]"), HasSubstr("expected a number of years"));
  EXPECT_THAT(error_of(std::string(10'000, '(')), HasSubstr("expected fewer parentheses"));
}

}  // namespace
}  // namespace belay::research
