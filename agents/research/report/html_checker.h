#pragma once
// agents/research/report/html_checker.h - a strict reader of the HTML that reports consist of.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace belay::research {

struct HtmlElement {
  std::string name;
  std::map<std::string, std::string> attributes;  // as written, not unescaped
  std::vector<std::string> parents;               // names, the outermost first
  std::string text;                               // directly inside, as written

  std::string attribute(const std::string& key) const;
  bool has_class(std::string_view wanted) const;
  bool is_inside(std::string_view parent) const;
};

struct CheckedHtml {
  std::vector<HtmlElement> elements;  // in the order of their start tags
  std::vector<std::string> faults;    // empty if the document is well formed

  std::vector<const HtmlElement*> all(std::string_view name) const;
};

// Wants each element but void ones closed, attributes in double quotes and once, and `&` only in
// the entities that the report writes. Attributes without a value, comments and sections are
// faults.
CheckedHtml check_html(std::string_view html);

}  // namespace belay::research
