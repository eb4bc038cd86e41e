#pragma once
// driver/halting_store.h - a store whose process dies at one of its commits, for the driver's
// tests.

#include "belay/store.h"

namespace belay {

// Counts the commits of a store, and can stop answering after one of them, as if the process died:
// before the commit reaches the store, or after it.
class HaltingStore final : public Store {
 public:
  explicit HaltingStore(Store& inner) : inner_(inner) {}
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    ++commits;
    if (commit.guard && !commit.guard->pending_for.is_null()) ++pending;
    if (takes.count() > 0) co_await sleep_for(takes);
    bool halts = halt_at > 0 && commits >= halt_at;
    if (halts && !lands) co_return co_await never_;
    auto outcome = co_await inner_.commit(std::move(commit));
    if (halts) co_return co_await never_;
    co_return std::move(outcome);
  }
  Task<Result<Done>> read(Reader reader) override { return inner_.read(std::move(reader)); }
  Result<SessionId> open_session() override { return inner_.open_session(); }
  void close_session(const SessionId& session) override { inner_.close_session(session); }
  Result<bool> is_alive(const SessionId& session) override { return inner_.is_alive(session); }

  int commits = 0;
  int pending = 0;
  int halt_at = 0;
  bool lands = true;
  std::chrono::milliseconds takes{0};

 private:
  Store& inner_;
  Completion<Result<CommitOutcome>> never_;
};

}  // namespace belay
