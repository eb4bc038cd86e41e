#pragma once
// cli/manual.h - the manual page of the whole program, for man(1).

#include <string>
#include <vector>

#include "cli/command_table.h"

namespace belay::cli {

// In roff, of section 1.
std::string manual_page(const Program& program, const std::vector<CommandHelp>& table);

}  // namespace belay::cli
