#include "agents/research/checkpoints/versions.h"

#include <utility>

namespace belay::research {
namespace {

constexpr const char* kVersionMember = "agent_version";

std::string agent_text(const std::string& agent_type) { return "agent \"" + agent_type + "\""; }

std::optional<SemanticVersion> version_in(const Value& checkpoint) {
  const std::string* text = checkpoint[kVersionMember].as_string();
  return text ? semantic_version_from(*text) : std::nullopt;
}

// Returns the step, with the differences between two objects.
MigrationStep step_between(const Migration& migration, const Value::Object& before,
                           const Value::Object& after) {
  MigrationStep step;
  step.from = version_text(migration.from);
  step.to = version_text(migration.to);
  step.description = migration.description;
  for (const auto& [name, value] : before) {
    auto found = after.find(name);
    if (found == after.end()) {
      step.removed.push_back(name);
    } else if (!(found->second == value)) {
      step.changed.push_back(name);
    }
  }
  for (const auto& [name, value] : after) {
    if (!before.contains(name)) step.added.push_back(name);
  }
  return step;
}

Error failed_migration(const Migration& migration, const std::string& agent_type,
                       const std::string& problem) {
  return error(ErrorCode::invalid, "The migration of the checkpoint of " + agent_text(agent_type) +
                                       " from version " + version_text(migration.from) + " to " +
                                       version_text(migration.to) + " failed: " + problem);
}

// Executes one migration. The result is an object with the same identity.
Result<Value> run_migration(const Migration& migration, const std::string& agent_type,
                            const Value& before) {
  Result<Value> made = migration.apply(before);
  if (!made.ok()) return failed_migration(migration, agent_type, made.error().message);
  if (!made->as_object()) {
    return failed_migration(migration, agent_type, "its result is not an object.");
  }
  for (const char* name : {"analysis_id", "agent_type", "stock_ticker", "checkpoint_time"}) {
    if ((*made)[name] == before[name]) continue;
    return failed_migration(migration, agent_type, std::string("it changes ") + name + ".");
  }
  (*made->as_object())[kVersionMember] = version_text(migration.to);
  return made;
}

}  // namespace

void AgentVersions::set_current(std::string agent_type, SemanticVersion current) {
  current_by_type_[std::move(agent_type)] = current;
}

const SemanticVersion& AgentVersions::current(const std::string& agent_type) const {
  auto found = current_by_type_.find(agent_type);
  return found == current_by_type_.end() ? current_ : found->second;
}

Result<Done> AgentVersions::add(Migration migration) {
  SemanticVersion from = format_of(migration.from);
  std::string name = "The migration from version " + version_text(migration.from) + " to " +
                     version_text(migration.to);
  if (format_of(migration.to) <= from || !migration.apply) {
    return error(ErrorCode::invalid,
                 name + " must lead to a later minor or major version, and have a function.");
  }
  Start start(migration.agent_type, from);
  if (!migrations_.emplace(std::move(start), std::move(migration)).second) {
    return error(ErrorCode::invalid, name + " conflicts with another one from this version.");
  }
  return Done{};
}

const Migration* AgentVersions::migration_from(const std::string& agent_type,
                                               SemanticVersion format) const {
  auto found = migrations_.find(Start(agent_type, format));
  if (found == migrations_.end()) found = migrations_.find(Start(std::string(), format));
  return found == migrations_.end() ? nullptr : &found->second;
}

Result<std::vector<const Migration*>> AgentVersions::path(const std::string& agent_type,
                                                          const SemanticVersion& from) const {
  const SemanticVersion& to = current(agent_type);
  if (from > to) {
    return error(ErrorCode::invalid,
                 "The checkpoint of " + agent_text(agent_type) + " has version " +
                     version_text(from) + ", which is newer than this program's " +
                     version_text(to) + ". Use a newer program, or start the agent again.");
  }
  std::vector<const Migration*> steps;
  SemanticVersion at = format_of(from);
  while (at < format_of(to)) {  // each migration leads to a later format
    const Migration* next = migration_from(agent_type, at);
    if (!next || format_of(next->to) > format_of(to)) {
      return error(ErrorCode::invalid, "No migration leads from version " + version_text(at) +
                                           " to " + version_text(to) + " of " +
                                           agent_text(agent_type) +
                                           "; its checkpoint has version " + version_text(from) +
                                           ". Register the migration, or start the agent again.");
    }
    steps.push_back(next);
    at = format_of(next->to);
  }
  return steps;
}

Result<Value> AgentVersions::apply(const std::string& agent_type, Value checkpoint,
                                   std::vector<MigrationStep>& steps) const {
  std::optional<SemanticVersion> from = version_in(checkpoint);
  if (!from) {
    return error(ErrorCode::invalid, "The checkpoint of " + agent_text(agent_type) +
                                         " has no valid agent_version. Start the agent again.");
  }
  BELAY_TRY(std::vector<const Migration*> migrations, path(agent_type, *from));
  for (const Migration* migration : migrations) {
    BELAY_TRY(Value after, run_migration(*migration, agent_type, checkpoint));
    steps.push_back(step_between(*migration, *checkpoint.as_object(), *after.as_object()));
    checkpoint = std::move(after);
  }
  (*checkpoint.as_object())[kVersionMember] = version_text(current(agent_type));
  return checkpoint;
}

Result<Migrated> AgentVersions::migrate(const std::string& agent_type, Value checkpoint) const {
  Migrated result;
  BELAY_TRY(result.checkpoint, apply(agent_type, std::move(checkpoint), result.steps));
  return result;
}

MigrationReport AgentVersions::dry_run(const std::string& agent_type,
                                       const Value& checkpoint) const {
  MigrationReport report;
  report.agent_type = agent_type;
  if (auto from = version_in(checkpoint)) report.from = version_text(*from);
  report.to = version_text(current(agent_type));
  Result<Value> result = apply(agent_type, checkpoint, report.steps);
  if (!result.ok()) report.refusal = std::move(result).error();
  return report;
}

Migration subtask_progress_migration() {
  Migration migration;
  migration.from = {1, 0, 0};
  migration.to = {1, 1, 0};
  migration.description = "adds subtask_progress";
  migration.apply = [](Value checkpoint) -> Result<Value> {
    if (checkpoint.find("subtask_progress")) return checkpoint;
    const Value::Array* completed = checkpoint["completed_subtasks"].as_array();
    if (!completed) return error(ErrorCode::invalid, "completed_subtasks is not an array.");
    Value::Object progress;
    for (const Value& subtask : *completed) {
      if (const std::string* name = subtask.as_string()) progress.emplace(*name, 1.0);
    }
    (*checkpoint.as_object())["subtask_progress"] = std::move(progress);
    return checkpoint;
  };
  return migration;
}

AgentVersions research_versions() {
  AgentVersions versions(SemanticVersion{1, 1, 0});
  Result<Done> added = versions.add(subtask_progress_migration());
  BELAY_ASSERT(added.ok());
  return versions;
}

}  // namespace belay::research
