// The stores that the suite is run for.

#include "tests/conformance/store_suite.h"

namespace belay::conformance {

const std::vector<StoreKind>& store_kinds() {
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

INSTANTIATE_TEST_SUITE_P(Store, StoreSuite, testing::ValuesIn(store_kinds()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace belay::conformance
