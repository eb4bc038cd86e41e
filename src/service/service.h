#pragma once
// service/service.h - what a person or a program may ask of Belay, wherever the runs are: in this
// process (local_service.h), or behind a server (client/remote_service.h).
//
// A service is of one tenant. What it answers are the rows and views of the public headers, so
// whoever shows them shows the same for both.
//
// Threading: on the executor that awaits; several calls may be under way at once. Destroying a task
// stops waiting; a run that it has set going goes on.
//
// Errors: those of Runtime and Store; a remote one adds `unavailable` for a server that can't be
// reached.

#include "belay/check.h"
#include "belay/runtime.h"
#include "belay/storage.h"

namespace belay {

// Which run to begin.
struct StartRun {
  std::string agent;
  Value input;  // an object of channels: members of the agent's state
  UserId user = UserId("local");
  ThreadId thread = {};  // empty: a new random one
  RunSettings options = {};
  // Into the store's queue, for whoever works on it, and begun no sooner than after `delay`;
  // else it is begun here, and answered when it has ended or waits.
  bool queued = false;
  std::chrono::milliseconds delay{0};
  std::string queue = std::string(default_queue);
  std::int64_t priority = 0;
  std::string concurrency_key = {};
};

// What is to become of a queue; unset: as it is.
struct QueueChange {
  std::string name;
  std::optional<bool> paused = std::nullopt;
  std::optional<std::uint64_t> runs_max = std::nullopt;     // 0: as many as any queue
  std::optional<std::uint64_t> per_key_max = std::nullopt;  // 0: as in any queue
};

// The users whose runs and whose approvals a query returns; unset: all users.
struct Whose {
  std::optional<UserId> runs = std::nullopt;
  std::optional<UserId> approvals = std::nullopt;
};

struct ListedThread {
  ThreadRow thread;
  std::optional<RunRow> run;  // the latest
};
struct ThreadPage {
  std::optional<ThreadId> before = std::nullopt;  // the last one of the page before
  std::size_t limit = 20;
  std::optional<UserId> user = std::nullopt;  // only this user's
};

struct RunPage {
  std::vector<RunStatus> statuses = {};        // empty: any
  std::optional<RunId> before = std::nullopt;  // the last one of the page before
  std::size_t limit = 20;
  std::optional<UserId> user = std::nullopt;  // only this user's
};

struct RunHistory {
  RunRow run;
  std::vector<CheckpointRow> checkpoints;  // newest first
};
struct HistoryPage {
  ThreadId thread;
  std::optional<std::uint64_t> before_seq = std::nullopt;
  std::size_t limit = 100;
};

struct CallPage {
  ThreadId thread;
  std::size_t limit = 100;  // the first ones
};

struct ApprovalPage {
  bool only_open = true;
  std::size_t limit = limits::list_rows_max;
  std::optional<UserId> user = std::nullopt;  // only those of this user's runs
};

// What goes on, and what waits for somebody.
struct StatusSummary {
  std::vector<RunRow> at_work;
  std::vector<RunRow> orphaned;  // by processes that have died
  std::vector<RunRow> queued;    // for a worker: the first hundred, by due time
  std::vector<ApprovalRow> open;
};

struct MessagePage {
  std::optional<ThreadId> thread = std::nullopt;
  bool all = false;  // delivered ones too
  std::size_t limit = 100;
  std::optional<UserId> user = std::nullopt;  // only those of this user's runs
};
struct Messages {
  std::vector<OutboxRow> rows;  // oldest first
  std::size_t more = 0;         // beyond the limit; counted up to limits::list_rows_max
};

struct Compaction {
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
};
struct Pruning {
  RetentionReport threads;
  std::uint64_t large_values = 0;
  bool dry_run = false;
};

// True if a run in this status continues only after a decision, a command or its due time.
inline bool is_settled(RunStatus status) {
  return is_final(status) || status == RunStatus::paused || status == RunStatus::quarantined;
}

class Service {
 public:
  virtual ~Service() = default;

  // Of the store that it asks, where that is at hand: see Store::version().
  virtual std::optional<std::uint64_t> store_version() { return std::nullopt; }

  // The agents, each as the document that `belay agents show --json` prints.
  virtual Task<Result<Value::Array>> agents() = 0;

  virtual Task<Result<RunView>> start(StartRun wanted) = 0;
  virtual Task<Result<RunView>> resume(ThreadId thread) = 0;
  virtual Task<Result<std::vector<ThreadId>>> orphaned_threads(std::optional<UserId> user) = 0;
  // `on_behalf_of`: the name that `by` acted for; empty: `by` itself.
  virtual Task<Result<RunView>> cancel(ThreadId thread, std::string by,
                                       std::string on_behalf_of) = 0;
  virtual Task<Result<RunView>> fork(ForkOptions options) = 0;
  virtual Task<Result<ForkPreview>> preview(ForkOptions options) = 0;
  virtual Task<Result<ReplayReport>> replay(ThreadId thread) = 0;
  // The thread's latest run as one document, and such a one back: see run_file.h.
  virtual Task<Result<Value>> export_run(ThreadId thread) = 0;
  virtual Task<Result<RunRow>> import_run(Value file, bool may_go_on) = 0;

  // Returns the thread's latest run once it has ended or waits for a person or a time, in any
  // process. Also waits for queued and orphaned runs: limit the wait.
  virtual Task<Result<RunView>> wait_for(ThreadId thread) = 0;
  // The latest run's row alone.
  virtual Task<Result<RunRow>> run_of(ThreadId thread) = 0;
  // With its state, as it stands or as it stood after a commit.
  virtual Task<Result<RunView>> status(ThreadId thread, std::optional<std::uint64_t> seq) = 0;
  virtual Task<Result<std::vector<ListedThread>>> threads(ThreadPage page) = 0;
  virtual Task<Result<std::vector<RunRow>>> runs(RunPage page) = 0;
  virtual Task<Result<RunRow>> run(RunId run) = 0;
  virtual Task<Result<RunHistory>> history(HistoryPage page) = 0;
  // What the thread's latest run has asked of its model and of the world, as `belay calls --json`
  // prints it.
  virtual Task<Result<Value>> calls(CallPage page) = 0;
  virtual Task<Result<StatusSummary>> standing(Whose whose) = 0;
  virtual Task<Result<std::unique_ptr<EventReader>>> events(EventOptions options) = 0;
  virtual Task<Result<Done>> preserve(ThreadId thread, bool preserve) = 0;

  virtual Task<Result<std::vector<ApprovalRow>>> approvals(ApprovalPage page) = 0;
  // By its id, the first characters of it, or the thread that waits.
  virtual Task<Result<ApprovalRow>> approval(std::string id, Whose whose) = 0;
  // The approval that the thread's latest run waits for, or its most recent one.
  virtual Task<Result<ApprovalRow>> approval_of(ThreadId thread, Whose whose) = 0;
  virtual Task<Result<DecisionResult>> decide(InterruptId interrupt, Decision decision) = 0;

  // The documents that `belay queue --json` and `belay workers --json` print; and a queue's row.
  virtual Task<Result<Value>> queues(std::optional<UserId> user) = 0;
  virtual Task<Result<Value>> workers() = 0;
  virtual Task<Result<Value>> change_queue(QueueChange change) = 0;

  virtual Task<Result<Messages>> messages(MessagePage page) = 0;
  virtual Task<Result<Done>> retry_message(std::string id) = 0;
  virtual Task<Result<Done>> give_up_message(std::string id) = 0;

  // A user's records; saving is all or nothing.
  virtual Task<Result<std::vector<RecordRow>>> find_records(UserId user, RecordFilter filter) = 0;
  virtual Task<Result<Done>> save_records(std::vector<RecordWrite> records) = 0;

  virtual Task<Result<StoreStatistics>> statistics() = 0;
  virtual Task<Result<Compaction>> compact() = 0;
  virtual Task<Result<Pruning>> prune(RetentionPolicy policy) = 0;
  virtual Task<Result<CheckReport>> check() = 0;
};

// A user's records as an agent's code asks for them. The service outlives it.
std::unique_ptr<Records> records_of(Service& service, UserId user);

}  // namespace belay
