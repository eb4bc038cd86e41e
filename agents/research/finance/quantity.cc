#include "agents/research/finance/quantity.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <tuple>
#include <utility>

namespace belay::research {
namespace {

std::partial_ordering compare_inputs(const Input& a, const Input& b) {
  return std::tie(a.concept_name, a.start, a.end, a.value, a.accn, a.form, a.filed) <=>
         std::tie(b.concept_name, b.start, b.end, b.value, b.accn, b.form, b.filed);
}

using SharedInput = std::shared_ptr<const Input>;

// Less than 0 if `a` comes before `b`, 0 if they are equal.
int order_of_inputs(const SharedInput& a, const SharedInput& b) {
  if (a == b) return 0;  // the common case: copies share their inputs
  const auto order = compare_inputs(*a, *b);
  if (order < 0) return -1;
  return order > 0 ? 1 : 0;
}

bool input_precedes(const SharedInput& a, const SharedInput& b) {
  return order_of_inputs(a, b) < 0;
}

}  // namespace

const char* missing_code(Missing code) {
  switch (code) {
    case Missing::missing_input:
      return "missing_input";
    case Missing::too_little_history:
      return "too_little_history";
    case Missing::non_positive:
      return "non_positive";
    case Missing::not_applicable:
      return "not_applicable";
    case Missing::currency_mismatch:
      return "currency_mismatch";
    case Missing::no_market_data:
      return "no_market_data";
    case Missing::no_peers:
      return "no_peers";
    case Missing::no_text:
      return "no_text";
  }
  return "missing_input";
}

bool Input::operator<(const Input& other) const { return compare_inputs(*this, other) < 0; }

Inputs::Inputs(Input input) : inputs_{std::make_shared<const Input>(std::move(input))} {}

void Inputs::add(const Inputs& other) {
  if (other.inputs_.empty()) return;
  if (inputs_.empty()) {
    inputs_ = other.inputs_;
    return;
  }
  const bool is_subset = std::includes(inputs_.begin(), inputs_.end(), other.inputs_.begin(),
                                       other.inputs_.end(), input_precedes);
  if (is_subset) return;

  std::vector<SharedInput> merged;
  merged.reserve(inputs_.size() + other.inputs_.size());
  auto mine = inputs_.begin();
  auto theirs = other.inputs_.begin();
  while (mine != inputs_.end() && theirs != other.inputs_.end()) {
    const int order = order_of_inputs(*mine, *theirs);
    merged.push_back(order <= 0 ? *mine : *theirs);
    if (order <= 0) ++mine;
    if (order >= 0) ++theirs;
  }
  merged.insert(merged.end(), mine, inputs_.end());
  merged.insert(merged.end(), theirs, other.inputs_.end());
  inputs_ = std::move(merged);
}

Quantity Quantity::of(double value, Inputs inputs) {
  if (!std::isfinite(value)) return missing(Missing::non_positive, "the result is not finite");
  Quantity quantity;
  quantity.is_available_ = true;
  quantity.value_ = value;
  quantity.inputs_ = std::move(inputs);
  return quantity;
}

Quantity Quantity::missing(Missing code, std::string text) {
  Quantity quantity;
  quantity.code_ = code;
  quantity.text_ = std::move(text);
  return quantity;
}

std::string Quantity::reason() const {
  if (is_available_) return {};
  return std::string(missing_code(code_)) + ": " + text_;
}

void Quantity::add_sources(const Quantity& other) {
  inputs_.add(other.inputs_);
  assumed_zero_.insert(other.assumed_zero_.begin(), other.assumed_zero_.end());
}

Quantity calculated_from(double value, std::initializer_list<const Quantity*> operands) {
  for (const Quantity* each : operands) {
    if (!each->is_available()) return *each;
  }
  Quantity result = Quantity::of(value);
  if (!result.is_available()) return result;
  for (const Quantity* each : operands) result.add_sources(*each);
  return result;
}

Quantity calculated_from(double value, const std::vector<Quantity>& operands) {
  for (const Quantity& each : operands) {
    if (!each.is_available()) return each;
  }
  Quantity result = Quantity::of(value);
  if (!result.is_available()) return result;
  for (const Quantity& each : operands) result.add_sources(each);
  return result;
}

}  // namespace belay::research
