#pragma once
// cli/postgres_diagnostics.h - diagnoses a store on PostgreSQL, for `belay doctor`.

#include "cli/store_diagnostics.h"

namespace belay::cli {

// Both URLs are as in the settings; `notify_url` may be empty. Waits for a few seconds at most for
// an unreachable server. Rows written to test whether writing works are rolled back.
std::vector<Diagnostic> diagnose_postgres(const std::string& store, const std::string& notify_url,
                                          Clock& clock);

}  // namespace belay::cli
