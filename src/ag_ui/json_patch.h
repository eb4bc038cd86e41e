#pragma once
// ag_ui/json_patch.h - JSON Patch (RFC 6902) between two values.
//
// Threading: pure.

#include "belay/result.h"
#include "belay/value.h"

namespace belay::ag_ui {

// Returns the operations `add`, `remove` and `replace` that change `before` into `after`; an empty
// list if they are equal. The integer 75 and the number 75.0 differ.
Value::Array json_patch(const Value& before, const Value& after);

// Applies such operations. `invalid` for another operation, or for a path that does not exist.
Result<Value> patched(Value document, const Value::Array& patch);

}  // namespace belay::ag_ui
