#pragma once
// cli/process_context.h - ProcessContext: the objects that a command without a store uses. Only
// app.cc creates one.

#include <optional>
#include <vector>

#include "belay/clock.h"
#include "cli/config_file.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/settings.h"
#include "cli/trust.h"

namespace belay::cli {

struct ProcessContext {
  const Program& program;
  const Settings& settings;
  Output& output;
  Clock& clock;
  // The sources of `settings`.
  const GlobalFlags& flags;
  const Environment& variables;    // without the file
  const Environment& environment;  // with the members of the file
  const std::optional<ConfigFile>& file;
  const std::vector<StrangePlace>& places;  // servers that only an untrusted file names
};

}  // namespace belay::cli
