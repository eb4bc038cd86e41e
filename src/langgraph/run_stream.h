#pragma once
// langgraph/run_stream.h - the bodies of responses that follow a run: its events, and its result.
//
// Threading: the executor's thread. The service must outlive the streams.

#include "langgraph/classic_stream.h"
#include "langgraph/run_segment.h"

namespace belay::langgraph {

// The work when the response has ended, or its client has disconnected.
struct AfterResponse {
  bool cancels = false;         // the run, if it has not ended
  bool deletes_thread = false;  // when its run has ended
};

struct FollowedRun {
  ProtocolRun run;
  AfterResponse after{};
  StreamModes modes{};
  bool subgraphs = false;
  std::optional<std::uint64_t> received = std::nullopt;  // the last event of the client
};

// Replies with the events of a run.
Task<Result<server::Reply>> stream_reply(AgentServer& served, const server::Call& call,
                                         FollowedRun followed);
// Replies with the result of a run, when it has ended: its values, or {"__interrupt__": [...]}, or
// {"__error__": {"error", "message"}}. The head of the response is sent before that, and then a
// line break at intervals, which JSON ignores.
Task<Result<server::Reply>> result_reply(AgentServer& served, const server::Call& call,
                                         FollowedRun followed);
// Deletes the thread of a run without a thread, when that run has ended.
void delete_after_end(AgentServer& served, const server::Call& call, RunRow row);

}  // namespace belay::langgraph
