#pragma once
// agents/research/filings/word_lists_text.h - word_lists.txt, as a part of the program.

#include <string_view>

namespace belay::research {

std::string_view word_lists_text();

}  // namespace belay::research
