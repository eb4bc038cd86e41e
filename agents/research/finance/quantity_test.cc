#include "agents/research/finance/quantity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "agents/research/finance/figure.h"

namespace belay::research {
namespace {

Input revenue_of(const std::string& end, double value) {
  return Input{.concept_name = "Revenues", .end = end, .value = value};
}

std::vector<double> input_values(const Inputs& inputs) {
  std::vector<double> values;
  for (const auto& input : inputs.all()) values.push_back(input->value);
  return values;
}

TEST(Inputs, AreOrderedByConceptThenDatesThenValue) {
  Inputs inputs(revenue_of("2024-12-31", 4));
  inputs.add(Inputs(revenue_of("2023-12-31", 9)));
  inputs.add(Inputs(Input{.concept_name = "Assets", .end = "2025-12-31", .value = 7}));
  inputs.add(Inputs(revenue_of("2024-12-31", 3)));

  EXPECT_EQ(input_values(inputs), (std::vector<double>{7, 9, 3, 4}));
}

TEST(Inputs, AnEqualInputIsKeptOnceWhetherSharedOrNot) {
  const Inputs first(revenue_of("2024-12-31", 4));
  Inputs sum = first;
  sum.add(first);
  sum.add(sum);
  EXPECT_EQ(sum.all().size(), 1u);

  sum.add(Inputs(revenue_of("2024-12-31", 4)));
  EXPECT_EQ(sum.all().size(), 1u);
  EXPECT_EQ(sum.all().front(), first.all().front());
}

TEST(Inputs, InputsThatDifferInTheFilingOnlyAreTwoInputs) {
  Input original = revenue_of("2024-12-31", 4);
  original.accn = "0000000001-25-000001";
  Input restated = original;
  restated.accn = "0000000001-26-000001";
  Inputs inputs{restated};
  inputs.add(Inputs(original));

  ASSERT_EQ(inputs.all().size(), 2u);
  EXPECT_EQ(inputs.all()[0]->accn, original.accn);
}

TEST(Inputs, TheUnionDoesNotDependOnTheOrderOfAdding) {
  Inputs odd;
  Inputs even;
  for (int year = 2000; year < 2020; ++year) {
    Inputs& part = year % 2 == 0 ? even : odd;
    part.add(Inputs(revenue_of(std::to_string(year) + "-12-31", year)));
  }
  Inputs forward = odd;
  forward.add(even);
  Inputs backward = even;
  backward.add(odd);

  EXPECT_EQ(forward.all().size(), 20u);
  EXPECT_EQ(input_values(forward), input_values(backward));
  EXPECT_EQ(forward.all(), backward.all());
}

TEST(Inputs, AddingNothingChangesNothing) {
  Inputs inputs(revenue_of("2024-12-31", 4));
  inputs.add(Inputs());
  EXPECT_EQ(input_values(inputs), std::vector<double>{4});

  Inputs empty;
  empty.add(Inputs());
  EXPECT_TRUE(empty.all().empty());
}

TEST(Quantity, ANumberIsAvailableWithItsInputs) {
  const Quantity quantity = Quantity::of(0.5, Inputs(revenue_of("2024-12-31", 4)));

  EXPECT_TRUE(quantity.is_available());
  EXPECT_EQ(quantity.value(), 0.5);
  EXPECT_EQ(quantity.reason(), "");
  EXPECT_EQ(input_values(quantity.inputs()), std::vector<double>{4});
}

TEST(Quantity, ANumberThatIsNotFiniteIsNonPositive) {
  for (const double value :
       {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    const Quantity quantity = Quantity::of(value, Inputs(revenue_of("2024-12-31", 4)));
    EXPECT_FALSE(quantity.is_available());
    EXPECT_EQ(quantity.value(), 0);
    EXPECT_EQ(quantity.code(), Missing::non_positive);
    EXPECT_EQ(quantity.reason(), "non_positive: the result is not finite");
  }
  EXPECT_TRUE(Quantity::of(std::numeric_limits<double>::max()).is_available());
}

TEST(Quantity, AMissingQuantityHasACodeAndAText) {
  const Quantity quantity = Quantity::missing(Missing::missing_input, "interest_expense");

  EXPECT_FALSE(quantity.is_available());
  EXPECT_EQ(quantity.code(), Missing::missing_input);
  EXPECT_EQ(quantity.reason(), "missing_input: interest_expense");
}

TEST(Quantity, SourcesOfAnotherAreAddedWithoutItsNumber) {
  Quantity quantity = Quantity::of(1, Inputs(revenue_of("2024-12-31", 4)));
  quantity.assume_zero("inventory");
  Quantity other = Quantity::of(2, Inputs(revenue_of("2023-12-31", 3)));
  other.assume_zero("current_debt");
  quantity.add_sources(other);

  EXPECT_EQ(quantity.value(), 1);
  EXPECT_EQ(input_values(quantity.inputs()), (std::vector<double>{3, 4}));
  EXPECT_EQ(quantity.assumed_zero(), (std::set<std::string>{"current_debt", "inventory"}));
}

TEST(Quantity, EveryCodeHasItsNameOfTheDocumentation) {
  EXPECT_STREQ(missing_code(Missing::missing_input), "missing_input");
  EXPECT_STREQ(missing_code(Missing::too_little_history), "too_little_history");
  EXPECT_STREQ(missing_code(Missing::non_positive), "non_positive");
  EXPECT_STREQ(missing_code(Missing::not_applicable), "not_applicable");
  EXPECT_STREQ(missing_code(Missing::currency_mismatch), "currency_mismatch");
  EXPECT_STREQ(missing_code(Missing::no_market_data), "no_market_data");
  EXPECT_STREQ(missing_code(Missing::no_peers), "no_peers");
  EXPECT_STREQ(missing_code(Missing::no_text), "no_text");
}

TEST(Figure, EverySeverityHasAName) {
  EXPECT_STREQ(severity_name(Severity::low), "low");
  EXPECT_STREQ(severity_name(Severity::medium), "medium");
  EXPECT_STREQ(severity_name(Severity::high), "high");
}

}  // namespace
}  // namespace belay::research
