#pragma once
// agent/message_id.h - the id of the message as which chats show the text of an attempt of a task.
//
// The agent stores it in its turn, and streams derive it from their events: clients recognise the
// streamed message in the state by it. Another id for the same attempt shows the message twice.

#include <string>

#include "belay/ids.h"

namespace belay::agents {

// No other attempt of any run has this id: ids of tasks are unique.
std::string message_id(const TaskId& task, int attempt);

}  // namespace belay::agents
