#pragma once
// ag_ui/event_value.h - the document of an event of AG-UI.
//
// Threading: pure.

#include <string>
#include <string_view>

#include "belay/value.h"

namespace belay::ag_ui {

inline Value event_of(std::string_view type, Value::Object members) {
  members.insert_or_assign("type", type);
  return Value(std::move(members));
}

// The member `metadata` of an event, with a member that AG-UI does not define.
inline Value belay_metadata(std::string_view member, Value value) {
  Value::Object about;
  about.emplace(std::string(member), std::move(value));
  return Value::object({{"belay", Value(std::move(about))}});
}

}  // namespace belay::ag_ui
