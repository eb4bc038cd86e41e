#include "belay/principal.h"

namespace belay {

std::string_view name_of(Permission permission) {
  switch (permission) {
    case Permission::open:
      return "open";
    case Permission::read:
      return "read";
    case Permission::run:
      return "run";
    case Permission::decide:
      return "decide";
    case Permission::administer:
      return "administer";
  }
  return "";
}

bool is_unrestricted(const Principal& who) {
  return who.key.empty() && who.permission == Permission::administer;
}

}  // namespace belay
