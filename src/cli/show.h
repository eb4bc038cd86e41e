#pragma once
// cli/show.h - runs and approvals as people read them.

#include <string>
#include <vector>

#include "cli/command_context.h"

namespace belay::cli {

// Where a run stands, in one line.
void show_headline(CommandContext& world, const RunView& view);

// Where a run stands, what it has found, and what to do next.
void show_run(CommandContext& world, const RunView& view);

// What a run that a command has moved means to the shell; one that failed is told on stderr too.
ExitCode end_of(CommandContext& world, const RunView& view);

// One approval in full: the question, what would be saved, the decision if there is one.
void show_approval_in_full(CommandContext& world, const ApprovalRow& row);

// Returns the decider ("ana"), together with the name that it acted for, if any.
std::string decider_of(const LocalizedText& phrases, const ApprovalRow& row);
// Returns the given name, else the login; empty with a key to a server, which uses the key's name.
std::string acting_name(const CommandContext& world, const std::optional<std::string>& named);

// One line of a list.
void show_approval_line(CommandContext& world, const ApprovalRow& row);

// What an approval shows, or what a run has made.
void show_payload(CommandContext& world, const Value& payload);

// "Due 2026-11-22 15:03 Europe/Madrid, in 23 h 59 min"; empty if the run waits for no time.
std::string due_text(const CommandContext& world, const RunRow& row);

// How to decide it: two commands, and until when.
void show_how_to_decide(CommandContext& world, const ApprovalRow& row);

// "belay resume T", with what else it takes to reach the same store, fit to be pasted in a shell.
std::string command(const CommandContext& world, const std::vector<std::string>& words);

}  // namespace belay::cli
