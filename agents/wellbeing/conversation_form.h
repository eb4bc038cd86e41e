#pragma once
// wellbeing/conversation_form.h - an audit or a routine as a conversation, for protocols of chats.

#include <string_view>

#include "belay/module.h"

namespace belay::wellbeing {

// A text contains one day: YYYY-MM-DD, "today", "yesterday" or "tomorrow". The messages are the day
// and the result in the state's channel `made`, which must be a literal, in the language of the
// state. The result is also shown while it waits for an approval, and after a rejection.
ConversationForm conversation_form(std::string_view made);

}  // namespace belay::wellbeing
