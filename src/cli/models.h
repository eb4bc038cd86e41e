#pragma once
// cli/models.h - `belay models`: lists the language models, checks the configured ones, and tries
// one. It opens no store.

#include "cli/arguments.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/settings.h"

namespace belay::cli {

// `bad_input` if no model is configured, with commands to begin with.
Result<ExitCode> show_models(const Settings& settings, const Models& wanted, Output& output,
                             Clock& clock);

}  // namespace belay::cli
