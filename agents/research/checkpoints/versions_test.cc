#include "agents/research/checkpoints/versions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace belay::research {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Value old_checkpoint(std::string version) {
  return Value::object({{"analysis_id", "an-1"},
                        {"agent_type", "valuation"},
                        {"stock_ticker", "AAPL"},
                        {"agent_version", std::move(version)},
                        {"completed_subtasks", Value::Array{"dcf_assumptions", "terminal_value"}}});
}

// Sets the member `name`, so that the order of the migrations can be seen.
Migration setting(SemanticVersion from, SemanticVersion to, std::string name,
                  std::string agent_type = "") {
  Migration migration;
  migration.agent_type = std::move(agent_type);
  migration.from = from;
  migration.to = to;
  migration.description = "sets " + name;
  migration.apply = [name](Value checkpoint) -> Result<Value> {
    auto size = static_cast<std::int64_t>(checkpoint.as_object()->size());
    (*checkpoint.as_object())[name] = size;
    return checkpoint;
  };
  return migration;
}

std::string refusal_of(const AgentVersions& versions, const Value& checkpoint) {
  auto migrated = versions.migrate("valuation", checkpoint);
  if (migrated.ok()) return "";
  EXPECT_EQ(migrated.error().code, ErrorCode::invalid);
  // A dry run reports the same refusal.
  EXPECT_EQ(versions.dry_run("valuation", checkpoint).refusal, migrated.error());
  return migrated.error().message;
}

TEST(CheckpointMigration, From10To11AddsTheProgressOfEachCompletedSubtask) {
  AgentVersions versions = research_versions();
  Migrated migrated = versions.migrate("valuation", old_checkpoint("v1.0")).value();
  EXPECT_EQ(migrated.checkpoint["subtask_progress"],
            Value::object({{"dcf_assumptions", 1.0}, {"terminal_value", 1.0}}));
  EXPECT_EQ(migrated.checkpoint["agent_version"], Value("1.1.0"));
  ASSERT_EQ(migrated.steps.size(), 1u);
  EXPECT_EQ(migrated.steps[0].from, "1.0.0");
  EXPECT_EQ(migrated.steps[0].to, "1.1.0");
  EXPECT_THAT(migrated.steps[0].added, ElementsAre("subtask_progress"));
  EXPECT_THAT(migrated.steps[0].changed, ElementsAre("agent_version"));
}

TEST(CheckpointMigration, From10To11KeepsAnExistingProgress) {
  Value checkpoint = old_checkpoint("1.0.0");
  checkpoint.as_object()->emplace("subtask_progress", Value::object({{"terminal_value", 0.5}}));
  Migrated migrated = research_versions().migrate("valuation", checkpoint).value();
  EXPECT_EQ(migrated.checkpoint["subtask_progress"]["terminal_value"], Value(0.5));
}

TEST(CheckpointMigration, AppliesTheChainInOrder) {
  AgentVersions versions({2, 1, 3});
  versions.add(setting({2, 0, 0}, {2, 1, 0}, "third")).value();
  versions.add(setting({1, 0, 0}, {1, 5, 0}, "first")).value();
  versions.add(setting({1, 5, 0}, {2, 0, 0}, "second")).value();
  Migrated migrated = versions.migrate("valuation", old_checkpoint("1.0.9")).value();
  EXPECT_EQ(migrated.checkpoint["first"], Value(5));
  EXPECT_EQ(migrated.checkpoint["second"], Value(6));
  EXPECT_EQ(migrated.checkpoint["third"], Value(7));
  EXPECT_EQ(migrated.checkpoint["agent_version"], Value("2.1.3"));
  EXPECT_EQ(migrated.steps.size(), 3u);
}

TEST(CheckpointMigration, IsNotNeededBetweenPatches) {
  AgentVersions versions({1, 1, 7});
  Migrated migrated = versions.migrate("valuation", old_checkpoint("1.1.2")).value();
  EXPECT_TRUE(migrated.steps.empty());
  EXPECT_EQ(migrated.checkpoint["agent_version"], Value("1.1.7"));
}

TEST(CheckpointMigration, OfTheAgentTypePrecedesThatOfAllTypes) {
  AgentVersions versions({1, 1, 0});
  versions.add(setting({1, 0, 0}, {1, 1, 0}, "of_all")).value();
  versions.add(setting({1, 0, 0}, {1, 1, 0}, "of_valuation", "valuation")).value();
  EXPECT_TRUE(
      versions.migrate("valuation", old_checkpoint("1.0"))->checkpoint.find("of_valuation"));
  EXPECT_FALSE(versions.migrate("valuation", old_checkpoint("1.0"))->checkpoint.find("of_all"));
  EXPECT_TRUE(versions.migrate("credit", old_checkpoint("1.0"))->checkpoint.find("of_all"));
}

TEST(CheckpointMigration, LeadsToTheVersionOfTheAgentType) {
  AgentVersions versions({1, 0, 0});
  versions.set_current("valuation", {1, 1, 0});
  versions.add(subtask_progress_migration()).value();
  EXPECT_EQ(versions.migrate("valuation", old_checkpoint("1.0"))->steps.size(), 1u);
  EXPECT_EQ(versions.migrate("credit", old_checkpoint("1.0"))->steps.size(), 0u);
}

TEST(CheckpointMigration, OfANewerCheckpointIsRefused) {
  AgentVersions versions = research_versions();
  for (const char* version : {"1.1.1", "1.2", "2.0.0"}) {
    EXPECT_THAT(refusal_of(versions, old_checkpoint(version)), HasSubstr("newer than this program"))
        << version;
  }
}

TEST(CheckpointMigration, WithoutAPathIsRefused) {
  AgentVersions versions = research_versions();
  EXPECT_THAT(refusal_of(versions, old_checkpoint("0.9")),
              HasSubstr("No migration leads from version 0.9.0 to 1.1.0 of agent \"valuation\""));
  AgentVersions beyond({1, 1, 0});
  beyond.add(setting({1, 0, 0}, {1, 2, 0}, "x")).value();
  EXPECT_THAT(refusal_of(beyond, old_checkpoint("1.0")), HasSubstr("No migration leads from"));
  AgentVersions gap({3, 0, 0});
  bool is_applied = false;
  Migration first = setting({1, 0, 0}, {2, 0, 0}, "x");
  first.apply = [&](Value checkpoint) -> Result<Value> {
    is_applied = true;
    return checkpoint;
  };
  gap.add(std::move(first)).value();
  EXPECT_THAT(refusal_of(gap, old_checkpoint("1.0")), HasSubstr("from version 2.0.0 to 3.0.0"));
  EXPECT_FALSE(is_applied) << "the path is complete before the first migration is applied";
}

TEST(CheckpointMigration, WithoutAVersionIsRefused) {
  AgentVersions versions = research_versions();
  EXPECT_THAT(refusal_of(versions, old_checkpoint("next")), HasSubstr("no valid agent_version"));
  EXPECT_THAT(refusal_of(versions, Value::object({})), HasSubstr("no valid agent_version"));
  EXPECT_THAT(refusal_of(versions, Value(7)), HasSubstr("no valid agent_version"));
  EXPECT_EQ(versions.dry_run("valuation", Value()).from, "");
}

TEST(CheckpointMigration, ThatFailsOrReturnsSomethingElseIsRefused) {
  auto with = [](std::function<Result<Value>(Value)> apply) {
    AgentVersions versions({1, 1, 0});
    Migration migration;
    migration.from = {1, 0, 0};
    migration.to = {1, 1, 0};
    migration.apply = std::move(apply);
    versions.add(std::move(migration)).value();
    return refusal_of(versions, old_checkpoint("1.0"));
  };
  EXPECT_THAT(with([](Value) -> Result<Value> { return error(ErrorCode::corrupt, "No list."); }),
              HasSubstr("from version 1.0.0 to 1.1.0 failed: No list."));
  EXPECT_THAT(with([](Value) -> Result<Value> { return Value(1); }), HasSubstr("not an object"));
  EXPECT_THAT(with([](Value checkpoint) -> Result<Value> {
                (*checkpoint.as_object())["analysis_id"] = "an-2";
                return checkpoint;
              }),
              HasSubstr("changes analysis_id"));
}

TEST(CheckpointMigration, ThatDoesNotLeadForwardIsNotRegistered) {
  AgentVersions versions({1, 1, 0});
  EXPECT_FALSE(versions.add(setting({1, 1, 0}, {1, 0, 0}, "x")).ok());
  EXPECT_FALSE(versions.add(setting({1, 0, 0}, {1, 0, 5}, "x")).ok()) << "the same format";
  Migration empty = setting({1, 0, 0}, {1, 1, 0}, "x");
  empty.apply = nullptr;
  EXPECT_FALSE(versions.add(std::move(empty)).ok());
  EXPECT_TRUE(versions.add(setting({1, 0, 0}, {1, 1, 0}, "x")).ok());
  EXPECT_FALSE(versions.add(setting({1, 0, 3}, {1, 1, 0}, "y")).ok()) << "another one from 1.0";
}

TEST(CheckpointDryRun, ReportsEachStepAndChangesNothing) {
  AgentVersions versions({2, 0, 0});
  versions.add(subtask_progress_migration()).value();
  Migration renames;
  renames.from = {1, 1, 0};
  renames.to = {2, 0, 0};
  renames.description = "renames completed_subtasks";
  renames.apply = [](Value checkpoint) -> Result<Value> {
    Value::Object& members = *checkpoint.as_object();
    members["done"] = std::move(members["completed_subtasks"]);
    members.erase("completed_subtasks");
    return checkpoint;
  };
  versions.add(std::move(renames)).value();
  const Value checkpoint = old_checkpoint("1.0");
  const Value before = checkpoint;
  MigrationReport report = versions.dry_run("valuation", checkpoint);
  EXPECT_EQ(checkpoint, before);
  EXPECT_EQ(report.from, "1.0.0");
  EXPECT_EQ(report.to, "2.0.0");
  EXPECT_EQ(report.refusal, std::nullopt);
  ASSERT_EQ(report.steps.size(), 2u);
  EXPECT_EQ(report.steps[0].description, "adds subtask_progress");
  EXPECT_THAT(report.steps[1].added, ElementsAre("done"));
  EXPECT_THAT(report.steps[1].removed, ElementsAre("completed_subtasks"));
}

TEST(CheckpointDryRun, ReportsTheStepsBeforeTheOneThatFails) {
  AgentVersions versions({2, 0, 0});
  versions.add(subtask_progress_migration()).value();
  Migration fails;
  fails.from = {1, 1, 0};
  fails.to = {2, 0, 0};
  fails.apply = [](Value) -> Result<Value> { return error(ErrorCode::invalid, "No rate."); };
  versions.add(std::move(fails)).value();
  MigrationReport report = versions.dry_run("valuation", old_checkpoint("1.0"));
  EXPECT_EQ(report.steps.size(), 1u);
  ASSERT_TRUE(report.refusal.has_value());
  EXPECT_THAT(report.refusal->message, HasSubstr("No rate."));
}

}  // namespace
}  // namespace belay::research
