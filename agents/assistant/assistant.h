#pragma once
// assistant/assistant.h - answers a question with a language model, with tools if it has some,
// streams the answer and, on request, asks a person for approval.
//
//     answer -> review (if `review` is true) -> remember -> end
//
// `answer` is an agent (belay/agent.h). Calls of tools that need an approval pause the run.
// Each thread is a conversation: `remember` appends the question and the answer to `messages`, and
// the next run of the thread sends them before its own question. A rejected answer is not
// remembered, an edited one as it was edited.
//
// Outcomes: answered, rejected, expired.
//
// Failure and retry: an unavailable model is called three times for each step. The builtin rules
// cannot answer free text: with them the run fails, and the error names the models to configure.

#include <string>
#include <vector>

#include "belay/agent.h"

namespace belay::assistant {

inline constexpr std::string_view kAssistant = "assistant";

// The newest messages that a request contains, in bytes of text. Older ones remain in the state.
inline constexpr std::size_t kMessageBytesMax = 32'000;

struct ConversationMessage {
  std::string role;  // "user" or "assistant"
  std::string text;
  std::string id = {};  // question_id() of the question's run; of an answer, its answer_id
};

struct Conversation {
  std::string question;
  std::string instructions;  // the system message; empty: none
  bool review = false;
  std::string answer;
  std::string answer_id;  // streamed_message_id() of the attempt that received the answer
  std::string provider;
  std::string model;
  std::string notice;
  bool truncated = false;  // the answer was cut at the model's limit
  bool approved = false;
  std::vector<ConversationMessage> messages;  // of the earlier runs of the thread, oldest first
};

// Builds the graph. Fails with `invalid` for two tools of one name.
Result<Graph<Conversation>> assistant(std::vector<Tool> tools = {});

}  // namespace belay::assistant
