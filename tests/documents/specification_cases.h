#pragma once
// tests/documents/specification_cases.h - the test cases that the specification lists by name.

#include <string_view>
#include <vector>

namespace belay::documents {

// Of the graph agents and of the approval fix, in its order and in its words, shortened.
const std::vector<std::string_view>& specification_cases();

}  // namespace belay::documents
