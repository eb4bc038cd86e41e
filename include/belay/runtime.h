#pragma once
// belay/runtime.h - starts, resumes, decides and cancels runs: the object that a program holds.
//
//     auto runtime = Runtime::open(parts).value();
//     runtime->add(mail_graph().value());
//     auto run = co_await runtime->start("mail", input, StartOptions{...});
//
// A call that makes a run move returns when it has ended, waits, or can't go on; that is durable.
//
// Ownership: a runtime works under one session of the store. When its process dies, in whatever
// way, other processes may take its runs over at once; while it lives, they may not. Destroying a
// runtime ends its session; what was under way can be resumed by any other.
//
// Threading: call everything on the executor's thread. Several calls may be under way at once.

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

namespace belay {

// True if the run ended without its result, or will not reach it without intervention.
inline bool has_failed(RunStatus status) {
  return status == RunStatus::failed || status == RunStatus::cancelled ||
         status == RunStatus::quarantined;
}

// A run as it stands, with its state.
struct RunView {
  RunRow row;
  Value state;                          // the channels by name, read with the graph's defaults
  std::optional<ApprovalRow> approval;  // an open one, when paused for a person
  // All open approvals (branches may each request one), oldest first; the list_rows_max newest.
  std::vector<ApprovalRow> approvals;
  std::optional<Spending> spending = std::nullopt;  // of a run with a budget
  // Only if the run has ended: effects whose outcome is unknown.
  std::vector<EffectRow> uncertain = {};
  std::string held_by = {};  // limit that delays a queued run, for display: "user limit 5"
  bool success() const { return !has_failed(row.status); }
};

struct StartOptions {
  TenantId tenant = default_tenant();
  UserId user = UserId("local");
  // Empty: a new random id. A known thread with the same graph and input continues or returns its
  // result; one that is running is returned as is. Another input is `invalid`.
  ThreadId thread = {};
  RunSettings run = {};
  std::string queue = std::string(default_queue);
  std::int64_t priority = 0;         // within the queue the greater goes first
  std::string concurrency_key = {};  // runs that share it are limited together
};

// Where a fork begins, and with what.
struct ForkOptions {
  TenantId tenant = default_tenant();
  ThreadId from;
  // After which commit of the thread's latest run; unset: the newest that leaves something to do.
  std::optional<std::uint64_t> seq = std::nullopt;
  ThreadId thread = {};  // new, or that of the same fork (see StartOptions); empty: random
  UserId user = {};      // owner of the fork; empty: the owner of the original
  // JSON object of channels that replace the stored ones; null: none. With edits, a fork begins at
  // the latest before the newest decided approval on its path and before the first that showed an
  // edited channel, and asks again. `forbidden` unless `roles` has one of the approval's roles.
  Value edits = {};
  std::vector<std::string> roles = {};  // of the caller
  bool may_decide = true;               // false: edits only if the graph has no approvals
  // What stands there now, without running anything that has ended. Of an ended run comes one that
  // has ended alike; one that waits, waits in the copy too, and asks there on its own.
  bool copy = false;
  bool queued = false;  // into the queue, for a worker
};

// What a fork would do again, and what has happened already since the commit that it begins after.
struct ForkPreview {
  ThreadId thread;  // of that commit; with edits, possibly an ancestor of `from`
  std::uint64_t seq = 0;
  std::vector<std::string> first_nodes;     // the nodes that it begins with
  std::vector<std::string> repeated_nodes;  // nodes that have ended since, oldest first
  std::vector<EffectRow> effects;           // of classes B and C, begun since
  std::vector<OutboxRow> messages;
  std::vector<ApprovalRow> approvals;  // asked since
};

struct ReplayOptions {
  TenantId tenant = default_tenant();
  ThreadId thread;
  std::optional<RunId> run = std::nullopt;  // unset: the thread's latest
};

// The first thing that came out otherwise than it is recorded.
struct Divergence {
  std::uint64_t seq = 0;  // of the commit
  std::string node;
  std::string what;  // "nodes", "channel draft", "next tasks", "effect smtp", "model call", ...
  std::string recorded, replayed;
};

struct ReplayReport {
  RunRow run;                          // as it is recorded
  std::uint64_t matching_commits = 0;  // commits found to be the same
  std::optional<Divergence> divergence;
};

struct Decision {
  bool approved = false;
  std::string decided_by;
  std::string on_behalf_of = {};  // empty: decided_by acted in its own name
  std::string comment = {};
  std::optional<Value> edited = std::nullopt;  // in place of the payload shown
  std::vector<std::string> roles = {};         // that the decider holds
};

struct DecisionResult {
  enum class Kind {
    accepted,   // this decision is the one, and the run went on with it
    duplicate,  // the very same decision had been made before: nothing changed
    conflict,   // another decision had been made before: see `approval`
    expired,    // too late: the approval has expired
    closed,     // the run was cancelled or has ended in another way
  };
  Kind kind = Kind::accepted;
  ApprovalRow approval;
  RunView view;
};

// A message of the outbox (Context::publish) on its way to its receiver.
struct OutboxMessage {
  std::string id;  // "run/seq/index": the same each time; what the receiver tells a repetition by
  std::string topic;
  Value body;
  std::int64_t attempt = 1;
  ThreadId thread;
  RunId run;
};
// Done: it has arrived. An Error, or an exception: it is tried again later. Don't block.
using Receiver = std::function<Task<Result<Done>>(OutboxMessage)>;

struct DeliveryOptions {
  // One call, then it is stopped and counts as failed; no other process calls for twice that time.
  std::chrono::milliseconds timeout{30'000};
  // Calls until a message is given up, with the last error kept. The wait after the n-th failure is
  // min(2^n * base, cap), +-20 % at random, and never less than the error's retry_after.
  RetryPolicy retry{.attempts = 12, .cap = std::chrono::hours(1)};
};

// What a runtime is made of; all of it outlives the runtime.
struct RuntimeParts {
  Store& store;
  Executor& executor;
  Clock& clock;  // not used if the store has a clock
  Random& random;
  Model& model;
  ProgressObserver observer = nullptr;
  ProcessLimits process_limits = {};
  EffectObserver effect_observer = nullptr;
  PromptRedactor redact_prompt = nullptr;  // empty: requests to the model are recorded whole
  // `per_user` limits the runs that work() claims; with `places_hold_starts` it also limits runs
  // that are started, resumed, forked or decided.
  ConcurrencyLimits concurrency = {.per_key = 1};
  bool concurrency_limits_starts = false;
  RunSettings run_defaults = {};  // for the settings that a start leaves unset
  Hints hints = {};  // of other processes; without them each finds by itself what they do
};

class Runtime {
  class Impl;

 public:
  static Result<std::unique_ptr<Runtime>> open(RuntimeParts parts);
  explicit Runtime(std::unique_ptr<Impl> body);  // for open()
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // Makes a graph known by its name and version. Of several versions of one name, the one that was
  // added last is the one that new runs begin with. Before the first call for one of its runs.
  template <typename State>
  void add(const Graph<State>& graph) {
    add(graph.definition());
  }
  void add(std::shared_ptr<const GraphDefinition> definition);

  // Protects what nodes depend on (NodeSetting::uses) by this name; "model" is the model, call by
  // call. Before the first run. Its state is this runtime's own: other processes count for
  // themselves.
  void protect(std::string dependency, DependencyOptions options);

  // Begins a run of a known graph with `input` as its state. `unavailable`, and nothing is written,
  // while ProcessLimits or ConcurrencyLimits allow no further run.
  template <typename State>
  Task<Result<RunView>> start(const Graph<State>& graph, State input, StartOptions options) {
    auto state = std::make_shared<State>(std::move(input));
    return start(graph.name(), std::move(state), std::move(options));
  }
  // The same for a JSON graph, whose input is an object of channels. `invalid` for what does not
  // fit.
  Task<Result<RunView>> start(const Graph<Value>& graph, Value input, StartOptions options);
  // The same for a graph that is known by its name alone. `input` is of its state's type, as
  // state_from() makes it.
  Task<Result<RunView>> start(std::string graph, std::shared_ptr<void> input, StartOptions options);

  // Puts a run into its queue; some process that works begins it, no sooner than `not_before`.
  // Durable when it returns. `unavailable`, and nothing is written, while the queue is full.
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

  // Executes the work in the store until drain() is called: runs in the queue, runs whose process
  // died, timers and approvals that are due. Several processes can do so on one store. A run that
  // loses more than limits::lost_claims_max processes is quarantined, and so is one with damaged
  // bytes in the store; the others continue. Returns the number of runs that it claimed.
  Task<Result<std::size_t>> run_worker(WorkerOptions options);
  // Starts no more runs, here and in work(). A run in progress returns to its queue once its
  // running nodes have ended and are committed. work() returns after that, and after the
  // receivers that are running. Until then start() and resume() fail with `unavailable`, and a
  // run that is decided is queued.
  void drain();
  // The same without waiting: running nodes and receivers are abandoned.
  void stop();

  // Hands the messages of a topic to `receiver`, at least once each: by work(), and by whoever
  // drives a run, after its commits and without holding it up. Those of one run go one after
  // another, as far as failed ones don't wait; at most limits::deliveries_max calls at a time.
  // Messages of a topic without a receiver wait.
  void deliver(std::string topic, Receiver receiver, DeliveryOptions options = {});

  // By OutboxMessage::id. Retries a message now that was discarded or waits for its next attempt;
  // discards a waiting one. `not_found`; `conflict` if delivered or being delivered.
  Task<Result<Done>> retry_message(TenantId tenant, std::string id);
  Task<Result<Done>> give_up_message(TenantId tenant, std::string id);

  // Begins a new run of a new thread where another stood. `not_found` for an unknown thread or
  // commit, `invalid` for a commit after which nothing is left to do, or an edit that does not fit.
  Task<Result<RunView>> fork(ForkOptions options);
  // The same, without doing it.
  Task<Result<ForkPreview>> preview(ForkOptions options);

  // Runs a run once more from its input, in memory, with what is recorded in place of effects,
  // model and people, and compares commit by commit. Calls nothing and writes nothing outside. See
  // docs/time-travel.md. `invalid` for a run that can't be replayed: one whose first commits have
  // been pruned, or whose version of the graph this program does not have.
  Task<Result<ReplayReport>> replay(ReplayOptions options);

  // A reader of a run's events, whoever works on it. `not_found` for an unknown thread or run, and
  // for events that have been pruned; `invalid` for an id beyond the run's end. See event.h.
  Task<Result<std::unique_ptr<EventReader>>> events(EventOptions options);

  // Goes on with a thread's run: one whose process died is taken over, one that waits at a
  // breakpoint, or for a time that has come, goes on, one that waits for a person is returned as it
  // stands, one that has ended gives its result. `conflict` while another living process works on
  // it; `not_found` for an unknown one, or one that waits for a person beyond thread_idle_max.
  Task<Result<RunView>> resume(TenantId tenant, ThreadId thread);
  // Returns the threads of running runs whose process is dead, of one user or of all users. Queued
  // and paused runs are not included.
  Task<Result<std::vector<ThreadId>>> orphaned_threads(TenantId tenant,
                                                       std::optional<UserId> user = std::nullopt);

  // Decides an open approval and continues its run. `not_found` for an unknown one; `invalid` if an
  // edited payload does not fit; `forbidden` if the decider has none of its roles.
  Task<Result<DecisionResult>> decide(TenantId tenant, InterruptId interrupt, Decision decision);

  // Cancels a thread's run, whichever process owns it. `conflict` if it has ended otherwise.
  Task<Result<RunView>> cancel(TenantId tenant, ThreadId thread, std::string by,
                               std::string on_behalf_of = {});

  // A thread's latest run; as its commit `seq` left it, with approvals, spending and uncertain
  // effects only if that is the latest commit. `not_found` for an unknown thread or commit.
  Task<Result<RunView>> status(TenantId tenant, ThreadId thread);
  Task<Result<RunView>> status_at(TenantId tenant, ThreadId thread, std::uint64_t seq);

  // Expires what is past its time, and goes on with runs that are due; how many there were.
  Task<Result<std::size_t>> process_due(TenantId tenant);

  // Saves records outside a run, all or none: an import.
  Task<Result<Done>> save(TenantId tenant, std::vector<RecordWrite> records);
  // A user's records. Lives as long as the runtime.
  std::unique_ptr<Records> records(TenantId tenant, UserId user);
  const SessionId& session() const;

 private:
  std::unique_ptr<Impl> body_;
};

}  // namespace belay
