#pragma once
// belay/command.h - ModuleCommand: a command that a module adds to the command line.
//
//     class Count final : public ModuleCommand {
//      public:
//       void declare(CommandWords& words) override {
//         words.option("--limit", limit_, "Maximum number of letters").range(1u, 1000u);
//       }
//       Task<Result<ExitCode>> run(ModuleContext& context) override { ... co_return ExitCode::done;
//       }
//
//      private:
//       std::size_t limit_ = 50;
//     };
//
//     module.commands = {{.path = {"letters"}, .line = "Count and show letters"},
//                        {.path = {"letters", "count"}, .line = "Count the letters",
//                         .make = make_module_command<Count>}};
//
// The parser, `--help`, the manual page and the completions of shells contain the command. It can
// be executed on a store of this process or, with --server, on the service of a server.
//
// Threading: the main thread.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "belay/result.h"
#include "belay/task.h"
#include "belay/value.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace belay {

struct ModuleContext;   // belay/module.h
struct ModuleSettings;  // likewise

// The exit codes of the process: stable, and listed by `--help`.
enum class ExitCode {
  done = 0,
  failed = 1,     // the run failed, or a check found a fault
  bad_input = 2,  // the command can never succeed, or an object does not exist
  waiting = 3,    // for a decision
  conflict = 4,   // decided otherwise, expired, ended, or owned by a live process
  store = 6,      // unavailable, damaged, or written by a newer Belay
  cancelled = 7,  // the run was cancelled
  internal = 70,
  // If a signal stopped the command, it returns 128 plus the signal's number: 130 for Ctrl-C.
};

// Names of the store or the server that a shell can complete.
enum class NamesToComplete { threads, approvals, agents };
using CompletedWords = std::map<const CLI::Option*, NamesToComplete>;

// An option or an argument that has been declared. Its functions return it, for the next one.
class CommandWord {
 public:
  CommandWord(CLI::App& command, CLI::Option& option, CompletedWords& completed)
      : command_(&command), option_(&option), completed_(&completed) {}

  CommandWord& required();
  // The value is a number from `least` to `most`, whose type the help names.
  CommandWord& range(std::size_t least, std::size_t most);
  CommandWord& range(int least, int most);
  CommandWord& choices(std::vector<std::string> values);
  // The help contains the current value of the target.
  CommandWord& shows_default();
  // One value of the command line is a list.
  CommandWord& comma_separated();
  // The value is the name of an existing object.
  CommandWord& completes(NamesToComplete names);
  // A command line with both words is invalid.
  CommandWord& excludes(const CommandWord& other);
  // The option can be given without a value, which is then empty.
  CommandWord& optional_value();
  // Also accepts the option under this name, and does not display it. Must be called last.
  CommandWord& former_name(const std::string& name);

 private:
  CLI::App* command_;
  CLI::Option* option_;
  CompletedWords* completed_;
};

// Declares the options and arguments of a command. Each declaration names a target, which receives
// the value of the command line, or keeps its default. Targets must outlive the parser; members of
// the command do.
class CommandWords {
 public:
  // Both arguments must outlive the object.
  CommandWords(CLI::App& command, CompletedWords& completed)
      : command_(command), completed_(completed) {}

  // An option with a value: "--limit". An optional target remains unset if the value is empty; a
  // vector receives the values of all repetitions.
  CommandWord option(const std::string& name, std::string& target, const std::string& help);
  CommandWord option(const std::string& name, std::optional<std::string>& target,
                     const std::string& help);
  CommandWord option(const std::string& name, std::size_t& target, const std::string& help);
  CommandWord option(const std::string& name, std::int64_t& target, const std::string& help);
  CommandWord option(const std::string& name, std::optional<std::uint64_t>& target,
                     const std::string& help);
  CommandWord option(const std::string& name, std::vector<std::string>& target,
                     const std::string& help);
  // An option for which an empty value is a value.
  CommandWord text_option(const std::string& name, std::optional<std::string>& target,
                          const std::string& help);
  // An option without a value: "--all".
  CommandWord flag(const std::string& name, bool& target, const std::string& help);
  // A word without a name: "THREAD". It may be absent unless it is required().
  CommandWord argument(const std::string& name, std::string& target, const std::string& help);
  CommandWord argument(const std::string& name, std::optional<std::string>& target,
                       const std::string& help);

  // Adds a word after which the command has these options, too, such as "daily-audit" of `run`.
  // Calls `chosen` if the command line contains it.
  CommandWords form(const std::string& name, const std::string& line, std::function<void()> chosen);

 private:
  CLI::App& command_;
  CompletedWords& completed_;
};

class ModuleCommand {
 public:
  virtual ~ModuleCommand() = default;

  // Declares the options and arguments. Their targets are members of the object, which have the
  // parsed values in validate() and run().
  virtual void declare(CommandWords&) {}

  // Checks the options before a store is opened, so that invalid ones create no file. May read the
  // files that they name. Fails with `invalid` if the command can never succeed.
  virtual Result<Done> validate(const ModuleSettings&) { return Done{}; }

  // Executes the command. Results go to the context's output. Returns the exit code, or the error
  // for which the command failed.
  virtual Task<Result<ExitCode>> run(ModuleContext& context) = 0;
};

// An entry of the table of commands.
struct ModuleCommandSpec {
  std::vector<std::string> path;  // {"letters", "count"}; after the entry of {"letters"}
  std::string line;               // description in lists of commands
  std::string end = {};           // end of its help: examples; {p}: the program's name
  bool creates_store = false;     // if the store does not exist; others use an empty one instead
  bool uses_store = true;         // false: an empty store in memory instead of the user's
  std::function<std::unique_ptr<ModuleCommand>()> make = nullptr;  // null: only a group of commands
};

// A value of ModuleCommandSpec::make.
template <typename T>
std::unique_ptr<ModuleCommand> make_module_command() {
  return std::make_unique<T>();
}

// A short form to run a graph: "run daily-audit --date D". `enqueue` has it, too.
class FormOptions {
 public:
  virtual ~FormOptions() = default;
  virtual void declare(CommandWords& words) = 0;
  // Returns the input of the run. Fails with `invalid` for invalid options.
  virtual Result<Value> input(const ModuleSettings& settings) const = 0;
  // Returns the configuration of the run (RunOptions::configuration): settings of the caller that a
  // server does not have. A repeated start compares the input, and not these.
  virtual std::string configuration(const ModuleSettings&) const { return {}; }
};
struct RunForm {
  std::string name;
  std::string line;
  std::string graph;
  std::function<std::unique_ptr<FormOptions>()> make;
};

// Returns the contents of the file `name`, at most `most` bytes; "-" is standard input. Fails with
// `invalid`, with the file's name, if it is missing, cannot be read, is a directory, or is longer.
Result<std::string> read_input(const std::string& name, std::size_t most);

// Parses a whole number from `least` to `most`. Otherwise fails with `invalid`, naming `what`.
Result<std::int64_t> whole_number(std::string_view what, std::string_view text, std::int64_t least,
                                  std::int64_t most);
// The same for an amount of money, such as "1.50"; returns millionths (Budget::money).
Result<std::int64_t> money_from(std::string_view what, std::string_view text);

}  // namespace belay
