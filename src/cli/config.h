#pragma once
// cli/config.h - `belay config`: shows the settings and their origins. It opens no store.

#include "cli/config_file.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/trust.h"

namespace belay::cli {

ExitCode show_config(const std::optional<ConfigFile>& file, const std::vector<Explained>& settings,
                     Output& output);
// Prints the path of the file; without a file, the paths that were tried.
ExitCode show_config_path(const std::optional<ConfigFile>& file,
                          const std::vector<std::string>& places, Output& output);

// `config trust` and `config distrust`, for ./NAME.yaml.
Result<ExitCode> trust_config(const Program& program, const Environment& environment,
                              const std::vector<StrangePlace>& places, bool trusted,
                              Output& output);

}  // namespace belay::cli
