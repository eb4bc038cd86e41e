#pragma once
// tests/conformance/store_suite.h - what every store must do. A backend is finished when the suite
// is green for it: add it to the list in stores.cc, or to that of a program of its own.
//
// The cases are in the *_cases.cc files beside this one; each is told by its name.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "belay/store.h"
#include "tests/conformance/temporary_folder.h"

namespace belay::conformance {

// A clock that stands still until a test moves it.
class StandingClock final : public Clock {
 public:
  Instant now() override { return Instant(std::chrono::microseconds(microseconds_.load())); }
  void advance(std::chrono::microseconds by) { microseconds_ += by.count(); }

 private:
  std::atomic<std::int64_t> microseconds_{1'763'769'600'000'000};  // 2025-11-22
};

// The same numbers in every test run.
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

// A value that a test has written.
struct Written {
  std::string channel;
  WriteOp kind = WriteOp::set;
  std::int64_t index = 0;
  std::string checkpoint_ns = {};
  std::uint64_t seq = 0;  // 0: the commit's
};

// One run as its owner sees it. Each method makes the next commit, as if all before had applied.
class RunScript {
 public:
  explicit RunScript(const std::string& name, TenantId tenant = default_tenant());

  // The run's first commit; creates its thread.
  Commit first();
  // The same in a thread that exists.
  Commit first_in_thread();
  // A node's commit: one value of the channel "text", one event.
  Commit next();
  // A node's commit with these values and no event.
  Commit next_with(const std::vector<Written>& values);
  // A pending write beside the run as it stands, or at `seq`.
  Commit pending(const std::vector<Written>& values, std::optional<std::uint64_t> seq = {}) const;
  // Rows for a pending write or the next commit.
  ValueRow value(const Written& written, std::uint64_t seq) const;
  TaskRow task(std::int64_t position, TaskStatus status) const;
  EffectRow effect(const std::string& name, EffectStatus status, std::int64_t attempt = 1) const;
  OutboxRow message(std::int64_t index) const;  // of the commit last made
  ApprovalRow question(const std::string& name, Instant expires_at = Instant::max()) const;
  CheckpointRow inner_checkpoint(const std::string& checkpoint_ns, std::uint64_t seq) const;
  // The same, and an approval is asked for; opened() tells which.
  Commit ask(Instant expires_at);
  const ApprovalRow& opened() const { return opened_; }
  // The decision on opened(), guarded by it; and what is written when it has expired.
  Commit decide(ApprovalStatus status, const std::string& decided_by = "ana");
  Commit expire();  // the scheduler's: the expiry must have passed

  // Different checkpoint ids from here on: another process at the same run.
  void become(const std::string& author) { author_ = author; }

  RunRow row;

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

// A store to be tested, and how to open it. Opened again on the same folder it is the same store,
// if it keeps anything.
struct StoreKind {
  std::string name;
  std::function<Result<std::unique_ptr<Store>>(const std::string& folder, Clock&, Random&)> open;
  bool is_sealed = false;  // what envelopes() shows are not the bytes that were handed in
  bool is_remote =
      false;  // a server has it: sessions live by its clock, and version() is not known
};
inline void PrintTo(const StoreKind& kind, std::ostream* out) { *out << kind.name; }
// The test program defines which there are.
const std::vector<StoreKind>& bare_store_kinds();
// Each of them as it is, and behind its encryption.
const std::vector<StoreKind>& store_kinds();

// Calls on a store from one thread, each waited for.
class Caller {
 public:
  explicit Caller(Store& store) : store_(store), loop_(make_event_loop()) {}

  Result<CommitOutcome> try_commit(Commit commit);
  // The outcome, where a test expects no Error.
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
  using OfUser = std::optional<UserId>;  // unset: of all users
  std::vector<QueueCount> queue_counts(const TenantId& tenant, Instant now, OfUser user = {});
  std::vector<ConcurrencyCount> running_counts(const TenantId& tenant, ConcurrencyScope of);
  std::vector<SessionRow> sessions(SessionFilter filter);
  std::vector<RunRow> poll_runs(PollFilter filter);

  // The one row of a run; the default row when there is none.
  RunRow run(const RunId& id);
  ApprovalRow approval(const InterruptId& id);
  // Everything that a reader can see of a tenant, as one text: two stores, or one store before and
  // after, hold the same if these are equal.
  std::string all(const TenantId& tenant = default_tenant());
  // The same without what envelopes() shows, which differs from one encryption to the next.
  std::string rows(const TenantId& tenant = default_tenant());

  EventLoop& loop() { return *loop_; }

 private:
  void print_run(std::ostream& out, const RunRow& run);
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
