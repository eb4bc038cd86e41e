#include "belay/store.h"

namespace belay {

Result<std::unique_ptr<Store>> open_store(const std::string& name, Clock& clock, Random& random) {
  constexpr std::string_view sqlite = "sqlite:";
  if (name == "memory:") return open_memory_store(clock, random);
  if (name.starts_with(sqlite)) return open_sqlite_store(name.substr(sqlite.size()), clock, random);
  if (name.starts_with("postgresql://") || name.starts_with("postgres://")) {
    return open_postgres_store(name, clock, random);
  }
  // Only the part before the colon: the rest can contain a password.
  return error(ErrorCode::invalid,
               "Invalid store \"" + name.substr(0, name.find(':')) +
                   "\": expected sqlite:PATH, memory: or postgresql://USER@HOST/DATABASE.");
}

}  // namespace belay
