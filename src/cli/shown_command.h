#pragma once
// cli/shown_command.h - the command lines that results and errors show, to be pasted into a shell.
//
// Threading: any thread.

#include <string>
#include <vector>

#include "cli/command_context.h"

namespace belay::cli {

// Returns a command such as "belay resume T" with the options that it needs for the same store,
// quoted for a shell.
std::string command(const CommandContext& world, const std::vector<std::string>& words);
// Returns these options, such as " --store sqlite:a.db"; empty without any.
std::string flags_text(const Settings& settings);
// Adds the option with which the command can decide an approval that needs a role. With an API key,
// the roles are those of the key.
void add_role(const CommandContext& world, const ApprovalRow& row, std::vector<std::string>& words);
// True if the commands act with an API key of a server.
bool has_server_key(const Settings& settings);

}  // namespace belay::cli
