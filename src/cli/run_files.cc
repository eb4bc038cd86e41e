// `belay export`, `belay import`: store a run in a file, and load it.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/commands.h"
#include "cli/documents.h"
#include "cli/input_file.h"
#include "cli/named_run.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

constexpr std::size_t kFileBytesMax = 1u << 30;

Error not_written(const std::string& name, int failure) {
  std::string why = failure == EEXIST ? "already exists" : std::strerror(failure);
  return error(ErrorCode::invalid,
               "The file \"" + one_line(name) + "\" was not written: it " +
                   (failure == EEXIST ? why : "could not be created (" + why + ")") + ".");
}

// Only the owner may read the file: it contains the data of the run.
Result<Done> write_new_file(const std::string& name, std::string_view text) {
  int file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return not_written(name, errno);
  int failure = 0;
  while (!text.empty() && failure == 0) {
    ssize_t count = write(file, text.data(), text.size());
    if (count > 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      failure = errno;
    }
  }
  if (failure == 0 && fsync(file) != 0) failure = errno;
  if (close(file) != 0 && failure == 0) failure = errno;
  if (failure == 0) return Done{};
  unlink(name.c_str());
  return not_written(name, failure);
}

}  // namespace

Task<CommandResult> export_run(CommandContext& world, ExportRun wanted) {
  ThreadId thread(std::move(wanted.thread));
  BELAY_CO_TRY(std::optional<RunId> run, co_await named_run(world, thread, std::move(wanted.run)));
  BELAY_CO_TRY(Value file, co_await world.service.export_run(std::move(thread), run));
  std::string text = to_json(file) + "\n";
  if (!wanted.to) {
    world.output.text(text);
    co_return ExitCode::done;
  }
  BELAY_CO_CHECK(write_new_file(*wanted.to, text));
  world.output.line("Written: " + one_line(*wanted.to) + ", " + std::to_string(text.size()) +
                    " bytes");
  world.output.document(
      Value::object({{"file", *wanted.to}, {"bytes", static_cast<std::uint64_t>(text.size())}}));
  co_return ExitCode::done;
}

Task<CommandResult> import_run(CommandContext& world, ImportRun wanted) {
  BELAY_CO_TRY(std::string text, read_input(wanted.file, kFileBytesMax));
  auto file = parse_json(text);
  if (!file.ok()) {
    co_return error(ErrorCode::invalid, "The file \"" + one_line(wanted.file) +
                                            "\" is not valid JSON: " + file.error().message);
  }
  BELAY_CO_TRY(RunRow run,
               co_await world.service.import_run(*std::move(file), wanted.allow_unfinished));
  BELAY_CO_TRY(RunView view, co_await world.service.status(run.thread, std::nullopt, run.run));
  show_run(world, view);
  world.output.document(run_document(world.program, view));
  co_return ExitCode::done;
}

}  // namespace belay::cli
