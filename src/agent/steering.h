#pragma once
// agent/steering.h - the steering messages (service.h) that an agent uses.
//
// A message is accepted only while its run has not scheduled the node `finish`, or after that node
// has continued the run (service/steering.h). Therefore every accepted message is read by a node.

#include <string>
#include <string_view>
#include <vector>

#include "belay/agent.h"
#include "belay/service.h"

namespace belay::agents {

inline constexpr std::string_view finish_node = "finish";

using SteeringMessages = std::vector<Versioned<SteeringMessage>>;

// Returns the waiting messages of the run for the next call of the model, or all, in the order of
// their acceptance; in a replay, those that this task used. At most limits::steering_waiting_max.
Task<Result<SteeringMessages>> waiting_messages(Context& context, bool all);

// Returns the turn with the texts of the messages.
AgentTurn turn_of(const SteeringMessages& messages);

// Marks the messages as used by this task, in the node's commit, and adds the event "steered" with
// their ids and the number of the call that contains them.
void use(const SteeringMessages& messages, int call, Context& context);

}  // namespace belay::agents
