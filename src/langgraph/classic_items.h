#pragma once
// langgraph/classic_items.h - the items of a list in a state that a commit has added or changed,
// such as messages: objects with an `id`.
//
// A reducer can complete the items that a client has sent: with an id, a `type` for a `role`, and
// empty members. Such an item is neither new nor changed.
//
// Threading: any thread.

#include "belay/value.h"

namespace belay::langgraph {

// Which items: those with new ids, or also those that have changed.
enum class FreshItems { added, added_or_changed };

// The items of `now` that are not in the list `before`; those without an id are left out.
Value::Array fresh_items(const Value& before, const Value::Array& now, FreshItems which);

// A value of a channel, as the write of a node to the value before: of a list of items with ids,
// those that were added or changed; otherwise the value.
Value written_part(const Value& before, Value now);

}  // namespace belay::langgraph
