#pragma once
// belay/principal.h - Principal: for whom an operation of the service is executed, and its access
// to the data of users.
//
// Each call of Service (belay/service.h) has a principal. One rule applies to everything that a
// user owns (threads, runs, approvals, events, messages, records), within the principal's tenant:
//   - `read` and `run`: it reads, changes, forks, cancels, exports and streams its own user's data;
//   - `decide`: it also sees and decides others' approvals, and nothing else of their runs;
//   - `administer`: all data of the tenant; operations on queues, workers and the store.
// Data of other users and of other tenants is reported as not existing. The permission that an
// operation itself requires, such as `run` for a start, is that of the server's route; the service
// checks `administer` only.
//
// A principal with the name of an API key acts in the name of its user: decisions and cancels are
// recorded as made by that user, with the roles of the key; another name in them becomes
// `on_behalf_of`. A call that names a role which the key does not have fails with `forbidden`.
//
// A principal without a key and with `administer` is unrestricted: names and roles are recorded
// unchanged. Principal() is one, for the programs on this host, which can read the store's file.
//
// Threading: a value.

#include <string>
#include <string_view>
#include <vector>

#include "belay/ids.h"

namespace belay {

// Each permission includes those before it. `open`: no access to data, for health checks and the
// description of the API.
enum class Permission { open, read, run, decide, administer };
std::string_view name_of(Permission permission);

struct Principal {
  TenantId tenant = default_tenant();
  UserId user = {};  // the owner of its runs and records
  Permission permission = Permission::administer;
  std::vector<std::string> roles = {};  // for approvals that require one
  std::string key = {};  // name of the API key; empty: a local program, or a server without keys
  // May start runs without approvals; an unrestricted principal may always.
  bool may_skip_approvals = false;
};

// True for a local program and for the callers of a server without keys.
bool is_unrestricted(const Principal& who);

}  // namespace belay
