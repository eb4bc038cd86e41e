#pragma once
// check/tampered_store.h - a store whose rows a test has changed: for checkers that must notice.

#include <set>
#include <string>
#include <vector>

#include "belay/check.h"
#include "belay/store.h"
#include "check/contents.h"

namespace belay::check {

// All rows of one tenant, with ways to change them so that nothing but the change is wrong.
struct StoredRows {
  std::vector<ThreadRow> threads;
  std::vector<RunContents> runs;
  std::vector<StoredRecord> records;
  std::vector<ApprovalRow> strays;  // of no run, as the two after it
  std::vector<EffectRow> stray_effects;
  std::vector<OutboxRow> stray_messages;
  std::set<RunId> missing_by_status;  // found, but not when asked for by status

  // REQUIRES: there is one.
  RunContents& run(const std::string& thread);
};

// What `store` holds of the scope; records of the user "local".
Result<StoredRows> rows_in(Snapshot& view, const CheckScope& scope);

// Computes the chain hashes anew, as if what the run holds now had been committed so.
void chain_again(RunContents& run);

// Takes the newest commit back, with all that it wrote, as a disk does that lost it.
void lose_newest_commit(RunContents& run);

// Sets what a channel has at a commit of the run's own or of another space, whether or not the
// commit wrote it.
void write_value(SpaceContents& run, std::uint64_t seq, const std::string& channel,
                 const std::string& json);

// Reads only: commits are refused.
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
