#pragma once
// cli/command_table.h - CommandHelp: every command with its options and arguments, as data.
//
// Help, completions and the manual page are generated from it. arguments.cc derives it from its
// parser.

#include <optional>
#include <string>
#include <vector>

#include "belay/command.h"
#include "cli/program.h"

namespace belay::cli {

struct CommandOption {
  std::string name;  // "--limit"
  std::string help;
  bool takes_value = false;
  bool is_former = false;  // a former name; not displayed
  std::optional<NamesToComplete> names = std::nullopt;
};
struct CommandArgument {
  std::string name;  // "THREAD"
  bool required = false;
  std::optional<NamesToComplete> names = std::nullopt;
};
struct CommandHelp {
  std::vector<std::string> path;  // {"approvals", "list"}; empty: the program itself
  std::string line;
  std::string end;                        // end of its help: examples
  std::vector<std::string> former_names;  // of the last part of `path`; not displayed
  bool has_verbs = false;                 // has subcommands
  std::vector<CommandArgument> arguments;
  std::vector<CommandOption> options;
};

// Returns the program itself first, then its commands in the order of its help, each one before its
// subcommands.
std::vector<CommandHelp> command_table(const Program& program);

}  // namespace belay::cli
