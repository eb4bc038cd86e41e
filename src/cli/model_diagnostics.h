#pragma once
// cli/model_diagnostics.h - whether the models that are named can be had: what belay doctor and
// belay models check tell. Asks each server for its list, which costs nothing; waits a few seconds.

#include "cli/settings.h"
#include "cli/store_diagnostics.h"

namespace belay::cli {

// One a model; none where no model is named. Never `bad` of a model of the program's own.
std::vector<Diagnostic> diagnose_models(const Settings& settings, Clock& clock);

}  // namespace belay::cli
