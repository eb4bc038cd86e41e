#pragma once
// tests/conformance/store_suite.h - the conformance suite: requirements for every store
//
// A backend is complete when it passes the suite: add it to the list in stores.cc, or to the list
// of another program. The cases are in the *_cases.cc files of this folder; the name of each case
// states its requirement.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "belay/store.h"
#include "tests/conformance/temporary_folder.h"

namespace belay::conformance {

// A clock that changes only when a test advances it.
class StandingClock final : public Clock {
 public:
  Instant now() override { return Instant(std::chrono::microseconds(microseconds_.load())); }
  void advance(std::chrono::microseconds by) { microseconds_ += by.count(); }

 private:
  std::atomic<std::int64_t> microseconds_{1'763'769'600'000'000};  // 2025-11-22
};

// Returns the same numbers in every test run.
class SeededRandom final : public Random {
 public:
  std::uint64_t bits() override {
    std::uint64_t mixed = state_.fetch_add(0x9e3779b97f4a7c15ULL);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31);
  }

 private:
  std::atomic<std::uint64_t> state_{42};
};

// A channel value that a test writes.
struct Written {
  std::string channel;
  WriteOp kind = WriteOp::set;
  std::int64_t index = 0;
  std::string checkpoint_ns = {};
  std::uint64_t seq = 0;  // 0: the seq of the commit
};

// Creates the commits of one run as its owner would. Each method returns the next commit, on the
// assumption that all earlier ones were applied.
class RunScript {
 public:
  explicit RunScript(const std::string& name, TenantId tenant = default_tenant());

  // Returns the run's first commit, which also creates its thread.
  Commit first();
  // The same for a thread that already exists.
  Commit first_in_thread();
  // Returns the script of the next run of the thread, on the assumption that this one is the
  // newest: first_in_thread() is its first commit. It waits for the end of the earlier runs.
  RunScript later(const std::string& name) const;
  // Returns a node's commit with one value of the channel "text" and one event.
  Commit next();
  // Returns a node's commit with these values and no event.
  Commit next_with(const std::vector<Written>& values);
  // Returns pending writes for the run's current seq, or for `seq`; they do not advance the run.
  Commit pending(const std::vector<Written>& values, std::optional<std::uint64_t> seq = {}) const;
  // Return rows for a pending write or for the next commit.
  ValueRow value(const Written& written, std::uint64_t seq) const;
  TaskRow task(std::int64_t position, TaskStatus status) const;
  EffectRow effect(const std::string& name, EffectStatus status, std::int64_t attempt = 1) const;
  OutboxRow message(std::int64_t index) const;  // of the last commit created
  ApprovalRow question(const std::string& name, Instant expires_at = Instant::max()) const;
  CheckpointRow inner_checkpoint(const std::string& checkpoint_ns, std::uint64_t seq) const;
  // Returns a node's commit that also requests an approval; opened() returns its row.
  Commit ask(Instant expires_at);
  const ApprovalRow& opened() const { return opened_; }
  // Returns the commit of the decision on opened(), guarded by it, with the rows to write if it has
  // expired.
  Commit decide(ApprovalStatus status, const std::string& decided_by = "ana");
  Commit expire();  // as a scheduler does: the expiry must have passed

  // Uses different checkpoint ids from here on, as another process with the same run would.
  void become(const std::string& author) { author_ = author; }

  RunRow row;
  RunId newest;  // of the thread, when a later run starts

 private:
  Commit following(CommitKind kind);

  std::string name_;
  std::string author_ = "first";
  ApprovalRow opened_;
};

InterruptId interrupt_named(const std::string& name);
RecordPut record_put(const std::string& key, const std::string& json,
                     std::vector<std::pair<std::string, std::string>> indexed = {});
Commit import_of(std::vector<RecordPut> records, TenantId tenant = default_tenant());

// A store to test, with the function that opens it. Opening the same folder again opens the same
// store, if the store is persistent.
struct StoreKind {
  std::string name;
  std::function<Result<std::unique_ptr<Store>>(const std::string& folder, Clock&, Random&)> open;
  bool is_sealed = false;  // envelopes() returns other bytes than were written
  bool is_remote = false;  // on a server: its clock ends leases, and it has no change_token()
};
inline void PrintTo(const StoreKind& kind, std::ostream* out) { *out << kind.name; }
// The stores to test; defined by the test program.
const std::vector<StoreKind>& bare_store_kinds();
// Each store of bare_store_kinds(), both unencrypted and encrypted.
const std::vector<StoreKind>& store_kinds();

// Calls a store from one thread and waits for each result.
class Caller {
 public:
  explicit Caller(Store& store) : store_(store), loop_(make_event_loop()) {}

  Result<CommitOutcome> try_commit(Commit commit);
  // Returns the outcome; an Error is a test failure.
  CommitOutcome commit(Commit commit);

  std::vector<ThreadRow> threads(ThreadFilter filter);
  std::vector<RunRow> runs(RunFilter filter);
  std::vector<CheckpointRow> checkpoints(CheckpointFilter filter);
  std::vector<ValueRow> values(ValueFilter filter);
  std::vector<EventRow> events(EventFilter filter);
  std::vector<ApprovalRow> approvals(ApprovalFilter filter);
  std::vector<StoredRecord> records(RecordQuery query);
  std::vector<TaskRow> tasks(TaskFilter filter);
  std::vector<EffectRow> effects(EffectFilter filter);
  std::vector<OutboxRow> outbox(OutboxFilter filter);
  std::vector<BlobRow> blobs(std::vector<Digest> ids, const TenantId& tenant = default_tenant());
  std::vector<BlobUse> blob_uses(const TenantId& tenant = default_tenant());
  std::vector<StoredEnvelope> envelopes(EnvelopeFilter filter);
  std::vector<TenantId> tenants();
  std::vector<QueueRow> queues(const TenantId& tenant);
  using OfUser = std::optional<UserId>;  // unset: all users
  std::vector<QueueCount> queue_counts(const TenantId& tenant, Instant now, OfUser user = {});
  std::vector<ConcurrencyCount> running_counts(const TenantId& tenant, ConcurrencyScope of);
  std::vector<SessionRow> sessions(SessionFilter filter);
  std::vector<RunRow> poll_runs(PollFilter filter);

  // Returns the one row of a run, or a default row if there is none.
  RunRow run(const RunId& id);
  ApprovalRow approval(const InterruptId& id);
  // Returns everything that a reader can see of a tenant as one text: two stores, or one store at
  // two times, have the same contents if their texts are equal.
  std::string all(const TenantId& tenant = default_tenant());
  // The same without the results of envelopes(), which differ between two encryptions of the same
  // value.
  std::string rows(const TenantId& tenant = default_tenant());

  EventLoop& loop() { return *loop_; }

 private:
  void print_run(std::ostream& out, const RunRow& run);
  void print_thread(std::ostream& out, const TenantId& tenant, const ThreadId& thread);
  void print_pages(std::ostream& out, const TenantId& tenant, const RunId& run);
  template <typename T>
  T ask(std::function<Result<T>(Snapshot&)> reader);

  Store& store_;
  std::unique_ptr<EventLoop> loop_;
};

class StoreSuite : public ::testing::TestWithParam<StoreKind> {
 protected:
  StoreSuite();

  TemporaryFolder folder_;
  StandingClock clock_;
  SeededRandom random_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Caller> call_;
};

}  // namespace belay::conformance
