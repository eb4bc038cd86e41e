#pragma once
// langgraph/cron_body.h - the body of a request for a cron, and the schedule that it describes.
//
// The members of a run (run_body.h) are checked in the same way. Those that a schedule cannot have
// are refused (`invalid`): `multitask_strategy: rollback`, `command`, `checkpoint` and
// `after_seconds`; for the crons of a thread also `on_run_completed: delete`.
//
// Threading: values.

#include "belay/schedule.h"
#include "langgraph/assistants.h"
#include "langgraph/cron_records.h"
#include "langgraph/cron_runs.h"

namespace belay::langgraph {

// Returns the members of the body that describe the runs of a cron: its payload.
Value cron_payload(const Value& body);

// The payload with the members of a change, which replace those of the same name.
Value changed_payload(Value payload, const Value& body);

// A request for a cron.
struct CronRequest {
  const Assistant& assistant;
  const Value& agent;  // its document of Service::agents()
  const Value& body;
  const Value& payload;  // includes the members of the body
  const UserId& user;
  // The headers that the configuration of the runs has; null: the configuration is not changed.
  const std::vector<http::Header>* headers;
  std::string zone = Schedule().zone;  // of the cron, unless the body changes it
};

// The agent, and the members of a schedule that the body sets. All members of the payload are
// checked.
Result<ScheduleChange> schedule_change_in(AgentServer& served, const CronRequest& request);
// Returns whether the body changes the configuration of the runs.
bool changes_configuration(const Value& body);
// The headers in the configuration of the cron, which those of a later request do not replace.
// Members of the body that are named as headers are not headers: the body, or the payload of the
// cron with the same value, has them.
std::vector<http::Header> configured_headers(const Cron& cron, const Value& body);
// Returns whether `on_run_completed` is delete; nullopt: it is absent.
Result<std::optional<bool>> deletes_threads_in(const Value& body);

}  // namespace belay::langgraph
