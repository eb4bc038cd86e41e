#include "langgraph/classic_items.h"

#include <algorithm>
#include <map>

#include "base/text_in.h"
#include "langgraph/run_body.h"

namespace belay::langgraph {
namespace {

bool is_empty_member(const Value& value) {
  if (const std::string* text = value.as_string()) return text->empty();
  if (const Value::Array* items = value.as_array()) return items->empty();
  if (const Value::Object* members = value.as_object()) return members->empty();
  return value.is_null();
}

// The item without the members that a reducer can have added to it.
Value essence_of(const Value& item, bool with_id) {
  const Value::Object* members = item.as_object();
  if (!members) return item;
  Value::Object essence;
  for (const auto& [name, value] : *members) {
    bool is_left_out = is_empty_member(value) || name == "role" || (name == "id" && !with_id);
    if (!is_left_out) essence.emplace(name, value);
  }
  std::string role = text_in(item, "role");
  std::string_view type = type_of_role(role);
  if (!role.empty()) essence.emplace("type", type.empty() ? std::string_view(role) : type);
  return Value(std::move(essence));
}

}  // namespace

Value::Array fresh_items(const Value& before, const Value::Array& now, FreshItems which) {
  static const Value::Array kNoItems;
  const Value::Array& old = before.as_array() ? *before.as_array() : kNoItems;
  std::map<std::string, const Value*> by_id;
  for (const Value& item : old) by_id.emplace(text_in(item, "id"), &item);
  Value::Array fresh;
  for (std::size_t i = 0; i < now.size(); ++i) {
    std::string id = text_in(now[i], "id");
    if (id.empty()) continue;
    auto known = by_id.find(id);
    bool is_known = known != by_id.end();
    bool is_same = false;
    if (is_known && which == FreshItems::added_or_changed) {
      is_same = essence_of(*known->second, true) == essence_of(now[i], true);
    } else if (is_known) {
      is_same = true;
    } else if (i < old.size() && text_in(old[i], "id").empty()) {
      is_same = essence_of(old[i], false) == essence_of(now[i], false);
    }
    if (!is_same) fresh.push_back(now[i]);
  }
  return fresh;
}

Value written_part(const Value& before, Value now) {
  const Value::Array* items = now.as_array();
  bool has_ids = items && std::all_of(items->begin(), items->end(), [](const Value& item) {
                   return !text_in(item, "id").empty();
                 });
  if (!has_ids) return now;
  return Value(fresh_items(before, *items, FreshItems::added_or_changed));
}

}  // namespace belay::langgraph
