#include "conversation/conversation.h"

#include <gtest/gtest.h>

#include <set>

namespace belay::conversation {
namespace {

using Entries = std::vector<ChatEntry>;

Value document_with(std::vector<std::string> channels) {
  Value::Array names(channels.begin(), channels.end());
  return Value::object({{"name", "agent"}, {"channels", std::move(names)}});
}

ChatEntry said(std::string text, Author author = Author::person) {
  return ChatEntry{.id = "", .author = author, .text = std::move(text)};
}

std::vector<std::string> ids_of(const Entries& entries) {
  std::vector<std::string> ids;
  for (const ChatEntry& entry : entries) ids.push_back(entry.id);
  return ids;
}

Value state_of(std::string_view messages) {
  return Value::object({{"messages", parse_json(messages).value()}});
}

// An agent of numbers: the state has the last number and its double.
Conversations numbers() {
  ConversationForm form;
  form.input_of = [](std::string_view text) -> Result<Value> {
    if (text != "7" && text != "8") return error(ErrorCode::invalid, "Expected 7 or 8.");
    return Value::object({{"number", text}});
  };
  form.messages_of = [](const Value& state, const std::string& question_id) {
    std::vector<FormMessage> messages;
    const std::string* number = state["number"].as_string();
    if (number) messages.push_back({.message = {Role::user, *number}, .id = question_id});
    if (number && state.find("double")) {
      std::string id = state["id"].as_string() ? *state["id"].as_string() : std::string();
      messages.push_back({.message = {Role::assistant, "Twice " + *number}, .id = std::move(id)});
    }
    return messages;
  };
  Conversations::Forms forms;
  forms.emplace("numbers", std::move(form));
  return Conversations(std::move(forms));
}

TEST(ConversationInput, IsTheListOfMessagesOfAnAgentOfMessages) {
  Entries messages{said("Hello"), said("Be short", Author::system)};
  messages[0].id = "m1";
  auto input = Conversations().input_of("a", document_with({"messages", "other"}), messages);
  ASSERT_TRUE(input.ok());
  const Value::Array& items = *(*input)["messages"].as_array();
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0]["type"], Value("human"));
  EXPECT_EQ(items[0]["id"], Value("m1"));
  EXPECT_EQ(items[1]["type"], Value("system"));
  EXPECT_FALSE(Conversations().input_of("a", document_with({"messages"}), {}).ok());
}

TEST(ConversationInput, IsTheQuestionOfAnAgentWithTools) {
  Value document = document_with({"question", "turns", "results", "answer"});
  auto input = Conversations().input_of(
      "a", document, {said("Be short", Author::system), said("Rain?"), said(" "), said("In Oslo")});
  ASSERT_TRUE(input.ok());
  EXPECT_EQ(*input, Value::object({{"question", "Rain?\n\nIn Oslo"}}));
}

TEST(ConversationInput, OfAFormIsThatOfItsFunction) {
  Conversations conversations = numbers();
  EXPECT_EQ(conversations.input_of("numbers", Value(), {said("7")}).value(),
            Value::object({{"number", "7"}}));
  auto input = conversations.input_of("numbers", document_with({"messages"}), {said("9")});
  ASSERT_FALSE(input.ok()) << "the form precedes the channel";
  EXPECT_EQ(input.error().message, "Expected 7 or 8.");
}

TEST(ConversationInput, OfAnotherAgentIsAJsonObject) {
  Value document = document_with({"city", "advice"});
  EXPECT_EQ(Conversations().input_of("trip", document, {said(R"({"city":"Oslo"})")}).value(),
            Value::object({{"city", "Oslo"}}));
  for (const char* text : {"Oslo", "[1]", "7", R"({"city":)"}) {
    auto input = Conversations().input_of("trip", document, {said(text)});
    ASSERT_FALSE(input.ok()) << text;
    EXPECT_EQ(input.error().code, ErrorCode::invalid);
    EXPECT_NE(input.error().message.find("city, advice"), std::string::npos);
  }
}

TEST(ConversationInput, WithoutATextOfAPersonIsInvalid) {
  Value document = document_with({"question", "turns", "results"});
  ChatEntry image = said("Who is this?");
  image.content = parse_json(R"([{"type":"image_url"}])").value();
  for (const Entries& messages :
       {Entries{}, Entries{said(" \n")}, Entries{said("Hello", Author::agent)}, Entries{image}}) {
    auto input = Conversations().input_of("a", document, messages);
    ASSERT_FALSE(input.ok());
    EXPECT_EQ(input.error().code, ErrorCode::invalid);
  }
}

TEST(ConversationInput, OfADocumentOfAnotherFormIsInvalid) {
  for (std::string_view text : {"null", "7", R"({"channels":"messages"})", R"({"channels":[7]})"}) {
    EXPECT_FALSE(Conversations().input_of("a", parse_json(text).value(), {said("Hi")}).ok());
  }
}

TEST(ConversationEntries, AreTheMessagesOfTheState) {
  Value state = state_of(R"([{"type":"human","content":"Rain?","id":"m1"},
      {"type":"ai","content":"","id":"m2","tool_calls":[{"id":"c","name":"weather","args":{}}]},
      {"type":"tool","content":"wet","tool_call_id":"c","id":"m3","status":"error"},
      {"role":"assistant","content":"Yes.","id":"m4"}])");
  Entries entries = Conversations().entries_of("a", "t", state, false);
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(ids_of(entries), (std::vector<std::string>{"m1", "m2", "m3", "m4"}));
  EXPECT_EQ(entries[2].tool, "weather") << "the name is that of the call";
  EXPECT_TRUE(entries[2].is_error);
  EXPECT_EQ(entries[3].text, "Yes.");
}

TEST(ConversationEntries, WithoutAnIdHaveTheSameOneAgainAndInNoOtherThread) {
  Value state = state_of(R"([{"type":"human","content":"a"},{"type":"wizard","content":"b"},
      {"type":"ai","content":"a"}])");
  Value longer = state;
  longer.as_object()
      ->at("messages")
      .as_array()
      ->push_back(Value::object({{"type", "human"}, {"content", "a"}}));
  Entries entries = Conversations().entries_of("a", "t", state, false);
  ASSERT_EQ(entries.size(), 2u) << "an item of another form is left out";
  std::vector<std::string> later = ids_of(Conversations().entries_of("a", "t", longer, true));
  later.pop_back();
  EXPECT_EQ(later, ids_of(entries));
  EXPECT_NE(ids_of(Conversations().entries_of("a", "u", state, false)), ids_of(entries));
  EXPECT_EQ(entries[0].id, "f7375f8a-4057-8295-8e4a-17a71064edd9") << "clients have stored it";
}

TEST(ConversationEntries, WithOneIdTwiceAreDistinct) {
  std::string own = Conversations()
                        .entries_of("a", "t", state_of(R"([{"type":"ai","content":"x"}])"), true)
                        .front()
                        .id;
  Value::Array messages;
  for (const std::string& id : {std::string("m"), std::string("m"), std::string(), own, own}) {
    messages.push_back(Value::object({{"type", "ai"}, {"content", "x"}, {"id", id}}));
  }
  Value state = Value::object({{"messages", messages}});
  std::vector<std::string> ids = ids_of(Conversations().entries_of("a", "t", state, true));
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 5u);
  EXPECT_EQ(ids[0], "m");
}

TEST(ConversationEntries, OfAChannelMessagesWithOtherItemsAreTheState) {
  Value state = state_of(R"([{"from":"a@b.example","subject":"Hello"}])");
  Entries entries = Conversations().entries_of("mail", "t", state, true);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].text, to_json(state));
}

TEST(ConversationEntries, OfAnotherAgentAreItsStateWhenTheRunHasEnded) {
  Value state = Value::object({{"city", "Oslo\u2028"}, {"__proto__", Value::object({{"a", 1}})}});
  EXPECT_TRUE(Conversations().entries_of("trip", "t", state, false).empty());
  Entries entries = Conversations().entries_of("trip", "t", state, true);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].author, Author::agent);
  EXPECT_EQ(parse_json(entries[0].text).value(), state);
  EXPECT_TRUE(Conversations().entries_of("trip", "t", Value(), true).empty());
}

TEST(ConversationEntries, OfAFormHaveOneIdForOneQuestion) {
  Conversations conversations = numbers();
  auto entries_for = [&](const char* number, bool is_done) {
    Value state = Value::object({{"number", number}});
    if (is_done) state.as_object()->emplace("double", 14);
    return conversations.entries_of("numbers", "t", state, is_done);
  };
  EXPECT_TRUE(conversations.entries_of("numbers", "t", Value(), true).empty());
  Entries asked = entries_for("7", false);
  Entries answered = entries_for("7", true);
  ASSERT_EQ(asked.size(), 1u);
  ASSERT_EQ(answered.size(), 2u);
  EXPECT_EQ(asked[0].id, answered[0].id);
  Entries next = entries_for("8", true);
  EXPECT_NE(next[0].id, answered[0].id);
  EXPECT_NE(next[1].id, answered[1].id);
  Value streamed = Value::object({{"number", "8"}, {"double", 16}, {"id", "run-1"}});
  EXPECT_EQ(conversations.entries_of("numbers", "t", streamed, true)[1].id, "run-1");
}

TEST(ConversationEntries, OfManyAndLongMessagesAreComplete) {
  Value::Array messages;
  for (int i = 0; i < 20'000; ++i) {
    messages.push_back(Value::object({{"type", "human"}, {"content", "x"}, {"id", "same"}}));
  }
  messages.push_back(
      Value::object({{"type", "ai"}, {"content", std::string(5'000'000, 'y')}, {"id", "last"}}));
  Value state = Value::object({{"messages", std::move(messages)}});
  Entries entries = Conversations().entries_of("a", "t", state, true);
  ASSERT_EQ(entries.size(), 20'001u);
  EXPECT_EQ(entries.back().text.size(), 5'000'000u);
}

}  // namespace
}  // namespace belay::conversation
