#pragma once
// base/run_of_key.h - the id of the run that an idempotency key names.
//
// Threading: any thread.

#include <string>

#include "belay/ids.h"

namespace belay {

// Keys of different users differ, so that a guess of another user's key finds nothing.
RunId run_of_key(const TenantId& tenant, const UserId& user, const std::string& key);

}  // namespace belay
