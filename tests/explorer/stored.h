#pragma once
// tests/explorer/stored.h - what a store holds between two commits, as a value: every content that
// the search comes upon is kept once, under its number, and judged when it is first seen.

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

// Never changed once it is kept.
struct Stored {
  explicit Stored(store::Tables held) : tables(std::move(held)) {}

  std::size_t number = 0;
  store::Tables tables;
  std::optional<RunRow> run;
  std::vector<CheckpointRow> checkpoints;  // oldest first
  std::vector<ApprovalRow> approvals;
  std::size_t sent = 0;              // records that sending left
  std::vector<std::string> entries;  // of the channel `log`, as they are stored
  std::vector<int> sessions;         // that a commit names, by their numbers
  // What a rule found wrong in it, a sentence each.
  std::vector<std::string> wrong;

  const CheckpointRow* checkpoint(const CheckpointId& id) const;
  bool names(int session) const;
};

class StoredContents {
 public:
  explicit StoredContents(std::shared_ptr<const GraphDefinition> graph);
  ~StoredContents();

  const Stored& empty() const { return contents_.front(); }
  const Stored& at(std::size_t number) const { return contents_[number]; }
  // The one that holds the same, to the byte.
  const Stored& keep(store::Tables tables);
  std::size_t size() const { return contents_.size(); }

 private:
  class View;

  std::shared_ptr<const GraphDefinition> graph_;
  std::unique_ptr<View> view_;
  std::deque<Stored> contents_;
  std::map<Digest, std::size_t> by_text_;
};

// What a commit came to beside what it should have: `before` and `after` are the same where nothing
// was written. `now` is the time of the store.
std::vector<std::string> judge_commit(const Stored& before, const Stored& after,
                                      const Commit& commit, const Result<CommitOutcome>& outcome,
                                      Instant now);

}  // namespace belay::explorer
