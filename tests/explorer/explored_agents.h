#pragma once
// tests/explorer/explored_agents.h - the agents that are explored: three nodes and an approval, one
// after another or with a node beside the approval.

#include <string>
#include <vector>

#include "belay/graph.h"
#include "belay/record.h"

namespace belay::explorer {

struct Letter {
  std::string text{};
  std::vector<std::string> log{};  // who has been there
  bool approved = false;
};

// What sending leaves behind.
struct Sent {
  static constexpr std::string_view collection = "notes";
  std::string text{};
  std::string key() const { return "sent"; }
  static auto indexed() { return std::tuple{&Sent::text}; }
};

// A node that waits for its end until it is told to.
using NodeWait = std::function<Task<Done>(const std::string& node)>;

// draft, check, review (the approval), send.
Graph<Letter> one_after_another();
// draft, then check and review side by side, then send. `check` waits in `wait`, which outlives the
// graph.
Graph<Letter> side_by_side(const NodeWait& wait);

}  // namespace belay::explorer
