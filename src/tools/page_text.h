#pragma once
// tools/page_text.h - the readable text of an HTML page.

#include <optional>
#include <string>
#include <string_view>

#include "net/egress.h"

namespace belay::tools {

struct PageText {
  std::string title;     // of one line
  std::string text;      // Markdown: headings, items, links, rows, preformatted text
  bool is_whole = true;  // false: the page was too large or too irregular to be read to its end
};

// Returns the text without scripts, hidden elements and navigation; with its navigation if it has
// no other text. `page`: the URL of the page, to which links are relative; nullopt omits all links.
// Time and memory are bounded for every input. REQUIRES: UTF-8 without NUL.
PageText page_text(const std::string& html, const std::optional<net::Target>& page);

// Returns the text of a fragment of HTML as one line.
std::string line_of_html(const std::string& html);

}  // namespace belay::tools
