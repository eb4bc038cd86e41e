#pragma once
// cli/commands.h - the functions that execute the commands, one .cc file each.
//
// Each one returns the exit code, or the Error for which the command failed. Results go to
// CommandContext::output. The context must outlive the coroutine.

#include "belay/task.h"
#include "cli/arguments.h"
#include "cli/command_context.h"
#include "cli/exit_code.h"

namespace belay::cli {

Task<CommandResult> show_overview(CommandContext& world);
Task<CommandResult> run_agent(CommandContext& world, RunAgent wanted);
Task<CommandResult> enqueue_agent(CommandContext& world, RunAgent wanted);
Task<CommandResult> run_worker_command(CommandContext& world, Work wanted);
Task<CommandResult> serve(CommandContext& world, Serve wanted);
Task<CommandResult> describe_api(CommandContext& world, DescribeApi wanted);
Task<CommandResult> fork_thread(CommandContext& world, Fork wanted);
Task<CommandResult> list_approvals(CommandContext& world, ApprovalsList wanted);
Task<CommandResult> show_approval(CommandContext& world, ApprovalsShow wanted);
Task<CommandResult> decide_approval(CommandContext& world, ApprovalsDecide wanted);
Task<CommandResult> resume_runs(CommandContext& world, Resume wanted);
Task<CommandResult> cancel_run(CommandContext& world, Cancel wanted);
// `threads`, `threads show` and `threads edit`.
bool is_about_threads(const Command& verb);
Task<CommandResult> see_to_threads(CommandContext& world, Command verb);
Task<CommandResult> show_history(CommandContext& world, History wanted);
Task<CommandResult> show_calls(CommandContext& world, Calls wanted);
Task<CommandResult> export_run(CommandContext& world, ExportRun wanted);
Task<CommandResult> import_run(CommandContext& world, ImportRun wanted);
Task<CommandResult> show_state(CommandContext& world, StateOf wanted);
Task<CommandResult> show_events(CommandContext& world, ShowEvents wanted);
Task<CommandResult> replay_thread(CommandContext& world, Replay wanted);
Task<CommandResult> preserve_thread(CommandContext& world, Preserve wanted);
Task<CommandResult> list_messages(CommandContext& world, OutboxList wanted);
Task<CommandResult> move_message(CommandContext& world, OutboxMove wanted);
Task<CommandResult> see_to_queue(CommandContext& world, Queue wanted);
Task<CommandResult> list_workers(CommandContext& world);
Task<CommandResult> show_store_statistics(CommandContext& world);
Task<CommandResult> compact_store(CommandContext& world);
Task<CommandResult> prune_store(CommandContext& world, StorePrune wanted);
Task<CommandResult> check_whole_store(CommandContext& world);
Task<CommandResult> seal_whole_store(CommandContext& world, StoreEncrypt wanted);

}  // namespace belay::cli
