#include "mcp/parameter_headers.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/characters.h"
#include "base/in_quotes.h"
#include "http/ascii.h"
#include "net/ascii.h"
#include "tools/base64.h"

namespace belay::mcp {
namespace {

constexpr std::string_view mark = "x-mcp-header";
constexpr std::string_view encoded_begin = "=?base64?";
constexpr std::string_view encoded_end = "?=";
constexpr int schema_depth_max = 100;

bool is_plain(std::string_view text) {
  bool has_edge = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  bool is_encoded = text.starts_with(encoded_begin) && text.ends_with(encoded_end);
  return !has_edge && !is_encoded &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::size_t count_marks(const Value& part, int depth) {
  if (depth > schema_depth_max) return 0;
  std::size_t count = 0;
  if (const Value::Array* items = part.as_array()) {
    for (const Value& item : *items) count += count_marks(item, depth + 1);
  }
  if (const Value::Object* members = part.as_object()) {
    for (const auto& [name, value] : *members) {
      count += (name == mark ? 1 : 0) + count_marks(value, depth + 1);
    }
  }
  return count;
}

using Path = std::vector<std::string>;
using Visit = std::function<void(const Path& path, const Value& property)>;

// Visits the marked properties that are reached through "properties" only.
void visit_marks(const Value& schema, Path& path, const Visit& visit) {
  const Value::Object* properties = schema["properties"].as_object();
  if (!properties || path.size() > static_cast<std::size_t>(schema_depth_max)) return;
  for (const auto& [name, property] : *properties) {
    path.push_back(name);
    if (property.find(mark)) visit(path, property);
    visit_marks(property, path, visit);
    path.pop_back();
  }
}

bool is_primitive(const Value& type) {
  return type == Value("string") || type == Value("integer") || type == Value("boolean");
}

std::optional<std::string> text_of_argument(const Value& argument) {
  if (const std::string* text = argument.as_string()) return *text;
  if (const bool* flag = argument.as_bool()) return *flag ? "true" : "false";
  if (auto number = argument.as_int()) return std::to_string(*number);
  return std::nullopt;
}

}  // namespace

std::string header_value(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  return std::string(encoded_begin) + tools::base64(text) + std::string(encoded_end);
}

std::optional<std::string> marks_fault(const Value& schema) {
  std::optional<std::string> fault;
  std::set<std::string> names;
  std::size_t reached = 0;
  Path path;
  visit_marks(schema, path, [&](const Path&, const Value& property) {
    ++reached;
    const std::string* name = property[mark].as_string();
    if (!name || !http::is_token(*name)) {
      fault = "a parameter is marked with a name that no HTTP header can have";
    } else if (!names.insert(net::lower_case(*name)).second) {
      fault = "two parameters are marked with the same HTTP header";
    } else if (!is_primitive(property["type"])) {
      fault = "a parameter for an HTTP header is neither a string nor an integer nor a boolean";
    }
  });
  if (!fault && reached != count_marks(schema, 0)) {
    fault = "a mark for an HTTP header is not at a property";
  }
  return fault;
}

std::vector<HttpHeader> parameter_headers(const Value& schema, const Value& arguments) {
  std::vector<HttpHeader> headers;
  Path path;
  visit_marks(schema, path, [&](const Path& place, const Value& property) {
    const Value* argument = &arguments;
    for (const std::string& name : place) argument = &(*argument)[name];
    auto text = text_of_argument(*argument);
    const std::string* name = property[mark].as_string();
    if (text && name) headers.push_back({"Mcp-Param-" + *name, header_value(*text)});
  });
  return headers;
}

}  // namespace belay::mcp
