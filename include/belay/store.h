#pragma once
// belay/store.h - where runs are kept: one guarded, atomic write, and reads of a consistent view.
//
// Everything that one step changes - run, checkpoint, changed channel values, events, approvals,
// records - travels in one Commit and lands as a whole or not at all. There is no other write.
// Implement Store to add a backend; it is finished when tests/conformance/store_suite.h is green.
//
// Threading: any method, from any thread, at the same time as any other.
//
// Durability: when commit() answers `applied`, the rows survive a crash of the process and of the
// machine. `unavailable` means that nothing was written; `uncertain` that it may have been: send
// the very same Commit again, its id makes that safe. Never conclude from absence.

#include <functional>

#include "belay/hints.h"
#include "belay/store_filters.h"
#include "belay/task.h"

namespace belay {

// "epoch = mine AND seq = last". For a run's first commit both are 0 and the run must not exist.
struct RunGuard {
  std::uint64_t epoch = 0;
  std::uint64_t seq = 0;
  // Not null: a pending write. The run stays where it is, and the rows may be values beyond its
  // state_seq, tasks, effects, approvals that are opened, and checkpoints of a subgraph's space.
  // Sending one again writes the same again.
  RunId pending_for = {};
};

// The approval must be open, for exactly this payload, and by the store's clock...
struct ApprovalGuard {
  enum class Expiry { ahead, passed };
  InterruptId interrupt;
  Digest payload_hash{};
  Expiry expiry = Expiry::ahead;
  // Only while its run is `running` or `queued`: the decision is written alone, without a seq, and
  // the run's owner makes use of it. Otherwise `fenced`.
  bool run_is_active = false;
};

// The message must be in this status, with this many attempts begun.
struct OutboxGuard {
  RunId run;
  std::uint64_t seq = 0;
  std::int64_t index = 0;
  std::int64_t attempts = 0;
  OutboxStatus status = OutboxStatus::waiting;
};

// Forgets commits of a run, as retention does: all of a run that has ended, with everything that
// names it (a thread without runs goes too), or those before `before_seq`, of which only what later
// ones need stays. The first checkpoint left is the chain's anchor: its hash can't be recomputed.
struct PruneRun {
  RunId run;
  std::optional<std::uint64_t> before_seq = std::nullopt;  // unset: the whole run
};

// Replaces stored bytes, unless they have changed, by others that say the same: re-encryption.
struct Rewrite {
  std::uint64_t position = 0;
  Digest before{};  // store::digest_of() the replaced value: SHA-256 of an envelope's bytes
  std::string envelope;
  std::vector<std::string> texts = {};  // of a part of a row: replace the texts in its columns
};

// The rows of one commit. `run` is the row as it is after the commit.
struct CommitRows {
  std::optional<ThreadRow> thread;  // set when the thread is new: it must not exist
  std::optional<RunRow> run;
  std::optional<CheckpointRow> checkpoint;
  std::vector<CheckpointRow> earlier;  // with Commit::imports: those before it, oldest first
  std::vector<ValueRow> values;
  std::vector<EventRow> events;
  std::vector<ApprovalRow> opened;     // approvals that this commit asks for
  std::optional<ApprovalRow> decided;  // the guarded approval with its decision
  // The run ends: all of its open approvals become `closed`, and all of its `intended` effects
  // become `uncertain`, including those of the same commit. Requires an ended `run`.
  bool ends_run = false;
  std::vector<RecordPut> records;
  std::vector<TaskRow> tasks;
  // Outside a guarded commit only the outcomes of effects that were `intended`.
  std::vector<EffectRow> effects;
  std::vector<OutboxRow> outbox;
  std::vector<BlobRow> blobs;                    // those that are there already stay as they are
  std::vector<CheckpointRow> inner_checkpoints;  // of subgraphs' spaces
  // Without a guard: the thread's preserve flag becomes this.
  std::optional<std::pair<ThreadId, bool>> preserve;
  // Without a guard: what retention forgets. A run that goes on, or is preserved, is left alone.
  std::vector<PruneRun> prune;
  std::vector<Rewrite> rewrites;      // without a guard
  std::vector<BlobUse> delete_blobs;  // without a guard; not those put again since
  std::vector<QueueRow> queues;       // without a guard: those of these names become so
};

struct Commit {
  TenantId tenant;
  // Absent for a commit that belongs to no run (an import of records): nothing can fence it.
  std::optional<RunGuard> run_guard;
  std::optional<ApprovalGuard> approval_guard;
  // Approvals that the commit takes for open: if one is not, nothing is written (approval_closed).
  std::vector<InterruptId> require_open;
  // Where the rows make a run `running` that was not: nothing is written (no_place) unless fewer
  // other runs of each group are. Counted within the transaction, so exact over all processes.
  std::vector<ConcurrencyGuard> concurrency;
  std::optional<OutboxGuard>
      message_guard;  // for a commit without a guard that changes one message
  // A run comes from another store at once: guarded like a first commit, `run` and `checkpoint` are
  // its newest, and rows may be of any of its seqs.
  bool imports = false;
  CommitRows rows;
  // With an ApprovalGuard that wants the expiry ahead: what to write instead when it has passed.
  std::optional<CommitRows> if_expired;
};

enum class CommitOutcome {
  applied,          // durable now; also when this very commit had been applied before
  expired,          // if_expired is durable now, in place of the rows
  fenced,           // the run moved on without us: nothing was written, stop quietly
  approval_closed,  // the approval is decided, or shows another payload, or its expiry is not as
                    // the guard wants: nothing was written
  exists,           // the thread or run to be created exists: nothing was written
  limit_reached,    // as many runs of a group as may be are running: nothing was written
};

// A consistent view of the store, for the duration of one read. One method a table.
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
  // Those of `ids` that are there.
  virtual Result<std::vector<BlobRow>> blobs(const TenantId& tenant,
                                             const std::vector<Digest>& ids) = 0;
  // All of them by id, a page of limits::page_rows_max after that id.
  virtual Result<std::vector<BlobUse>> blob_uses(const TenantId& tenant, const Digest& after) = 0;
  virtual Result<std::vector<StoredEnvelope>> envelopes(const EnvelopeFilter& filter) = 0;
  virtual Result<std::vector<TenantId>> tenants() = 0;  // that have ever written, by name
  // Those that have a row, by name; a queue needs none.
  virtual Result<std::vector<QueueRow>> queues(const TenantId& tenant) = 0;
  // Returns, ordered by name, the queues that have a row or a run that has not ended. Reads all
  // such runs; with `user`, only the runs of this user.
  virtual Result<std::vector<QueueCount>> queue_counts(const TenantId& tenant, Instant now,
                                                       const std::optional<UserId>& user) = 0;
  // How many runs are `running`, by user, concurrency key or queue.
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
  std::uint64_t bytes = 0;       // of everything, on disk where there is one
  std::uint64_t free_bytes = 0;  // of these, what compact() could give back
};

class Store {
 public:
  using Reader = std::function<Result<Done>(Snapshot&)>;

  virtual ~Store() = default;

  // Applies the commit, or says why not. See the top for what an Error means.
  virtual Task<Result<CommitOutcome>> commit(Commit commit) = 0;

  // False once it takes no commits any more: its process must end, for others to have its runs.
  virtual bool accepts_commits() const { return true; }

  // False while its sessions have not been renewed for two thirds of their lease, or longer: others
  // may soon take its runs over, so nothing should be begun outside that they would begin as well.
  // Sessions that live as long as their process are never in doubt.
  virtual bool lease_is_fresh() const { return true; }

  // Returns the clock of the database server if it might be another machine: all processes use it
  // to decide which runs are due. Null: all processes are on one machine and use its clock. The
  // clock lives as long as the store.
  virtual Clock* clock() { return nullptr; }

  // While it is so, whoever waits for a server that is away is answered within seconds, as at the
  // end of the store's patience: the process is about to end.
  virtual void set_shutting_down(bool is_so);

  // Calls `reader` with a consistent view, perhaps on another thread, and returns its result. Calls
  // it again with another view if the connection to a server is lost before its end, or once if it
  // finds damage (`corrupt`) on SQLite. The reader must own the data that it uses: the waiting task
  // might be destroyed while it runs.
  virtual Task<Result<Done>> read(Reader reader) = 0;

  // Offers runs that can go on now: queued or paused ones that are due, of queues that are not
  // paused, by priority, then the earliest; between tenants in a round, by their weights. Their
  // inputs and options are left empty. An offer is no ownership: only a commit takes a run. A store
  // may pass over what another living session was offered less than `visibility_timeout` ago; this
  // implementation, made of read(), does not.
  virtual Task<Result<std::vector<RunRow>>> poll_runs(PollFilter filter);

  // Another number once anybody, of any process, has committed since it was asked: while it is the
  // one from before a read, that would find the same. Microseconds. nullopt: not known, read.
  virtual std::optional<std::uint64_t> change_token() { return std::nullopt; }

  // A session owns runs until close_session(), or until its process has ended in whatever way.
  virtual Result<SessionId> open_session() = 0;
  virtual void close_session(const SessionId& session) = 0;
  // Whether that session, of this process or another, still lives. False for the null session.
  virtual Result<bool> is_alive(const SessionId& session) = 0;

  virtual Result<StoreStatistics> statistics();  // counts everything; blocks as long as it takes
  virtual Result<Done> compact();  // gives back what was deleted; blocks, other writers too
};

// Reads with a function that returns what it found.
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

// The stores that come with Belay. `clock` judges approvals' expiry and outlives the store.
std::unique_ptr<Store> open_memory_store(Clock& clock, Random& random);
// Opens, creates or migrates the SQLite file at `path`. `invalid` for a path that can't be a store;
// `unavailable` for one that can't be opened now (read-only, full disk); `corrupt` for a file that
// is damaged, or was written by a newer Belay: the file is left as it was.
Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path, Clock& clock,
                                                 Random& random);
// `url` as libpq has it, with options of ours (docs/postgresql.md). `unavailable` for a server that
// can't be used now, or not at all: the message names what to change. Approvals expire by its
// clock.
Result<std::unique_ptr<Store>> open_postgres_store(const std::string& url, Clock& clock,
                                                   Random& random);
// What wakes the workers on a PostgreSQL store, over a connection of its own: to `notify_url`, else
// to `url`, the store's. A pooler that gives every transaction another connection must not be in
// between; where it is, workers find what there is to do at their next look, as without.
Result<std::unique_ptr<WorkNotifier>> open_postgres_wake_up(const std::string& url,
                                                            const std::string& notify_url = "");
// By name: "memory:", "sqlite:PATH" or "postgresql://USER:PASSWORD@HOST:PORT/DATABASE".
Result<std::unique_ptr<Store>> open_store(const std::string& name, Clock& clock, Random& random);

}  // namespace belay
