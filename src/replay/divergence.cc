#include "replay/divergence.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/next_task.h"

namespace belay {
namespace {

// The writes by position of their task, without reduced values, which belong to no single task.
std::map<std::size_t, std::multiset<std::string>> writes_by_task(const std::vector<ValueRow>& rows,
                                                                 std::size_t count) {
  std::map<std::size_t, std::multiset<std::string>> writes;
  for (const ValueRow& row : rows) {
    auto position = static_cast<std::size_t>(row.index);
    if (position >= count || row.kind == WriteOp::reduce) continue;
    auto text = json_in_envelope(row.envelope);
    writes[position].insert(row.channel + " " + std::string(name_of(row.kind)) + " " +
                            (text.ok() ? std::string(*text) : row.envelope));
  }
  return writes;
}

std::multiset<std::pair<std::string, std::string>> visits(const std::string& text) {
  std::multiset<std::pair<std::string, std::string>> found;
  auto next = engine::next_tasks_from(text);
  if (!next.ok()) return found;
  for (std::size_t i = 0; i < next->nodes.size(); ++i) {
    const auto& input = next->tasks[i].input;
    found.emplace(next->nodes[i], input ? *input : std::string());
  }
  return found;
}

}  // namespace

std::string node_with_different_writes(const std::vector<std::string>& nodes,
                                       const std::vector<ValueRow>& recorded,
                                       const std::vector<ValueRow>& replayed) {
  auto one = writes_by_task(recorded, nodes.size());
  auto other = writes_by_task(replayed, nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (one[i] != other[i]) return nodes[i];
  }
  return {};
}

std::string node_with_different_targets(const GraphDefinition& graph,
                                        const std::vector<std::string>& nodes,
                                        const std::string& recorded, const std::string& replayed) {
  auto one = visits(recorded);
  auto other = visits(replayed);
  std::vector<std::pair<std::string, std::string>> differing;
  std::set_symmetric_difference(one.begin(), one.end(), other.begin(), other.end(),
                                std::back_inserter(differing));
  std::set<std::string> found;
  for (const std::string& name : nodes) {
    const GraphDefinition::Node* node = graph.find(name);
    if (!node) continue;
    auto leads_to = [&](const auto& visit) {
      bool goes = std::count(node->destinations.begin(), node->destinations.end(), visit.first) > 0;
      bool chooses =
          node->choose && std::count(node->targets.begin(), node->targets.end(), visit.first) > 0;
      return goes || chooses;
    };
    if (std::any_of(differing.begin(), differing.end(), leads_to)) found.insert(name);
  }
  return found.size() == 1 ? *found.begin() : std::string();
}

}  // namespace belay
