#pragma once
// graph/sum.h - how two JSON numbers are added.

#include <optional>

#include "belay/value.h"

namespace belay {

// The sum: of integers exact, else of doubles. Nothing where one is no number, or where the sum is
// beyond what can be said: no integer from -2^63 to 2^64-1, no finite double.
std::optional<Value> sum_of(const Value& one, const Value& other);

}  // namespace belay
