// The store that lives as long as its process: for tests, and for runs that need not survive.

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

#include "belay/store.h"
#include "store/commit_check.h"
#include "store/memory/memory_snapshot.h"
#include "store/memory/tables.h"

namespace belay {
namespace {

class MemoryStore final : public Store {
 public:
  MemoryStore(Clock& clock, Random& random) : clock_(clock), random_(random) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    BELAY_CO_CHECK(store::check_commit(commit));
    std::lock_guard lock(mutex_);
    ++version_;
    co_return tables_.apply(commit, clock_);
  }

  Task<Result<Done>> read(Reader reader) override {
    std::lock_guard lock(mutex_);
    store::MemorySnapshot snapshot(tables_);
    co_return reader(snapshot);
  }

  std::optional<std::uint64_t> version() override {
    std::lock_guard lock(mutex_);
    return version_;
  }

  Result<SessionId> open_session() override {
    SessionId session(random_uuid(random_));
    std::lock_guard lock(sessions_mutex_);
    open_sessions_.insert(session);
    return session;
  }

  void close_session(const SessionId& session) override {
    std::lock_guard lock(sessions_mutex_);
    open_sessions_.erase(session);
  }

  Result<bool> is_alive(const SessionId& session) override {
    std::lock_guard lock(sessions_mutex_);
    return open_sessions_.contains(session);
  }

  Result<StoreStatistics> statistics() override {
    std::lock_guard lock(mutex_);
    return tables_.statistics();
  }
  Result<Done> compact() override { return Done{}; }

 private:
  Clock& clock_;
  Random& random_;

  std::mutex mutex_;
  store::Tables tables_;       // protected by mutex_
  std::uint64_t version_ = 0;  // protected by mutex_: how many commits it was given

  std::mutex sessions_mutex_;          // apart, so that a reader may ask is_alive()
  std::set<SessionId> open_sessions_;  // protected by sessions_mutex_
};

}  // namespace

std::unique_ptr<Store> open_memory_store(Clock& clock, Random& random) {
  return std::make_unique<MemoryStore>(clock, random);
}

}  // namespace belay
