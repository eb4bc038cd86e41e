#pragma once
// cli/command_list.h - the commands that every program has, in the order of its help.
//
// A line COMMAND(NAME) declares builtin::NAME_command(), which returns the description of the
// command, and adds it to the list. The file of the command defines the function with its qualified
// name. A definition without a line does not compile, because it has no declaration; a line without
// a definition does not link.

#include <vector>

#include "belay/result.h"
#include "cli/command.h"

#define BELAY_COMMANDS(COMMAND) \
  COMMAND(run)                  \
  COMMAND(enqueue)              \
  COMMAND(worker)               \
  COMMAND(serve)                \
  COMMAND(dev)                  \
  COMMAND(api)                  \
  COMMAND(approvals)            \
  COMMAND(approvals_list)       \
  COMMAND(approvals_show)       \
  COMMAND(approvals_approve)    \
  COMMAND(approvals_reject)     \
  COMMAND(approvals_choose)     \
  COMMAND(approvals_answer)     \
  COMMAND(approvals_happened)   \
  COMMAND(approvals_redo)       \
  COMMAND(resume)               \
  COMMAND(cancel)               \
  COMMAND(steer)                \
  COMMAND(status)               \
  COMMAND(threads)              \
  COMMAND(threads_show)         \
  COMMAND(threads_edit)         \
  COMMAND(threads_delete)       \
  COMMAND(threads_preserve)     \
  COMMAND(threads_unpreserve)   \
  COMMAND(history)              \
  COMMAND(calls)                \
  COMMAND(why)                  \
  COMMAND(state)                \
  COMMAND(fork)                 \
  COMMAND(export)               \
  COMMAND(import)               \
  COMMAND(events)               \
  COMMAND(replay)               \
  COMMAND(outbox)               \
  COMMAND(outbox_list)          \
  COMMAND(outbox_retry)         \
  COMMAND(outbox_discard)       \
  COMMAND(queue)                \
  COMMAND(queue_list)           \
  COMMAND(queue_pause)          \
  COMMAND(queue_resume)         \
  COMMAND(queue_drain)          \
  COMMAND(queue_limit)          \
  COMMAND(queue_retry)          \
  COMMAND(queue_quarantined)    \
  COMMAND(queue_stats)          \
  COMMAND(queue_clear)          \
  COMMAND(schedules)            \
  COMMAND(schedules_list)       \
  COMMAND(schedules_show)       \
  COMMAND(schedules_next)       \
  COMMAND(schedules_ticks)      \
  COMMAND(schedules_add)        \
  COMMAND(schedules_edit)       \
  COMMAND(schedules_pause)      \
  COMMAND(schedules_resume)     \
  COMMAND(schedules_run_now)    \
  COMMAND(schedules_backfill)   \
  COMMAND(schedules_remove)     \
  COMMAND(workers)              \
  COMMAND(analytics)            \
  COMMAND(analytics_rebuild)    \
  COMMAND(agents)               \
  COMMAND(agents_list)          \
  COMMAND(agents_show)          \
  COMMAND(agents_graph)         \
  COMMAND(store)                \
  COMMAND(store_stats)          \
  COMMAND(store_compact)        \
  COMMAND(store_prune)          \
  COMMAND(store_encrypt)        \
  COMMAND(store_rotate)         \
  COMMAND(check)                \
  COMMAND(upgrade)              \
  COMMAND(doctor)               \
  COMMAND(config)               \
  COMMAND(config_explain)       \
  COMMAND(config_trust)         \
  COMMAND(config_distrust)      \
  COMMAND(config_path)          \
  COMMAND(models)               \
  COMMAND(models_list)          \
  COMMAND(models_check)         \
  COMMAND(models_try)           \
  COMMAND(mcp)                  \
  COMMAND(mcp_list)             \
  COMMAND(mcp_check)            \
  COMMAND(mcp_try)              \
  COMMAND(mcp_serve)            \
  COMMAND(completions)          \
  COMMAND(man)

namespace belay::cli {

namespace builtin {
#define BELAY_DECLARE_COMMAND(name) CommandSpec name##_command(const Program& program);
BELAY_COMMANDS(BELAY_DECLARE_COMMAND)
#undef BELAY_DECLARE_COMMAND
}  // namespace builtin

// Returns the commands that the program has: first its own, then those above. Fails with `invalid`
// if two commands or forms of one group have the same name, or if the group of a command does not
// precede it.
Result<std::vector<CommandSpec>> command_list(const Program& program);

}  // namespace belay::cli
