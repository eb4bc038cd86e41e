#pragma once
// cli/completions.h - completes the words of a command line for a shell.
//
// The shell's script calls `NAME __complete WORD...` with the words so far, of which the last one
// is incomplete, and offers the lines that this prints. Commands and options come from the command
// table; names of threads, approvals and agents from the store or the server.

#include <optional>

#include "cli/arguments.h"
#include "cli/command_table.h"

namespace belay::cli {

struct Completion {
  std::vector<std::string> candidates;  // commands and options
  // The kind of names that can also follow; they are read from the store or the server.
  std::optional<NamesToComplete> names;
  std::string begun;  // typed part of the last word
  GlobalFlags flags;  // options typed so far; they select the store
};
Completion complete_words(const std::vector<CommandHelp>& table,
                          const std::vector<std::string>& words);

// Returns the command that prints the names that start with `begun`, one per line. It is not in the
// list of commands.
ChosenCommand complete_names(NamesToComplete kind, std::string begun);

// Limits the time of a completion: when it has passed, the process ends silently.
void limit_completion();

}  // namespace belay::cli
