#include "agents/assistant/assistant.h"

#include <gtest/gtest.h>

#include "belay/testing.h"

namespace belay::assistant {
namespace {

Conversation asked(std::string question) {
  Conversation conversation;
  conversation.question = std::move(question);
  return conversation;
}

TEST(Assistant, AnswersWithWhatTheModelSays) {
  auto world = testing::World{}.model(testing::replies("Blue."));
  auto run = world.run(assistant().value(), asked("What colour is the sky?")).approve_all();
  EXPECT_EQ(run.state().answer, "Blue.");
  EXPECT_EQ(run.state().provider, "scripted");
  EXPECT_EQ(run.outcome(), "answered");
}

TEST(Assistant, AsksAPersonWhereThatIsWanted) {
  auto world = testing::World{}.model(testing::replies("Blue."));
  Conversation conversation = asked("What colour is the sky?");
  conversation.review = true;
  auto run = world.run(assistant().value(), conversation).approve_all();
  EXPECT_TRUE(run.state().approved);
}

TEST(Assistant, AnswersTheSameThroughACrashAtEachCommit) {
  auto world = testing::World{}.model(testing::replies("Blue."));
  Conversation conversation = asked("What colour is the sky?");
  conversation.review = true;
  auto calm = world.run(assistant().value(), conversation).approve_all();
  for (auto crash : calm.crash_points()) {
    auto rough = world.run(assistant().value(), conversation).crash_at(crash).approve_all();
    EXPECT_EQ(rough.state(), calm.state());
  }
}

TEST(Assistant, WithoutAQuestionItFails) {
  auto world = testing::World{}.model(testing::replies("Blue."));
  auto run = world.run(assistant().value(), asked("")).approve_all();
  EXPECT_EQ(run.status(), RunStatus::failed);
}

}  // namespace
}  // namespace belay::assistant
