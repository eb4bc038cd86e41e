#pragma once
// cli/postgres_diagnostics.h - looks at a store on PostgreSQL: what belay doctor tells of it.

#include "cli/store_diagnostics.h"

namespace belay::cli {

// Both URLs as settings have them; `notify_url` may be empty. Waits some seconds at the most for a
// server that is not there. What is written to see whether writing works is rolled back.
std::vector<Diagnostic> diagnose_postgres(const std::string& store, const std::string& notify_url,
                                          Clock& clock);

}  // namespace belay::cli
