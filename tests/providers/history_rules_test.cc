// For each rule, a conversation that violates it.

#include "tests/support/history_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/http_model.h"
#include "tests/providers/scripted_answers.h"

namespace belay::providers {
namespace {

using ::testing::HasSubstr;

std::string fault_of(std::string_view protocol, const std::string& messages) {
  Value body = parse_json("{\"messages\":[" + messages + "]}").value();
  return history_fault(body, protocol).value_or("none");
}

// The messages of an OpenAI conversation.
const std::string user = R"({"role":"user","content":"Hello"})";
const std::string reply = R"({"role":"assistant","content":"Hi."})";

std::string calls(const std::string& first, const std::string& second) {
  return R"({"role":"assistant","content":null,"tool_calls":[{"id":")" + first + R"("},{"id":")" +
         second + R"("}]})";
}
std::string result(const std::string& id) {
  return R"({"role":"tool","content":"rain","tool_call_id":")" + id + R"("})";
}

TEST(OpenAiHistory, IsAcceptedIfEveryCallHasItsResult) {
  std::string turn = "," + calls("a", "b") + "," + result("b") + "," + result("a");
  EXPECT_EQ(fault_of("openai", user), "none");
  EXPECT_EQ(fault_of("openai", user + turn), "none");
  EXPECT_EQ(fault_of("openai", user + turn + "," + user + "," + reply + "," + user), "none");
}

TEST(OpenAiHistory, IsRejectedIfACallHasNotExactlyOneResult) {
  std::string begin = user + "," + calls("a", "b") + "," + result("a");
  EXPECT_THAT(fault_of("openai", begin), HasSubstr("\"b\" has no result"));
  EXPECT_THAT(fault_of("openai", begin + "," + user), HasSubstr("\"b\" has no result"));
  EXPECT_THAT(fault_of("openai", begin + "," + user + "," + result("b")),
              HasSubstr("\"b\" has no result"));
  EXPECT_THAT(fault_of("openai", begin + "," + result("a")), HasSubstr("follows no tool call"));
  EXPECT_THAT(fault_of("openai", user + "," + result("a")), HasSubstr("follows no tool call"));
}

TEST(OpenAiHistory, IsRejectedIfIdsAreNotUniqueOrAreMissing) {
  EXPECT_THAT(fault_of("openai", user + "," + calls("a", "a")), HasSubstr("have the id \"a\""));
  EXPECT_THAT(fault_of("openai", user + "," + calls("a", "")), HasSubstr("has no id"));
}

TEST(OpenAiHistory, IsRejectedWithoutMessagesOrWithAnUnknownRole) {
  EXPECT_THAT(fault_of("openai", ""), HasSubstr("no messages"));
  EXPECT_THAT(fault_of("openai", R"({"role":"robot"})"), HasSubstr("\"robot\" is unknown"));
  EXPECT_THAT(fault_of("openai", R"({"role":"user","tool_calls":[{"id":"a"}]})"),
              HasSubstr("Only the assistant"));
}

TEST(AnyHistory, IsRejectedIfACallHasNoAllowedNameOrNoArguments) {
  auto openai = [](const std::string& function) {
    return fault_of("openai", user + R"(,{"role":"assistant","tool_calls":[{"id":"a","function":)" +
                                  function + "}]}," + result("a"));
  };
  EXPECT_EQ(openai(R"({"name":"send_mail","arguments":"{}"})"), "none");
  EXPECT_THAT(openai(R"({"name":"send mail","arguments":"{}"})"), HasSubstr("not allowed"));
  EXPECT_THAT(openai(R"({"name":"","arguments":"{}"})"), HasSubstr("not allowed"));
  EXPECT_THAT(openai("{\"name\":\"" + std::string(65, 'n') + "\"}"), HasSubstr("not allowed"));
  EXPECT_THAT(openai(R"({"name":"send","arguments":{}})"), HasSubstr("not a string"));
  std::string ollama = R"({"role":"assistant","tool_calls":[{"function":{"arguments":"{}"}}]})";
  EXPECT_THAT(fault_of("ollama", ollama), HasSubstr("not an object"));
  std::string anthropic = R"({"role":"assistant","content":[{"type":"tool_use","input":"{}"}]})";
  EXPECT_THAT(fault_of("anthropic", user + "," + anthropic), HasSubstr("not an object"));
}

// The messages of an Anthropic conversation.
std::string turn_of(const std::string& role, const std::string& blocks) {
  return R"({"role":")" + role + R"(","content":[)" + blocks + "]}";
}
std::string use(const std::string& id) { return R"({"type":"tool_use","id":")" + id + R"("})"; }
std::string block(const std::string& id) {
  return R"({"type":"tool_result","tool_use_id":")" + id + R"("})";
}
const std::string words = R"({"type":"text","text":"Well"})";
const std::string asks = user + "," + turn_of("assistant", words + "," + use("a") + "," + use("b"));

TEST(AnthropicHistory, IsAcceptedIfTheNextTurnBeginsWithAllResults) {
  EXPECT_EQ(fault_of("anthropic", user), "none");
  std::string results = block("a") + "," + block("b");
  EXPECT_EQ(fault_of("anthropic", asks + "," + turn_of("user", results + "," + words)), "none");
  EXPECT_EQ(fault_of("anthropic", asks + "," + turn_of("user", block("b")) + "," +
                                      turn_of("user", block("a")) + "," + user + "," + reply),
            "none")
      << "adjacent messages of a role are one turn";
}

TEST(AnthropicHistory, IsRejectedIfAResultIsMissingOrMisplaced) {
  auto after_calls = [](const std::string& messages) {
    return fault_of("anthropic", asks + "," + messages);
  };
  EXPECT_THAT(fault_of("anthropic", asks), HasSubstr("\"a\" has no result"));
  EXPECT_THAT(after_calls(turn_of("user", block("a"))), HasSubstr("\"b\" has no result"));
  EXPECT_THAT(after_calls(turn_of("user", block("a")) + "," + reply),
              HasSubstr("\"b\" has no result"));
  EXPECT_THAT(after_calls(turn_of("user", words + "," + block("a") + "," + block("b"))),
              HasSubstr("\"a\" has no result"));
  EXPECT_THAT(after_calls(turn_of("user", block("a") + "," + block("a"))),
              HasSubstr("follows no tool call"));
  EXPECT_THAT(fault_of("anthropic", user + "," + turn_of("user", block("a"))),
              HasSubstr("follows other content"));
  EXPECT_THAT(fault_of("anthropic", turn_of("user", block("a"))), HasSubstr("follows no tool"));
}

TEST(AnthropicHistory, IsRejectedIfRolesOrContentAreWrong) {
  EXPECT_THAT(fault_of("anthropic", reply), HasSubstr("first message"));
  EXPECT_THAT(fault_of("anthropic", R"({"role":"system","content":"Be brief."})"),
              HasSubstr("\"system\" is unknown"));
  EXPECT_THAT(fault_of("anthropic", turn_of("user", "")), HasSubstr("no content"));
  EXPECT_THAT(fault_of("anthropic", R"({"role":"user","content":""})"), HasSubstr("is empty"));
  EXPECT_THAT(fault_of("anthropic", turn_of("user", use("a"))), HasSubstr("Only the assistant"));
  EXPECT_THAT(fault_of("anthropic", user + "," + turn_of("assistant", block("a"))),
              HasSubstr("not in a message of the user"));
  EXPECT_THAT(fault_of("anthropic", user + "," + turn_of("assistant", use("a") + "," + use("a"))),
              HasSubstr("have the id"));
}

TEST(OllamaHistory, IsRejectedIfAToolMessageFollowsNoCalls) {
  std::string turn = user + "," + calls("a", "b") + "," + result("a") + "," + result("b");
  EXPECT_EQ(fault_of("ollama", ""), "none");
  EXPECT_EQ(fault_of("ollama", turn + "," + user), "none");
  EXPECT_THAT(fault_of("ollama", turn + "," + user + "," + result("a")), HasSubstr("follows no"));
  EXPECT_THAT(fault_of("ollama", user + "," + reply + "," + result("a")), HasSubstr("follows no"));
}

TEST(Histories, OfOurOwnRequestsAreAccepted) {
  ModelRequest request;
  request.messages = {{Role::system, "Be brief."}, {Role::user, "Hello"}};
  for (const char* id : {"a", "b", "c"}) {
    std::string other = std::string(id) + "2";
    request.messages.push_back(
        {Role::assistant, "", {{id, "weather", Value()}, {other, "weather", Value()}}});
    request.messages.push_back({Role::tool, "", {}, id});
    request.messages.push_back({Role::tool, "rain", {}, other});
    if (*id == 'b') request.messages.push_back({Role::user, "And?"});
    for (const char* protocol : {"openai", "anthropic", "ollama"}) {
      models::Server server;
      server.provider = protocol;
      Value body = parse_json(models::protocol_of(server)->encode(request).value().body).value();
      EXPECT_EQ(history_fault(body, protocol).value_or("none"), "none") << protocol;
    }
  }
}

TEST(Histories, ThatAreBrokenGetAnErrorFromTheScriptedServer) {
  for (const char* path : {"/api/chat", "/v1/chat/completions", "/v1/messages"}) {
    Asked asked;
    asked.method = "POST";
    asked.path = path;
    asked.headers = {{"x-api-key", "k"}, {"anthropic-version", "2023-06-01"}};
    asked.body =
        parse_json(R"({"model":"plain","max_tokens":9,"messages":[)" + result("a") + "]}").value();
    EXPECT_EQ(answer_to(asked).status, 400) << path;
    asked.body =
        parse_json(R"({"model":"plain","max_tokens":9,"messages":[)" + user + "]}").value();
    EXPECT_EQ(answer_to(asked).status, 200) << path;
  }
}

}  // namespace
}  // namespace belay::providers
