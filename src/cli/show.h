#pragma once
// cli/show.h - prints runs and approvals for users.

#include <string>
#include <vector>

#include "cli/command_context.h"

namespace belay::cli {

// Returns the part of the context that modules use. The context must outlive it.
ModuleContext module_context(CommandContext& context);

// Shown instead of the status of a run that no live process can continue.
inline constexpr std::string_view kCodeGone = "code gone";

// Prints the status of a run in one line.
void show_headline(CommandContext& world, const RunView& view);

// Prints the status of a run, its result, and the next commands.
void show_run(CommandContext& world, const RunView& view);

// Returns the exit code for a run that a command has executed; prints the error of a failed run to
// stderr.
ExitCode end_of(CommandContext& world, const RunView& view);

// Prints an approval in full: the question, the payload, and the decision if there is one.
void show_approval_in_full(CommandContext& world, const ApprovalRow& row);

// Returns the decider ("ana"), and the name on whose behalf it acted, if any.
std::string decider_of(const LocalizedText& phrases, const ApprovalRow& row);
// Returns the given name, else the login; empty with a key to a server, which uses the key's name.
std::string acting_name(const CommandContext& world, const std::optional<std::string>& named);

// Prints an approval as one line of a list.
void show_approval_line(CommandContext& world, const ApprovalRow& row);

// Prints the payload of an approval, or the result of a run.
void show_payload(CommandContext& world, const Value& payload);

// "Due 2026-11-22 15:03 Europe/Madrid, in 23 h 59 min"; empty if the run does not wait for a timer.
std::string due_text(const CommandContext& world, const RunRow& row);

// Prints the commands that decide an approval, its votes and its expiry.
void show_how_to_decide(CommandContext& world, const ApprovalRow& row);

// Returns "1 of 2 decisions: ana"; empty if one decision suffices.
std::string votes_text(const LocalizedText& phrases, const ApprovalRow& row);

// Returns a command such as "belay resume T" with the options that it needs for the same store,
// quoted for a shell.
std::string command(const CommandContext& world, const std::vector<std::string>& words);

}  // namespace belay::cli
