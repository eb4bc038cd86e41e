#pragma once
// goals/conversation_form.h - a run of a goal as a conversation, for protocols of chats.

#include "belay/module.h"

namespace belay::goals {

// A text is the objective of a goal that is not stored; the same text has the same id. The messages
// are the objective, the steps with their calls and results, the steering messages before the steps
// that have used them, and the summary.
ConversationForm conversation_form();

}  // namespace belay::goals
