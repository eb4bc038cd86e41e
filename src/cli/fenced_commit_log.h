#pragma once
// cli/fenced_commit_log.h - for tests only: writes the runs of fenced commits to standard error.

#include <unistd.h>

#include <cerrno>
#include <string>

#include "store/forwarding_store.h"

namespace belay::cli {

// Writes to stderr directly: Output belongs to one thread, and might be quiet.
inline void write_test_marker(const std::string& line) {
  while (::write(STDERR_FILENO, line.data(), line.size()) < 0 && errno == EINTR) {
  }
}

class FencedCommitLog final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    RunId run;
    if (commit.run_guard) run = commit.run_guard->pending_for;
    if (commit.rows.run) run = commit.rows.run->run;
    auto outcome = co_await inner().commit(std::move(commit));
    bool is_fenced = outcome.ok() && *outcome == CommitOutcome::fenced;
    if (is_fenced) write_test_marker("belay-test: fenced " + run.text() + "\n");
    co_return std::move(outcome);
  }
};

}  // namespace belay::cli
