// The stores that the suite is run for.

#include "tests/conformance/sealed_stores.h"

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

// Each of them as it is, and behind its sealing.
const std::vector<StoreKind>& store_kinds() {
  static const std::vector<StoreKind> kinds = [] {
    std::vector<StoreKind> all = bare_store_kinds();
    for (const StoreKind& bare : bare_store_kinds()) {
      all.push_back({"Sealed" + bare.name,
                     [bare](const std::string& folder, Clock& clock,
                            Random& random) -> Result<std::unique_ptr<Store>> {
                       BELAY_TRY(auto inner, bare.open(folder, clock, random));
                       return sealed_around(std::move(inner), random, all_of_sealing());
                     },
                     true});
    }
    return all;
  }();
  return kinds;
}

}  // namespace belay::conformance
