#pragma once
// service/guarded_service.h - one caller's view of a service that holds several users' runs.
//
// The one rule for everything that a user owns (threads, runs, approvals, events, messages,
// records): a caller reads, changes, forks, cancels, exports and streams its own user's; one who
// may decide also sees and decides others' approvals, and nothing else of their runs; all else of
// others takes one who administers. Another user's thing is answered as one that does not exist.
//
// A new function of Service does not compile here until it says whom it is for.
//
// Threading: as Service. Tasks that go on after their request has been answered use it: it lives as
// long as what it guards is asked.

#include "service/service.h"

namespace belay {

// Who asks.
struct Principal {
  // Whose things: its user's; and of others their approvals; all.
  enum class Reach { own, approvals, all };

  UserId user;
  Reach reach = Reach::own;
  std::vector<std::string> roles = {};
  bool may_skip_approvals = false;  // begin runs that save without asking
};

// Decisions and cancels through it are the user's own: another name in them becomes the one that
// they are made on behalf of. `forbidden` for what takes a permission or role that the principal
// does not have. `all` outlives it.
std::unique_ptr<Service> make_guarded_service(Service& all, Principal who);

// For a user whose things the caller may not ask for, whether there is such a user or not.
Error no_such_user(const UserId& user);

}  // namespace belay
