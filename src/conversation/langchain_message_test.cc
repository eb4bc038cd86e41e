#include <gtest/gtest.h>

#include "conversation/conversation.h"

namespace belay::conversation {
namespace {

Value json(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.ok()) << text;
  return std::move(value).value();
}

ChatEntry entry_in(std::string_view text) {
  auto entry = entry_of_message(json(text));
  EXPECT_TRUE(entry.ok()) << text;
  return entry.ok() ? *std::move(entry) : ChatEntry();
}

TEST(LangchainMessages, HaveTheirAuthorByTypeOrRole) {
  EXPECT_EQ(entry_in(R"({"type":"human","content":"a"})").author, Author::person);
  EXPECT_EQ(entry_in(R"({"role":"user","content":"a"})").author, Author::person);
  EXPECT_EQ(entry_in(R"({"type":"ai","content":"a"})").author, Author::agent);
  EXPECT_EQ(entry_in(R"({"type":"AIMessageChunk","content":"a"})").author, Author::agent);
  EXPECT_EQ(entry_in(R"({"role":"assistant","content":"a"})").author, Author::agent);
  EXPECT_EQ(entry_in(R"({"role":"system","content":"a"})").author, Author::system);
  EXPECT_EQ(entry_in(R"({"type":"chat","role":"developer","content":"a"})").author, Author::system);
  EXPECT_EQ(entry_in(R"({"type":"tool","content":"a"})").author, Author::tool);
}

TEST(LangchainMessages, OfAnotherFormAreInvalid) {
  for (std::string_view text :
       {R"({"type":"wizard","content":"a"})", R"({"type":"remove","id":"1","content":""})",
        R"({"role":"__proto__","content":"a"})", R"({"content":"a"})", R"({"type":"human"})",
        R"({"type":"human","content":7})", R"({"type":"human","content":[7]})",
        R"({"type":"human","content":[{"type":"text"}]})", R"({"type":7,"content":"a"})",
        R"({"type":"ai","content":"","tool_calls":7})",
        R"({"type":"ai","content":"","tool_calls":[{"id":"1"}]})", R"("hello")", "null", "[]"}) {
    auto entry = entry_of_message(json(text));
    ASSERT_FALSE(entry.ok()) << text;
    EXPECT_EQ(entry.error().code, ErrorCode::invalid) << text;
  }
}

TEST(LangchainMessages, AreReadFromBlocks) {
  ChatEntry entry = entry_in(R"({"type":"ai","content":["Rain ",{"type":"thinking",
      "thinking":"hm"},{"type":"text","text":"in Oslo"},{"type":"tool_use","id":"1"}]})");
  EXPECT_EQ(entry.text, "Rain in Oslo");
  EXPECT_TRUE(entry.content.is_null());
}

TEST(LangchainMessages, KeepBlocksWithoutAText) {
  Value content = json(R"([{"type":"text","text":"Who?"},{"type":"image_url","image_url":"x"}])");
  Value message = Value::object({{"type", "human"}, {"content", content}});
  auto entry = entry_of_message(message);
  ASSERT_TRUE(entry.ok());
  EXPECT_EQ(entry->text, "Who?");
  EXPECT_EQ(langchain_message(*entry)["content"], content);
}

TEST(LangchainMessages, HaveCallsInBothForms) {
  ChatEntry entry = entry_in(R"({"type":"ai","content":null,"tool_calls":[
      {"id":"1","name":"weather","args":{"place":"Oslo"},"type":"tool_call"},
      {"id":"2","type":"function","function":{"name":"mail","arguments":"{\"to\":\"a\"}"}},
      {"id":"3","name":"odd","args":"not JSON"},
      {"id":"4","name":"none"}]})");
  ASSERT_EQ(entry.calls.size(), 4u);
  EXPECT_EQ(entry.calls[0].arguments, Value::object({{"place", "Oslo"}}));
  EXPECT_EQ(entry.calls[1].tool, "mail");
  EXPECT_EQ(entry.calls[1].arguments, Value::object({{"to", "a"}}));
  EXPECT_EQ(entry.calls[2].arguments, Value::object({{"input", "not JSON"}}));
  EXPECT_EQ(entry.calls[3].arguments, Value(Value::Object()));
}

TEST(LangchainMessages, AreReadAsTheyAreWritten) {
  ChatEntry agent{.id = "m1", .author = Author::agent, .text = "One\u2028two <script>"};
  agent.calls = {{"c1", "weather", Value::object({{"__proto__", Value::object({{"a", 1}})}})}};
  ChatEntry tool{.id = "m2", .author = Author::tool, .text = "no"};
  tool.call_id = "c1";
  tool.tool = "weather";
  tool.is_error = true;
  for (const ChatEntry& entry : {agent, tool}) {
    auto again = entry_of_message(json(to_json(langchain_message(entry))));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->id, entry.id);
    EXPECT_EQ(again->text, entry.text);
    EXPECT_EQ(again->call_id, entry.call_id);
    EXPECT_EQ(again->tool, entry.tool);
    EXPECT_EQ(again->is_error, entry.is_error);
    EXPECT_EQ(langchain_message(*again), langchain_message(entry));
  }
}

TEST(LangchainMessages, WithoutAnIdAreWrittenWithoutOne) {
  ChatEntry entry{.id = "", .author = Author::person, .text = "Hello"};
  EXPECT_EQ(langchain_message(entry).find("id"), nullptr);
}

}  // namespace
}  // namespace belay::conversation
