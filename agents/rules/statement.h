#pragma once
// rules/statement.h - decides whether a crisis phrase states a wish, a plan or an act of the
// writer.

#include <string_view>

#include "agents/rules/words.h"

namespace belay::rules {

// Returns whether the tokens [first, limit) are about the writer and now: not denied, not quoted,
// not about another person and not about years ago. In doubt, they are.
bool is_statement(std::string_view text, const Words& words, std::size_t first, std::size_t limit);

}  // namespace belay::rules
