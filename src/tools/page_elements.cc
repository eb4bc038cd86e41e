#include "tools/page_elements.h"

#include <algorithm>
#include <iterator>

#include "net/ascii.h"

namespace belay::tools {
namespace {

using enum ElementKind;

struct KnownElement {
  std::string_view name;
  ElementKind kind;
};
// Sorted by name.
constexpr KnownElement known_elements[] = {
    {"a", link},
    {"address", block},
    {"article", content},
    {"aside", margin},
    {"audio", hidden},
    {"base", base},
    {"blockquote", block},
    {"body", block},
    {"br", line_break},
    {"button", hidden},
    {"canvas", hidden},
    {"caption", line},
    {"center", block},
    {"datalist", hidden},
    {"dd", line},
    {"details", block},
    {"dir", list},
    {"div", line},
    {"dl", block},
    {"dt", line},
    {"embed", hidden},
    {"fieldset", block},
    {"figcaption", line},
    {"figure", block},
    {"footer", margin},
    {"form", block},
    {"frameset", hidden},
    {"h1", heading_1},
    {"h2", heading_2},
    {"h3", heading_3},
    {"h4", heading_4},
    {"h5", heading_5},
    {"h6", heading_6},
    {"header", block},
    {"hgroup", block},
    {"hr", block},
    {"iframe", hidden},
    {"img", image},
    {"legend", line},
    {"li", item},
    {"listing", preformatted},
    {"main", content},
    {"menu", navigation},
    {"nav", navigation},
    {"noscript", hidden},
    {"object", hidden},
    {"ol", numbered_list},
    {"option", line},
    {"p", block},
    {"plaintext", preformatted},
    {"pre", preformatted},
    {"script", hidden},
    {"section", block},
    {"select", hidden},
    {"style", hidden},
    {"summary", line},
    {"svg", hidden},
    {"table", table},
    {"td", cell},
    {"template", hidden},
    {"textarea", hidden},
    {"th", cell},
    {"title", title},
    {"tr", row},
    {"ul", list},
    {"video", hidden},
    {"xmp", preformatted},
};
static_assert(std::is_sorted(std::begin(known_elements), std::end(known_elements),
                             [](const KnownElement& one, const KnownElement& two) {
                               return one.name < two.name;
                             }));

constexpr std::string_view navigation_roles[] = {"banner",  "complementary", "contentinfo", "menu",
                                                 "menubar", "navigation",    "search"};

}  // namespace

ElementKind element_kind(std::string_view name) {
  auto found = std::lower_bound(
      std::begin(known_elements), std::end(known_elements), name,
      [](const KnownElement& one, std::string_view other) { return one.name < other; });
  bool is_known = found != std::end(known_elements) && found->name == name;
  return is_known ? found->kind : inline_text;
}

bool is_hidden(const ElementAttributes& attributes) {
  if (attributes.has_hidden || net::lower_case(attributes.aria_hidden) == "true") return true;
  if (attributes.style.empty()) return false;
  std::string style = net::lower_case(attributes.style);
  std::erase_if(style, [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); });
  return style.find("display:none") != style.npos || style.find("visibility:hidden") != style.npos;
}

bool is_navigation_role(std::string_view role) {
  return net::has(navigation_roles, net::lower_case(role));
}

void for_each_element(void (*use)(void* data, std::string_view name), void* data) {
  for (const KnownElement& each : known_elements) use(data, each.name);
}

}  // namespace belay::tools
