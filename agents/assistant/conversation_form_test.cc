#include "agents/assistant/conversation_form.h"

#include <gtest/gtest.h>

#include "agents/assistant/assistant.h"
#include "belay/testing.h"

namespace belay::assistant {
namespace {

std::vector<std::string> texts_of(const Conversation& state) {
  std::vector<std::string> texts;
  Value value = parse_json(encode_json(state).value()).value();
  for (const FormMessage& each : conversation_form().messages_of(value, "")) {
    const char* author = each.message.role == Role::user ? "user: " : "agent: ";
    texts.push_back(author + each.message.text);
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(AssistantConversations, HaveTheQuestionAndTheAnswerOfARealRun) {
  auto world = testing::World{}.model(testing::replies("Blue."));
  Value input = conversation_form().input_of("What colour is the sky?").value();
  auto run = world.run(assistant().value(), decode_json<Conversation>(input).value()).approve_all();
  EXPECT_EQ(texts_of(run.state()), (Texts{"user: What colour is the sky?", "agent: Blue."}));
}

TEST(AssistantConversations, HaveTheIdOfTheStreamedAnswerBeforeAndAfterItIsRemembered) {
  Conversation state;
  state.question = "Why?";
  state.answer = "Because.";
  state.answer_id = "run-1";
  auto newest_id = [&state] {
    Value value = parse_json(encode_json(state).value()).value();
    return conversation_form().messages_of(value, "").back().id;
  };
  EXPECT_EQ(newest_id(), "run-1");
  state.messages = {{"user", "Why?"}, {"assistant", "Because.", "run-1"}};
  EXPECT_EQ(texts_of(state).size(), 2u);
  EXPECT_EQ(newest_id(), "run-1");
}

TEST(AssistantConversations, ShowTheSameQuestionAndAnswerOfTwoRunsTwice) {
  auto world = testing::World{}.model(testing::replies("Yes.").replies("Yes."));
  Value input = conversation_form().input_of("Go on?").value();
  auto run = world.run(assistant().value(), decode_json<Conversation>(input).value()).approve_all();
  Conversation state = run.state();
  // The input of the next run: until it has answered, and when it has.
  state.answer = "";
  EXPECT_EQ(texts_of(state), (Texts{"user: Go on?", "agent: Yes.", "user: Go on?"}));
  state.answer = "Yes.";
  state.answer_id = "run-2";
  EXPECT_EQ(texts_of(state).size(), 4u);
}

TEST(AssistantConversations, DoNotShowAnAnswerToAnotherQuestion) {
  Conversation state;
  state.messages = {{"user", "Why?"}, {"assistant", "Because."}};
  state.question = "And now?";
  state.answer = "Because.";
  EXPECT_EQ(texts_of(state), (Texts{"user: Why?", "agent: Because.", "user: And now?"}));
  state.answer = "Later.";
  EXPECT_EQ(texts_of(state).back(), "agent: Later.");
}

TEST(AssistantConversations, ShowAnAnswerInReviewWhenItIsApproved) {
  Conversation state;
  state.question = "Why?";
  state.answer = "Because.";
  state.review = true;
  EXPECT_EQ(texts_of(state), (Texts{"user: Why?"}));
  state.approved = true;
  EXPECT_EQ(texts_of(state).size(), 2u);
}

TEST(AssistantConversations, OfAnEmptyOrForeignStateAreEmpty) {
  EXPECT_TRUE(texts_of(Conversation()).empty());
  for (std::string_view text : {"null", "[]", R"({"question":7,"messages":7})"}) {
    EXPECT_TRUE(conversation_form().messages_of(parse_json(text).value(), "").empty()) << text;
  }
}

}  // namespace
}  // namespace belay::assistant
