#include "agents/checkpointer/checkpoint_rules.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace belay::checkpointer {
namespace {

constexpr std::size_t kTypeBytesMax = 100;

constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> kSpecialChannels{{
    {"__error__", -1},
    {"__scheduled__", -2},
    {"__interrupt__", -3},
    {"__resume__", -4},
}};

bool is_base64_letter(char letter) {
  return (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z') ||
         (letter >= '0' && letter <= '9') || letter == '+' || letter == '/';
}

bool contains_elements(const Value::Array& values, const Value::Array& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const Value& each) {
    return std::any_of(values.begin(), values.end(),
                       [&](const Value& value) { return contains(value, each); });
  });
}

bool contains_members(const Value::Object& values, const Value::Object& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& member) {
    auto found = values.find(member.first);
    return found != values.end() && contains(found->second, member.second);
  });
}

}  // namespace

std::int64_t write_index(std::string_view channel, std::int64_t position) {
  for (const auto& [name, index] : kSpecialChannels) {
    if (channel == name) return index;
  }
  return position;
}

void sort_writes(std::vector<TaskWrite>& writes) {
  std::sort(writes.begin(), writes.end(), [](const TaskWrite& a, const TaskWrite& b) {
    return std::tie(a.taskPath, a.taskId, a.idx) < std::tie(b.taskPath, b.taskId, b.idx);
  });
}

bool contains(const Value& value, const Value& wanted) {
  if (const Value::Object* members = wanted.as_object()) {
    return value.as_object() && contains_members(*value.as_object(), *members);
  }
  if (const Value::Array* elements = wanted.as_array()) {
    return value.as_array() && contains_elements(*value.as_array(), *elements);
  }
  if (value.is_number() && wanted.is_number()) {
    auto one = value.as_int(), other = wanted.as_int();
    return one || other ? one == other : value.as_double() == wanted.as_double();
  }
  return value == wanted;
}

bool matches_filter(const Value& metadata, const Value& filter) {
  return filter.is_null() || contains(metadata, filter);
}

bool is_base64(std::string_view text) {
  if (text.size() % 4 != 0) return false;
  std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  text.remove_suffix(padding);
  return std::all_of(text.begin(), text.end(), is_base64_letter);
}

Result<Done> check_text(std::string_view what, std::string_view text, std::size_t least,
                        std::size_t most) {
  if (text.size() >= least && text.size() <= most) return Done{};
  return error(ErrorCode::invalid, "The " + std::string(what) + " must have " +
                                       std::to_string(least) + " to " + std::to_string(most) +
                                       " bytes.");
}

Result<Done> check_value(std::string_view what, const TypedValue& value) {
  BELAY_CHECK(check_text("type of " + std::string(what), value.type, 1, kTypeBytesMax));
  std::string problem;
  if (!is_base64(value.data)) problem = "is not base64";
  if (value.parts < 0 || value.parts > kPartsMax) {
    problem = "must have at most " + std::to_string(kPartsMax) + " parts";
  }
  if ((value.parts > 0) != !value.blob.empty()) problem = "must have both a blob and its parts";
  int places = (value.parts > 0) + !value.data.empty() + value.text.has_value();
  if (places > 1) problem = "has more than one of a text, data and parts";
  if (!value.blob.empty() && !uuid_from(value.blob)) problem = "needs a UUID as its blob";
  if (problem.empty()) return Done{};
  return error(ErrorCode::invalid, "The value of " + std::string(what) + " " + problem + ".");
}

}  // namespace belay::checkpointer
