#pragma once
// agents/research/checkpoints/checkpoint_rows.h - CheckpointRows: reads and writes the rows of one
// owner's checkpoints: in a node, through a service, or through a runtime.
//
// In a node, the writes are part of the node's commit: exactly once, and never if the node fails.
// Reads do not contain them. In a superstep of several tasks, and in a subgraph, that commit is the
// end of the outermost superstep: an agent whose checkpoints must be durable one by one is a run
// with one task at a time.
//
// A node can save records and not delete them. There, a removed row is replaced by one that has
// expired: it is not read any more, and the retention of workers deletes it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/research/checkpoints/checkpoint.h"
#include "belay/context.h"
#include "belay/service.h"

namespace belay::research {

struct HeadWrite {
  CheckpointHead head{};
  // That the stored head must have; 0: it must not exist. Unset: any.
  std::optional<std::uint64_t> expected_version{};
};

// Rows that are written together.
struct CheckpointWrites {
  std::vector<AgentCheckpoint> checkpoints{};
  std::vector<HeadWrite> heads{};
  std::vector<ArchivedCheckpoint> archived{};
  std::vector<PreservedAnalysis> preserved{};

  std::vector<std::string> removed_checkpoints{};  // keys
  std::vector<HeadWrite> removed_heads{};
  std::vector<std::string> no_longer_preserved{};  // analyses; not in a node
  // Analyses that must not be preserved. A node does not compare this again at its commit.
  std::vector<std::string> unless_preserved{};
};

class CheckpointRows {
 public:
  virtual ~CheckpointRows() = default;
  virtual Records& records() = 0;
  // Writes all rows or none. Fails with `conflict` if one is not as expected, with `invalid` if one
  // cannot be saved. In a node, a conflict executes the node again, and an invalid row throws
  // Failure, as Context::save() does.
  virtual Task<Result<Done>> write(CheckpointWrites writes) = 0;
  // True: written rows are durable when write() returns. False: in a node.
  virtual bool is_immediate() const { return true; }
  // True in the replay of a run: nothing outside of it may change.
  virtual bool is_replay() const { return false; }
};

// The rows of the run's user. The context must outlive the result.
std::unique_ptr<CheckpointRows> checkpoint_rows(Context& context);
// The rows of `owner`. The service, or the runtime, must outlive the result.
std::unique_ptr<CheckpointRows> checkpoint_rows(Service& service, Principal who, UserId owner);
std::unique_ptr<CheckpointRows> checkpoint_rows(Runtime& runtime, TenantId tenant, UserId owner);

// Returns the heads of an analysis' agents, ordered by agent type, at most limits::list_rows_max.
Task<Result<std::vector<Versioned<CheckpointHead>>>> heads_of(Records& records,
                                                              std::string analysis_id);
// Returns the newest stored checkpoint of an agent, undecoded: an earlier version might have
// written it.
Task<Result<std::optional<RecordRow>>> newest_row(Records& records, std::string analysis_id,
                                                  std::string agent_type);

}  // namespace belay::research
