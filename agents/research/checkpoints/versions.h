#pragma once
// agents/research/checkpoints/versions.h - AgentVersions: the versions of the agents of a program,
// and the migrations of checkpoints that earlier versions have saved.
//
// Two versions with the same major and minor number have one format of checkpoints. A migration
// transforms a checkpoint, as JSON, from one format to a later one; a restore applies those on the
// path to the program's version, in order. There is at most one migration from a format, so that
// the path is unambiguous. It is complete before the first migration is applied.
//
// Refused, with `invalid`: a checkpoint without a valid version, one of a newer version than the
// program's (patches included), one without a path, and one for which a migration fails. A refused
// checkpoint is not changed.
//
// Threading: const functions from any thread, after the last add().

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/research/checkpoints/semantic_version.h"
#include "belay/value.h"

namespace belay::research {

struct Migration {
  std::string agent_type{};  // empty: of each agent type without another one from this format
  SemanticVersion from{};
  SemanticVersion to{};
  std::string description{};  // for reports: "adds subtask_progress"
  // Returns the transformed checkpoint. Must be a pure function and must not throw. The version is
  // set after it; analysis, agent type, ticker and time must not change.
  std::function<Result<Value>(Value checkpoint)> apply = nullptr;
};

// A migration that was applied, with the names of the columns that it has changed.
struct MigrationStep {
  std::string from{};
  std::string to{};
  std::string description{};
  std::vector<std::string> added{};
  std::vector<std::string> removed{};
  std::vector<std::string> changed{};
};

struct Migrated {
  Value checkpoint{};
  std::vector<MigrationStep> steps{};
};

// The result of a dry run.
struct MigrationReport {
  std::string agent_type{};
  std::string from{};  // empty: the checkpoint has no valid version
  std::string to{};
  std::vector<MigrationStep> steps{};  // those that succeed
  std::optional<Error> refusal{};      // that a restore would fail with
};

class AgentVersions {
 public:
  // `current`: of the agent types that set_current() does not name.
  explicit AgentVersions(SemanticVersion current) : current_(current) {}

  void set_current(std::string agent_type, SemanticVersion current);
  const SemanticVersion& current(const std::string& agent_type) const;
  // Fails with `invalid` if the migration does not lead to a later format, has no function, or if
  // the agent type has another migration from this format.
  Result<Done> add(Migration migration);

  // Returns the checkpoint in the program's version.
  Result<Migrated> migrate(const std::string& agent_type, Value checkpoint) const;
  // Executes the same on a copy, and reports each step.
  MigrationReport dry_run(const std::string& agent_type, const Value& checkpoint) const;

 private:
  using Start = std::pair<std::string, SemanticVersion>;  // agent type, format

  const Migration* migration_from(const std::string& agent_type, SemanticVersion format) const;
  Result<std::vector<const Migration*>> path(const std::string& agent_type,
                                             const SemanticVersion& from) const;
  // Adds the steps that succeed.
  Result<Value> apply(const std::string& agent_type, Value checkpoint,
                      std::vector<MigrationStep>& steps) const;

  SemanticVersion current_;
  std::map<std::string, SemanticVersion> current_by_type_;
  std::map<Start, Migration> migrations_;
};

// Adds `subtask_progress`: 1.0 for each completed subtask. From 1.0 to 1.1, of each agent type.
Migration subtask_progress_migration();
// Returns the versions of this program: 1.1.0, with that migration.
AgentVersions research_versions();

}  // namespace belay::research
