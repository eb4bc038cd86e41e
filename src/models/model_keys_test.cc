// The key that each provider's server receives, over a real socket; and the
// limits of names and schemas.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/models.h"
#include "models/protocol.h"
#include "tests/support/scripted_server.h"

namespace belay::models {
namespace {

using net::Peer;
using net::ScriptedServer;
using ::testing::HasSubstr;
using ::testing::Not;

// Returns the request that a server of this provider receives if each provider has a key.
std::string request_of(const std::string& provider, bool with_keys = true) {
  std::string seen;
  ScriptedServer server([&](Peer& peer, int) {
    seen = peer.request();
    peer.send("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n");
    peer.sees_the_end();
  });
  ModelSettings settings;
  settings.models = provider + ":m";
  settings.url = server.url("");
  settings.proxy = "";
  if (with_keys) {
    settings.ollama_key = "key-of-ollama";
    settings.openai_key = "key-of-openai";
    settings.anthropic_key = "key-of-anthropic";
  }
  auto clock = system_clock();
  auto loop = make_event_loop();
  auto model = open_model(settings, *clock).value();
  ModelRequest request;
  request.messages = {{Role::user, "Hello"}};
  EXPECT_FALSE(block_on(*loop, model->generate(std::move(request))).ok());
  model.reset();
  return seen;
}

TEST(ModelKeys, GoToTheServersOfTheirOwnProvider) {
  for (std::string provider : {"ollama", "openai", "anthropic"}) {
    SCOPED_TRACE(provider);
    std::string header = provider == "anthropic" ? "x-api-key: " : "authorization: Bearer ";
    std::string request = request_of(provider);
    EXPECT_THAT(request, HasSubstr("\r\n" + header + "key-of-" + provider + "\r\n"));
    for (std::string other : {"ollama", "openai", "anthropic"}) {
      if (other == provider) continue;
      EXPECT_THAT(request, Not(HasSubstr("key-of-" + other)));
    }
    EXPECT_THAT(request_of(provider, false), Not(HasSubstr(header))) << "without a key";
  }
}

// A server that keeps the requests that it receives, and has no model.
struct KeptRequests {
  std::vector<std::string> seen;
  ScriptedServer server{[this](Peer& peer, int) {
    seen.push_back(peer.request());
    peer.send("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
    peer.sees_the_end();
  }};
};

TEST(ModelKeys, AModelThatARequestNamesHasTheServerAndTheKeyOfItsProvider) {
  KeptRequests listed;
  KeptRequests named;
  ModelSettings settings;
  settings.models = "ollama:m";
  settings.url = listed.server.url("");
  settings.proxy = "";
  settings.ollama_key = "key-of-ollama";
  settings.openai_key = "key-of-openai";
  auto clock = system_clock();
  auto loop = make_event_loop();
  auto model = open_model(settings, *clock).value();
  auto ask = [&](std::string name) {
    ModelRequest request;
    request.model = std::move(name);
    request.messages = {{Role::user, "Hello"}};
    auto reply = block_on(*loop, model->generate(std::move(request)));
    return reply.ok() ? Error{} : reply.error();
  };
  ask("ollama:other");
  ask("openai:gpt@" + named.server.url(""));
  EXPECT_THAT(ask("anthropic:claude").message, HasSubstr("ANTHROPIC_API_KEY"));
  EXPECT_THAT(ask("ollama:a, ollama:b").message, HasSubstr("one model"));
  EXPECT_THAT(ask("claude").message, HasSubstr("Unknown model"));
  model.reset();
  ASSERT_EQ(listed.seen.size(), 1u);
  EXPECT_THAT(listed.seen[0], HasSubstr("\"other\""));
  EXPECT_THAT(listed.seen[0], HasSubstr("key-of-ollama"));
  ASSERT_EQ(named.seen.size(), 1u);
  EXPECT_THAT(named.seen[0], HasSubstr("key-of-openai"));
  EXPECT_THAT(named.seen[0], Not(HasSubstr("key-of-ollama")));
}

TEST(ModelNames, AreOfTwoHundredBytesAtMost) {
  ModelSettings settings;
  settings.models = "openai:" + std::string(200, 'm');
  ASSERT_TRUE(parse_model_names(settings).ok());
  EXPECT_EQ(parse_model_names(settings)->at(0).name.size(), 200u);
  settings.models += 'm';
  EXPECT_FALSE(parse_model_names(settings).ok());
}

// Returns an object schema nested this deep.
Value schema_of(int levels) {
  Value::Object members;
  members.emplace("type", "object");
  members.emplace("additionalProperties", false);
  members.emplace("required", Value(Value::Array{"inner"}));
  Value inner = levels > 1 ? schema_of(levels - 1) : Value::object({{"type", "string"}});
  members.emplace("properties", Value::object({{"inner", std::move(inner)}}));
  return Value(std::move(members));
}

bool is_strict(Value schema) {
  Server server;
  server.provider = "openai";
  server.model = "m";
  server.url = "https://api.openai.com/v1";
  ModelRequest request;
  request.purpose = "test";
  request.messages = {{Role::user, "Hello"}};
  request.response_schema = std::move(schema);
  Value body = parse_json(openai_protocol(server)->encode(request).value().body).value();
  return *body["response_format"]["json_schema"]["strict"].as_bool();
}

TEST(OpenAi, ASchemaIsStrictToADepthOfTen) {
  EXPECT_TRUE(is_strict(schema_of(10)));
  EXPECT_FALSE(is_strict(schema_of(11)));
  // A definition is one level deeper than the schema that contains it.
  auto with_definition = [](Value definition) {
    Value schema = schema_of(1);
    schema.as_object()->emplace("$defs", Value::object({{"part", std::move(definition)}}));
    return schema;
  };
  EXPECT_TRUE(is_strict(with_definition(schema_of(9))));
  EXPECT_FALSE(is_strict(with_definition(schema_of(10))));
}

}  // namespace
}  // namespace belay::models
