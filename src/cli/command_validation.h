#pragma once
// cli/command_validation.h - validates a command before a store is opened.
//
// Invalid input therefore creates no file.

#include "cli/arguments.h"
#include "cli/settings.h"

namespace belay::cli {

// Reads the files that the command names, and sets its parsed values: input, numbers, payload.
// Fails with `invalid` if the command can never succeed.
Result<Done> validate_command(const Settings& settings, const Definitions& graphs, Command& verb);

// True if the command may create its store. Other commands only open an existing one.
bool makes_a_store(const Command& verb);
// False for commands that do not need the user's store.
bool uses_a_store(const Command& verb);

}  // namespace belay::cli
