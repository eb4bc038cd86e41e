#include "langgraph/state_update.h"

#include "langgraph/threads.h"

namespace belay::langgraph {

Task<Result<server::Reply>> update_state(AgentServer& served, server::Call call) {
  ThreadId named(call.path.at("threadId"));
  BELAY_CO_TRY(ThreadView thread, co_await find_thread(served.world, call, std::move(named)));
  if (thread.has_run() && thread_status(*thread.listed->run) == ThreadStatus::busy) {
    co_return error(ErrorCode::conflict, "Thread is busy: wait for its run, or cancel it.");
  }
  Value metadata = thread.metadata();
  const std::string* graph = metadata["graph_id"].as_string();
  if (!graph || graph->empty()) {
    co_return error_reply(400, "invalid", "Thread " + thread.id.text + " has no graph.");
  }
  co_return error(ErrorCode::invalid,
                  "Only runs change the state of a thread. Start a run with the values as its "
                  "input, or fork the thread: POST /api/threads/" +
                      thread.id.text + "/fork with \"edits\".");
}

}  // namespace belay::langgraph
