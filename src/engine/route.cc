#include "engine/route.h"

#include <algorithm>

namespace belay::engine {
namespace {

bool must_ask(const GraphDefinition::Approval& approval, const RunOptions& options,
              const void* state) {
  return options.require_approval && (!approval.when || approval.when(state));
}

}  // namespace

Result<std::string> chosen_target(const GraphDefinition::Node& node, const void* state) {
  if (!node.choose) return node.targets.front();
  std::variant<std::size_t, std::string> chosen;
  try {
    chosen = node.choose(state);
  } catch (const std::exception& exception) {
    return error(ErrorCode::invalid,
                 "The branch at \"" + node.name + "\" threw: " + exception.what());
  } catch (...) {
    return error(ErrorCode::invalid, "The branch at \"" + node.name + "\" threw.");
  }
  if (const std::size_t* index = std::get_if<std::size_t>(&chosen)) {
    if (*index < node.targets.size()) return node.targets[*index];
    return error(ErrorCode::invalid, "The branch at \"" + node.name + "\" chose way " +
                                         std::to_string(*index) + " of " +
                                         std::to_string(node.targets.size()) + ".");
  }
  const std::string& name = std::get<std::string>(chosen);
  if (std::find(node.targets.begin(), node.targets.end(), name) != node.targets.end()) return name;
  return error(ErrorCode::invalid, "The branch at \"" + node.name + "\" chose \"" + name +
                                       "\", which is not among its targets.");
}

// Approvals that lead to one another in a ring would never end, so at most as many are passed as
// the graph has nodes.
Result<std::string> past_approvals(const GraphDefinition& graph, const RunOptions& options,
                                   const void* state, std::string target) {
  for (std::size_t passed = 0; passed <= graph.nodes.size(); ++passed) {
    const GraphDefinition::Node* node = graph.find(target);
    if (!node || !node->approval) return target;
    try {
      if (must_ask(*node->approval, options, state)) return target;
    } catch (const std::exception& exception) {
      return error(ErrorCode::invalid,
                   "The condition of \"" + node->name + "\" threw: " + exception.what());
    } catch (...) {
      return error(ErrorCode::invalid, "The condition of \"" + node->name + "\" threw.");
    }
    target = node->approval->approved;
  }
  return error(ErrorCode::invalid, "Approvals of the graph \"" + graph.name +
                                       "\" lead to one another and never to a node.");
}

}  // namespace belay::engine
