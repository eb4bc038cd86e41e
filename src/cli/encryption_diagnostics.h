#pragma once
// cli/encryption_diagnostics.h - whether a store is encrypted, with which keys, and whether all of
// it can be read: what belay doctor tells. Changes nothing.

#include <vector>

#include "cli/settings.h"
#include "cli/store_diagnostics.h"

namespace belay::cli {

// Empty for a store that is not there, or that belay can't look into: others tell that.
std::vector<Diagnostic> diagnose_encryption(const Settings& settings);

}  // namespace belay::cli
