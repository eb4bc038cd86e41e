#pragma once
// cli/run_file_commands.h - adds the commands `export` and `import` to the parser.

#include "cli/queue_commands.h"

namespace belay::cli {

// All arguments must outlive `app`.
void add_run_file_commands(CLI::App& app, const AddVerb& add, ExportRun& out, ImportRun& in,
                           Command& chosen);

}  // namespace belay::cli
