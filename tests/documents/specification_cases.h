#pragma once
// tests/documents/specification_cases.h - the test cases that the specification lists by name.

#include <string_view>
#include <vector>

namespace belay::documents {

// Those of the graph agents and of the approval fix, in its order and with its words, shortened.
const std::vector<std::string_view>& specification_cases();

}  // namespace belay::documents
