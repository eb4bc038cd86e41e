#pragma once
// service/guarded_service.h - restricts a service with several users' runs to one caller.
//
// One rule for everything that a user owns (threads, runs, approvals, events, messages, records): a
// caller reads, changes, forks, cancels, exports and streams the data of its own user; with
// permission `decide` it also sees and decides others' approvals, and nothing else of their runs;
// all other data of others requires `administer`. Other users' data is reported as not existing.
//
// A new function of Service compiles here only after its access rule is defined.
//
// Threading: as Service. Coroutines that continue after their request's response use it: it lives
// as long as the service behind it is in use.

#include "service/service.h"

namespace belay {

// The caller.
struct Principal {
  // Whose data: its own user's; also others' approvals; all.
  enum class Reach { own, approvals, all };

  UserId user;
  Reach reach = Reach::own;
  std::vector<std::string> roles = {};
  bool may_skip_approvals = false;  // may start runs without approvals
};

// Decisions and cancels are made in the name of the principal's user: another name in them
// becomes `on_behalf_of`. `forbidden` if the principal lacks the required permission or role.
// `all` outlives the result.
std::unique_ptr<Service> make_guarded_service(Service& all, Principal who);

// The error for a user whose data the caller may not read, whether the user exists or not.
Error no_such_user(const UserId& user);

}  // namespace belay
