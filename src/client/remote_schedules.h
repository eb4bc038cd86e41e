#pragma once
// client/remote_schedules.h - the operations on the schedules of a Belay server, for
// RemoteService.
//
// The principal of a call is ignored, as in remote_service.h. Each request may be repeated if the
// connection breaks: a run that is started has a key, and a backfill starts each run once.

#include "belay/service.h"
#include "client/connection.h"

namespace belay::client {

// Both arguments must outlive the object.
std::unique_ptr<Schedules> remote_schedules(Connection& connection, Random& random);

}  // namespace belay::client
