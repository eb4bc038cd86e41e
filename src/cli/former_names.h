#pragma once
// cli/former_names.h - former names of commands and options, accepted for one release.
//
// A former name works like the current one. Help, completions, the manual page and suggestions do
// not contain it.

#include <CLI/CLI.hpp>
#include <string>

namespace belay::cli {

// Adds the former `name` of a command, such as "tail". A command of that name must not exist.
void add_former_name(CLI::App* command, const std::string& name);

// Adds the former `name` of one of the command's options, such as "--keep". `option` receives its
// values. A command line with both names is invalid. `option` must take one value, or be a flag.
void add_former_name(CLI::App* command, CLI::Option* option, const std::string& name);

bool is_former_name(const CLI::Option& option);

// Removes the former names from `app` and all commands below it, before its help is displayed. A
// command that has been parsed remains selected.
void remove_former_names(CLI::App& app);

}  // namespace belay::cli
