#pragma once
// store/memory/tables.h - the rows of an in-memory store, and the application of a commit to them.
//
// Threading: not thread-safe; the store holds its mutex during every call.

#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "belay/store.h"

namespace belay::store {

// Uses all bytes: run ids can share their first (time) or last (machine) bytes.
struct UuidHash {
  std::size_t operator()(const Uuid& id) const {
    std::uint64_t words[2];
    std::memcpy(words, id.bytes.data(), sizeof words);
    return static_cast<std::size_t>((words[0] ^ words[1]) * 0x9e3779b97f4a7c15ULL >> 7);
  }
};

// Namespace, channel. Texts are ordered by their bytes, as in every store.
using ChannelName = std::pair<std::string, std::string>;
struct ChannelOrder {
  using is_transparent = void;
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return std::pair<std::string_view, std::string_view>(a) <
           std::pair<std::string_view, std::string_view>(b);
  }
};
// A channel's rows in the order of (seq, index).
using Channels = std::map<ChannelName, std::vector<ValueRow>, ChannelOrder>;

struct EffectEntry {
  EffectRow row;
  std::uint64_t number = 0;  // increases with every new effect
};
struct OutboxEntry {
  OutboxRow row;
  std::uint64_t number = 0;  // increases with every new message
};

// A run and all rows of its commits.
struct RunTable {
  RunRow row;
  std::uint64_t number = 0;                // increases with every new run
  std::vector<CheckpointRow> checkpoints;  // of the empty namespace, oldest first, without a gap
  std::map<std::pair<std::string, std::uint64_t>, CheckpointRow> inner_checkpoints;
  Channels channels;
  std::vector<EventRow> events;
  std::vector<ApprovalRow*> approvals;
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, TaskRow> tasks;
  std::map<std::pair<TaskId, std::string>, EffectEntry> effects;
  std::map<std::pair<std::uint64_t, std::int64_t>, OutboxEntry> outbox;

  // Null if there is no checkpoint of that seq, or it was pruned.
  const CheckpointRow* checkpoint(std::uint64_t seq) const {
    if (checkpoints.empty() || seq < checkpoints.front().seq) return nullptr;
    std::uint64_t place = seq - checkpoints.front().seq;
    return place < checkpoints.size() ? &checkpoints[place] : nullptr;
  }
};

// The runs of a thread by number, and the values of its state.
struct ThreadTable {
  std::map<std::uint64_t, RunTable*> runs;
  std::map<std::uint64_t, RunTable*> not_ended;
  Channels channels;

  void add(RunTable& run) {
    runs.emplace(run.number, &run);
    note_status(run);
  }
  void note_status(RunTable& run) {
    if (is_final(run.row.status)) {
      not_ended.erase(run.number);
    } else {
      not_ended.emplace(run.number, &run);
    }
  }
};

struct RecordEntry {
  StoredRecord row;
  std::vector<std::pair<std::string, std::string>> indexed;
};

// Collection, user, key.
using RecordKey = std::tuple<std::string, UserId, std::string>;
// Collection, user, ordered index, value, key.
using OrderKey = std::tuple<std::string, UserId, std::string, std::string, std::string>;

struct StoredBlob {
  std::string envelope;
  std::uint64_t last_put = 0;
};

struct TenantTables {
  TenantTables() = default;
  // A deep copy: its indexes point to its own rows.
  TenantTables(const TenantTables& other);
  TenantTables& operator=(const TenantTables&) = delete;

  std::list<ThreadRow> threads;
  std::list<RunTable> runs;
  std::list<ApprovalRow> approvals;
  std::unordered_map<std::string, std::list<ThreadRow>::iterator> thread_by_id;
  std::unordered_map<std::string, ThreadTable> thread_tables;  // of threads that have runs
  std::unordered_map<Uuid, std::list<RunTable>::iterator, UuidHash> run_by_id;
  std::unordered_map<Uuid, std::list<ApprovalRow>::iterator, UuidHash> approval_by_id;
  std::map<RecordKey, RecordEntry> records;
  std::set<OrderKey> orders;
  std::map<Digest, StoredBlob> blobs;
  std::map<std::string, QueueRow> queues;
  std::uint64_t blob_puts = 0;
  std::uint64_t last_number = 0;  // of a run, an effect or a message

  // Null if the run does not exist.
  RunTable* run(const RunId& id) {
    auto found = run_by_id.find(id);
    return found == run_by_id.end() ? nullptr : &*found->second;
  }
  const RunTable* run(const RunId& id) const {
    auto found = run_by_id.find(id);
    return found == run_by_id.end() ? nullptr : &*found->second;
  }
  // Null if the thread has no runs.
  const ThreadTable* thread(const ThreadId& id) const {
    auto found = thread_tables.find(id.text);
    return found == thread_tables.end() ? nullptr : &found->second;
  }
};

// Returns the next runs that have not ended, oldest first: see RunFilter::in_pages.
std::vector<const RunTable*> page_of_unfinished(const TenantTables& tables,
                                                const RunFilter& filter);

// Returns the range of a channel's rows as of `at_seq`: the newest `set` and the rows after it.
std::pair<std::size_t, std::size_t> rows_that_count(const std::vector<ValueRow>& rows,
                                                    std::uint64_t at_seq);

class Tables {
 public:
  // Evaluates the guards and applies the commit. Moves the written rows out of `commit`.
  // REQUIRES: check_commit(commit).
  Result<CommitOutcome> apply(Commit& commit, Clock& clock);

  // Null if nothing was ever written for this tenant.
  const TenantTables* tenant(const TenantId& id) const;
  std::vector<TenantId> tenants() const;

  // Counts only the bytes of envelopes.
  StoreStatistics statistics();

 private:
  std::map<TenantId, TenantTables> tenants_;
};

}  // namespace belay::store
