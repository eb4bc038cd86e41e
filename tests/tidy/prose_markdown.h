#pragma once
// tests/tidy/prose_markdown.h - the text of a Markdown document as blocks: one for each heading,
// paragraph, list item and table cell.

#include <string_view>
#include <vector>

#include "tests/tidy/prose_text.h"

namespace belay::tidy {

// Leaves out code blocks (fenced and indented), quoted blocks and HTML comments.
std::vector<Block> markdown_blocks(std::string_view text);

}  // namespace belay::tidy
