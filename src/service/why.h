#pragma once
// service/why.h - why a run does not advance: one pure function over what is stored about it.
//
// All words about waiting runs are in why.cc. A run that has not ended always has at least one
// cause. It advances once every cause of it is gone except the alternatives, and, if it has
// alternatives, one of these is. A run that waits for earlier runs of its thread or for its start
// time also has the causes that will keep it from its next owner then.

#include <optional>
#include <string>
#include <vector>

#include "belay/store.h"
#include "belay/value.h"
#include "engine/run.h"
#include "worker/run_hold.h"

namespace belay {

// The kinds of causes. The names are those of the JSON and of the metric.
enum class WaitCause {
  ended,          // nothing: the run has ended
  approval,       // a decision of a person
  timer,          // the end of a wait node
  breakpoint,     // resume
  quarantined,    // resume, after the cause of the quarantine is mended
  earlier_run,    // the end of an earlier run of its thread
  delayed_start,  // its start time
  paused_queue,   // the end of its queue's pause
  limit,          // a concurrency limit
  queue_place,    // the due runs before it in the queue
  no_worker,      // a process that claims queued runs
  code_gone,      // a process with its graph, in its version
  materials,      // a process with the materials of the run, or a rule that accepts others
  next_poll,      // nothing: a worker with a free slot claims it
  lease,          // its owner is gone; the next worker claims it
  retry,          // the next attempt of a node
  dependency,     // a slot of a dependency, in this process
  node,           // the end of a running node
  damage,         // its stored data cannot be read
};
std::string_view name_of(WaitCause cause);

// A task of the run, or of a subgraph in it, that is not done.
struct WaitingTask {
  std::string node;
  engine::NodeTask::Phase phase = engine::NodeTask::Phase::ready;
  int attempt = 1;       // the running or next one
  int attempts_max = 0;  // 0: unknown
  Instant due{};
  std::string error;  // of the previous attempt
  InterruptId interrupt;
  std::string dependency;  // the slot that its attempt in this process waits for; empty: none
};

// The facts about a run at one moment.
struct WaitFacts {
  RunRow run;
  Instant now{};
  std::vector<WaitingTask> tasks = {};
  std::vector<ApprovalRow> approvals = {};  // open, oldest first
  std::optional<SessionRow> owner = {};     // of a running run, if the store knows it
  bool owner_is_alive = false;
  std::optional<std::int64_t> owner_process = {};
  std::vector<RunRow> earlier_runs = {};  // of its thread, that have to end first, oldest first
  bool queue_is_paused = false;
  std::vector<RunHolds::FullLimit> limits = {};  // that are reached, also without the earlier runs
  std::uint64_t runs_before = 0;                 // due runs that are claimed first
  bool has_worker = true;  // false: no process that claims queued runs is known
  // Why no known process can continue the run; empty: one can, or might.
  std::string code_gone = {};
  std::string refused_materials = {};  // why the graph of this process refuses the run
  std::string damage = {};
};

struct Cause {
  WaitCause cause = WaitCause::node;
  // True: one of several causes, of which one has to go; false: it has to go.
  bool is_alternative = false;
  std::string text;  // a sentence
  RunId run;         // of an earlier run, in the chain of a run that waits for its end
  std::string node = {};
  std::optional<Instant> until = {};  // then it goes without help
  InterruptId interrupt = {};
  std::vector<std::string> roles = {};  // one of which a decider needs
  std::string queue = {};
};

// The causes for the run, the first of which names its state best. REQUIRES: facts of one moment.
std::vector<Cause> why(const WaitFacts& facts);

// The causes for a run. Those for the oldest earlier run whose end it waits for follow the cause
// that names it; a cause that both runs have is named once.
std::vector<Cause> wait_chain(const WaitFacts& facts, const std::optional<WaitFacts>& earlier);

// The document of `belay why --json`.
Value why_document(const RunRow& run, const std::vector<Cause>& chain);

}  // namespace belay
