#pragma once
// assistant/assistant.h - the smallest agent that uses a language model: it answers a question,
// streams the answer and, on request, asks a person for approval.
//
//     answer -> review (if `review` is true) -> end
//
// Outcomes: answered, rejected, expired.
//
// Failure and retry: an unavailable model is called three times. The builtin rules cannot answer
// free text: with them the run fails, and the error names the models to configure.

#include <string>

#include "belay/graph.h"

namespace belay::assistant {

inline constexpr std::string_view kAssistant = "assistant";

struct Conversation {
  std::string question;
  std::string instructions;  // the system message; empty: none
  bool review = false;
  std::string answer;
  std::string provider;
  std::string model;
  std::string notice;
  bool truncated = false;  // the answer was cut at the model's limit
  bool approved = false;
};

// Builds the graph.
Result<Graph<Conversation>> assistant();

}  // namespace belay::assistant
