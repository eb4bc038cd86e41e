#pragma once
// tests/permissions/permission_table.h - what each route is to answer to whom: declared once, by
// hand, so that the code that answers is not what says what it should.

#include <optional>
#include <string>
#include <vector>

#include "tests/permissions/permission_world.h"

namespace belay::permissions {

enum class About {
  nobody,     // of the server, the store or the program: no user's
  thing,      // a user's thing that the request names
  approval,   // likewise; who may decide sees others', too
  list,       // everything that the caller may see
  approvals,  // likewise, with others' approvals for who may decide
  thread,     // the name of a thread that is to be begun, and may be taken
};

struct Entry {
  std::string route;    // its id
  std::string variant;  // what is particular about it
  About about = About::nobody;
  std::string target;
  std::string body = {};
  int answer = 200;  // to who may, about what is there
  int absent = 404;  // to who sees everything, about what is not there
  std::optional<Permission> takes = std::nullopt;  // beyond what the route itself takes
};

const std::vector<Entry>& permission_table();

// The status that the table, and nothing else, says.
int expected_status(const Entry& entry, Permission route_takes, Permission as, Thing thing);
// Whether that caller is to be shown the thing of that entry, whosever it is.
bool sees_others(const Entry& entry, Permission as);

}  // namespace belay::permissions
