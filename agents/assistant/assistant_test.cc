#include "agents/assistant/assistant.h"

#include <gtest/gtest.h>

#include "belay/runtime.h"
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

TEST(Assistant, SendsItsInstructionsBeforeTheQuestion) {
  auto world = testing::World{}.model(testing::replies("Blue."));
  Conversation conversation = asked("What colour is the sky?");
  conversation.instructions = "Answer in one word.";
  auto run = world.run(assistant().value(), conversation).approve_all();
  ASSERT_EQ(run.model_requests().size(), 1u);
  const std::vector<Message>& sent = run.model_requests()[0].messages;
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].role, Role::system);
  EXPECT_EQ(sent[0].text, "Answer in one word.");
  EXPECT_EQ(sent[1].text, "What colour is the sky?");
}

struct Place {
  std::string place{};
};

Tool weather() {
  return make_tool<Place>(
      {.name = "weather", .description = "The weather.", .effect = ToolEffect::reads},
      [](const Place& in, ToolContext&) { return "rain in " + in.place; });
}

TEST(Assistant, CallsItsToolsAndRemembersTheQuestionAndTheAnswer) {
  Value oslo = Value::object({{"place", "Oslo"}});
  auto world =
      testing::World{}.model(testing::calls({{"1", "weather", oslo}}).replies("It rains in Oslo."));
  auto calm = world.run(assistant({weather()}), asked("Rain?")).approve_all();
  ASSERT_TRUE(calm.ok()) << calm.error()->message;
  EXPECT_EQ(calm.outcome(), "answered");
  ASSERT_EQ(calm.model_requests().size(), 2u);
  EXPECT_EQ(calm.model_requests()[1].messages.back().text, "rain in Oslo");
  ASSERT_EQ(calm.state().messages.size(), 2u);
  EXPECT_EQ(calm.state().messages[1].text, "It rains in Oslo.");
  for (auto crash : calm.crash_points()) {
    auto rough = world.run(assistant({weather()}), asked("Rain?")).crash_at(crash).approve_all();
    EXPECT_EQ(rough.state(), calm.state());
  }
}

TEST(Assistant, WithoutAQuestionItFails) {
  auto world = testing::World{}.model(testing::replies("Blue."));
  auto run = world.run(assistant().value(), asked("")).approve_all();
  EXPECT_EQ(run.status(), RunStatus::failed);
}

TEST(Assistant, RemembersTheExchangeThatWasApproved) {
  auto world = testing::World{}.model(testing::replies("Blue."));
  Conversation conversation = asked("What colour is the sky?");
  conversation.review = true;
  auto approved = world.run(assistant().value(), conversation).approve_all();
  ASSERT_EQ(approved.state().messages.size(), 2u);
  EXPECT_EQ(approved.state().messages[0].role, "user");
  EXPECT_EQ(approved.state().messages[0].text, "What colour is the sky?");
  EXPECT_EQ(approved.state().messages[1].role, "assistant");
  EXPECT_EQ(approved.state().messages[1].text, "Blue.");
  auto rejected = world.run(assistant().value(), conversation).reject_all();
  EXPECT_TRUE(rejected.state().messages.empty());
}

TEST(Assistant, SendsTheNewestExchangesWithinTheBound) {
  auto world = testing::World{}.model(testing::replies("Yes."));
  Conversation conversation = asked("And now?");
  conversation.messages = {{"user", std::string(kMessageBytesMax, 'x')},
                           {"assistant", "An answer to a question that is not sent."},
                           {"user", "Is it late?"},
                           {"assistant", "No."}};
  auto run = world.run(assistant().value(), conversation).approve_all();
  ASSERT_EQ(run.model_requests().size(), 1u);
  const std::vector<Message>& sent = run.model_requests()[0].messages;
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].text, "Is it late?");
  EXPECT_EQ(sent[1].role, Role::assistant);
  EXPECT_EQ(sent[2].text, "And now?");
  EXPECT_EQ(run.state().messages.size(), 6u) << "those that were not sent remain";
}

// Several runs of one thread, in a store in memory.
class AssistantThread : public ::testing::Test {
 protected:
  AssistantThread() { runtime_->add(graph_); }

  RunView ask(std::string question) {
    StartOptions options;
    options.thread = ThreadId("t");
    auto view = block_on(loop_, runtime_->start(graph_, asked(std::move(question)), options));
    return std::move(view).value();
  }

  testing::SimulatedClock clock_{*instant_from("2026-01-01T09:00:00Z")};
  testing::SeededRandom random_{1};
  testing::SimulatedLoop loop_{clock_};
  testing::ScriptedModel model_ = testing::replies("Blue.").replies("Because of the air.");
  std::unique_ptr<Store> store_ = open_store("memory:", clock_, random_).value();
  std::unique_ptr<Runtime> runtime_ =
      Runtime::open(RuntimeParts{*store_, loop_, clock_, random_, model_}).value();
  Graph<Conversation> graph_ = assistant().value();
};

TEST_F(AssistantThread, TheSecondQuestionIsSentAfterTheFirstExchange) {
  ASSERT_EQ(ask("What colour is the sky?").row.status, RunStatus::completed);
  RunView second = ask("Why?");
  EXPECT_EQ(second.row.ordinal, 1);
  EXPECT_EQ(second.state["answer"], Value("Because of the air."));
  EXPECT_EQ(second.state["messages"].as_array()->size(), 4u);
  ASSERT_EQ(model_.requests().size(), 2u);
  const std::vector<Message>& sent = model_.requests()[1].messages;
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].text, "What colour is the sky?");
  EXPECT_EQ(sent[1].role, Role::assistant);
  EXPECT_EQ(sent[1].text, "Blue.");
  EXPECT_EQ(sent[2].text, "Why?");
}

}  // namespace
}  // namespace belay::assistant
