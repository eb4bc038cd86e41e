#pragma once
// langgraph/thread_extract.h - `extract` of a search of threads: single values of their documents.
//
//   {"extract": {"last": "values.messages[-1].content"}}
//
// A path consists of names of members, separated by dots, and of positions in arrays, of which a
// negative one counts from the end. The value of a path that leads nowhere is null.
//
// Threading: pure.

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "belay/result.h"
#include "belay/value.h"

namespace belay::langgraph {

using ExtractPath = std::vector<std::variant<std::string, std::int64_t>>;
using Extract = std::map<std::string, ExtractPath>;  // by the name of the result

// Reads the member `extract` of a body; empty without it. `invalid` for more than 10 paths, and for
// a path of another form.
Result<Extract> extract_in(const Value& body);

// Returns the values of the paths, by their names.
Value extracted(const Extract& wanted, const Value& document);

}  // namespace belay::langgraph
