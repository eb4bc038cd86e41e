#pragma once
// agents/wellbeing/note_commands.h - `belay notes`: imports, lists and shows notes.

#include <string_view>
#include <vector>

#include "belay/command.h"

namespace belay::wellbeing {

std::vector<ModuleCommandSpec> note_commands();

// Fails with `invalid` if `date` is not a calendar day.
Result<Done> check_date(std::string_view date);

}  // namespace belay::wellbeing
