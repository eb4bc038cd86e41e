#pragma once
// service/run_request.h - what is asked to be begun, as the runtime wants it.

#include "service/service.h"

namespace belay {

struct RunRequest {
  std::string graph;
  std::shared_ptr<void> state;
  StartOptions options;
  bool queued = false;
  std::chrono::milliseconds delay{0};
};

// `not_found` for an agent that there is none of; `invalid`, naming the member, for an input that
// its state has no place for.
Result<RunRequest> run_request(const std::vector<std::shared_ptr<const GraphDefinition>>& graphs,
                               const TenantId& tenant, StartRun wanted);

}  // namespace belay
