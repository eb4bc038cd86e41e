#pragma once
// agents/research/analysis/checkpoint_sweep.h - the graph that removes the checkpoints that are due
// (checkpoints/retention.h), of the user of its run.

#include <cstdint>
#include <memory>
#include <string>

#include "agents/research/analysis/research_parts.h"
#include "belay/graph.h"

namespace belay::research {

inline constexpr const char* kSweepGraph = "research_checkpoint_sweep";

struct CheckpointSweep {
  std::string after{};  // the next page; empty: the first one
  std::int64_t pages = 0;
  std::int64_t analyses = 0;     // whose checkpoints were removed, at least partly
  std::int64_t checkpoints = 0;  // removed
  std::int64_t preserved = 0;    // analyses that are due and preserved
  bool isEnded = false;
};

// Each page is a commit. Outcome: "swept".
Result<Graph<CheckpointSweep>> checkpoint_sweep_graph(std::shared_ptr<const ResearchParts> parts);

}  // namespace belay::research
