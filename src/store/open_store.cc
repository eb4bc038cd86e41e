#include "belay/store.h"

namespace belay {

Result<std::unique_ptr<Store>> open_store(const std::string& name, Clock& clock, Random& random) {
  if (name == "memory:") return open_memory_store(clock, random);
  return error(ErrorCode::invalid,
               "The store \"" + name + "\" is of no known kind; write sqlite:PATH or memory:.");
}

}  // namespace belay
