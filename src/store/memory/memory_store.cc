// A store in memory, for tests and for runs that need not survive their process.
//
// One mutex excludes all commits and reads from each other, so that a commit is atomic.

#include <algorithm>
#include <atomic>
#include <mutex>

#include "belay/store.h"
#include "store/commit_check.h"
#include "store/memory/memory_snapshot.h"
#include "store/memory/open_sessions.h"
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
    store::MemorySnapshot snapshot(tables_, &sessions_);
    co_return reader(snapshot);
  }

  std::optional<std::uint64_t> change_token() override {
    std::lock_guard lock(mutex_);
    return version_;
  }

  Result<SessionId> open_session() override {
    SessionId session(random_uuid(random_));
    sessions_.open(session, clock_.now());
    return session;
  }

  void close_session(const SessionId& session) override { sessions_.close(session); }

  Result<bool> is_alive(const SessionId& session) override { return sessions_.is_open(session); }

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
  std::uint64_t version_ = 0;  // protected by mutex_: number of commits, for change_token()

  store::OpenSessions sessions_;  // has its own mutex, so that a reader can call is_alive()
};

}  // namespace

std::unique_ptr<Store> open_memory_store(Clock& clock, Random& random) {
  return std::make_unique<MemoryStore>(clock, random);
}

}  // namespace belay
