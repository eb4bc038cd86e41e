#pragma once
// cli/payload_editor.h - edits the payload of an approval in the person's editor.
//
// Threading: the main thread; it waits for the editor.

#include <string>

#include "belay/result.h"
#include "belay/value.h"

namespace belay::cli {

// The form in which a payload is shown and edited: a text unchanged, any other value as indented
// JSON.
std::string payload_text(const Value& payload);

// Opens the editor of VISUAL or EDITOR on the payload and returns the edited one. `invalid` without
// such a variable, if the editor fails, or if the text is unchanged or no JSON.
Result<Value> edit_payload(const Value& payload);

}  // namespace belay::cli
