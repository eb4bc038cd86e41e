#pragma once
// service/schedule_access.h - the access of a principal to the schedules of users.

#include <memory>

#include "belay/schedule.h"

namespace belay {

// Each call first checks the access of its principal; then it calls `all`, which must outlive the
// object.
std::unique_ptr<Schedules> with_access_rules(Schedules& all);

}  // namespace belay
