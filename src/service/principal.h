#pragma once
// service/principal.h - Permission: the permissions of callers.

#include <string_view>

namespace belay {

// The permission that a caller needs. `open`: none, for health checks and the description. Each
// includes those below it.
enum class Permission { open, read, run, decide, administer };
std::string_view name_of(Permission permission);

}  // namespace belay
