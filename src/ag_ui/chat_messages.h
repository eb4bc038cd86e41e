#pragma once
// ag_ui/chat_messages.h - the entries of a conversation as messages of AG-UI.
//
// Threading: pure.

#include <vector>

#include "conversation/conversation.h"

namespace belay::ag_ui {

Value chat_message(const conversation::ChatEntry& entry);

// Returns the messages of a thread; null if its state is not a conversation, and has no message of
// a person: a snapshot of it would remove those that a client shows.
Value chat_messages(const std::vector<conversation::ChatEntry>& entries);

}  // namespace belay::ag_ui
