#pragma once
// tests/explorer/stored.h - the contents of a store between two commits, as a value
//
// All contents that the search encounters are stored once, under their number, and checked when
// they are first seen.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "belay/graph.h"
#include "belay/store.h"
#include "store/memory/tables.h"

namespace belay::explorer {

// Immutable once it is stored.
struct Stored {
  explicit Stored(store::Tables held) : tables(std::move(held)) {}

  std::size_t number = 0;
  store::Tables tables;
  std::vector<RunRow> runs;  // oldest first
  // The first of them that has not ended, or the last.
  std::optional<RunRow> run;
  std::vector<CheckpointRow> checkpoints;  // by run, oldest first
  std::vector<ApprovalRow> approvals;
  std::size_t sent = 0;              // records that the node `send` saved
  std::vector<std::string> entries;  // of the channel `log`, as stored
  std::vector<int> sessions;         // numbers of the sessions that a commit names
  // Violations of rules in these contents, one sentence each.
  std::vector<std::string> wrong;

  const CheckpointRow* checkpoint(const CheckpointId& id) const;
  // Null if the run does not exist.
  const RunRow* run_of(const RunId& run) const;
  bool has_ended(std::size_t runs_wanted) const;
  bool names(int session) const;
};

class StoredContents {
 public:
  explicit StoredContents(std::shared_ptr<const GraphDefinition> graph);
  ~StoredContents();

  const Stored& empty() const { return contents_.front(); }
  const Stored& at(std::size_t number) const { return contents_[number]; }
  // Returns the stored contents that are equal to `tables`, byte for byte.
  const Stored& keep(store::Tables tables);
  std::size_t size() const { return contents_.size(); }

 private:
  class View;

  std::shared_ptr<const GraphDefinition> graph_;
  std::unique_ptr<View> view_;
  std::deque<Stored> contents_;
  std::map<Digest, std::size_t> by_text_;
};

// Returns the differences between the effect of a commit and its specification. `before` and
// `after` are the same if nothing was written; `now` is the time of the store.
std::vector<std::string> judge_commit(const Stored& before, const Stored& after,
                                      const Commit& commit, const Result<CommitOutcome>& outcome,
                                      Instant now);

}  // namespace belay::explorer
