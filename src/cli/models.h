#pragma once
// cli/models.h - belay models: which language models there are, whether those that are named can be
// had, and what one of them answers. It opens no store.

#include "cli/arguments.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/settings.h"

namespace belay::cli {

// `bad_input` where nothing is set up, with what to type for a beginning.
Result<ExitCode> show_models(const Settings& settings, const Models& wanted, Output& output,
                             Clock& clock);

}  // namespace belay::cli
