#pragma once
// tests/simulation/judge_requests.h - checks the ticks of all schedules, and the use of messages.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/requests.h"

namespace belay::simulation {

// The rows of a store, as a process has read them after the simulation.
struct RequestedRows {
  struct Ticks {
    std::string name;
    std::optional<ScheduleView> view;  // unset: the schedule was not added
    std::vector<ScheduleTick> ticks;
  };
  struct Sent {
    RunRow run;
    Value state;
    std::vector<SteeringMessage> messages;
  };
  std::vector<Ticks> schedules;
  std::vector<Sent> sent;    // to runs of goals
  std::vector<RunRow> runs;  // all
};

Task<Result<RequestedRows>> read_requested(Process& process, std::vector<std::string> schedules,
                                           std::vector<RunRow> runs);

// Returns the faults: ticks without exactly one decision, starts without exactly one run, and
// messages that were lost, or not used once and in order.
std::vector<std::string> requested_faults(
    const RequestedRows& rows, const std::map<std::string, std::vector<std::string>>& accepted);

}  // namespace belay::simulation
