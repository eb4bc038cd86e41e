#pragma once
// store/memory/tables.h - the rows of an in-memory store and the rules of its one write.
//
// Threading: none here; the store holds its mutex around every call.

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "belay/store.h"

namespace belay::store {

// Run ids may share their first or their last bytes (by time, by node), so all of them count.
struct UuidHash {
  std::size_t operator()(const Uuid& id) const {
    std::uint64_t words[2];
    std::memcpy(words, id.bytes.data(), sizeof words);
    return static_cast<std::size_t>((words[0] ^ words[1]) * 0x9e3779b97f4a7c15ULL >> 7);
  }
};

// A run and all that its commits wrote, oldest first.
struct RunTable {
  RunRow row;
  std::vector<CheckpointRow> checkpoints;  // the one of seq n at n - 1
  std::vector<ValueRow> values;
  std::vector<EventRow> events;
  std::vector<ApprovalRow*> approvals;
};

struct RecordEntry {
  StoredRecord row;
  std::vector<std::pair<std::string, std::string>> indexed;
};

// Collection, user, key.
using RecordKey = std::tuple<std::string, UserId, std::string>;

// Everything of one tenant. Deques keep their rows where they are, oldest first.
struct TenantTables {
  std::deque<ThreadRow> threads;
  std::deque<RunTable> runs;
  std::deque<ApprovalRow> approvals;
  std::unordered_map<std::string, ThreadRow*> thread_by_id;
  std::unordered_map<Uuid, RunTable*, UuidHash> run_by_id;
  std::unordered_map<Uuid, ApprovalRow*, UuidHash> approval_by_id;
  std::map<RecordKey, RecordEntry> records;
};

class Tables {
 public:
  // Moves out of `commit` what it writes. REQUIRES: check_commit(commit).
  Result<CommitOutcome> apply(Commit& commit, Clock& clock);

  // Null when nothing was ever written for this tenant.
  const TenantTables* tenant(const TenantId& id) const;

 private:
  std::map<TenantId, TenantTables> tenants_;
};

}  // namespace belay::store
