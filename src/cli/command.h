#pragma once
// cli/command.h - Command: a command with its parsed options. CommandSpec: the description of a
// command for the parser, the help and app.cc.
//
// A command that every program has is one file and one line of command_list.h. A command of one
// program is an element of Program::commands. docs/how-to-add.md has an example.
//
// Threading: the main thread.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "belay/command.h"
#include "belay/module.h"
#include "belay/task.h"
#include "cli/exit_code.h"

namespace belay::cli {

class ProcessCommand;
struct CommandContext;
struct ProcessContext;
struct Program;
struct Settings;
struct Work;

using CommandResult = Result<ExitCode>;

// The inputs of Command::validate().
struct CommandValidation {
  const Settings& settings;
  const Definitions& graphs;  // see CommandTraits::uses_server_agents
};

// A command that uses runs, records or a store. A command that needs none of them derives from
// ProcessCommand.
class Command {
 public:
  virtual ~Command() = default;

  // Declares the options and arguments. Their targets are members of the object, which have the
  // parsed values in validate() and run().
  virtual void declare(CommandWords&) {}

  // Checks the options before a store is opened, so that invalid ones create no file. May read the
  // files that they name. Fails with `invalid` if the command can never succeed.
  virtual Result<Done> validate(const CommandValidation&) { return Done{}; }

  // Executes the command. Results go to CommandContext::output. Returns the exit code, or the error
  // for which the command failed.
  virtual Task<CommandResult> run(CommandContext& context) = 0;

  // The options of a command that executes queued runs; null for other commands.
  virtual const Work* work() const { return nullptr; }

  // This object if it is a ProcessCommand, else null.
  virtual ProcessCommand* in_process() { return nullptr; }
};

// A command that opens no store and has no event loop. validate() is called only before run().
class ProcessCommand : public Command {
 public:
  virtual CommandResult run_in_process(const ProcessContext& context) = 0;
  // Called instead with --server if CommandTraits::asks_server is set.
  Task<CommandResult> run(CommandContext&) override {
    co_return error(ErrorCode::invalid, "A server cannot execute this command. Omit --server.");
  }
  ProcessCommand* in_process() final { return this; }
};

// Selects how app.cc executes a command. The defaults are those of a command for which any Service
// will do: that of a store of this process, or with --server that of the server.
struct CommandTraits {
  // Beginning of the error with --server, such as "serve opens"; empty: a server can be used.
  std::string_view needs_own_store = {};
  bool creates_store = false;       // if the store does not exist; others use an empty one instead
  bool uses_store = true;           // false: an empty store in memory instead of the user's
  bool processes_due = true;        // processes due timers and expired approvals first
  bool uses_server_agents = false;  // with --server, its graphs are those of the server
  bool is_service = false;          // runs until a signal drains it
  bool serves_http = false;         // needs an event loop for HTTP

  // For a ProcessCommand only.
  bool asks_server = false;        // with --server, run() is called with the server's Service
  bool is_about_settings = false;  // runs before the servers that the settings name are checked
  bool uses_named_servers = true;  // false: does not print which servers a strange file names
};

// An entry of the table of commands.
struct CommandSpec {
  std::vector<std::string> path;               // {"notes", "import"}; after the entry of {"notes"}
  std::string line;                            // description in lists of commands
  std::string end = {};                        // end of its help: examples; {p}: program's name
  std::vector<std::string> former_names = {};  // of the last part of `path`; not displayed
  bool is_default = false;                     // the first one is executed if no command is named
  bool is_offered = true;                      // false: the program does not have the command
  CommandTraits traits = {};
  std::string module = {};  // the module that brings it; empty: every program has it
  std::function<std::unique_ptr<Command>()> make = nullptr;  // null: only a group of commands
};

// A value of CommandSpec::make.
template <typename T>
std::unique_ptr<Command> make_command() {
  return std::make_unique<T>();
}

}  // namespace belay::cli
