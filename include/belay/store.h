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

#include "belay/rows.h"
#include "belay/task.h"

namespace belay {

struct ThreadFilter {
  TenantId tenant;
  std::optional<ThreadId> thread = std::nullopt;
  std::optional<ThreadId> before = std::nullopt;  // only those created before it: the next page
  std::size_t limit = 100;                        // newest first
};

struct RunFilter {
  TenantId tenant;
  std::optional<RunId> run = std::nullopt;
  std::optional<ThreadId> thread = std::nullopt;
  std::vector<RunStatus> statuses = {};  // empty: any
  // Only queued and paused runs whose due_at is set and not after this, the earliest first.
  std::optional<Instant> due_by = std::nullopt;
  std::optional<Instant> updated_before = std::nullopt;
  std::optional<RunId> before = std::nullopt;  // only those begun before this run: the next page
  std::size_t limit = 100;                     // newest first
};

struct CheckpointFilter {
  TenantId tenant;
  RunId run;
  std::string space = {};
  std::optional<std::uint64_t> seq = std::nullopt;         // only this one
  std::optional<std::uint64_t> before_seq = std::nullopt;  // older than this
  std::size_t limit = 100;                                 // newest first
};

struct ValueFilter {
  TenantId tenant;
  RunId run;
  std::uint64_t at_seq = 0;  // as of this state_seq
  // False: of each channel the newest `set` and what follows it, by (space, channel, seq, index).
  // True: all that were ever written, by (seq, space, channel, index).
  bool every_version = false;
  std::uint64_t after_seq = 0;                      // with every_version: only newer ones
  std::optional<std::string> space = std::nullopt;  // only this space
};

struct TaskFilter {
  TenantId tenant;
  RunId run;
  std::string space = {};
  std::optional<std::int64_t> superstep = std::nullopt;  // unset: all; by superstep, position
};

struct EffectFilter {
  TenantId tenant;
  std::optional<RunId> run = std::nullopt;
  std::optional<TaskId> task = std::nullopt;
  std::vector<EffectStatus> statuses = {};  // empty: any
  std::size_t limit = 1000;                 // in the order in which they were begun
};

struct OutboxFilter {
  TenantId tenant;
  std::optional<RunId> run = std::nullopt;
  std::optional<Instant> due_by = std::nullopt;  // only waiting ones, due by then
  std::size_t limit = 1000;                      // oldest first
};

struct EventFilter {
  TenantId tenant;
  RunId run;
  std::uint64_t after_seq = 0;  // only events after (after_seq, after_index), in order
  std::int64_t after_index = -1;
  std::size_t limit = 1000;
};

struct ApprovalFilter {
  TenantId tenant;
  std::optional<InterruptId> interrupt = std::nullopt;
  std::optional<RunId> run = std::nullopt;
  bool only_open = false;
  std::optional<Instant> expired_at = std::nullopt;  // only those whose expiry is not after this
  std::size_t limit = 100;                           // newest first
};

struct RecordQuery {
  TenantId tenant;
  std::string collection;
  UserId user;
  std::string key = {};    // not empty: only this one
  std::string field = {};  // not empty: only those whose indexed field has this value
  std::string value = {};
  std::string after = {};  // not empty: only keys after this one
  std::size_t limit = 1000;
};

struct EnvelopeFilter {
  TenantId tenant;
  std::string other_than = {};  // only envelopes of another type than this
  std::uint64_t after = 0;      // only places after this one
  std::size_t limit = 1000;
  bool every_kind = false;  // not only envelopes: see StoredEnvelope
};

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
  bool run_is_held = false;
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
  std::uint64_t place = 0;
  Digest before{};  // SHA-256 of the bytes to be replaced
  std::string envelope;
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
  bool close_approvals = false;        // all open approvals of the run become `closed`
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
  std::vector<BlobUse> forget_blobs;  // without a guard; not those put again since
};

struct Commit {
  TenantId tenant;
  // Absent for a commit that belongs to no run (an import of records): nothing can fence it.
  std::optional<RunGuard> guard;
  std::optional<ApprovalGuard> approval;
  // Approvals that the commit takes for open: if one is not, nothing is written (approval_closed).
  std::vector<InterruptId> still_open;
  std::optional<OutboxGuard> message;  // for a commit without a guard that changes one message
  // A run comes from another store at once: guarded like a first commit, `run` and `checkpoint` are
  // its newest, and rows may be of any of its seqs.
  bool imports = false;
  CommitRows rows;
  // With an ApprovalGuard that wants the expiry ahead: what to write instead when it has passed.
  std::optional<CommitRows> when_expired;
};

enum class CommitOutcome {
  applied,          // durable now; also when this very commit had been applied before
  expired,          // when_expired is durable now, in place of the rows
  fenced,           // the run moved on without us: nothing was written, stop quietly
  approval_closed,  // the approval is decided, or shows another payload, or its expiry is not as
                    // the guard wants: nothing was written
  exists,           // the thread or run to be created exists: nothing was written
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
  virtual bool takes_commits() const { return true; }

  // Calls `reader` once with a consistent view, perhaps on another thread; what it returns is the
  // answer. It must own what it uses: the waiting task may be gone while it runs.
  virtual Task<Result<Done>> read(Reader reader) = 0;

  // Another number once anybody, of any process, has committed since it was asked: while it is the
  // one from before a read, that would find the same. Microseconds. nullopt: not known, read.
  virtual std::optional<std::uint64_t> version() { return std::nullopt; }

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
// By name: "memory:" or "sqlite:PATH".
Result<std::unique_ptr<Store>> open_store(const std::string& name, Clock& clock, Random& random);

}  // namespace belay
