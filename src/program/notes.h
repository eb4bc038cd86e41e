#pragma once
// program/notes.h - belay notes import, list and show.

#include <string_view>
#include <vector>

#include "cli/program.h"

namespace belay::program {

std::vector<cli::CommandEntry> notes_verbs();

// `invalid` for what is no day of the calendar.
Result<Done> check_date(std::string_view date);

}  // namespace belay::program
