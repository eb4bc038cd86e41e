#pragma once
// tests/postgres/postgres_stores.h - stores on the server of this process, each with a schema of
// its own.

#include <string>

#include "belay/store.h"
#include "tests/postgres/pgbouncer.h"
#include "tests/postgres/postgres_server.h"

namespace belay::postgres_tests {

// The test's clock judges expiry, as in the suite.
Result<std::unique_ptr<Store>> open_tested_store(const std::string& url, Clock& clock,
                                                 Random& random);

// The name of a schema that belongs to a folder: the same for the same folder.
std::string schema_for(const std::string& folder);

// A pooler in front of shared_server().
PgBouncer& shared_pooler();

}  // namespace belay::postgres_tests
