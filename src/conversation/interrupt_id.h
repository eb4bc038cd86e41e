#pragma once
// conversation/interrupt_id.h - the ids of interrupts in texts of clients.
//
// Threading: any thread.

#include <optional>
#include <string_view>

#include "belay/ids.h"

namespace belay::conversation {

// Reads the id of an interrupt: a UUID, or its 32 hexadecimal digits, which is the form of
// LangGraph. Every protocol accepts both: an approval that one of them shows can be decided through
// another.
std::optional<InterruptId> interrupt_id_from(std::string_view text);

}  // namespace belay::conversation
