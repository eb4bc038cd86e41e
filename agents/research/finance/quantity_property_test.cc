// Quantities: inputs are sets, and a calculation has the sources of all operands or the reason of
// the first one that is not available.

#include "agents/research/finance/quantity.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

namespace belay::research {
namespace {

// Inputs by a number: equal numbers are equal inputs.
Input input_of(int number) {
  const std::string end = std::to_string(2020 + number % 3) + "-12-31";
  return {"Tag" + std::to_string(number / 6), {}, end, double(number % 2), "accn", "10-K", end};
}

Inputs inputs_of(const std::vector<int>& numbers) {
  Inputs inputs;
  for (int number : numbers) inputs.add(Inputs(input_of(number)));
  return inputs;
}

std::set<int> numbers_in(const Inputs& inputs) {
  std::set<int> numbers;
  for (const auto& input : inputs.all()) {
    for (int number = 0; number < 24; ++number) {
      if (*input == input_of(number)) numbers.insert(number);
    }
  }
  return numbers;
}

rc::Gen<std::vector<int>> any_numbers() {
  return rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 24));
}

std::set<int> set_of(std::vector<int> numbers, const std::vector<int>& more = {}) {
  numbers.insert(numbers.end(), more.begin(), more.end());
  return {numbers.begin(), numbers.end()};
}

bool is_sorted_without_twins(const Inputs& inputs) {
  const auto& all = inputs.all();
  return std::adjacent_find(all.begin(), all.end(),
                            [](const auto& a, const auto& b) { return !(*a < *b); }) == all.end();
}

RC_GTEST_PROP(QuantityProperty, InputsAreASet, ()) {
  const auto a = *any_numbers();
  const auto b = *any_numbers();
  Inputs both = inputs_of(a);
  both.add(inputs_of(b));
  RC_ASSERT(numbers_in(both) == set_of(a, b));
  RC_ASSERT(both.all().size() == set_of(a, b).size());
  RC_ASSERT(is_sorted_without_twins(both));
  Inputs other = inputs_of(b);
  other.add(inputs_of(a));
  RC_ASSERT(numbers_in(other) == numbers_in(both));
  Inputs again = both;
  again.add(both);
  RC_ASSERT(again.all().size() == both.all().size());
}

// An operand: a value, or the reason why it is not available.
struct Operand {
  int code = -1;  // -1: available
  int value = 0;
  std::vector<int> inputs;
  std::vector<int> zeros;
};
std::ostream& operator<<(std::ostream& out, const Operand& operand) {
  if (operand.code >= 0) return out << missing_code(static_cast<Missing>(operand.code));
  return out << operand.value << " from " << rc::toString(operand.inputs) << " and zeros "
             << rc::toString(operand.zeros);
}

rc::Gen<std::vector<Operand>> any_operands() {
  return rc::gen::container<std::vector<Operand>>(rc::gen::build<Operand>(
      rc::gen::set(&Operand::code, rc::gen::weightedOneOf<int>(
                                       {{4, rc::gen::just(-1)}, {1, rc::gen::inRange(0, 8)}})),
      rc::gen::set(&Operand::value, rc::gen::inRange(-9, 10)),
      rc::gen::set(&Operand::inputs, any_numbers()),
      rc::gen::set(&Operand::zeros, rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 3)))));
}

Quantity quantity_of(const Operand& operand) {
  if (operand.code >= 0) {
    return Quantity::missing(static_cast<Missing>(operand.code), "operand");
  }
  Quantity quantity = Quantity::of(operand.value, inputs_of(operand.inputs));
  for (int zero : operand.zeros) quantity.assume_zero("item" + std::to_string(zero));
  return quantity;
}

RC_GTEST_PROP(QuantityProperty, AResultHasAllSourcesOrTheFirstReason, ()) {
  const auto operands = *any_operands();
  const double value =
      *rc::gen::element(0.0, 1.5, -7.0, 1e308, std::numeric_limits<double>::infinity(),
                        std::numeric_limits<double>::quiet_NaN());
  std::vector<Quantity> quantities;
  std::vector<int> numbers;
  std::set<std::string> zeros;
  std::string reason;
  for (const Operand& each : operands) {
    quantities.push_back(quantity_of(each));
    numbers.insert(numbers.end(), each.inputs.begin(), each.inputs.end());
    for (int zero : each.zeros) zeros.insert("item" + std::to_string(zero));
    if (each.code >= 0 && reason.empty()) {
      reason = std::string(missing_code(static_cast<Missing>(each.code))) + ": operand";
    }
  }
  const Quantity result = calculated_from(value, quantities);
  RC_CLASSIFY(result.is_available(), "a value");
  if (!reason.empty()) {
    RC_ASSERT(result.reason() == reason);
  } else if (!std::isfinite(value)) {
    RC_ASSERT(result.reason() == "non_positive: the result is not finite");
  } else {
    RC_ASSERT(result.value() == value);
    RC_ASSERT(result.reason() == "");
    RC_ASSERT(numbers_in(result.inputs()) == set_of(numbers));
    RC_ASSERT(result.assumed_zero() == zeros);
    return;
  }
  RC_ASSERT(!result.is_available());
  RC_ASSERT(result.value() == 0);
  RC_ASSERT(result.inputs().all().empty());
}

RC_GTEST_PROP(QuantityProperty, ThreeOperandsAreThoseOfAList, ()) {
  const auto operands = *rc::gen::container<std::vector<Operand>>(
      3, rc::gen::map(any_operands(), [](const std::vector<Operand>& all) {
        return all.empty() ? Operand{} : all.front();
      }));
  const Quantity a = quantity_of(operands[0]);
  const Quantity b = quantity_of(operands[1]);
  const Quantity c = quantity_of(operands[2]);
  const Quantity listed = calculated_from(3, std::vector<Quantity>{a, b, c});
  const Quantity result = calculated_from(3, {&a, &b, &c});
  RC_ASSERT(result.reason() == listed.reason());
  RC_ASSERT(result.value() == listed.value());
  RC_ASSERT(numbers_in(result.inputs()) == numbers_in(listed.inputs()));
  RC_ASSERT(result.assumed_zero() == listed.assumed_zero());
}

}  // namespace
}  // namespace belay::research
