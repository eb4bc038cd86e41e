#pragma once
// cli/model_diagnostics.h - diagnoses whether the configured models are available, for `belay
// doctor` and `belay models check`. Requests the list of models of each server, which is free of
// charge; waits for a few seconds at most.

#include "cli/settings.h"
#include "cli/store_diagnostics.h"

namespace belay::cli {

// Returns one diagnostic per model; none if no model is configured. A model of the program itself
// is never `bad`.
std::vector<Diagnostic> diagnose_models(const Settings& settings, Clock& clock);

}  // namespace belay::cli
