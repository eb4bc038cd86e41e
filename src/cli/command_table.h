#pragma once
// cli/command_table.h - every verb with its words, as data: what help, completions and the manual
// page are made of. arguments.cc makes it from what it parses with.

#include <string>
#include <vector>

#include "cli/program.h"

namespace belay::cli {

struct CommandOption {
  std::string name;  // "--limit"
  std::string help;
  bool takes_value = false;
};
struct CommandArgument {
  std::string name;  // "THREAD": says what it is the name of
  bool required = false;
};
struct CommandHelp {
  std::vector<std::string> path;  // {"approvals", "list"}; empty: the program itself
  std::string line;
  std::string end;         // of its help: examples
  bool is_hidden = false;  // not in the list of verbs
  bool has_verbs = false;  // further ones follow
  std::vector<CommandArgument> arguments;
  std::vector<CommandOption> options;
};

// The program itself first, then its verbs in the order of its help, each before those below it.
std::vector<CommandHelp> command_table(const Program& program);

}  // namespace belay::cli
