#pragma once
// tests/support/principals.h - the principals of tests: a local program, and the holders of keys.

#include "belay/principal.h"

namespace belay {

inline const Principal local_program;

// The holder of an API key.
inline Principal holder_of_key(std::string name, Permission permission,
                               TenantId tenant = default_tenant()) {
  Principal who;
  who.tenant = std::move(tenant);
  who.user = UserId(name);
  who.permission = permission;
  who.key = std::move(name);
  return who;
}

}  // namespace belay
