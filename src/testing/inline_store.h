#pragma once
// testing/inline_store.h - a store with threads of its own, used from a simulated loop.

#include <memory>

#include "belay/store.h"

namespace belay::testing {

// Waits for each call where it is made, so that simulated time stands still until it is answered.
class InlineStore final : public Store {
 public:
  explicit InlineStore(std::unique_ptr<Store> inner)
      : inner_(std::move(inner)), loop_(make_event_loop()) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    co_return block_on(*loop_, inner_->commit(std::move(commit)));
  }
  bool takes_commits() const override { return inner_->takes_commits(); }
  Task<Result<Done>> read(Reader reader) override {
    co_return block_on(*loop_, inner_->read(std::move(reader)));
  }
  Result<SessionId> open_session() override { return inner_->open_session(); }
  void close_session(const SessionId& session) override { inner_->close_session(session); }
  Result<bool> is_alive(const SessionId& session) override { return inner_->is_alive(session); }

 private:
  std::unique_ptr<Store> inner_;
  std::unique_ptr<EventLoop> loop_;
};

}  // namespace belay::testing
