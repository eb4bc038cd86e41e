#include "langgraph/thread_extract.h"

#include <algorithm>
#include <charconv>

#include "langgraph/errors.h"

namespace belay::langgraph {
namespace {

constexpr std::size_t kExtractsMax = 10;

Error bad_path(const std::string& path) {
  return error(ErrorCode::invalid, "\"" + path.substr(0, 80) +
                                       "\" in \"extract\" is not a path, such as "
                                       "values.messages[-1].content.");
}

std::optional<std::int64_t> position_from(std::string_view text) {
  std::int64_t position = 0;
  auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), position);
  bool is_whole = failure == std::errc() && rest == text.data() + text.size();
  return is_whole ? std::optional(position) : std::nullopt;
}

Result<ExtractPath> path_from(const std::string& text) {
  ExtractPath path;
  std::string_view rest = text;
  while (!rest.empty()) {
    bool is_position = rest.front() == '[';
    bool is_later_name = !path.empty() && rest.front() == '.';
    if (!is_position && !is_later_name && !path.empty()) return bad_path(text);
    if (is_position || is_later_name) rest.remove_prefix(1);
    std::size_t end = rest.find_first_of(is_position ? "]" : ".[]");
    std::string_view step = rest.substr(0, end);
    rest.remove_prefix(step.size());
    if (is_position) {
      auto position = position_from(step);
      if (path.empty() || !position || rest.empty()) return bad_path(text);
      path.emplace_back(*position);
      rest.remove_prefix(1);  // "]"
    } else {
      if (step.empty()) return bad_path(text);
      path.emplace_back(std::string(step));
    }
  }
  if (path.empty()) return bad_path(text);
  return path;
}

const Value* element_at(const Value& list, std::int64_t position) {
  const Value::Array* items = list.as_array();
  if (!items) return nullptr;
  auto size = static_cast<std::int64_t>(items->size());
  bool is_from_end = position < 0;
  if (position < -size || position >= size) return nullptr;
  return &(*items)[static_cast<std::size_t>(is_from_end ? size + position : position)];
}

Value value_at(const Value& document, const ExtractPath& path) {
  const Value* place = &document;
  for (const auto& step : path) {
    const std::string* name = std::get_if<std::string>(&step);
    place = name ? place->find(*name) : element_at(*place, std::get<std::int64_t>(step));
    if (!place) return Value();
  }
  return *place;
}

}  // namespace

Result<Extract> extract_in(const Value& body) {
  BELAY_TRY(Value member, object_member(body, "extract"));
  Extract wanted;
  for (const auto& [name, path] : *member.as_object()) {
    if (!path.as_string()) return bad_path(to_json(path));
    BELAY_TRY(ExtractPath steps, path_from(*path.as_string()));
    wanted.emplace(name, std::move(steps));
  }
  if (wanted.size() <= kExtractsMax) return wanted;
  return error(ErrorCode::invalid,
               "\"extract\" can have at most " + std::to_string(kExtractsMax) + " paths.");
}

Value extracted(const Extract& wanted, const Value& document) {
  Value::Object values;
  for (const auto& [name, path] : wanted) values.emplace(name, value_at(document, path));
  return Value(std::move(values));
}

}  // namespace belay::langgraph
