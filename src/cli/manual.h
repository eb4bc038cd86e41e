#pragma once
// cli/manual.h - generates the manual page of the program, for man(1).

#include <string>
#include <vector>

#include "cli/command_table.h"

namespace belay::cli {

// Returns the page in roff, for section 1.
std::string manual_page(const Program& program, const std::vector<CommandHelp>& table);

}  // namespace belay::cli
