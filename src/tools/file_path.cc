#include "tools/file_path.h"

#include "base/in_quotes.h"
#include "belay/value.h"
#include "models/json_sanitizer.h"

namespace belay::tools {
namespace {

constexpr std::size_t shown_characters = 120;

// Returns whether well-formed UTF-8 contains a character of the category Cc.
bool has_control_character(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return true;
    bool is_latin_1 = byte == 0xc2 && i + 1 < text.size();  // U+0080 to U+00BF
    if (is_latin_1 && static_cast<unsigned char>(text[i + 1]) < 0xa0) return true;
  }
  return false;
}

std::optional<std::string> component_fault(std::string_view component) {
  if (component.empty()) return "has an empty component";
  if (component == "." || component == "..") {
    return "has the component " + in_quotes(component) + ", which is not allowed";
  }
  if (component == temporary_name) return "has the reserved name " + in_quotes(component);
  if (component.size() > component_bytes_max) {
    return "has a component of more than " + std::to_string(component_bytes_max) + " bytes";
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> components_of(std::string_view path) {
  std::vector<std::string> components;
  while (true) {
    std::size_t slash = path.find('/');
    components.emplace_back(path.substr(0, slash));
    if (slash == path.npos) return components;
    path.remove_prefix(slash + 1);
  }
}

std::optional<std::string> path_fault(std::string_view path) {
  if (path.empty()) return "is empty";
  if (path.size() > path_bytes_max) {
    return "has more than " + std::to_string(path_bytes_max) + " bytes";
  }
  if (first_invalid_utf8(path)) return "is not UTF-8";
  if (has_control_character(path)) return "contains a control character";
  if (path.find('\\') != path.npos) return "contains a backslash";
  if (path.front() == '/') return "begins with a slash";
  std::vector<std::string> components = components_of(path);
  if (components.size() > components_max) {
    return "has more than " + std::to_string(components_max) + " components";
  }
  for (const std::string& component : components) {
    if (auto fault = component_fault(component)) return fault;
  }
  return std::nullopt;
}

std::string shown_path(std::string_view path) {
  std::string text = models::sanitized_text(path.substr(0, path_bytes_max));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return in_quotes(models::quotable(text, shown_characters));
}

}  // namespace belay::tools
