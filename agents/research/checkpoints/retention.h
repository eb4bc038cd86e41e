#pragma once
// agents/research/checkpoints/retention.h - CheckpointRetention: how long checkpoints are kept.
//
// After the success of an analysis its checkpoints are deleted, or moved to the archive. After a
// failure they are kept for CheckpointOptions::kept. A sweep removes those that are due: all agents
// of the analysis saved their last checkpoint, or failed, that long ago; an analysis that was
// abandoned is swept likewise. Checkpoints of a preserved analysis are never removed.
//
// Any number of processes can sweep the same rows: each removal requires that the head of the agent
// is as it was read, and that the analysis is not preserved. Of several processes one removes it; a
// save that is committed meanwhile wins. A removal that is stopped is continued by the next sweep:
// the newest checkpoint of an agent is removed last, in the commit that removes its head.
//
// In a node, the rows are removed by the node's commit (checkpoint_rows.h): a call executes one
// step, and must be repeated by another node, or another execution, while is_unfinished is set.
//
// Threading: the executor's thread.

#include <cstdint>
#include <string>

#include "agents/research/checkpoints/checkpoint_cache.h"
#include "agents/research/checkpoints/checkpoint_options.h"
#include "agents/research/checkpoints/checkpoint_rows.h"

namespace belay::research {

struct Removal {
  std::uint64_t checkpoints = 0;  // removed, those in the archive included
  std::uint64_t archived = 0;
  std::uint64_t agents = 0;     // without a checkpoint now
  std::uint64_t conflicts = 0;  // agents that another process has changed meanwhile: not removed
  bool is_preserved = false;    // therefore nothing was removed
  bool is_unfinished = false;   // in a node: call again after its commit
};

struct SweepPage {
  std::uint64_t heads = 0;      // read
  std::uint64_t analyses = 0;   // whose checkpoints were removed, at least partly
  std::uint64_t preserved = 0;  // analyses that are due and preserved
  std::uint64_t active = 0;     // analyses with another agent that is not due yet
  Removal removed{};
  std::string next{};  // of the next page; empty: this is the last one
};

class CheckpointRetention {
 public:
  // `rows` and `cache` must outlive the object. `cache`: null for none.
  explicit CheckpointRetention(CheckpointRows& rows, CheckpointCache* cache = nullptr,
                               CheckpointOptions options = {})
      : rows_(rows), cache_(cache), options_(options) {}

  // Removes all checkpoints of the analysis, unless it is preserved.
  Task<Result<Removal>> succeeded(std::string analysis_id, Instant now);
  // Keeps all checkpoints of the analysis for CheckpointOptions::kept from now on. Returns the
  // number of its agents that have checkpoints.
  Task<Result<std::size_t>> failed(std::string analysis_id, Instant now);

  // Keeps all checkpoints of the analysis, also later ones, until end_preservation(). Returns the
  // number of its agents that have checkpoints now: these are kept.
  Task<Result<std::size_t>> preserve(std::string analysis_id, Instant now);
  // The next sweep removes checkpoints that are due. Not in a node.
  Task<Result<Done>> end_preservation(std::string analysis_id);

  // Removes what is due of one page: CheckpointOptions::heads_per_page heads after `after`, the
  // `next` of the page before.
  Task<Result<SweepPage>> sweep_page(std::string after, Instant now);
  // Sweeps all pages; returns their sums. Not in a node.
  Task<Result<SweepPage>> sweep(Instant now);

 private:
  // A removal of an analysis: `archive` moves the checkpoints.
  struct Order {
    std::string analysis_id{};
    bool archive = false;
    Instant now{};
  };
  Task<Result<Removal>> remove_all(Order order);
  Task<Result<Removal>> remove_step(Order order);
  Task<Result<Done>> remove_agent(Order order, Versioned<CheckpointHead> head, Removal& removal);
  Task<Result<Done>> sweep_analysis(std::string analysis_id, Instant now, SweepPage& page);

  CheckpointRows& rows_;
  CheckpointCache* const cache_;
  const CheckpointOptions options_;
};

}  // namespace belay::research
