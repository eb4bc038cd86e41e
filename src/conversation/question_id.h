#pragma once
// conversation/question_id.h - the id that a client has given the message which a run answers.
//
//   start.run.configuration = with_question_id(std::move(configuration), question_id_of(messages));
//
// A client shows its message before the server has it, and replaces it by the entry with the same
// id. The inputs of most agents have no place for the id: it is stored with the run, as the member
// `question_id` of its configuration (RunOptions::configuration), which nodes can read.
//
// Threading: any thread.

#include <string>
#include <vector>

#include "belay/rows.h"
#include "conversation/conversation.h"

namespace belay::conversation {

// Returns the id of the newest message of a person; empty: none.
std::string question_id_of(const std::vector<ChatEntry>& messages);

// Returns the configuration with the id, unless that is empty or has more than 256 bytes.
// `configuration`: the JSON text of an object, or empty.
std::string with_question_id(std::string configuration, const std::string& id);

// Returns the id that is stored with the run; empty: none.
std::string question_id_of(const RunRow& run);

}  // namespace belay::conversation
