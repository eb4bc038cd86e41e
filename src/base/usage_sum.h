#pragma once
// base/usage_sum.h - adds the tokens of two model calls.

#include "belay/model.h"

namespace belay {

inline Usage sum(const Usage& one, const Usage& other) {
  return Usage{one.input_tokens + other.input_tokens, one.output_tokens + other.output_tokens,
               one.cached_input_tokens + other.cached_input_tokens};
}

}  // namespace belay
