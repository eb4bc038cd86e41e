#include "graph/sum.h"

#include <cmath>

namespace belay {
namespace {

// Adds two integers of which one, or the sum, does not fit int64.
std::optional<Value> large_sum(const Value& one, const Value& other) {
  auto left = one.as_uint();
  auto right = other.as_uint();
  if (left && right) {
    std::uint64_t sum = 0;
    if (__builtin_add_overflow(*left, *right, &sum)) return std::nullopt;
    return Value(sum);
  }
  // One operand is negative: subtract its magnitude from the other.
  if (!left && !right) return std::nullopt;
  std::uint64_t from = left ? *left : *right;
  std::uint64_t taken = 0 - static_cast<std::uint64_t>(*(left ? other : one).as_int());
  return Value(from - taken);
}

}  // namespace

std::optional<Value> sum_of(const Value& one, const Value& other) {
  if (one.holds_integer() && other.holds_integer()) {
    auto left = one.as_int();
    auto right = other.as_int();
    std::int64_t sum = 0;
    if (left && right && !__builtin_add_overflow(*left, *right, &sum)) return Value(sum);
    return large_sum(one, other);
  }
  auto left = one.as_double();
  auto right = other.as_double();
  if (!left || !right || !std::isfinite(*left + *right)) return std::nullopt;
  return Value(*left + *right);
}

}  // namespace belay
