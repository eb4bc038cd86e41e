#pragma once
// base/text_in.h - a text member of a JSON object.
//
// Threading: any thread.

#include <string>
#include <string_view>

#include "belay/value.h"

namespace belay {

// Empty if the object does not have the member, or if it is not a text.
inline std::string text_in(const Value& object, std::string_view name) {
  const std::string* text = object[name].as_string();
  return text ? *text : std::string();
}

}  // namespace belay
