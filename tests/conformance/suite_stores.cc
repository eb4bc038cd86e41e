// Runs the suite for every store.

#include "tests/conformance/store_suite.h"

namespace belay::conformance {

INSTANTIATE_TEST_SUITE_P(Store, StoreSuite, testing::ValuesIn(store_kinds()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace belay::conformance
