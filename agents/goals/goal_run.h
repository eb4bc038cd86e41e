#pragma once
// goals/goal_run.h - the state of a run of the graph "goal".

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "agents/goals/records.h"
#include "agents/goals/working_memory.h"
#include "belay/tool.h"

namespace belay::goals {

// The goal of a run. An input has the id only, and the run reads the stored goal when it begins; or
// it has an objective, and is used as it is. One channel: each input replaces it whole.
struct GoalInput {
  std::string id{};
  std::string objective{};
  GoalParams params{};
  std::string memory{kFresh};
};

// A call that the model requested in the current step.
struct PlannedCall {
  ToolCall call{};
  std::string fault{};  // why it is not executed; empty: it is
};

struct EndedCall {
  std::string text{};  // of a large result: its beginning
  bool isError = false;
  bool untrusted = false;
  std::string result{};  // of a large result: the id of its GoalResult
  std::int64_t characters = 0;
  Instant startedAt{};
};

// A call of a step as chats show it.
struct ShownCall {
  std::string tool{};
  Value input{};       // of long arguments: their beginning
  std::string text{};  // of the result: its beginning
  bool isError = false;
};

// A step as later prompts and chats show it.
struct ShownStep {
  int number = 0;
  std::string thought{};
  std::string tools{};        // comma-separated
  std::string observation{};  // cut
  std::string messageId{};    // GoalRun::messageId
  std::vector<ShownCall> calls{};
};

// A steering message, or several that one step has used.
struct UsedMessage {
  int step = 0;  // the first one that was planned with it
  std::string text{};
};

// The payload of the question whether a run may use more tokens.
struct TokenQuestion {
  std::string objective{};
  std::int64_t tokens = 0;  // used
  std::int64_t limit = 0;
  std::int64_t adds = 0;  // to the limit, if a person approves
};

struct GoalRun {
  GoalInput goal{};
  std::string outcome{};  // see planner.h
  std::string summary{};
  std::string summaryId{};  // streamed_message_id() of the attempt that wrote the summary
  int step = 0;
  // Of the current step: empty between two steps.
  std::string thought{};
  std::string messageId{};  // streamed_message_id() of the attempt that planned the step
  std::string fault{};      // of the reply
  std::vector<PlannedCall> calls{};
  std::map<std::string, EndedCall> results{};  // by the index of the call
  Instant startedAt{};

  std::vector<ShownStep> history{};
  std::vector<UsedMessage> messages{};  // oldest first
  std::vector<MemoryEntry> memory{};
  std::int64_t omitted = 0;  // entries that were dropped
  LastRun last{};
  bool untrusted = false;  // the memory contains results of untrusted tools
  std::int64_t tokens = 0;
  std::int64_t tokenLimit = 0;  // 0: none
  TokenQuestion question{};
  std::string provider{}, model{}, notice{};  // of the last reply
};

}  // namespace belay::goals
