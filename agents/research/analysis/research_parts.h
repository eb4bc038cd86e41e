#pragma once
// agents/research/analysis/research_parts.h - ResearchParts: the objects that all nodes of the
// research graphs of a program share.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/research/analysis/subject.h"
#include "agents/research/checkpoints/agent_checkpointer.h"
#include "agents/research/graph/graph_sink.h"

namespace belay::research {

struct ResearchParts {
  std::shared_ptr<SubjectCache> subjects = std::make_shared<SubjectCache>();
  std::string data = {};  // folder of orders that name none
  // The folders below which orders may name others; unset: any. For processes that execute the
  // orders of other callers.
  std::optional<std::vector<std::string>> permitted_data = std::nullopt;
  // Checkpoints of specialists. Null: no cache.
  CheckpointOptions checkpoints = {};
  std::shared_ptr<CheckpointCache> checkpoint_cache = nullptr;
  std::shared_ptr<const AgentVersions> versions =
      std::make_shared<const AgentVersions>(research_versions());
  // The sink of the findings; never null.
  std::shared_ptr<GraphSink> graph = no_graph_sink();
  // Called before a subtask calculates, on a thread of the pool; its error is that of the subtask.
  // For tests.
  std::function<Result<Done>(const std::string& specialist, const std::string& subtask)>
      before_subtask = nullptr;
};

}  // namespace belay::research
