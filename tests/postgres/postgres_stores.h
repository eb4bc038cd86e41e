#pragma once
// tests/postgres/postgres_stores.h - stores on the shared server, each with its own schema.

#include <string>

#include "belay/store.h"
#include "tests/postgres/pgbouncer.h"
#include "tests/postgres/postgres_server.h"

namespace belay::postgres_tests {

// Opens a store whose expiry is checked against the test's clock, as the conformance suite
// requires.
Result<std::unique_ptr<Store>> open_tested_store(const std::string& url, Clock& clock,
                                                 Random& random);

// Returns the name of a schema for a folder: the same for the same folder.
std::string schema_for(const std::string& folder);

// Returns a pooler in front of shared_server().
PgBouncer& shared_pooler();

}  // namespace belay::postgres_tests
