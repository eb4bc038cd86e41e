#include "agents/research/checkpoints/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "agents/research/checkpoints/checkpoint_store_fixture.h"

namespace belay::research {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

AgentCheckpoint complete_checkpoint() {
  AgentCheckpoint checkpoint = checkpoint_of("valuation", 3);
  checkpoint.checkpoint_time = *instant_from("2026-01-01T09:00:00.000001Z");
  checkpoint.agent_version = "1.1.0";
  checkpoint.failure_reason = "Rate limit";
  checkpoint.error_details = Value::object({{"code", "unavailable"}});
  return checkpoint;
}

std::string problem_of(const AgentCheckpoint& checkpoint) {
  auto checked = check_checkpoint(checkpoint);
  return checked.ok() ? std::string() : checked.error().message;
}

TEST(AgentCheckpointJson, HasTheColumnsOfTheTable) {
  Value value = checkpoint_value(complete_checkpoint()).value();
  std::vector<std::string> names;
  for (const auto& [name, member] : *value.as_object()) names.push_back(name);
  EXPECT_THAT(names,
              UnorderedElementsAre("analysis_id", "agent_type", "stock_ticker", "checkpoint_time",
                                   "progress_pct", "current_subtask", "completed_subtasks",
                                   "pending_subtasks", "subtask_progress", "working_memory",
                                   "interim_results", "agent_config", "failure_reason",
                                   "error_details", "retry_count", "agent_version"));
  EXPECT_EQ(value["checkpoint_time"], Value("2026-01-01T09:00:00.000001Z"));
  EXPECT_EQ(value["progress_pct"], Value(60.0));
}

TEST(AgentCheckpointJson, IsReadBackAsTheSameCheckpoint) {
  AgentCheckpoint checkpoint = complete_checkpoint();
  std::string text = checkpoint_text(checkpoint).value();
  AgentCheckpoint read = checkpoint_from(parse_json(text).value()).value();
  EXPECT_EQ(checkpoint_text(read).value(), text);
  EXPECT_EQ(read.key(), checkpoint.key());
  EXPECT_EQ(read.pending_subtasks, checkpoint.pending_subtasks);
  EXPECT_EQ(read.interim_results, checkpoint.interim_results);
}

TEST(AgentCheckpointJson, WithAnUnknownOrWrongMemberIsRefused) {
  Value value = checkpoint_value(complete_checkpoint()).value();
  Value unknown = value;
  unknown.as_object()->emplace("shoe_size", 42);
  EXPECT_THAT(checkpoint_from(unknown).error().message, HasSubstr("\"shoe_size\""));
  Value wrong = value;
  (*wrong.as_object())["completed_subtasks"] = "dcf_assumptions";
  EXPECT_THAT(checkpoint_from(wrong).error().message, HasSubstr("completed_subtasks"));
  EXPECT_FALSE(checkpoint_from(Value()).ok());
  EXPECT_FALSE(checkpoint_from(Value::object({})).ok()) << "without an analysis";
}

TEST(AgentCheckpointJson, RefusesValuesThatCannotBeReadAgain) {
  AgentCheckpoint checkpoint = complete_checkpoint();
  checkpoint.interim_results = Value(std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(checkpoint_text(checkpoint).ok());
  checkpoint.interim_results = Value(std::string("\xff"));
  EXPECT_FALSE(checkpoint_text(checkpoint).ok());
  Value deep;
  for (std::size_t i = 0; i < kCheckpointDepthMax; ++i) deep = Value(Value::Array{deep});
  checkpoint.interim_results = deep;
  EXPECT_FALSE(checkpoint_text(checkpoint).ok());
  checkpoint.interim_results = *deep.as_array()->begin();
  EXPECT_TRUE(checkpoint_text(checkpoint).ok());
  checkpoint.interim_results = Value(std::string(kCheckpointBytesMax, 'x'));
  EXPECT_THAT(checkpoint_text(checkpoint).error().message, HasSubstr("at most 1000000"));
}

TEST(AgentCheckpointKey, IsThatOfTheUniqueColumns) {
  AgentCheckpoint checkpoint = complete_checkpoint();
  EXPECT_EQ(checkpoint.key(), "an-1/valuation/2026-01-01T09:00:00.000001Z");
  CheckpointHead head;
  head.analysis_id = "an-1";
  head.agent_type = "valuation";
  EXPECT_EQ(head.key(), "an-1/valuation");
}

TEST(AgentCheckpointCheck, NamesTheFirstInvalidMember) {
  const AgentCheckpoint sound = complete_checkpoint();
  EXPECT_EQ(problem_of(sound), "");
  auto with = [&](const std::function<void(AgentCheckpoint&)>& change) {
    AgentCheckpoint changed = sound;
    change(changed);
    return problem_of(changed);
  };
  EXPECT_THAT(with([](auto& c) { c.analysis_id = "a/b"; }), HasSubstr("analysis_id"));
  EXPECT_THAT(with([](auto& c) { c.analysis_id = std::string(65, 'a'); }),
              HasSubstr("analysis_id"));
  EXPECT_THAT(with([](auto& c) { c.agent_type = "a:b"; }), HasSubstr("agent_type"));
  EXPECT_THAT(with([](auto& c) { c.stock_ticker.clear(); }), HasSubstr("stock_ticker"));
  EXPECT_THAT(with([](auto& c) { c.progress_pct = 100.01; }), HasSubstr("progress_pct"));
  EXPECT_THAT(with([](auto& c) { c.progress_pct = std::numeric_limits<double>::quiet_NaN(); }),
              HasSubstr("progress_pct"));
  EXPECT_THAT(with([](auto& c) { c.completed_subtasks.push_back("terminal_value"); }),
              HasSubstr("only once"));
  EXPECT_THAT(with([](auto& c) { c.current_subtask = "dcf_assumptions"; }),
              HasSubstr("current_subtask"));
  EXPECT_THAT(with([](auto& c) { c.subtask_progress["x"] = 1.5; }), HasSubstr("subtask_progress"));
  EXPECT_THAT(with([](auto& c) { c.retry_count = -1; }), HasSubstr("retry_count"));
  EXPECT_THAT(with([](auto& c) { c.agent_version = "next"; }), HasSubstr("agent_version"));
  EXPECT_THAT(with([](auto& c) { c.pending_subtasks.push_back(std::string(101, 's')); }),
              HasSubstr("subtask"));
}

TEST(AgentCheckpointProgress, CountsTheCompletedSubtasks) {
  AgentCheckpoint checkpoint;
  set_progress(checkpoint, {"a", "b", "c"}, 1);
  EXPECT_THAT(checkpoint.completed_subtasks, ElementsAre("a"));
  EXPECT_THAT(checkpoint.pending_subtasks, ElementsAre("b", "c"));
  EXPECT_EQ(checkpoint.current_subtask, "b");
  EXPECT_EQ(checkpoint.progress_pct, 33.33);
  EXPECT_THAT(checkpoint.subtask_progress,
              ElementsAre(std::pair<const std::string, double>("a", 1)));
  set_progress(checkpoint, {"a", "b", "c"}, 7);
  EXPECT_EQ(checkpoint.current_subtask, "");
  EXPECT_EQ(checkpoint.progress_pct, 100);
  EXPECT_EQ(progress_pct(2, 3), 66.67);
  EXPECT_EQ(progress_pct(0, 0), 100);
}

TEST(AgentCheckpointFailure, KeepsTheReasonAndCountsTheRetry) {
  AgentCheckpoint checkpoint = checkpoint_of("valuation", 1);
  Error failure = error(ErrorCode::unavailable, "Rate limit of the source.");
  failure.retry_after = std::chrono::seconds(2);
  set_failure(checkpoint, failure);
  EXPECT_EQ(checkpoint.failure_reason, "Rate limit of the source.");
  EXPECT_EQ(checkpoint.error_details["code"], Value("unavailable"));
  EXPECT_EQ(checkpoint.error_details["retry_after_ms"], Value(2000));
  EXPECT_EQ(checkpoint.retry_count, 3);
}

TEST(AgentCheckpointFailure, WithAnyMessageCanBeSaved) {
  AgentCheckpoint checkpoint = complete_checkpoint();
  std::string message = std::string("\xff\0 ", 3) + std::string(5'000, 'x');
  set_failure(checkpoint, error(ErrorCode::invalid, message));
  EXPECT_TRUE(checkpoint_text(checkpoint).ok());
  EXPECT_THAT(checkpoint.failure_reason, ::testing::StartsWith("\xEF\xBF\xBD  x"));
  EXPECT_THAT(checkpoint.failure_reason, EndsWith("x ..."));
  EXPECT_EQ(checkpoint.failure_reason.size(), kReasonBytesMax + 4);
}

}  // namespace
}  // namespace belay::research
