#pragma once
// cli/store_name.h - a store's name as people may see it.

#include <string>

namespace belay::cli {

// Without the password that the URL of a PostgreSQL store may hold: "***" stands in its place.
std::string shown_store(const std::string& store);

}  // namespace belay::cli
