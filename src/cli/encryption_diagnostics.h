#pragma once
// cli/encryption_diagnostics.h - diagnoses whether a store is encrypted, with which keys, and
// whether all of it can be decrypted, for `belay doctor`. Changes nothing.

#include <vector>

#include "cli/settings.h"
#include "cli/store_diagnostics.h"

namespace belay::cli {

// Empty if the store is missing or cannot be read: other diagnostics report that.
std::vector<Diagnostic> diagnose_encryption(const Settings& settings);

}  // namespace belay::cli
