#pragma once
// engine/run_queries.h - questions about a run that change nothing; pure functions.

#include <optional>
#include <string>
#include <vector>

#include "engine/run.h"

namespace belay::engine {

// True if the run, which has not ended, continues only when a person decides, resumes or cancels
// it. Other runs continue when they are due, or when a worker has capacity.
bool waits_for_person(const RunRow& row);
// True for a paused run that resume() continues at `now`: at a breakpoint, or with a due timer.
bool can_resume(const RunRow& row, Instant now);
// `not_found` if a run that waits for a person has been inactive for limits::thread_idle_max, and
// the last of its approvals has expired.
Result<Done> check_idle(const RunRow& row, Instant last_expiry, Instant now);
// `conflict` if no approval of the run can be decided now.
Result<Done> check_decidable(const RunRow& row);

// True if no task can continue before a decision, or before a time later than `now`.
bool is_blocked(const Run& run, Instant now);
// True if an attempt is running, here or in a subgraph.
bool any_running(const Run& run);
// Returns the earliest due time of a timer or expiry that the run waits for; nullopt: none.
std::optional<Instant> first_due(const Run& run);
// True if a task waits for a decision, here or in a subgraph.
bool has_open_interrupts(const Run& run);
// True if a timer of the run is due at `now`.
bool any_timer_due(const Run& run, Instant now);
// True if a task of the run waits for this interrupt.
bool waits_for(const Run& run, const InterruptId& interrupt);
// Appends all interrupts that tasks of the run wait for.
void collect_open_interrupts(const Run& run, std::vector<InterruptId>& asked);
// Returns the names of the tasks' nodes, comma-separated, each once; "end" if there are no tasks.
std::string nodes_text(const std::vector<NodeTask>& tasks);
// True if the commit at `seq`, of these events of the run, is a cancel without the run's graph:
// Cancelled::lacks_code.
bool was_cancelled_without_code(const std::vector<EventRow>& events, std::uint64_t seq);

// Returns a copy that can be changed independently of `run`.
Run copy_of(const Run& run);

}  // namespace belay::engine
