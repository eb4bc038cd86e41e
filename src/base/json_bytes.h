#pragma once
// base/json_bytes.h - estimates the length of a value's JSON text without creating the text.

#include "belay/value.h"

namespace belay {

// Exact for texts without escapes; off by a few bytes for each other value.
inline std::size_t json_bytes(const Value& value) {
  constexpr std::size_t of_any = 8;  // assumed for any value: a number, quotes, commas
  std::size_t bytes = of_any;
  if (const std::string* text = value.as_string()) bytes += text->size();
  if (const Value::Array* items = value.as_array()) {
    for (const Value& item : *items) bytes += json_bytes(item);
  }
  if (const Value::Object* members = value.as_object()) {
    for (const auto& [name, member] : *members) bytes += name.size() + json_bytes(member);
  }
  return bytes;
}

}  // namespace belay
