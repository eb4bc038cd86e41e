// The bodies of the requests of one conversation: a provider's prompt cache reuses the work of the
// previous request only if the next one begins with the same bytes.

#include <gtest/gtest.h>

#include <array>

#include "belay/testing.h"
#include "models/http_model.h"

namespace belay::models {
namespace {

constexpr std::array<const char*, 6> texts = {"rain",           "",   "\"quoted\" \\ \n\t",
                                              "雨 ☔ Ångström", "]}", "{\"messages\":[]}"};

class Prefix : public ::testing::TestWithParam<const char*> {
 protected:
  std::string body_of(const ModelRequest& request) const {
    Server server;
    server.provider = GetParam();
    server.model = "m-1";
    server.url = "http://models.test/v1";
    return protocol_of(server)->encode(request).value().body;
  }
  // Returns the body without the end of its list of messages.
  std::string prefix_of(const ModelRequest& request) const {
    std::string body = body_of(request);
    EXPECT_TRUE(body.ends_with("]}"));
    return body.substr(0, body.size() - 2);
  }
  std::string before_messages(const ModelRequest& request) const {
    std::string body = body_of(request);
    return body.substr(0, body.find(",\"messages\":[") + 1);
  }

  std::string text() { return texts[random_.bits() % texts.size()]; }

  ModelRequest begin() const {
    ModelRequest request;
    request.messages = {{Role::system, "Be brief."}, {Role::user, "How is the weather?"}};
    Value schema = parse_json(R"({"type":"object","properties":{"city":{}}})").value();
    request.tools = {{"weather", "Tells the weather.", schema},
                     {"zone", "Tells the time.", schema}};
    request.temperature = 0.5;
    request.max_output_tokens = 100;
    return request;
  }
  // Appends the model's reply, with up to 4 calls and all of their results, and sometimes a message
  // of the user, without which a reply that calls no tool is not followed by a request.
  void grow(ModelRequest& request) {
    Message reply{Role::assistant, text()};
    std::size_t calls = random_.bits() % 5;
    for (std::size_t at = 0; at < calls; ++at) {
      std::string id = "id-" + std::to_string(++last_id_);
      Value arguments = at == 2 ? Value("{broken") : Value::object({{"city", text()}});
      reply.tool_calls.push_back({id, at % 2 == 0 ? "weather" : "zone", std::move(arguments)});
    }
    request.messages.push_back(reply);
    for (const ToolCall& call : reply.tool_calls) {
      request.messages.push_back({Role::tool, text(), {}, call.id});
    }
    if (calls == 0 || random_.bits() % 3 == 0) request.messages.push_back({Role::user, text()});
  }

  ::belay::testing::SeededRandom random_{1};
  int last_id_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Protocols, Prefix, ::testing::Values("openai", "anthropic", "ollama"),
                         [](const auto& protocol) { return std::string(protocol.param); });

TEST_P(Prefix, OfTheNextBodyIsTheWholeLastOne) {
  ModelRequest request = begin();
  for (int step = 0; step < 100; ++step) {
    std::string last = prefix_of(request);
    grow(request);
    ASSERT_TRUE(body_of(request).starts_with(last)) << step << "\n" << last;
  }
  EXPECT_TRUE(parse_json(body_of(request)).ok());
}

TEST_P(Prefix, ContainsASchemaToo) {
  ModelRequest request = begin();
  request.response_schema = parse_json(R"({"type":"object","minProperties":1})").value();
  for (int step = 0; step < 10; ++step) {
    std::string last = prefix_of(request);
    grow(request);
    ASSERT_TRUE(body_of(request).starts_with(last)) << step;
  }
}

TEST_P(Prefix, IsTheSameForEqualRequests) {
  ModelRequest request = begin();
  grow(request);
  EXPECT_EQ(body_of(request), body_of(ModelRequest(request)));
}

TEST_P(Prefix, BeforeTheMessagesDependsOnTheOrderOfTheTools) {
  ModelRequest request = begin();
  std::string before = before_messages(request);
  EXPECT_GT(before.size(), 100u);
  std::swap(request.tools[0], request.tools[1]);
  EXPECT_FALSE(body_of(request).starts_with(before));
}

TEST_P(Prefix, EndsWhereTheSystemPromptDiffers) {
  ModelRequest request = begin();
  std::string last = prefix_of(request);
  request.messages[0].text = "Be verbose.";
  EXPECT_FALSE(body_of(request).starts_with(last));
}

TEST_P(Prefix, SurvivesAReplyWithoutContent) {
  ModelRequest request = begin();
  std::string last = prefix_of(request);
  request.messages.push_back({Role::assistant, ""});
  request.messages.push_back({Role::user, "Hello?"});
  EXPECT_TRUE(body_of(request).starts_with(last)) << body_of(request);
}

std::string anthropic_body(const ModelRequest& request) {
  Server server;
  server.provider = "anthropic";
  return protocol_of(server)->encode(request).value().body;
}

// The system prompt of this protocol is not a message.
TEST(AnthropicPrefix, BeforeTheMessagesDependsOnTheSystemPrompt) {
  ModelRequest request;
  request.messages = {{Role::system, "Be brief."}, {Role::user, "Hello"}};
  std::string body = anthropic_body(request);
  std::string before = body.substr(0, body.find("\"messages\""));
  request.messages.push_back({Role::assistant, "Hi."});
  EXPECT_TRUE(anthropic_body(request).starts_with(before));
  request.messages.push_back({Role::system, "Be briefer."});
  EXPECT_FALSE(anthropic_body(request).starts_with(before));
}

// The API combines messages of one role anyway, and its cache compares content blocks.
TEST(AnthropicPrefix, EndsWithTheLastBlockIfTheUserContinuesWithoutAReply) {
  ModelRequest request;
  request.messages = {{Role::user, "Hello"}};
  request.messages.push_back({Role::assistant, "", {{"c1", "weather", Value()}}});
  request.messages.push_back({Role::tool, "rain", {}, "c1"});
  std::string last = anthropic_body(request);
  std::string end_of_turn = R"(],"role":"user"}]})";
  ASSERT_TRUE(last.ends_with(end_of_turn));
  request.messages.push_back({Role::user, "And?"});
  std::string next = anthropic_body(request);
  EXPECT_FALSE(next.starts_with(last.substr(0, last.size() - 2)));
  EXPECT_TRUE(next.starts_with(last.substr(0, last.size() - end_of_turn.size())));
}

}  // namespace
}  // namespace belay::models
