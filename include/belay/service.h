#pragma once
// belay/service.h - Service: the operations that users and programs can request, wherever the
// runs are: in this process, or on a server.
//
// It returns rows and views of the public headers: both implementations are displayed alike.
//
// Each call names its principal (belay/principal.h), which must live until the call has ended, and
// reads and writes in its tenant only; a tenant in the arguments is ignored. The service enforces
// the access of the principal: a local one itself, a remote one by its server. statistics() and
// compact() concern the whole store, and workers() lists its processes.
//
// Threading: on the executor that awaits; several calls can be in progress concurrently. Destroying
// a coroutine stops the wait; a run that it has started continues.
//
// Errors: those of Runtime and Store; a remote service adds `unavailable` if its server cannot be
// reached.

#include "belay/check.h"
#include "belay/collection.h"
#include "belay/principal.h"
#include "belay/runtime.h"
#include "belay/schedule.h"
#include "belay/storage.h"

namespace belay {

// The start of a run of an agent, as by a call of the runtime (belay/thread.h).
struct StartRun : StartOptions {
  std::string agent = {};
  Value input = {};  // an object: the members of the agent's state
  // True: stores the run in a queue; a worker starts it, not before `delay` has passed. False:
  // executes it here, and returns when it has ended or is paused.
  bool queued = false;
  std::chrono::milliseconds delay{0};
};

// When an agent (agent.h) uses a steering message.
enum class SteeringUse {
  next_call,     // the next call of its model contains the message
  after_answer,  // the message is its next question, once it has answered
};
std::string_view name_of(SteeringUse use);
std::optional<SteeringUse> steering_use_named(std::string_view name);

struct Steer {
  std::string text = {};
  SteeringUse use = SteeringUse::next_call;
  std::string by = {};  // the sender
  // Names the message: a repeated call with it returns the message of the first. Empty: a new id.
  std::string id = {};
};

// A message of a person to a run in progress. An agent of the run uses it exactly once, in the
// commit of the reply to the request that contains it. A message that still waits when its run has
// ended was not used, and no later run uses it.
struct SteeringMessage {
  static constexpr std::string_view collection = "steering_messages";

  std::string id{};  // unique for the user
  std::string thread{}, run{};
  std::string text{};
  std::string use{};  // name_of(SteeringUse)
  std::string by{};
  Instant created_at{};
  bool waits = true;
  std::string used_by{};  // the task that used it; empty: none
  std::optional<Instant> used_at{};

  std::string key() const { return id; }
  static auto indexed() { return std::tuple(); }
  static auto ordered() {
    using M = SteeringMessage;
    return std::tuple{ordered_index("run", &M::run, &M::waits, &M::created_at),
                      ordered_index("thread", &M::thread, &M::created_at)};
  }
  Instant expires_at() const { return created_at + limits::steering_kept; }
};

// Changes to a queue; unset members remain unchanged.
struct QueueChange {
  std::string name;
  std::optional<bool> paused = std::nullopt;
  std::optional<std::uint64_t> runs_max = std::nullopt;     // 0: the limit of all queues
  std::optional<std::uint64_t> per_key_max = std::nullopt;  // 0: the limit of all queues
};

// The users whose runs and whose approvals a query returns; unset: all users.
struct Whose {
  std::optional<UserId> runs = std::nullopt;
  std::optional<UserId> approvals = std::nullopt;
};

struct ListedThread {
  ThreadRow thread;
  std::optional<RunRow> run;  // the current one
  bool code_gone = false;     // no graph of the process can continue that run
};
struct ThreadPage {
  std::optional<ThreadId> before = std::nullopt;  // last thread of the previous page
  std::size_t limit = 20;
  std::optional<UserId> user = std::nullopt;  // only threads of this user
};

struct RunPage {
  std::vector<RunStatus> statuses = {};           // empty: any
  std::optional<ThreadId> thread = std::nullopt;  // only runs of this thread
  std::optional<RunId> before = std::nullopt;     // last run of the previous page
  std::size_t limit = 20;
  std::optional<UserId> user = std::nullopt;  // only runs of this user
};

// Commits of one run, newest first.
struct RunHistory {
  RunRow run;
  std::vector<CheckpointRow> checkpoints;
  std::vector<Value> materials = {};  // of each of them: see RunView::materials
};
// A page of the commits of a thread, over all of its runs or of one of them, newest first.
struct HistoryPage {
  ThreadId thread;
  std::optional<RunId> run = std::nullopt;  // only commits of this run
  // The last commit of the previous page: with its run, unless `run` is given.
  std::optional<std::uint64_t> before_seq = std::nullopt;
  std::optional<RunId> before_run = std::nullopt;
  std::size_t limit = 100;
};

struct CallPage {
  ThreadId thread;
  std::optional<RunId> run = std::nullopt;  // unset: the current run
  std::size_t limit = 100;                  // the first calls
};

struct ApprovalPage {
  bool only_open = true;
  std::optional<InterruptId> before = std::nullopt;  // only older approvals: the next page
  std::size_t limit = limits::list_rows_max;
  std::optional<UserId> user = std::nullopt;  // only approvals of this user's runs
};

struct StatusSummary {
  std::vector<RunRow> at_work, code_gone;  // the latter: no graph of the process can continue them
  std::vector<RunRow> orphaned;            // by processes that have died
  std::vector<RunRow> queued;              // the first hundred, by due time
  std::vector<ApprovalRow> open;
};

struct MessagePage {
  std::optional<ThreadId> thread = std::nullopt;
  bool all = false;  // also delivered messages
  std::size_t limit = 100;
  std::optional<UserId> user = std::nullopt;  // only messages of this user's runs
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

// Shared by their readers.
using AgentDocuments = std::shared_ptr<const Value::Array>;
// Returns the document of the agent with this name; null for an unknown name.
const Value* find_agent(const Value::Array& agents, std::string_view name);

class Service {
 public:
  virtual ~Service() = default;

  // Returns the change token of the store (Store::change_token()) if it is available locally.
  virtual std::optional<std::uint64_t> store_version() { return std::nullopt; }

  // Returns the agents; each document is the one that `belay agents show --json` prints.
  virtual Task<Result<AgentDocuments>> agents(const Principal& who) = 0;

  virtual Task<Result<RunView>> start(const Principal& who, StartRun wanted) = 0;
  virtual Task<Result<RunView>> resume(const Principal& who, ThreadId thread,
                                       std::optional<Breakpoints> breakpoints = {},
                                       std::optional<std::uint64_t> only_at = {},
                                       std::optional<Consent> consent = {}) = 0;
  virtual Task<Result<std::vector<ThreadId>>> orphaned_threads(const Principal& who,
                                                               std::optional<UserId> user) = 0;
  // `on_behalf_of`: the name that `by` acted for; empty: `by` itself. Without `run`, here and
  // below: the thread's current run (see belay/thread.h).
  virtual Task<Result<RunView>> cancel(const Principal& who, ThreadId thread, std::string by,
                                       std::string on_behalf_of, std::optional<RunId> run) = 0;
  virtual Task<Result<RunView>> fork(const Principal& who, ForkOptions options) = 0;
  virtual Task<Result<ForkPreview>> preview(const Principal& who, ForkOptions options) = 0;
  virtual Task<Result<ReplayReport>> replay(const Principal& who, ThreadId thread,
                                            std::optional<RunId> run) = 0;
  // Export and import a run as one document: docs/command-line.md.
  virtual Task<Result<Value>> export_run(const Principal& who, ThreadId thread,
                                         std::optional<RunId> run) = 0;
  virtual Task<Result<RunRow>> import_run(const Principal& who, Value file,
                                          bool allow_unfinished) = 0;

  // Returns the run when it has ended or is paused or quarantined, in any process. Also waits for
  // queued and orphaned runs: limit the wait.
  virtual Task<Result<RunView>> wait_for(const Principal& who, ThreadId thread,
                                         std::optional<RunId> run) = 0;
  // Returns only the row of the run.
  virtual Task<Result<RunRow>> run_of(const Principal& who, ThreadId thread,
                                      std::optional<RunId> run = {}) = 0;
  // Returns the run with its state, now or as of a commit.
  virtual Task<Result<RunView>> status(const Principal& who, ThreadId thread,
                                       std::optional<std::uint64_t> seq,
                                       std::optional<RunId> run = {}) = 0;
  virtual Task<Result<ListedThread>> thread(const Principal& who, ThreadId thread) = 0;
  virtual Task<Result<ThreadRow>> edit_thread(const Principal& who, ThreadId thread,
                                              ThreadSettings settings) = 0;
  // Stores a message for the thread's current run, durably. `conflict` if the run has ended, or
  // another message has the id.
  virtual Task<Result<SteeringMessage>> steer(const Principal& who, ThreadId thread,
                                              Steer message) = 0;
  // The newest messages of the thread's runs, at most limits::list_rows_max, oldest first.
  virtual Task<Result<std::vector<SteeringMessage>>> steering(const Principal& who,
                                                              ThreadId thread) = 0;
  // The operations on schedules; the object lives as long as the service.
  virtual Schedules& schedules() = 0;
  virtual Task<Result<ThreadDeletion>> delete_thread(const Principal& who, ThreadId thread,
                                                     KeptRuns kept = KeptRuns::none) = 0;
  virtual Task<Result<std::vector<ListedThread>>> threads(const Principal& who,
                                                          ThreadPage page) = 0;
  virtual Task<Result<std::vector<RunRow>>> runs(const Principal& who, RunPage page) = 0;
  virtual Task<Result<RunRow>> run(const Principal& who, RunId run) = 0;
  // The runs of the page, newest first, each with its commits on the page.
  virtual Task<Result<std::vector<RunHistory>>> history(const Principal& who, HistoryPage page) = 0;
  // Returns the model calls and effects of a run: the document of `belay calls --json`.
  virtual Task<Result<Value>> calls(const Principal& who, CallPage page) = 0;
  // Returns the causes for which a run waits: the document of `belay why --json`.
  virtual Task<Result<Value>> why(const Principal& who, ThreadId thread,
                                  std::optional<RunId> run) = 0;
  virtual Task<Result<StatusSummary>> standing(const Principal& who, Whose whose) = 0;
  virtual Task<Result<std::unique_ptr<EventReader>>> events(const Principal& who,
                                                            EventOptions options) = 0;
  virtual Task<Result<Done>> preserve(const Principal& who, ThreadId thread, bool preserve) = 0;

  virtual Task<Result<std::vector<ApprovalRow>>> approvals(const Principal& who,
                                                           ApprovalPage page) = 0;
  // By its id, a prefix of it, or the thread that waits for it.
  virtual Task<Result<ApprovalRow>> approval(const Principal& who, std::string id, Whose whose) = 0;
  // The approval that the thread's current run waits for, or its most recent one.
  virtual Task<Result<ApprovalRow>> approval_of(const Principal& who, ThreadId thread,
                                                Whose whose) = 0;
  virtual Task<Result<DecisionResult>> decide(const Principal& who, InterruptId interrupt,
                                              Decision decision) = 0;

  // Return the documents of `belay queue --json` and `belay workers --json`, and of one queue.
  virtual Task<Result<Value>> queues(const Principal& who, std::optional<UserId> user) = 0;
  virtual Task<Result<Value>> workers(const Principal& who) = 0;
  virtual Task<Result<Value>> change_queue(const Principal& who, QueueChange change) = 0;

  virtual Task<Result<Messages>> messages(const Principal& who, MessagePage page) = 0;
  virtual Task<Result<Done>> retry_message(const Principal& who, std::string id) = 0;
  virtual Task<Result<Done>> give_up_message(const Principal& who, std::string id) = 0;

  // The records of a user. Saving is atomic.
  virtual Task<Result<std::vector<RecordRow>>> find_records(const Principal& who, UserId user,
                                                            RecordFilter filter) = 0;
  virtual Task<Result<Done>> save_records(const Principal& who,
                                          std::vector<RecordWrite> records) = 0;

  virtual Task<Result<StoreStatistics>> statistics(const Principal& who) = 0;
  virtual Task<Result<Compaction>> compact(const Principal& who) = 0;
  virtual Task<Result<Pruning>> prune(const Principal& who, RetentionPolicy policy) = 0;
  virtual Task<Result<CheckReport>> check(const Principal& who) = 0;
};

// Returns a user's records, with the interface that an agent's code uses. The service must outlive
// it.
std::unique_ptr<Records> records_of(Service& service, Principal who, UserId user);

// Returns the payload of an approval, and the edited payload; null if the stored bytes cannot be
// decoded.
Value payload_of(const ApprovalRow& row);
Value edited_of(const ApprovalRow& row);

// The document `History`: a page of at most `limit` commits; `next`, unless null, is where the next
// page starts.
Value history_document(const std::vector<RunHistory>& history, std::size_t limit);

}  // namespace belay
