#pragma once
// service/guarded_service.h - restricts a service with several users' runs to one caller.
//
// One rule applies to everything that a user owns (threads, runs, approvals, events, messages,
// records): a caller reads, changes, forks, cancels, exports and streams its own user's data;
// with permission `decide` it also sees and decides others' approvals, and nothing else of their
// runs; all other data of others requires `administer`. Other users' data is reported as not
// existing.
//
// A new function of Service compiles here only after its access rule is defined.
//
// Threading: as Service. Coroutines that continue after the response to their request use it: it
// must live as long as the service behind it is in use.

#include "belay/service.h"

namespace belay {

// The caller.
struct Principal {
  // The data in reach: its own user's; also others' approvals; all.
  enum class Reach { own, approvals, all };

  UserId user;
  Reach reach = Reach::own;
  std::vector<std::string> roles = {};
  bool may_skip_approvals = false;  // may start runs without approvals
};

// Decisions and cancels are made in the name of the principal's user: another name in them becomes
// `on_behalf_of`. Fails with `forbidden` if the principal lacks the required permission or role.
// `all` must outlive the result.
std::unique_ptr<Service> make_guarded_service(Service& all, Principal who);

// Returns the error for a user whose data the caller cannot read, whether the user exists or not.
Error no_such_user(const UserId& user);

}  // namespace belay
