#pragma once
// cli/show.h - prints runs and approvals for users.

#include <string>
#include <vector>

#include "cli/command_context.h"
#include "cli/shown_command.h"

namespace belay::cli {

// Returns the part of the context that modules use. The context must outlive it.
ModuleContext module_context(CommandContext& context);

// Prints the status of a run in one line.
void show_headline(CommandContext& world, const RunView& view);

// Prints the status of a run, its result, and the next commands.
void show_run(CommandContext& world, const RunView& view);

// The same for a run whose payload `shown` has been printed before: a result that equals it is
// replaced by the command that prints it.
void show_run_after(CommandContext& world, const RunView& view, const Value& shown);
// The same for a run that is as it was when its result was printed.
void show_run_again(CommandContext& world, const RunView& view);

// True if the run is `running`, but no process executes it: it has ended without ending the run.
// False if that is unknown, as it is with --server.
bool is_left(const CommandContext& world, const RunRow& row);

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

// Prints why a queued run does not start, unless due_text() contains it.
void show_hold(CommandContext& world, const RunView& view);

// "Due 2026-11-22 15:03 Europe/Madrid, in 23 h 59 min"; empty if the run does not wait for a timer.
std::string due_text(const CommandContext& world, const RunRow& row);

// Prints the commands that decide an approval, its votes and its expiry.
void show_how_to_decide(CommandContext& world, const ApprovalRow& row);

// Returns "1 of 2 decisions: ana"; empty if one decision suffices.
std::string votes_text(const LocalizedText& phrases, const ApprovalRow& row);

}  // namespace belay::cli
