#pragma once
// tools/page_elements.h - the elements of HTML whose text has a layout, or is left out.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace belay::tools {

enum class ElementKind : std::uint8_t {
  inline_text,  // and all unknown elements
  line,         // begins and ends a line
  block,        // begins and ends a paragraph
  content,      // a block with the page's own content
  heading_1,
  heading_2,
  heading_3,
  heading_4,
  heading_5,
  heading_6,
  numbered_list,
  list,
  item,
  table,
  row,
  cell,
  preformatted,
  link,
  line_break,
  image,
  base,
  title,
  // Left out:
  hidden,      // is not text, such as a script
  navigation,  // is boilerplate
  margin,      // is boilerplate outside of `content`
};

ElementKind element_kind(std::string_view name);

// The attributes that matter for the text.
struct ElementAttributes {
  std::size_t count = 0;  // of all
  bool has_hidden = false;
  std::string_view aria_hidden{};
  std::string_view role{};
  std::string_view style{};
  std::string_view href{};
  std::string_view alt{};
};
bool is_hidden(const ElementAttributes& attributes);
bool is_navigation_role(std::string_view role);

// Calls `use` with each name that element_kind() knows.
void for_each_element(void (*use)(void* data, std::string_view name), void* data);

}  // namespace belay::tools
