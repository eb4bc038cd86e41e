#pragma once
// base/role_name.h - returns the name of a message's role, as the journal and providers spell it.

#include <string_view>

#include "belay/model.h"

namespace belay {

std::string_view role_name(Role role);

}  // namespace belay
