#include "agents/research/report/html_checker.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace belay::research {
namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

class HtmlReader {
 public:
  explicit HtmlReader(std::string_view html) : rest_(html) {}

  CheckedHtml read() && {
    constexpr std::string_view kDoctype = "<!doctype html>\n";
    if (rest_.starts_with(kDoctype)) {
      rest_.remove_prefix(kDoctype.size());
    } else {
      fault("no doctype");
    }
    while (!rest_.empty() && result_.faults.size() < 20) {
      if (rest_.starts_with("</")) {
        read_end_tag();
      } else if (rest_.starts_with("<")) {
        read_start_tag();
      } else {
        read_text();
      }
    }
    if (!open_.empty()) fault("not closed: " + result_.elements[open_.back()].name);
    return std::move(result_);
  }

 private:
  void fault(std::string text) {
    result_.faults.push_back(std::move(text) + " before: " + std::string(rest_.substr(0, 60)));
  }

  std::string read_name() {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_name_character);
    std::string name(rest_.begin(), end);
    rest_.remove_prefix(name.size());
    return name;
  }

  void check_entities(std::string_view text) {
    constexpr std::array<std::string_view, 5> kEntities = {"&amp;", "&lt;", "&gt;", "&quot;",
                                                           "&#39;"};
    for (std::size_t at = text.find('&'); at != std::string_view::npos;
         at = text.find('&', at + 1)) {
      const bool is_known =
          std::any_of(kEntities.begin(), kEntities.end(),
                      [&](std::string_view entity) { return text.substr(at).starts_with(entity); });
      if (!is_known) fault("a bare ampersand in " + std::string(text.substr(0, 40)));
    }
  }

  void read_text() {
    const std::string_view text = rest_.substr(0, rest_.find('<'));
    const bool is_blank = text.find_first_not_of(" \n") == std::string_view::npos;
    if (open_.empty() && !is_blank) fault("text outside of the root");
    if (text.find('>') != std::string_view::npos) fault("a bare > in text");
    check_entities(text);
    if (!open_.empty()) result_.elements[open_.back()].text += text;
    rest_.remove_prefix(text.size());
  }

  void read_end_tag() {
    rest_.remove_prefix(2);
    const std::string name = read_name();
    if (open_.empty() || result_.elements[open_.back()].name != name) fault("closes " + name);
    if (!open_.empty()) open_.pop_back();
    if (rest_.starts_with(">")) {
      rest_.remove_prefix(1);
    } else {
      fault("a malformed end tag");
    }
  }

  void read_attributes(HtmlElement& element) {
    while (rest_.starts_with(" ")) {
      rest_.remove_prefix(1);
      const std::string name = read_name();
      if (name.empty() || !rest_.starts_with("=\"")) {
        fault("a malformed attribute of " + element.name);
        return;
      }
      rest_.remove_prefix(2);
      const std::size_t end = std::min(rest_.find('"'), rest_.size());
      std::string value(rest_.substr(0, end));
      if (value.find_first_of("<>\n") != std::string::npos) fault("markup in attribute " + name);
      check_entities(value);
      if (!element.attributes.emplace(name, std::move(value)).second) fault("twice " + name);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
    }
  }

  void read_start_tag() {
    rest_.remove_prefix(1);
    HtmlElement element;
    element.name = read_name();
    if (element.name.empty()) fault("a tag without a name");
    read_attributes(element);
    for (const std::size_t parent : open_) {
      element.parents.push_back(result_.elements[parent].name);
    }
    const bool is_closed = rest_.starts_with("/>");
    if (is_closed) rest_.remove_prefix(1);
    if (rest_.starts_with(">")) {
      rest_.remove_prefix(1);
    } else {
      fault("a malformed start tag " + element.name);
    }
    const bool is_void = element.name == "meta";
    const bool is_style = element.name == "style";
    result_.elements.push_back(std::move(element));
    if (!is_closed && !is_void) open_.push_back(result_.elements.size() - 1);
    if (is_style) read_style();
  }

  // The text of a style element is not markup.
  void read_style() {
    const std::size_t end = std::min(rest_.find("</style>"), rest_.size());
    result_.elements.back().text = rest_.substr(0, end);
    rest_.remove_prefix(end);
  }

  std::string_view rest_;
  CheckedHtml result_;
  std::vector<std::size_t> open_;
};

}  // namespace

std::string HtmlElement::attribute(const std::string& key) const {
  const auto found = attributes.find(key);
  return found == attributes.end() ? std::string() : found->second;
}

bool HtmlElement::has_class(std::string_view wanted) const {
  const std::string classes = " " + attribute("class") + " ";
  return classes.find(" " + std::string(wanted) + " ") != std::string::npos;
}

bool HtmlElement::is_inside(std::string_view parent) const {
  return std::find(parents.begin(), parents.end(), parent) != parents.end();
}

std::vector<const HtmlElement*> CheckedHtml::all(std::string_view name) const {
  std::vector<const HtmlElement*> found;
  for (const HtmlElement& element : elements) {
    if (element.name == name) found.push_back(&element);
  }
  return found;
}

CheckedHtml check_html(std::string_view html) { return HtmlReader(html).read(); }

}  // namespace belay::research
