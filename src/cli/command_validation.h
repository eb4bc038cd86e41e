#pragma once
// cli/command_validation.h - what can be said of a command before any store is opened: so that bad
// input leaves not even a new file behind.

#include "cli/arguments.h"
#include "cli/settings.h"

namespace belay::cli {

// Reads the files that the verb names and completes it: an input, numbers, a payload. `invalid` for
// what can never work.
Result<Done> validate_command(const Settings& settings, const Definitions& graphs, Command& verb);

// Whether the verb may make the store that it is to use; the others only look into one.
bool makes_a_store(const Command& verb);
// False for what works without the person's store.
bool uses_a_store(const Command& verb);

}  // namespace belay::cli
