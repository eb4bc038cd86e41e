#pragma once
// cli/store_name.h - formats the name of a store for display.

#include <string>

namespace belay::cli {

// Replaces the password in the URL of a PostgreSQL store by "***".
std::string shown_store(const std::string& store);

// Returns the URL of a webhook without its path, which is often its secret; "" for "".
std::string shown_webhook(const std::string& url);

}  // namespace belay::cli
