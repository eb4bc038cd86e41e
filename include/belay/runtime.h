#pragma once
// belay/runtime.h - the runtime: starts, resumes, decides and cancels runs; one per process.
//
//     auto runtime = Runtime::open(parts).value();
//     runtime->add(mail_graph().value());
//     auto run = co_await runtime->start("mail", input, StartOptions{...});
//
// A call that executes a run returns when the run has ended, has paused or was released to its
// queue; the returned status is durable.
//
// Ownership: a runtime holds one session of the store. While the session is alive, no other process
// can claim its runs. It ends with the process: on SQLite immediately, on PostgreSQL when the lease
// expires. Destroying the runtime ends it too; other runtimes can then resume its running runs.
//
// Threading: call every method on the executor's thread. Calls can overlap.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "belay/event.h"
#include "belay/graph.h"
#include "belay/hints.h"
#include "belay/queue.h"
#include "belay/store.h"
#include "belay/thread.h"

namespace belay {

// True if the run failed, was cancelled, or is quarantined and needs an intervention.
inline bool has_failed(RunStatus status) {
  return status == RunStatus::failed || status == RunStatus::cancelled ||
         status == RunStatus::quarantined;
}

struct RunView {
  RunRow row;
  Value state;  // channels by name, with the graph's defaults; as stored without its graph
  std::optional<ApprovalRow> approval;  // the first of `approvals`
  std::vector<ApprovalRow> approvals;   // open, of all its tasks: the list_rows_max newest in order
  std::optional<Spending> spending = std::nullopt;  // set if the run has a budget
  std::vector<EffectRow> uncertain = {};  // of an ended run: effects whose outcome is unknown
  std::string held_by = {};  // why a run waits for its next owner: "user limit 5"; empty: no cause
  Value materials = {};      // by group, as of its commit; null: the commit has none
  std::string code_gone = {};  // why no live process can continue it; empty: one can
  bool success() const { return !has_failed(row.status); }
};

// The commit and the state from which a fork starts.
struct ForkOptions {
  TenantId tenant = default_tenant();
  ThreadId from;
  std::optional<RunId> run = std::nullopt;  // of `from`; unset: its current run
  // A commit of that run; unset: the newest commit that leaves tasks.
  std::optional<std::uint64_t> seq = std::nullopt;
  ThreadId thread = {};  // new, or that of the same fork (see StartOptions); empty: random
  UserId user = {};      // owner of the fork; empty: the owner of the original
  // JSON object of channels that replace the stored ones; null: none. With edits, a fork starts no
  // later than before the newest decided approval on its path and before the first that showed an
  // edited channel, and requests it again. `forbidden` without one of the approval's `roles`.
  Value edits = {};
  std::vector<std::string> roles = {};  // that the caller holds
  bool may_decide = true;               // false: edits only if the graph has no approvals
  // Starts from the current commit: an ended run stays ended, and a paused run waits again, with
  // its own approvals. Takes neither `seq` nor `edits`.
  bool copy = false;
  bool queued = false;  // adds the fork to its queue, for a worker
};

// The work that a fork would repeat: everything since the commit that it starts from.
struct ForkPreview {
  ThreadId thread;  // of that commit; with edits, possibly an ancestor of `from`
  std::uint64_t seq = 0;
  std::vector<std::string> first_nodes;     // nodes that the fork executes first
  std::vector<std::string> repeated_nodes;  // nodes completed since, oldest first
  std::vector<EffectRow> effects;           // keyed and unkeyed effects started since
  std::vector<OutboxRow> messages;          // published since
  std::vector<ApprovalRow> approvals;       // requested since
};

struct ReplayOptions {
  TenantId tenant = default_tenant();
  ThreadId thread;
  std::optional<RunId> run = std::nullopt;  // unset: the thread's current run
};

// The first difference between a replay and the recording.
struct Divergence {
  std::uint64_t seq = 0;  // of the commit
  std::string node;
  std::string what;  // "nodes", "channel draft", "next tasks", "effect smtp", "model call", ...
  std::string recorded, replayed;
};

struct ReplayReport {
  RunRow run;                          // as recorded
  std::uint64_t matching_commits = 0;  // before the divergence, if there is one
  std::optional<Divergence> divergence;
};

struct Decision {
  bool approved = false;
  std::string decided_by;
  std::string on_behalf_of = {};  // empty: decided_by acted in its own name
  std::string comment = {};
  std::optional<Value> edited = std::nullopt;  // replaces the payload; only with `approved`
  std::vector<std::string> roles = {};         // that the decider holds
  std::optional<UserId> only_of = {};          // another user's approval is not_found then
  std::string choice = {};  // unless empty, instead of `approved`: see approval.h
  Value answer = {};        // of an approval that needs one
};

struct DecisionResult {
  enum class Kind {
    accepted,   // this decision was recorded; the run continues with it, unless more are needed
    duplicate,  // the same decision had been recorded before: nothing changed
    conflict,   // another decision had been recorded before: see `approval`
    expired,    // the approval had expired
    closed,     // the run was cancelled or ended before a decision
  };
  Kind kind = Kind::accepted;
  ApprovalRow approval;
  RunView view;
};

// A message of the outbox (Context::publish), as passed to its receiver.
struct OutboxMessage {
  std::string id;  // "run/seq/index", the same for every delivery: deduplicate by it
  std::string topic;
  Value body;
  std::int64_t attempt = 1;
  ThreadId thread;
  RunId run;
};
// Returns Done once the message is processed; otherwise it is delivered again. Must not block.
using Receiver = std::function<Task<Result<Done>>(OutboxMessage)>;

struct DeliveryOptions {
  // Of one call, which is then stopped and counts as failed. No other process delivers the message
  // for twice this time.
  std::chrono::milliseconds timeout{30'000};
  RetryPolicy retry{.attempts = 12, .cap = std::chrono::hours(1)};  // then it is discarded
};

// The parts that a runtime uses. Everything referenced must outlive the runtime.
struct RuntimeParts {
  Store& store;
  Executor& executor;
  Clock& clock;  // not used if the store has a clock
  Random& random;
  Model& model;
  ProgressObserver observer = nullptr;
  ProcessLimits process_limits = {};
  EffectObserver effect_observer = nullptr;
  PromptRedactor redact_prompt = nullptr;  // null: model requests are recorded unredacted
  // `per_user` limits the runs that run_worker() claims; with `concurrency_limits_starts` also runs
  // that are started, resumed, forked or decided.
  ConcurrencyLimits concurrency = {.per_key = 1};
  bool concurrency_limits_starts = false;
  RunSettings run_defaults = {};  // for the settings that a start leaves unset
  Hints hints = {};               // from other processes; without them this process polls
  std::shared_ptr<HttpAccess> http = nullptr;  // of nodes; null: open_http() with its defaults
  std::function<void(const HeldLoop&)> on_held_loop = nullptr;
};

class Runtime {
  class Impl;

 public:
  // Opens a session of parts.store.
  static Result<std::unique_ptr<Runtime>> open(RuntimeParts parts);
  explicit Runtime(std::unique_ptr<Impl> body);  // for open()
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // Registers a graph by its name and version, before the first call that concerns a run of it.
  // New runs use the version that was added last.
  template <typename State>
  void add(const Graph<State>& graph) {
    add(graph.definition());
  }
  void add(std::shared_ptr<const GraphDefinition> definition);

  // Protects the dependency of this name (NodeSetting::depends_on); "model" is each model call.
  // Call this before the first run. Slots and circuit are this runtime's own.
  void protect(std::string dependency, DependencyOptions options);

  // Starts a run of a registered graph: see thread.h. `unavailable`, and nothing is written, if a
  // limit of ProcessLimits or ConcurrencyLimits is reached.
  template <typename State>
  Task<Result<RunView>> start(const Graph<State>& graph, State input, StartOptions options) {
    auto state = std::make_shared<State>(std::move(input));
    return start(graph.name(), std::move(state), std::move(options));
  }
  // The same for a JSON graph, whose input is an object of channels; `invalid` if it does not fit.
  Task<Result<RunView>> start(const Graph<Value>& graph, Value input, StartOptions options);
  // The same for a graph given by name. `input` has its state's type: state_from() makes it.
  Task<Result<RunView>> start(std::string graph, std::shared_ptr<void> input, StartOptions options);

  // Adds a run to its queue, durably; a worker starts it, not before `not_before`. `unavailable`,
  // and nothing is written, if ProcessLimits::queued is reached.
  template <typename State>
  Task<Result<RunView>> enqueue(const Graph<State>& graph, State input, StartOptions options,
                                Instant not_before) {
    auto state = std::make_shared<State>(std::move(input));
    return enqueue(graph.name(), std::move(state), std::move(options), not_before);
  }
  Task<Result<RunView>> enqueue(const Graph<Value>& graph, Value input, StartOptions options,
                                Instant not_before);
  Task<Result<RunView>> enqueue(std::string graph, std::shared_ptr<void> input,
                                StartOptions options, Instant not_before);

  // Claims and executes runs until drain() is called: queued runs, orphaned runs, due timers,
  // expired approvals. Any number of processes can do this on one store. Quarantines a run whose
  // owners died more than limits::lost_claims_max times in a row, or whose stored data is corrupt;
  // others are not affected. Returns the number of runs claimed.
  Task<Result<std::size_t>> run_worker(WorkerOptions options);
  // Starts no more runs, here and in run_worker(). Releases each run in progress once its running
  // nodes are committed; run_worker() returns then, and after the running receivers. Until its next
  // call, start() and resume() fail with `unavailable`, and a decided run is queued.
  void drain();
  // The same without waiting: running nodes and receivers are abandoned.
  void stop();

  // Delivers the messages of a topic to `receiver`, at least once each: from run_worker(), and
  // after commits of runs executed here, without delaying them. One message of a run at a time; one
  // in its backoff does not block later ones. At most limits::deliveries_max calls at a time.
  // Messages without a receiver stay in the outbox.
  void deliver(std::string topic, Receiver receiver, DeliveryOptions options = {});

  // By OutboxMessage::id. Makes a discarded or waiting message due now; discards a waiting one.
  // `not_found`; `conflict` if it is delivered or changes at the same time.
  Task<Result<Done>> retry_message(TenantId tenant, std::string id);
  Task<Result<Done>> give_up_message(TenantId tenant, std::string id);

  // Starts a run in a new thread from a commit of another. `not_found` for an unknown thread or
  // commit; `invalid` if no tasks are left after the commit, or an edit does not fit its channel.
  Task<Result<RunView>> fork(ForkOptions options);
  // Reports what fork() would repeat; writes nothing.
  Task<Result<ForkPreview>> preview(ForkOptions options);

  // Re-executes a run from its input, in memory, with the recorded effects, replies and decisions,
  // and compares commit by commit. No external calls, no writes: see docs/time-travel.md. `invalid`
  // if its first commits are pruned, its state was upgraded, or its graph version is not added.
  Task<Result<ReplayReport>> replay(ReplayOptions options);

  // Opens a reader of a run's events, whichever process executes it. `not_found` for an unknown
  // thread or run, or pruned events; `invalid` for an id beyond the run's end. See event.h.
  Task<Result<std::unique_ptr<EventReader>>> events(EventOptions options);

  // Continues a thread's current run: claims a queued, orphaned or quarantined run, continues one
  // at a breakpoint or with a due timer, and returns any other unchanged. `conflict` if a process
  // executes it; `not_found` if unknown, or idle for longer than limits::thread_idle_max. At a
  // breakpoint, `breakpoints` replace those of the run. A run that is not at the commit `only_at`
  // is returned unchanged. `consent` accepts refused materials; `invalid` if none are refused.
  Task<Result<RunView>> resume(TenantId tenant, ThreadId thread,
                               std::optional<Breakpoints> breakpoints = {},
                               std::optional<std::uint64_t> only_at = {},
                               std::optional<Consent> consent = {});
  // Returns the threads of running runs of registered graphs that no process executes.
  Task<Result<std::vector<ThreadId>>> orphaned_threads(TenantId tenant,
                                                       std::optional<UserId> user = std::nullopt);

  // Records a decision on an open approval, then continues its run. `not_found`; `invalid` if an
  // edited payload does not fit; `forbidden` if the decider has none of the approval's roles;
  // `conflict` if the run is quarantined. A lost race is not an error: see DecisionResult.
  Task<Result<DecisionResult>> decide(TenantId tenant, InterruptId interrupt, Decision decision);

  // Cancels a thread's current run, or `run`, whichever process owns it, with or without its graph.
  // `conflict` if it ended otherwise.
  Task<Result<RunView>> cancel(TenantId tenant, ThreadId thread, std::string by,
                               std::string on_behalf_of = {}, std::optional<RunId> run = {});

  // The thread's current run, or `run`, now or after its commit `seq`; approvals, spending and
  // uncertain effects only for its newest commit. `not_found` for an unknown thread, run or commit.
  Task<Result<RunView>> status(TenantId tenant, ThreadId thread, std::optional<RunId> run = {});
  Task<Result<RunView>> status_at(TenantId tenant, ThreadId thread, std::uint64_t seq,
                                  std::optional<RunId> run = std::nullopt);

  // Changes the given members of a thread; `not_found` for an unknown one.
  Task<Result<ThreadRow>> edit_thread(TenantId tenant, ThreadId thread, ThreadSettings settings);
  // Expires overdue approvals and continues runs whose timers are due.
  Task<Result<DueReport>> process_due(TenantId tenant);

  // Saves records outside of a run, all or none: an import.
  Task<Result<Done>> save(TenantId tenant, std::vector<RecordWrite> records);
  // Reads a user's records; the runtime must outlive it.
  std::unique_ptr<Records> records(TenantId tenant, UserId user);
  // The nodes of a run here that wait for a slot, each with its dependency.
  std::vector<std::pair<std::string, std::string>> slot_waits(const RunId& run) const;
  const SessionId& session() const;

 private:
  std::unique_ptr<Impl> body_;
};

}  // namespace belay
