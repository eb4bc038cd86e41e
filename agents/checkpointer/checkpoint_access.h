#pragma once
// agents/checkpointer/checkpoint_access.h - the access of a call to the checkpoints of one user.

#include "belay/service.h"

namespace belay::checkpointer {

// The service, the principal and the clock must outlive it.
struct CheckpointAccess {
  Service& service;
  const Principal& who;
  UserId owner;
  Clock& clock;
};

}  // namespace belay::checkpointer
