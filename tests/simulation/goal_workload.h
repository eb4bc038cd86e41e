#pragma once
// tests/simulation/goal_workload.h - a goal whose steps call tools and an agent, and use messages.

#include <optional>
#include <string>
#include <vector>

#include "belay/model.h"
#include "tests/simulation/workloads.h"

namespace belay::simulation {

// The receivers of its calls. The second is the name of every effect of a tool.
inline constexpr const char* kKeyedCalls = "keyed_call";
inline constexpr const char* kUnkeyedCalls = "call";

Workload goal_workload();

// The thread and the step of a request to the model; nothing for a request of another workload.
struct GoalRequest {
  std::string thread;
  std::int64_t step = 0;
};
std::optional<GoalRequest> goal_request(const ModelRequest& request);
// Adds text and calls to a reply that depends only on the request. `lies`: a call does not exist.
void answer_goal(const ModelRequest& request, bool lies, ModelReply& reply);

}  // namespace belay::simulation
