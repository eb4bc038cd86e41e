#include "ag_ui/json_patch.h"

#include <algorithm>

#include "server/routes.h"

namespace belay::ag_ui {
namespace {

std::string with_token(const std::string& path, std::string_view token) {
  std::string longer = path + "/";
  for (char letter : token) {
    if (letter == '~') {
      longer += "~0";
    } else if (letter == '/') {
      longer += "~1";
    } else {
      longer += letter;
    }
  }
  return longer;
}

std::string with_index(const std::string& path, std::size_t index) {
  return path + "/" + std::to_string(index);
}

class Difference {
 public:
  Value::Array take() { return std::move(operations_); }

  void compare(const Value& before, const Value& after, const std::string& path) {
    if (before == after) return;
    if (before.as_object() && after.as_object()) {
      compare_objects(*before.as_object(), *after.as_object(), path);
    } else if (before.as_array() && after.as_array()) {
      compare_arrays(*before.as_array(), *after.as_array(), path);
    } else {
      note("replace", path, after);
    }
  }

 private:
  void note(std::string_view operation, const std::string& path, const Value& value) {
    operations_.push_back(Value::object({{"op", operation}, {"path", path}, {"value", value}}));
  }
  void note_removal(const std::string& path) {
    operations_.push_back(Value::object({{"op", "remove"}, {"path", path}}));
  }

  void compare_objects(const Value::Object& before, const Value::Object& after,
                       const std::string& path) {
    for (const auto& [name, value] : before) {
      if (!after.contains(name)) note_removal(with_token(path, name));
    }
    for (const auto& [name, value] : after) {
      auto known = before.find(name);
      if (known == before.end()) {
        note("add", with_token(path, name), value);
      } else {
        compare(known->second, value, with_token(path, name));
      }
    }
  }

  // Items before the first and after the last difference are not named.
  void compare_arrays(const Value::Array& before, const Value::Array& after,
                      const std::string& path) {
    std::size_t shorter = std::min(before.size(), after.size());
    std::size_t head = 0;
    while (head < shorter && before[head] == after[head]) ++head;
    std::size_t tail = 0;
    while (tail < shorter - head &&
           before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
      ++tail;
    }
    std::size_t shared = shorter - tail;  // the end of the items that both have
    for (std::size_t i = head; i < shared; ++i) compare(before[i], after[i], with_index(path, i));
    for (std::size_t i = before.size() - tail; i > shared; --i) {
      note_removal(with_index(path, i - 1));
    }
    for (std::size_t i = shared; i < after.size() - tail; ++i) {
      note("add", with_index(path, i), after[i]);
    }
  }

  Value::Array operations_;
};

Error no_such_path(std::string_view path) {
  return error(ErrorCode::invalid, "The path \"" + std::string(path) + "\" does not exist.");
}

// Takes the first token of a path that begins with a slash.
std::string take_token(std::string_view& path) {
  path.remove_prefix(1);
  std::size_t end = std::min(path.find('/'), path.size());
  std::string token;
  for (std::size_t i = 0; i < end; ++i) {
    bool is_escape = path[i] == '~' && i + 1 < end;
    if (is_escape) ++i;
    token += is_escape ? (path[i] == '1' ? '/' : '~') : path[i];
  }
  path.remove_prefix(end);
  return token;
}

// Returns the position that a token names; `size` itself only if it can be added there.
std::optional<std::size_t> index_of(std::string_view token, std::size_t size, bool adds) {
  auto number = server::number_from(token);
  if (!number || *number < 0) return std::nullopt;
  auto index = static_cast<std::size_t>(*number);
  if (index > size || (index == size && !adds)) return std::nullopt;
  return index;
}

struct Change {
  bool adds = false;
  bool removes = false;
  const Value& value;
};

bool change_member(Value::Object& members, const std::string& name, const Change& change) {
  if (!change.adds && !members.contains(name)) return false;
  if (change.removes) {
    members.erase(name);
  } else {
    members.insert_or_assign(name, change.value);
  }
  return true;
}

bool change_item(Value::Array& items, std::string_view token, const Change& change) {
  auto index = index_of(token, items.size(), change.adds);
  if (!index) return false;
  auto place = items.begin() + static_cast<std::ptrdiff_t>(*index);
  if (change.adds) {
    items.insert(place, change.value);
  } else if (change.removes) {
    items.erase(place);
  } else {
    *place = change.value;
  }
  return true;
}

bool apply_change(Value& document, std::string_view path, const Change& change) {
  Value* at = &document;
  if (path.empty()) {
    if (change.removes) return false;
    *at = change.value;
    return true;
  }
  while (path.starts_with('/')) {
    std::string token = take_token(path);
    Value::Object* members = at->as_object();
    Value::Array* items = at->as_array();
    if (!members && !items) return false;
    if (path.empty()) {
      return members ? change_member(*members, token, change) : change_item(*items, token, change);
    }
    if (members) {
      auto found = members->find(token);
      if (found == members->end()) return false;
      at = &found->second;
    } else {
      auto index = index_of(token, items->size(), false);
      if (!index) return false;
      at = &(*items)[*index];
    }
  }
  return false;
}

}  // namespace

Value::Array json_patch(const Value& before, const Value& after) {
  Difference difference;
  difference.compare(before, after, "");
  return difference.take();
}

Result<Value> patched(Value document, const Value::Array& patch) {
  for (const Value& operation : patch) {
    const std::string* name = operation["op"].as_string();
    const std::string* path = operation["path"].as_string();
    if (!name || !path) return error(ErrorCode::invalid, "An operation has no name or no path.");
    Change change{*name == "add", *name == "remove", operation["value"]};
    if (!change.adds && !change.removes && *name != "replace") {
      return error(ErrorCode::invalid, "Unknown operation \"" + *name + "\".");
    }
    if (!apply_change(document, *path, change)) return no_such_path(*path);
  }
  return document;
}

}  // namespace belay::ag_ui
