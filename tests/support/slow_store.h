#pragma once
// tests/support/slow_store.h - a store with slow calls and with reads that fail as `corrupt`, for
// tests.

#include <chrono>
#include <optional>

#include "belay/task.h"
#include "store/forwarding_store.h"

namespace belay {

class SlowStore final : public ForwardingStore {
 public:
  explicit SlowStore(Store& inner) : ForwardingStore(inner) {}
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    if (commits_take.count() > 0) co_await sleep_for(commits_take);
    co_return co_await inner().commit(std::move(commit));
  }
  Task<Result<Done>> read(Reader reader) override {
    ++reads;
    bool is_damaged = reads >= damaged_read && reads < damaged_read + damaged_reads;
    std::chrono::milliseconds takes = reads == long_read ? long_read_takes : reads_take;
    if (takes.count() > 0) co_await sleep_for(takes);
    if (is_damaged) co_return error(ErrorCode::corrupt, "A bit is not what it was.");
    bool is_stale = reads == stale_read;
    auto done = co_await inner().read(std::move(reader));
    if (is_stale) co_await sleep_for(stale_read_takes);
    co_return std::move(done);
  }

  std::optional<std::uint64_t> change_token() override {
    return knows_its_version ? inner().change_token() : std::nullopt;
  }

  bool knows_its_version = true;
  std::chrono::milliseconds commits_take{0};
  std::chrono::milliseconds reads_take{0};
  int reads = 0;
  int damaged_read = 1;   // number of the first read that fails
  int damaged_reads = 0;  // how many fail from there on
  int long_read = 0;
  std::chrono::milliseconds long_read_takes{10'000};
  int stale_read = 0;  // number of the read whose result is delayed
  std::chrono::milliseconds stale_read_takes{10'000};
};

}  // namespace belay
