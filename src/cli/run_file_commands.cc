#include "cli/run_file_commands.h"

#include "cli/former_names.h"
#include "cli/help_text.h"

namespace belay::cli {

void add_run_file_commands(CLI::App& app, const AddVerb& add, ExportRun& out, ImportRun& in,
                           Command& chosen) {
  CLI::App* writes = add(app, "export", "Write a run and its commits to a file", help::kExport);
  writes->add_option("THREAD", out.thread, "The thread")->required();
  writes->add_option("--run", out.run, "Run of the thread, by its id or the beginning of it");
  writes->add_option("--to", out.to, "New file (default: standard output)");
  writes->callback([&chosen, &out] { chosen = out; });
  CLI::App* reads = add(app, "import", "Import a run from an exported file", help::kImport);
  reads->add_option("FILE", in.file, "The file; - for standard input")->required();
  CLI::Option* allow =
      reads->add_flag("--allow-unfinished", in.allow_unfinished,
                      "Also import a run that has not ended; it can continue here, too");
  add_former_name(reads, allow, "--may-go-on");
  reads->callback([&chosen, &in] { chosen = in; });
}

}  // namespace belay::cli
