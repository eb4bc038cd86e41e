#pragma once
// tests/support/tampered_store.h - a store whose rows a test has changed, to test the rules.

#include <set>
#include <string>
#include <vector>

#include "belay/check.h"
#include "belay/store.h"
#include "check/contents.h"

namespace belay::check {

// All rows of one tenant, with functions that change one thing and keep the rest consistent.
struct StoredRows {
  std::vector<ThreadRow> threads;
  std::vector<RunContents> runs;
  std::vector<StoredRecord> records;
  std::vector<ApprovalRow> strays;  // without a run, like the next two
  std::vector<EffectRow> stray_effects;
  std::vector<OutboxRow> stray_messages;
  std::set<RunId> missing_by_status;  // runs that queries by status omit

  // Returns the thread's run. REQUIRES: it exists.
  RunContents& run(const std::string& thread);
};

// Reads the rows of the scope, with the records of the user "local".
Result<StoredRows> rows_in(Snapshot& view, const CheckScope& scope);

// Recomputes the chain hashes, as if the current rows had been committed.
void chain_again(RunContents& run);

// Removes the newest commit with all of its rows, like a disk that has lost it.
void lose_newest_commit(RunContents& run);

// Sets the value of a channel at a commit, whether or not the commit wrote it.
void write_value(SpaceContents& run, std::uint64_t seq, const std::string& channel,
                 const std::string& json);

// Read-only: rejects commits.
class TamperedStore final : public Store {
 public:
  explicit TamperedStore(StoredRows rows) : rows_(std::move(rows)) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override;
  Task<Result<Done>> read(Reader reader) override;
  Result<SessionId> open_session() override { return SessionId(); }
  void close_session(const SessionId&) override {}
  Result<bool> is_alive(const SessionId&) override { return false; }

 private:
  StoredRows rows_;
};

}  // namespace belay::check
