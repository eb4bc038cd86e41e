#pragma once
// agents/research/checkpoints/agent_checkpointer.h - AgentCheckpointer: saves and restores the
// state of agents at the boundaries of their subtasks.
//
//     auto rows = checkpoint_rows(context);
//     AgentCheckpointer checkpointer(*rows, versions, cache, options);
//     set_progress(checkpoint, subtasks, completed);
//     checkpoint.working_memory = memory.dump();
//     auto saved = co_await checkpointer.save(std::move(checkpoint), context.now());
//
//     auto found = co_await checkpointer.restore(analysis_id, "financial");
//
// A checkpoint and its head (checkpoint.h) are one commit. The store decides which checkpoint is
// the newest, and the cache never does: a cached text is used only if its SHA-256 is that of the
// head in the store, which is a small row; otherwise the newest row is read. A cache that is
// unavailable, slow, outdated, ahead of the store (a node's commit that failed), or damaged
// therefore costs time and nothing else. The digest is never sent to the cache. If the store is
// unavailable, a restore fails, whatever is cached.
//
// One process at a time saves for an agent: the owner of its run. Outside of nodes, a save fails
// with `conflict` if another process has saved meanwhile.
//
// In a replay (Context::is_replay()), the rows are those of today: do not store a result in the
// state of a run. The cache is not used.
//
// Threading: the executor's thread; calls for different agents can overlap.

#include <optional>
#include <string>
#include <vector>

#include "agents/research/checkpoints/checkpoint_cache.h"
#include "agents/research/checkpoints/checkpoint_options.h"
#include "agents/research/checkpoints/checkpoint_rows.h"
#include "agents/research/checkpoints/versions.h"

namespace belay::research {

struct SavedCheckpoint {
  bool is_saved = false;      // false: checkpoints are off
  Instant checkpoint_time{};  // after that of the agent's previous checkpoint
};

enum class CheckpointSource { cache, store };

struct RestoredCheckpoint {
  AgentCheckpoint checkpoint{};  // in the program's version
  CheckpointSource source = CheckpointSource::store;
  std::vector<MigrationStep> migrations{};  // that were applied; the stored row is unchanged
};
using RestoreResult = Result<std::optional<RestoredCheckpoint>>;

struct AgentRestore {
  std::string agent_type;
  RestoreResult restored;
};

// The progress of one agent, for display.
struct AgentProgress {
  std::string agent_type{};
  std::int64_t completed = 0;
  std::int64_t total = 0;
  double progress_pct = 0;
  std::string current_subtask{};
  bool checkpoints_on = true;
  std::string text{};  // "3 of 5 subtasks (60 %), next: terminal_value"
};

class AgentCheckpointer {
 public:
  // `rows`, `versions` and `cache` must outlive the object. `cache`: null for none.
  AgentCheckpointer(CheckpointRows& rows, const AgentVersions& versions,
                    CheckpointCache* cache = nullptr, CheckpointOptions options = {})
      : rows_(rows), versions_(versions), cache_(cache), options_(options) {}

  // Saves the checkpoint; sets its time and its version. `now`: the current time; if the agent's
  // previous checkpoint is not before it, the new one follows it by a microsecond. In a node, the
  // given `checkpoint_time`, if set, is that of the previous checkpoint, which is not read then.
  // Durable when this returns, in a node with the node's commit. Errors: `invalid` as for
  // check_checkpoint(), and those of CheckpointRows.
  Task<Result<SavedCheckpoint>> save(AgentCheckpoint checkpoint, Instant now);

  // Returns the agent's newest checkpoint, migrated to the program's version; nullopt if the
  // agent has none, or if checkpoints are off. Errors: `invalid` if it cannot be migrated
  // (versions.h) or decoded, and those of the store.
  Task<RestoreResult> restore(std::string analysis_id, std::string agent_type);
  // Restores all agents of an analysis, CheckpointOptions::restores_at_once in parallel, ordered by
  // agent type. The failure of one does not affect the others.
  Task<Result<std::vector<AgentRestore>>> restore_all(std::string analysis_id);
  // Reports, for each agent of an analysis, the migrations that a restore would apply. Also if
  // checkpoints are off. Changes nothing.
  Task<Result<std::vector<MigrationReport>>> dry_run(std::string analysis_id);

  AgentProgress progress(const AgentCheckpoint& checkpoint) const;

 private:
  struct Stored;

  Task<Result<Done>> write(const AgentCheckpoint& checkpoint, const std::string& text,
                           std::optional<Versioned<CheckpointHead>> head);
  Task<std::optional<std::string>> cached_text(std::string key);
  Task<Result<std::optional<Stored>>> find_newest(std::string analysis_id, std::string agent_type);
  Task<Result<std::optional<Stored>>> find_stored(std::string analysis_id, std::string agent_type);
  // Restores one agent and stores the outcome, an error included, in `result`, which lives until
  // the call has ended.
  Task<Result<Done>> restore_into(std::optional<RestoreResult>& result, std::string analysis_id,
                                  std::string agent_type);
  Result<RestoredCheckpoint> open(Stored stored, const std::string& analysis_id,
                                  const std::string& agent_type) const;
  CheckpointCache* cache() const { return rows_.is_replay() ? nullptr : cache_; }

  CheckpointRows& rows_;
  const AgentVersions& versions_;
  CheckpointCache* const cache_;
  const CheckpointOptions options_;
};

}  // namespace belay::research
