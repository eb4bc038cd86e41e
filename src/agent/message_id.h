#pragma once
// agent/message_id.h - the ids by which clients recognise the messages of a run in its state.
//
// The text of an attempt of a task: the agent stores the id in its turn, and streams derive it from
// their events. Another id for the same attempt shows the message twice.

#include <string>
#include <string_view>

#include "belay/ids.h"

namespace belay::agents {

// No other attempt of any run has this id: ids of tasks are unique.
std::string message_id(const TaskId& task, int attempt);

// The member of a run's configuration with the id of the message that the run answers.
inline constexpr std::string_view kQuestionId = "question_id";

}  // namespace belay::agents
