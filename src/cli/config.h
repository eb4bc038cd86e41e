#pragma once
// cli/config.h - belay config: the settings, and where each comes from. It opens no store.

#include "cli/config_file.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/trust.h"

namespace belay::cli {

ExitCode show_config(const std::optional<ConfigFile>& file, const std::vector<Explained>& settings,
                     Output& output);
// Where there is no file: where it was looked for.
ExitCode show_config_path(const std::optional<ConfigFile>& file,
                          const std::vector<std::string>& places, Output& output);

// config trust, config distrust: for ./NAME.yaml.
Result<ExitCode> trust_config(const Program& program, const Environment& environment,
                              const std::vector<StrangePlace>& places, bool trusted,
                              Output& output);

}  // namespace belay::cli
