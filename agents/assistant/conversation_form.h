#pragma once
// assistant/conversation_form.h - the assistant's thread as a conversation, for protocols of chats.

#include "belay/module.h"

namespace belay::assistant {

// A text is the question. The messages are those that the thread remembers, then the question and
// the answer of a run that has not been remembered: an answer in review is shown when approved.
ConversationForm conversation_form();

}  // namespace belay::assistant
