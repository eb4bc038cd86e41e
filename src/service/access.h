#pragma once
// service/access.h - the access of a principal to the data of a service, enforced in one place.
//
// Internal: make_local_service() returns a service whose every call passes this one. The rules are
// those of principal.h.
//
// A new function of Service compiles here only after its access rule is defined.

#include "belay/service.h"

namespace belay {

// Each call first checks, and restricts, the access of its principal; then it calls `all`, which
// enforces the tenant only.
std::unique_ptr<Service> with_access_rules(std::unique_ptr<Service> all);

}  // namespace belay
