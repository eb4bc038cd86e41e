// `belay export`, `belay import`: store a run in a file, and load it.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/documents.h"
#include "cli/named_run.h"
#include "cli/shared_options.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

constexpr const char* kExportHelp =
    R"(Writes the thread's current run, or --run, as one JSON document: its commits, values, calls,
events, messages and approvals. The document is not encrypted: protect it like the prompts and
replies that it contains. The user's records are not part of a run.

Examples:
  {p} export first --to first.json
  {p} export first --server http://prod:8123 | {p} import -
)";
constexpr const char* kImportHelp =
    R"(Imports the whole run or nothing, and only a run that passes every rule of {p} check. It
keeps its ids: an existing thread is a conflict. state, history, calls, events and fork work on it
as on any run; replay too, if its nodes read no records of the user. A run that has not ended could
continue both here and in its original store, with all its effects, so it requires
--allow-unfinished. Undelivered messages are discarded here; the original store delivers them.

Examples:
  {p} import first.json && {p} replay first
)";

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

class ExportCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    declare_thread(words, thread_);
    declare_run(words, run_);
    words.option("--to", to_, "New file (default: standard output)");
  }
  Result<Done> validate(const CommandValidation&) override {
    return check_thread_and_run(thread_, run_);
  }

  Task<CommandResult> run(CommandContext& world) override {
    ThreadId thread(thread_);
    BELAY_CO_TRY(std::optional<RunId> run, co_await named_run(world, thread, run_));
    BELAY_CO_TRY(Value file, co_await world.service.export_run(world.who, std::move(thread), run));
    std::string text = to_json(file) + "\n";
    if (!to_) {
      world.output.text(text);
      co_return ExitCode::done;
    }
    BELAY_CO_CHECK(write_new_file(*to_, text));
    world.output.line("Written: " + one_line(*to_) + ", " + std::to_string(text.size()) + " bytes");
    world.output.document(
        Value::object({{"file", *to_}, {"bytes", static_cast<std::uint64_t>(text.size())}}));
    co_return ExitCode::done;
  }

 private:
  std::string thread_;
  std::optional<std::string> run_;
  std::optional<std::string> to_;  // a file; unset: standard output
};

class ImportCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    words.argument("FILE", file_, "The file; - for standard input").required();
    words
        .flag("--allow-unfinished", allow_unfinished_,
              "Also import a run that has not ended; it can continue here, too")
        .former_name("--may-go-on");
  }

  Task<CommandResult> run(CommandContext& world) override {
    BELAY_CO_TRY(std::string text, read_input(file_, kFileBytesMax));
    auto file = parse_json(text);
    if (!file.ok()) {
      co_return error(ErrorCode::invalid, "The file \"" + one_line(file_) +
                                              "\" is not valid JSON: " + file.error().message);
    }
    BELAY_CO_TRY(RunRow run,
                 co_await world.service.import_run(world.who, *std::move(file), allow_unfinished_));
    BELAY_CO_TRY(RunView view,
                 co_await world.service.status(world.who, run.thread, std::nullopt, run.run));
    show_run_again(world, view);
    world.output.document(run_document(world.program, view));
    co_return ExitCode::done;
  }

 private:
  std::string file_;  // "-": standard input
  bool allow_unfinished_ = false;
};

}  // namespace

CommandSpec builtin::export_command(const Program&) {
  return {.path = {"export"},
          .line = "Write a run and its commits to a file",
          .end = kExportHelp,
          .make = make_command<ExportCommand>};
}

CommandSpec builtin::import_command(const Program&) {
  return {.path = {"import"},
          .line = "Import a run from an exported file",
          .end = kImportHelp,
          .traits = {.creates_store = true},
          .make = make_command<ImportCommand>};
}

}  // namespace belay::cli
