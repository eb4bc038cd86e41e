#pragma once
// ag_ui/run_input.h - RunInput: what is read of the body of a run of AG-UI (RunAgentInput).
//
// Ignored: `state` (that of the thread is the server's), `tools`, `context`, `parentRunId`, members
// that are not known, and contents other than text.
//
// Threading: pure.

#include <string>
#include <vector>

#include "belay/ids.h"
#include "conversation/conversation.h"

namespace belay::ag_ui {

struct ResumeEntry {
  InterruptId interrupt;
  bool is_cancelled = false;
  Value payload;
};

struct RunInput {
  ThreadId thread;
  std::string run_id;
  // The messages of the person after the last message of any other author: those that the agent has
  // not answered.
  std::vector<conversation::ChatEntry> messages = {};
  Value input = {};  // `forwardedProps.input`: the input of the agent, instead of messages
  std::vector<ResumeEntry> resume = {};
};

// `invalid`, with the name of the member, for a body that does not fit the schema of AG-UI 1.0.
Result<RunInput> read_run_input(const Value& body);

// The JSON Schema of the body, for the description of the API.
Value run_input_schema();

}  // namespace belay::ag_ui
