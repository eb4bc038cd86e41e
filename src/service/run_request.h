#pragma once
// service/run_request.h - converts a StartRun to the arguments of the runtime.

#include "belay/service.h"

namespace belay {

struct RunRequest {
  std::string graph;
  std::shared_ptr<void> state;
  StartOptions options;
  bool queued = false;
  std::chrono::milliseconds delay{0};
};

// Returns the thread of a start with an idempotency key and without a thread: concurrent
// repetitions of the start have the same one. Its name begins with kThreadOfKey.
inline constexpr std::string_view kThreadOfKey = "request-";
ThreadId thread_of_key(const UserId& user, std::string_view key);

// Fails with `not_found` for an unknown agent; with `invalid`, naming the member, if the input does
// not match the agent's state.
Result<RunRequest> run_request(const std::vector<std::shared_ptr<const GraphDefinition>>& graphs,
                               const TenantId& tenant, StartRun wanted);

}  // namespace belay
