#pragma once
// cli/thread_commands.h - adds `threads` and its subcommands to the parser.

#include "cli/queue_commands.h"

namespace belay::cli {

// The targets of the options.
struct ThreadWords {
  Threads list = {};
  ShowThread show = {};
  EditThread edit = {};
  Preserve preserve = {};
};

// All arguments must outlive `app`.
void add_thread_commands(CLI::App& app, const AddVerb& add, ThreadWords& words, Command& chosen);

}  // namespace belay::cli
