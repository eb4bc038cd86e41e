#pragma once
// assistant/assistant.h - the smallest agent that talks to a language model: a question, an answer
// that is told while it comes, and, where that is asked for, a person who has the last word.
//
//     answer -> review (where `review` is true) -> end
//
// Outcomes: answered, rejected, expired.
//
// Failure and retry: a model that is not there is asked three times. The builtin rules can't answer
// free text: with them the run fails, and says which model to configure.

#include <string>

#include "belay/graph.h"

namespace belay::assistant {

inline constexpr std::string_view kAssistant = "assistant";

struct Conversation {
  std::string question;
  std::string instructions;  // what the model is told of its part; empty: nothing
  bool review = false;
  std::string answer;
  std::string provider;
  std::string model;
  std::string notice;
  bool truncated = false;  // the answer ends where the model's limit was
  bool approved = false;
};

// The graph, checked.
Result<Graph<Conversation>> assistant();

}  // namespace belay::assistant
