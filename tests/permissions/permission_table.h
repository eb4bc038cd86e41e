#pragma once
// tests/permissions/permission_table.h - the expected response of each route to each caller:
// declared by hand, so that the tested code does not define its own expectation.

#include <optional>
#include <string>
#include <vector>

#include "tests/permissions/permission_world.h"

namespace belay::permissions {

enum class About {
  nobody,     // belongs to the server, the store or the program, not a user
  thing,      // an item of a user, named by the request
  approval,   // likewise; callers with `decide` also see others'
  list,       // all items that the caller may see
  approvals,  // likewise, with others' approvals for callers with `decide`
  thread,     // the name of a thread to be started, which may exist
};

struct Entry {
  std::string route;    // its id
  std::string variant;  // how it differs from the route's other entries
  About about = About::nobody;
  std::string target;
  std::string body = {};
  int answer = 200;  // for a permitted caller, if the item exists
  int absent = 404;  // for a caller who can see all users' items, if it does not exist
  std::optional<Permission> takes = std::nullopt;  // in addition to the route's own
  int hidden = 404;  // for a caller who cannot see the item of another, which may not exist
};

const std::vector<Entry>& permission_table();

// Parts of the table: routes of protocols of other clients.
std::vector<Entry> agent_server_entries();
std::vector<Entry> agent_server_run_entries();
std::vector<Entry> agent_server_state_entries();
std::vector<Entry> a2a_entries();
std::vector<Entry> ag_ui_entries();

// Returns the status that only the table determines.
int expected_status(const Entry& entry, Permission route_takes, Permission as, Thing thing);
// True if that caller may see the item of that entry if another user owns it.
bool sees_others(const Entry& entry, Permission as);

}  // namespace belay::permissions
