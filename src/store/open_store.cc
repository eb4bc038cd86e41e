#include "belay/store.h"

namespace belay {

Result<std::unique_ptr<Store>> open_store(const std::string& name, Clock& clock, Random& random) {
  constexpr std::string_view sqlite = "sqlite:";
  if (name == "memory:") return open_memory_store(clock, random);
  if (name.starts_with(sqlite)) return open_sqlite_store(name.substr(sqlite.size()), clock, random);
  return error(ErrorCode::invalid,
               "The store \"" + name + "\" is of no known kind; write sqlite:PATH or memory:.");
}

}  // namespace belay
