#pragma once
// base/role_name.h - a role by its name, as records and providers spell it.

#include <string_view>

#include "belay/model.h"

namespace belay {

std::string_view role_name(Role role);

}  // namespace belay
