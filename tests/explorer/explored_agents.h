#pragma once
// tests/explorer/explored_agents.h - the agents that are explored
//
// Each has three nodes and an approval, in sequence or with one node parallel to the approval.

#include <string>
#include <vector>

#include "belay/graph.h"
#include "belay/record.h"

namespace belay::explorer {

struct Letter {
  std::string text{};
  std::vector<std::string> log{};  // the nodes that were executed
  bool approved = false;
};

// The record that the node `send` saves.
struct Sent {
  static constexpr std::string_view collection = "notes";
  std::string text{};
  std::string key() const { return "sent"; }
  static auto indexed() { return std::tuple{&Sent::text}; }
};

// Suspends a node until the search lets it end.
using NodeWait = std::function<Task<Done>(const std::string& node)>;

// The nodes draft, check, review (the approval) and send, in sequence.
Graph<Letter> one_after_another();
// The node draft, then check and review in one superstep, then send. `check` waits in `wait`, which
// must outlive the graph.
Graph<Letter> side_by_side(const NodeWait& wait);

// One node, for two runs of one thread.
Graph<Letter> turn_by_turn();

}  // namespace belay::explorer
