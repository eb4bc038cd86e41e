// The stores without a server that the suite is run for.

#include "tests/conformance/store_suite.h"

namespace belay::conformance {

const std::vector<StoreKind>& bare_store_kinds() {
  static const std::vector<StoreKind> kinds{
      {"Memory",
       [](const std::string&, Clock& clock, Random& random) {
         return Result<std::unique_ptr<Store>>(open_memory_store(clock, random));
       }},
      {"Sqlite",
       [](const std::string& folder, Clock& clock, Random& random) {
         return open_sqlite_store(folder + "/store.db", clock, random);
       }},
  };
  return kinds;
}

}  // namespace belay::conformance
