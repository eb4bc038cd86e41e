#include "service/user_access.h"

namespace belay {

Reach reach_of(const Principal& who) {
  if (who.permission >= Permission::administer) return Reach::all;
  return who.permission >= Permission::decide ? Reach::approvals : Reach::own;
}

Result<Done> check_user(const Principal& who, const UserId& user) {
  if (is_unrestricted(who)) return Done{};
  BELAY_CHECK(check_name("userId", user.text));
  if (reach_of(who) == Reach::all || user == who.user) return Done{};
  return error(ErrorCode::not_found,
               "User \"" + user.text + "\" is unknown, or this API key cannot read their data.");
}

Result<std::optional<UserId>> whom(const Principal& who, std::optional<UserId> user) {
  if (user) BELAY_CHECK(check_user(who, *user));
  if (!user && reach_of(who) != Reach::all) user = who.user;
  return user;
}

}  // namespace belay
