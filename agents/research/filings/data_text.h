#pragma once
// agents/research/filings/data_text.h - the data files of this folder, as parts of the program.

#include <string_view>

namespace belay::research {

std::string_view line_items_text();  // line_items.txt

}  // namespace belay::research
