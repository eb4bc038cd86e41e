#pragma once
// langgraph/cron_body.h - the body of a request for a cron, and the schedule that it describes.
//
// The members of a run (run_body.h) are checked in the same way. Those that a schedule cannot have
// are refused (`invalid`): `end_time`, `on_run_completed: delete`, `multitask_strategy: rollback`,
// `command`, `checkpoint`, `after_seconds`, `durability` and `config.recursion_limit`.
//
// Threading: values.

#include "belay/schedule.h"
#include "langgraph/agent_server.h"

namespace belay::langgraph {

// Returns the members of the body that describe the runs of a cron: its payload.
Value cron_payload(const Value& body);

// The payload with the members of a change, which replace those of the same name.
Value changed_payload(Value payload, const Value& body);

// The agent, and the members of a schedule that the body sets. All members of the payload, which
// includes those of the body, are checked. `agent`: its document of Service::agents().
Result<ScheduleChange> schedule_change_in(AgentServer& served, const Value& agent,
                                          const Value& body, const Value& payload);

}  // namespace belay::langgraph
