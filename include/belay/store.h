#pragma once
// belay/store.h - the database of runs: one guarded, atomic write, and reads of a snapshot.
//
// All rows that one step changes - run, checkpoint, changed channel values, events, approvals,
// records - are in one Commit and are written atomically. There is no other write.
// Implement Store to add a backend; it is complete when tests/conformance/store_suite.h passes.
//
// Threading: call any method from any thread, concurrently with any other.
//
// Durability: when commit() returns `applied`, the rows survive a crash of the process and of the
// machine. `unavailable`: nothing was written. `uncertain`: the rows might have been written. Send
// the same Commit again: its id makes that safe. Rows that a read does not find yet are no proof
// that the commit failed.

#include <functional>

#include "belay/hints.h"
#include "belay/store_filters.h"
#include "belay/task.h"

namespace belay {

// Requires that the stored run has this epoch and this seq. For a run's first commit both are 0 and
// the run must not exist.
struct RunGuard {
  std::uint64_t epoch = 0;
  std::uint64_t seq = 0;
  // Not null: a pending write for this run, which is not changed. The rows may be values above its
  // state_seq, tasks, effects, opened approvals, checkpoints of a subgraph's namespace, and records
  // without an expected version. Repeating the commit writes the same rows again.
  RunId pending_for = {};
};

// Requires that the thread's newest run, ended or not, is this one: for the first commit of its
// next run.
struct ThreadGuard {
  ThreadId thread;
  RunId newest_run;
};

// Replaces the title, metadata, expires_at and updated_at of a thread.
struct ThreadEdit {
  ThreadRow row;
  Instant expected_updated_at{};  // that the stored row has, else `thread_changed`
};

// Requires that the approval is open and shows exactly this payload.
struct ApprovalGuard {
  enum class Expiry { ahead, passed };  // of the approval's expiry, by the store's clock
  InterruptId interrupt;
  Digest payload_hash{};
  Instant decided_at{};  // as read: each vote of an approval that needs several changes it
  Expiry expiry = Expiry::ahead;
  // True: requires that the run is `running` or `queued`, else `fenced`. Only the approval is
  // written, the run's seq does not change, and the run's owner applies the decision.
  bool run_is_active = false;
};

// Requires that the message has this status and this number of started attempts.
struct OutboxGuard {
  RunId run;
  std::uint64_t seq = 0;
  std::int64_t index = 0;
  std::int64_t attempts = 0;
  OutboxStatus status = OutboxStatus::waiting;
};

// Deletes an ended run with all rows that refer to it, and its thread if that has no other run; or
// deletes the commits before `before_seq`, except for rows that later commits need. The oldest
// remaining checkpoint is the anchor of the chain: its hash cannot be recomputed.
//
// Values of the thread's state remain as long as a later run needs them: if no run after the
// deleted one has started, those that it wrote are deleted, and the next run starts from the state
// before it. A run of a thread of which another run has not ended is not deleted.
struct PruneRun {
  RunId run;
  std::optional<std::uint64_t> before_seq = std::nullopt;  // unset: the whole run
};

// Replaces stored bytes by other bytes with the same meaning, unless they changed: re-encryption.
struct Rewrite {
  std::uint64_t position = 0;
  Digest before{};  // store::digest_of() the replaced value: SHA-256 of an envelope's bytes
  std::string envelope;
  std::vector<std::string> texts = {};  // of a part of a row: replace the texts in its columns
};

// The rows of one commit. `run` is the row after the commit.
struct CommitRows {
  std::optional<ThreadRow> thread;  // set for a new thread: it must not exist
  std::optional<RunRow> run;
  std::optional<CheckpointRow> checkpoint;
  std::vector<CheckpointRow> earlier;  // with Commit::imports: those before it, oldest first
  std::vector<ValueRow> values;
  std::vector<EventRow> events;
  std::vector<ApprovalRow> opened;     // approvals that this commit requests
  std::optional<ApprovalRow> decided;  // the guarded approval with its decision
  // The run ends: all of its open approvals become `closed`, and all of its `intended` effects
  // become `uncertain`, including those of the same commit. Requires an ended `run`.
  bool ends_run = false;
  std::vector<RecordPut> records;
  std::vector<TaskRow> tasks;
  // In a commit without a guard: only the outcomes of effects that were `intended`.
  std::vector<EffectRow> effects;
  std::vector<OutboxRow> outbox;
  std::vector<BlobRow> blobs;                    // existing blobs are not changed
  std::vector<CheckpointRow> inner_checkpoints;  // of subgraphs' namespaces
  // The following only in a commit without a guard. Sets the thread's preserve flag.
  std::optional<std::pair<ThreadId, bool>> preserve;
  std::optional<ThreadEdit> thread_edit;
  // Deletes by retention. Runs that have not ended and runs of preserved threads are skipped.
  std::vector<PruneRun> prune;
  std::vector<Rewrite> rewrites;
  std::vector<BlobUse> delete_blobs;  // except those put again since
  std::vector<QueueRow> queues;       // inserts or replaces the rows of these names
};

struct Commit {
  TenantId tenant;
  // Absent for a commit that belongs to no run (an import of records): it cannot be fenced.
  std::optional<RunGuard> run_guard;
  std::optional<ApprovalGuard> approval_guard;
  // Set, and required, for the first commit of a run with an ordinal above 0; not of an import.
  std::optional<ThreadGuard> thread_guard;
  // Requires that these approvals are open; otherwise nothing is written (approval_closed).
  std::vector<InterruptId> require_open;
  // If the commit makes a run `running` that was not: requires that in each scope fewer other runs
  // are running than the limit; otherwise nothing is written (limit_reached). The runs are counted
  // in the transaction and therefore exactly, over all processes.
  std::vector<ConcurrencyGuard> concurrency;
  // For a commit without a run guard that changes one message.
  std::optional<OutboxGuard> message_guard;
  // Imports a run of another store with all of its commits: guarded like a first commit; `run` and
  // `checkpoint` are its newest, and the other rows may belong to any of its seqs.
  bool imports = false;
  CommitRows rows;
  // With ApprovalGuard::Expiry::ahead: written instead of `rows` if the expiry has passed.
  std::optional<CommitRows> if_expired;
};

enum class CommitOutcome {
  applied,          // durable; also if the same commit had been applied before
  expired,          // if_expired is durable instead of the rows
  fenced,           // the run's epoch or seq changed: nothing was written, stop without an error
  approval_closed,  // the approval is decided, shows another payload, or its expiry is not as the
                    // guard requires: nothing was written
  exists,           // the thread or run that would be created already exists: nothing was written
  limit_reached,    // a concurrency limit is reached: nothing was written
  thread_changed,   // the thread has another newest run, or was edited: nothing was written
  record_changed,   // a record does not have its RecordPut::expected_version: nothing was written
};

// A consistent view of the store for the duration of one read. One method per table.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  virtual Result<std::vector<ThreadRow>> threads(const ThreadFilter& filter) = 0;
  virtual Result<std::vector<RunRow>> runs(const RunFilter& filter) = 0;
  virtual Result<std::vector<CheckpointRow>> checkpoints(const CheckpointFilter& filter) = 0;
  virtual Result<std::vector<ValueRow>> values(const ValueFilter& filter) = 0;
  virtual Result<std::vector<EventRow>> events(const EventFilter& filter) = 0;
  virtual Result<std::vector<ApprovalRow>> approvals(const ApprovalFilter& filter) = 0;
  virtual Result<std::vector<StoredRecord>> records(const RecordQuery& query) = 0;
  virtual Result<std::vector<TaskRow>> tasks(const TaskFilter& filter) = 0;
  virtual Result<std::vector<EffectRow>> effects(const EffectFilter& filter) = 0;
  virtual Result<std::vector<OutboxRow>> outbox(const OutboxFilter& filter) = 0;
  // Returns the blobs of `ids` that exist.
  virtual Result<std::vector<BlobRow>> blobs(const TenantId& tenant,
                                             const std::vector<Digest>& ids) = 0;
  // Returns the next limits::page_rows_max blobs after this id, ordered by id.
  virtual Result<std::vector<BlobUse>> blob_uses(const TenantId& tenant, const Digest& after) = 0;
  virtual Result<std::vector<StoredEnvelope>> envelopes(const EnvelopeFilter& filter) = 0;
  // Returns the tenants that have ever written, ordered by name.
  virtual Result<std::vector<TenantId>> tenants() = 0;
  // Returns the queues that have a row, ordered by name; a queue needs no row.
  virtual Result<std::vector<QueueRow>> queues(const TenantId& tenant) = 0;
  // Returns, ordered by name, the queues that have a row or a run that has not ended. Reads all
  // such runs; with `user`, only the runs of this user.
  virtual Result<std::vector<QueueCount>> queue_counts(const TenantId& tenant, Instant now,
                                                       const std::optional<UserId>& user) = 0;
  // Returns the number of `running` runs for each user, concurrency key or queue, or in total.
  virtual Result<std::vector<ConcurrencyCount>> running_counts(const TenantId& tenant,
                                                               ConcurrencyScope of) = 0;
  virtual Result<std::vector<SessionRow>> sessions(const SessionFilter& filter) = 0;
};

struct TableStatistics {
  std::string name;
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;  // with its indexes
};
struct StoreStatistics {
  std::vector<TableStatistics> tables;
  std::uint64_t bytes = 0;       // total; on disk, if the store has one
  std::uint64_t free_bytes = 0;  // of these; compact() can return them to the file system
};

class Store {
 public:
  using Reader = std::function<Result<Done>(Snapshot&)>;

  virtual ~Store() = default;

  // Applies the commit, or returns why it did not. Errors: see the top of this file.
  virtual Task<Result<CommitOutcome>> commit(Commit commit) = 0;

  // False once the store accepts no more commits of this process: the process must end, so that
  // other processes can claim its runs.
  virtual bool accepts_commits() const { return true; }

  // False if the last heartbeat of its sessions is older than two thirds of the lease. Other
  // processes might soon claim their runs, therefore no external call should be started that they
  // would start as well. Always true if sessions live as long as their process.
  virtual bool lease_is_fresh() const { return true; }

  // Returns the clock of the database server if it might be another machine: all processes use it
  // to decide which runs are due. Null: all processes are on one machine and use its clock. The
  // clock lives as long as the store.
  virtual Clock* clock() { return nullptr; }

  // True: calls that wait for an unavailable server fail within seconds, with the error of their
  // usual timeout, because the process is about to end.
  virtual void set_shutting_down(bool is_so);

  // Calls `reader` with a snapshot, possibly on another thread, and returns its result. Calls it
  // again with another snapshot if the connection to a server is lost before it returns, or once if
  // it finds damage (`corrupt`) on SQLite. The reader must own the data that it uses: the waiting
  // coroutine might be destroyed while it runs.
  virtual Task<Result<Done>> read(Reader reader) = 0;

  // Returns candidates: due runs, queued or paused, of queues that are not paused, by priority,
  // then by due time; from several tenants in turn, by their weights. Inputs and options are left
  // empty. A candidate is not owned: only a commit claims it. A store may skip candidates of
  // another live session for `visibility_timeout`; this implementation, which uses read(), does
  // not.
  virtual Task<Result<std::vector<RunRow>>> poll_runs(PollFilter filter);

  // Returns a number that changes after each commit of any process. If it is unchanged since before
  // a read, the same read returns the same rows. Takes microseconds. nullopt: unknown; read again.
  virtual std::optional<std::uint64_t> change_token() { return std::nullopt; }

  // A session owns runs until close_session(), or until its process ends, however it ends.
  virtual Result<SessionId> open_session() = 0;
  virtual void close_session(const SessionId& session) = 0;
  // True if the session, of this or another process, is alive. False for the null session.
  virtual Result<bool> is_alive(const SessionId& session) = 0;

  virtual Result<StoreStatistics> statistics();  // counts all rows and blocks meanwhile
  // Returns the space of deleted rows to the file system. Blocks, and blocks other writers.
  virtual Result<Done> compact();
};

// Reads with a function that returns a value.
template <typename T>
Task<Result<T>> read(Store& store, std::function<Result<T>(Snapshot&)> reader) {
  auto found = std::make_shared<std::optional<T>>();
  Store::Reader erased = [found, reader = std::move(reader)](Snapshot& view) -> Result<Done> {
    BELAY_TRY(*found, reader(view));
    return Done{};
  };
  auto worked = co_await store.read(std::move(erased));
  if (!worked.ok()) co_return std::move(worked).error();
  co_return std::move(**found);
}

// The stores that come with Belay. `clock` decides the expiry of approvals. It, and `random`, must
// outlive the store.
std::unique_ptr<Store> open_memory_store(Clock& clock, Random& random);
// Opens, creates or migrates the SQLite file at `path`. `invalid` if the path cannot be a store;
// `unavailable` if it could not be opened (read-only, full disk); `corrupt` if the file is damaged
// or was written by a newer Belay: it is not changed.
Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path, Clock& clock,
                                                 Random& random);
// `url`: a libpq URL with Belay's own options (docs/postgresql.md). `unavailable` if the server
// could not be used; the message names what to change. Approvals expire by the server's clock.
Result<std::unique_ptr<Store>> open_postgres_store(const std::string& url, Clock& clock,
                                                   Random& random);
// Opens the work notifications of a PostgreSQL store (LISTEN and NOTIFY), with its own connection:
// to `notify_url`, or to the store's `url` if that is empty. The connection must not go through a
// pooler that switches connections between transactions: workers would then find runs only at their
// next poll, as without notifications.
Result<std::unique_ptr<WorkNotifier>> open_postgres_wake_up(const std::string& url,
                                                            const std::string& notify_url = "");
// Opens the store that is named "memory:", "sqlite:PATH" or
// "postgresql://USER:PASSWORD@HOST:PORT/DATABASE".
Result<std::unique_ptr<Store>> open_store(const std::string& name, Clock& clock, Random& random);

}  // namespace belay
