#pragma once
// cli/completions.h - what a shell offers when somebody presses Tab.
//
// The shell's script calls `NAME __complete WORD...` with the words so far, the last of which is
// being typed, and offers the lines that it prints. Verbs and options come from the table of
// commands, names of threads, approvals and agents from the store or the server.

#include <optional>

#include "cli/arguments.h"
#include "cli/command_context.h"
#include "cli/command_table.h"

namespace belay::cli {

// The script for "bash", "zsh" or "fish".
std::string completion_script(const Program& program, const std::string& shell);

struct Completion {
  std::vector<std::string> candidates;  // verbs, options
  // What else may stand here: names of this kind, from wherever the runs are.
  std::optional<CompleteNames::Kind> names;
  std::string begun;  // what is typed of the word
  GlobalFlags flags;  // as far as they are typed, to find the store with
};
Completion complete_words(const std::vector<CommandHelp>& table,
                          const std::vector<std::string>& words);

// Prints the names, a line each.
Task<CommandResult> complete_names(CommandContext& world, CompleteNames wanted);

// Ends the process, without a word, when the time of a completion is over.
void limit_completion();

}  // namespace belay::cli
