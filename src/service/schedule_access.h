#pragma once
// service/schedule_access.h - the access of a principal to the schedules of users.

#include <memory>
#include <string>

#include "belay/principal.h"
#include "belay/schedule.h"

namespace belay {

// Each call first checks the access of its principal; then it calls `all`, which must outlive the
// object.
std::unique_ptr<Schedules> with_access_rules(Schedules& all);

// Sets the member configurable.langgraph_auth_user_id of a run's configuration, if it has one, to
// the user of the run: nodes take it for the authenticated one. A local program can set any.
void set_caller_of_run(const Principal& who, const UserId& user, std::string& configuration);

}  // namespace belay
