#pragma once
// cli/completions.h - completes the words of a command line for a shell.
//
// The shell's script calls `NAME __complete WORD...` with the words so far, of which the last one
// is incomplete, and offers the lines that this prints. Commands and options come from the command
// table; names of threads, approvals and agents from the store or the server.

#include <optional>

#include "cli/arguments.h"
#include "cli/command_context.h"
#include "cli/command_table.h"

namespace belay::cli {

// Returns the script for "bash", "zsh" or "fish".
std::string completion_script(const Program& program, const std::string& shell);

struct Completion {
  std::vector<std::string> candidates;  // commands and options
  // The kind of names that can also follow; they are read from the store or the server.
  std::optional<CompleteNames::Kind> names;
  std::string begun;  // typed part of the last word
  GlobalFlags flags;  // options typed so far; they select the store
};
Completion complete_words(const std::vector<CommandHelp>& table,
                          const std::vector<std::string>& words);

// Prints the names, one per line.
Task<CommandResult> complete_names(CommandContext& world, CompleteNames wanted);

// Limits the time of a completion: when it has passed, the process ends silently.
void limit_completion();

}  // namespace belay::cli
