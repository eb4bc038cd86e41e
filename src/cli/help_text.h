#pragma once
// cli/help_text.h - texts of the program's own --help. Those of its commands are in their files.
//
// {p} is replaced by the name with which the program was called.

#include <string_view>

namespace belay::cli::help {

extern const std::string_view kProgram;
extern const std::string_view kProgramEnd;
extern const std::string_view kModelSettings;

}  // namespace belay::cli::help
