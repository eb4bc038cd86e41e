#pragma once
// service/steering.h - accepts and lists the steering messages of a run (SteeringMessage).
//
// A message is stored as a pending write of its run: the store rejects it if the run has committed
// since it was read, and the run is then read again. While an agent's node `finish` is scheduled,
// no message is accepted. Therefore that node, which starts after the commit that scheduled it,
// reads every message that was accepted before.

#include <string>
#include <vector>

#include "belay/service.h"

namespace belay {

struct SteeringParts {
  Store& store;
  Clock& clock;
  Random& random;
  std::string call;  // the program's name in suggested commands
};

// See Service::steer() and Service::steering(). `parts` must outlive the task.
Task<Result<SteeringMessage>> steer_run(SteeringParts parts, TenantId tenant, ThreadId thread,
                                        Steer message);
Task<Result<std::vector<SteeringMessage>>> steering_of_thread(SteeringParts parts, TenantId tenant,
                                                              ThreadId thread);
// Deletes the messages of a thread that was deleted.
Task<Result<Done>> delete_steering(Store& store, Clock& clock, TenantId tenant, UserId user,
                                   ThreadId thread);

// Adds the messages that this cancelled run has not used to its document, as "unusedSteering", if
// there are any. Leaves the document unchanged if they cannot be read: the run is cancelled.
Task<Done> add_unused_steering(Service& service, const Principal& who, RunRow run, Value& document);

// The message as a document of the API, and the reverse.
Value steering_document(const SteeringMessage& message);
Result<SteeringMessage> steering_from(const Value& document);

}  // namespace belay
