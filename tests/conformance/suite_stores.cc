// Instantiates the suite for every store of the program.

#include "tests/conformance/encrypted_stores.h"

namespace belay::conformance {

const std::vector<StoreKind>& store_kinds() {
  static const std::vector<StoreKind> kinds = [] {
    std::vector<StoreKind> all = bare_store_kinds();
    for (const StoreKind& bare : bare_store_kinds()) {
      all.push_back({"Sealed" + bare.name,
                     [bare](const std::string& folder, Clock& clock,
                            Random& random) -> Result<std::unique_ptr<Store>> {
                       BELAY_TRY(auto inner, bare.open(folder, clock, random));
                       return sealed_around(std::move(inner), random, all_of_encryption());
                     },
                     true, bare.is_remote});
    }
    return all;
  }();
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Store, StoreSuite, testing::ValuesIn(store_kinds()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace belay::conformance
