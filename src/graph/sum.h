#pragma once
// graph/sum.h - adds two JSON numbers.

#include <optional>

#include "belay/value.h"

namespace belay {

// Returns the exact sum if both are integers, otherwise the sum as doubles. Returns nullopt if one
// of them is not a number, or if the sum cannot be represented: as an integer from -2^63 to 2^64-1,
// or as a finite double.
std::optional<Value> sum_of(const Value& one, const Value& other);

}  // namespace belay
