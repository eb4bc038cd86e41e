#pragma once
// server/closed_names.h - the closed sets of names in documents, as JSON Schemas: made from the C++
// enumerations, so that a new enumerator is in the description of the API, too.

#include <map>
#include <string>

#include "belay/value.h"

namespace belay::server {

// By the names that answer_schemas.cc refers to.
std::map<std::string, Value> closed_names();

}  // namespace belay::server
