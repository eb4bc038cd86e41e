#pragma once
// scheduler/local_schedules.h - creates the Schedules of a service of this process.

#include <functional>
#include <memory>

#include "belay/service.h"
#include "cron/zone_database.h"

namespace belay::scheduler {

// All of it must outlive the object.
struct LocalSchedulesParts {
  Store& store;
  Service& service;
  Clock& clock;
  Random& random;
  const cron::ZoneDatabase& zones;
  // Fails if no run can start like this: an unknown agent, an input that does not fit.
  std::function<Result<Done>(const Principal& who, StartRun wanted)> check_start;
};

// The tenant of each call is that of its principal; access to the data of users is not checked.
std::unique_ptr<Schedules> local_schedules(LocalSchedulesParts parts);

}  // namespace belay::scheduler
