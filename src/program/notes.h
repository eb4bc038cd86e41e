#pragma once
// program/notes.h - `belay notes`: imports, lists and shows notes.

#include <string_view>
#include <vector>

#include "cli/program.h"

namespace belay::program {

std::vector<cli::CommandSpec> notes_commands();

// Fails with `invalid` if `date` is not a calendar day.
Result<Done> check_date(std::string_view date);

}  // namespace belay::program
