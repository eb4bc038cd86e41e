#pragma once
// testing/inline_store.h - adapts a store that has its own threads to a simulated loop.

#include <memory>

#include "store/forwarding_store.h"

namespace belay::testing {

// Blocks the simulated loop during each call, so that simulated time does not advance before the
// result.
class InlineStore final : public ForwardingStore {
 public:
  explicit InlineStore(std::unique_ptr<Store> inner)
      : ForwardingStore(*inner), owned_(std::move(inner)), loop_(make_event_loop()) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    co_return block_on(*loop_, inner().commit(std::move(commit)));
  }
  Task<Result<Done>> read(Reader reader) override {
    co_return block_on(*loop_, inner().read(std::move(reader)));
  }
  Task<Result<std::vector<RunRow>>> poll_runs(PollFilter filter) override {
    co_return block_on(*loop_, inner().poll_runs(std::move(filter)));
  }

 private:
  std::unique_ptr<Store> owned_;
  std::unique_ptr<EventLoop> loop_;
};

}  // namespace belay::testing
