#pragma once
// cli/verbs.h - what each verb does. One file a verb.
//
// Each returns the exit code, or the Error that says why it could not be done. What it has to show
// goes to world.output. All of World outlives the task.

#include "belay/task.h"
#include "cli/arguments.h"
#include "cli/exit_code.h"
#include "cli/world.h"

namespace belay::cli {

Task<Answered> show_overview(World& world);
Task<Answered> run_agent(World& world, RunAgent wanted);
Task<Answered> enqueue_agent(World& world, RunAgent wanted);
Task<Answered> work_on_runs(World& world, Work wanted);
Task<Answered> serve(World& world, Serve wanted);
Task<Answered> describe_api(World& world, DescribeApi wanted);
Task<Answered> fork_thread(World& world, Fork wanted);
Task<Answered> list_approvals(World& world, ApprovalsList wanted);
Task<Answered> show_approval(World& world, ApprovalsShow wanted);
Task<Answered> decide_approval(World& world, ApprovalsDecide wanted);
Task<Answered> resume_runs(World& world, Resume wanted);
Task<Answered> cancel_run(World& world, Cancel wanted);
Task<Answered> list_threads(World& world, Threads wanted);
Task<Answered> show_history(World& world, History wanted);
Task<Answered> show_calls(World& world, Calls wanted);
Task<Answered> export_run(World& world, ExportRun wanted);
Task<Answered> import_run(World& world, ImportRun wanted);
Task<Answered> show_state(World& world, StateOf wanted);
Task<Answered> tail_thread(World& world, Tail wanted);
Task<Answered> replay_thread(World& world, Replay wanted);
Task<Answered> preserve_thread(World& world, Preserve wanted);
Task<Answered> list_messages(World& world, OutboxList wanted);
Task<Answered> move_message(World& world, OutboxMove wanted);
Task<Answered> see_to_queue(World& world, Queue wanted);
Task<Answered> list_workers(World& world);
Task<Answered> show_store_statistics(World& world);
Task<Answered> compact_store(World& world);
Task<Answered> prune_store(World& world, StorePrune wanted);
Task<Answered> check_whole_store(World& world);
Task<Answered> seal_whole_store(World& world, StoreSeal wanted);

}  // namespace belay::cli
