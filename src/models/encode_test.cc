// Encoded requests, compared with the descriptions of the three APIs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/http_model.h"

namespace belay::models {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Server server_of(std::string provider, std::string key = "") {
  Server server;
  server.provider = std::move(provider);
  server.model = "m-1";
  server.url = "http://models.test/v1";
  server.key = std::move(key);
  return server;
}

Value json(std::string_view text) { return parse_json(text).value(); }

Value body_of(const Server& server, const ModelRequest& request) {
  return json(protocol_of(server)->encode(request).value().body);
}

std::string header_of(const net::HttpRequest& http, std::string_view name) {
  for (const net::HttpHeader& header : http.headers) {
    if (header.name == name) return header.value;
  }
  return "none";
}

ModelRequest hello() {
  ModelRequest request;
  request.messages = {{Role::system, "Be brief."}, {Role::user, "Hello"}};
  return request;
}

// Returns a conversation in which the model called a tool twice in one reply.
ModelRequest with_tools() {
  ModelRequest request = hello();
  Message assistant{Role::assistant, ""};
  assistant.tool_calls = {{"c1", "weather", json(R"({"city":"Oslo"})")},
                          {"c2", "weather", Value("{broken")}};
  Message first{Role::tool, "rain"};
  first.tool_call_id = "c1";
  Message second{Role::tool, "no JSON"};
  second.tool_call_id = "c2";
  request.messages.insert(request.messages.end(), {assistant, first, second});
  request.messages.push_back({Role::user, "And?"});
  request.tools = {{"weather", "Tells the weather.", json(R"({"type":"object"})")}};
  return request;
}

ModelRequest with_schema() {
  ModelRequest request = hello();
  request.purpose = "daily audit!";
  request.response_schema = json(
      R"({"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"],
          "additionalProperties":false})");
  return request;
}

TEST(Ollama, IsAskedAsItsDocumentsSay) {
  Server server = server_of("ollama", "k");
  auto http = protocol_of(server)->encode(hello()).value();
  EXPECT_EQ(http.method, "POST");
  EXPECT_EQ(http.url, "http://models.test/v1/api/chat");
  EXPECT_EQ(header_of(http, "authorization"), "Bearer k");
  EXPECT_EQ(header_of(http, "content-type"), "application/json");
  EXPECT_EQ(json(http.body), json(R"({"model":"m-1","stream":true,"messages":[
      {"role":"system","content":"Be brief."},{"role":"user","content":"Hello"}]})"));
  EXPECT_EQ(header_of(protocol_of(server_of("ollama"))->encode(hello()).value(), "authorization"),
            "none");
}

TEST(Ollama, GetsOptionsUnderItsOwnNames) {
  Server server = server_of("ollama");
  server.max_output_tokens = 100;
  server.context_tokens = 8192;
  ModelRequest request = hello();
  request.temperature = 0.5;
  request.seed = 7;
  EXPECT_EQ(body_of(server, request)["options"],
            json(R"({"num_predict":100,"num_ctx":8192,"temperature":0.5,"seed":7})"));
  request.max_output_tokens = 5;
  EXPECT_EQ(body_of(server, request)["options"]["num_predict"], Value(5));
}

TEST(Ollama, GetsToolsAndTheirResults) {
  Value body = body_of(server_of("ollama"), with_tools());
  EXPECT_EQ(body["tools"], json(R"([{"type":"function","function":{"name":"weather",
      "description":"Tells the weather.","parameters":{"type":"object"}}}])"));
  const Value::Array& messages = *body["messages"].as_array();
  EXPECT_EQ(messages[2], json(R"({"role":"assistant","content":"","tool_calls":[
      {"id":"c1","function":{"index":0,"name":"weather","arguments":{"city":"Oslo"}}},
      {"id":"c2","function":{"index":1,"name":"weather","arguments":{"text":"{broken"}}}]})"));
  EXPECT_EQ(messages[3], json(R"({"role":"tool","content":"rain","tool_name":"weather",
      "tool_call_id":"c1"})"));
  ModelRequest request = with_tools();
  request.tool_choice = ToolChoice::none;
  EXPECT_TRUE(body_of(server_of("ollama"), request)["tools"].is_null());
}

TEST(Ollama, IsToldTheSchemaInWordsToo) {
  ModelRequest request = with_schema();
  Value body = body_of(server_of("ollama"), request);
  EXPECT_EQ(body["format"], request.response_schema);
  const Value& first = body["messages"].as_array()->front();
  EXPECT_EQ(first["role"], Value("system"));
  EXPECT_NE(first["content"].as_string()->find(to_json(request.response_schema)),
            std::string::npos);
}

TEST(OpenAi, IsAskedAsItsDocumentsSay) {
  auto http = protocol_of(server_of("openai", "sk-1"))->encode(hello()).value();
  EXPECT_EQ(http.url, "http://models.test/v1/chat/completions");
  EXPECT_EQ(header_of(http, "authorization"), "Bearer sk-1");
  EXPECT_EQ(json(http.body), json(R"({"model":"m-1","stream":true,
      "stream_options":{"include_usage":true},"messages":[
      {"role":"system","content":"Be brief."},{"role":"user","content":"Hello"}]})"));
}

TEST(OpenAi, NamesTheMostTokensAsTheServerKnowsThem) {
  ModelRequest request = hello();
  request.max_output_tokens = 9;
  request.temperature = 0;
  request.seed = 1;
  Server server = server_of("openai");
  EXPECT_EQ(body_of(server, request)["max_tokens"], Value(9));
  EXPECT_EQ(body_of(server, request)["seed"], Value(1));
  server.url = "https://api.openai.com/v1";
  EXPECT_EQ(body_of(server, request)["max_completion_tokens"], Value(9));
  EXPECT_TRUE(body_of(server, request)["max_tokens"].is_null());
}

TEST(OpenAi, GetsToolsAndTheirResults) {
  ModelRequest request = with_tools();
  Value body = body_of(server_of("openai"), request);
  const Value::Array& messages = *body["messages"].as_array();
  EXPECT_EQ(messages[2], json(R"({"role":"assistant","content":null,"tool_calls":[
      {"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}},
      {"id":"c2","type":"function","function":{"name":"weather","arguments":"{broken"}}]})"));
  EXPECT_EQ(messages[3], json(R"({"role":"tool","tool_call_id":"c1","content":"rain"})"));
  EXPECT_TRUE(body["tool_choice"].is_null());
  request.tool_choice = ToolChoice::required;
  EXPECT_EQ(body_of(server_of("openai"), request)["tool_choice"], Value("required"));
  request.tool_choice = ToolChoice::none;
  EXPECT_EQ(body_of(server_of("openai"), request)["tool_choice"], Value("none"));
}

TEST(OpenAi, IsHeldToTheSchemaStrictlyWhereThatIsPossible) {
  ModelRequest request = with_schema();
  Value format = body_of(server_of("openai"), request)["response_format"];
  EXPECT_EQ(format["type"], Value("json_schema"));
  EXPECT_EQ(format["json_schema"]["name"], Value("daily_audit_"));
  EXPECT_EQ(format["json_schema"]["strict"], Value(true));
  EXPECT_EQ(format["json_schema"]["schema"], request.response_schema);
  for (const char* loose :
       {R"({"type":"array"})", R"({"type":"object"})",
        R"({"type":"object","properties":{"a":{}},"required":["a"]})",
        R"({"type":"object","properties":{"a":{}},"required":[],"additionalProperties":false})",
        R"({"type":"object","properties":{"a":{"oneOf":[]}},"required":["a"],
            "additionalProperties":false})"}) {
    request.response_schema = json(loose);
    format = body_of(server_of("openai"), request)["response_format"];
    EXPECT_EQ(format["json_schema"]["strict"], Value(false)) << loose;
  }
}

TEST(Anthropic, IsAskedAsItsDocumentsSay) {
  auto http = protocol_of(server_of("anthropic", "k-1"))->encode(hello()).value();
  EXPECT_EQ(http.url, "http://models.test/v1/v1/messages");
  EXPECT_EQ(header_of(http, "x-api-key"), "k-1");
  EXPECT_EQ(header_of(http, "anthropic-version"), "2023-06-01");
  EXPECT_EQ(header_of(http, "authorization"), "none");
  EXPECT_EQ(json(http.body), json(R"({"model":"m-1","stream":true,"max_tokens":4096,
      "system":"Be brief.","messages":[
      {"role":"user","content":[{"type":"text","text":"Hello"}]}]})"));
}

TEST(Anthropic, GetsTheResultsOfATurnInOneMessage) {
  ModelRequest request = with_tools();
  Value body = body_of(server_of("anthropic"), request);
  EXPECT_EQ(body["messages"], json(R"([
      {"role":"user","content":[{"type":"text","text":"Hello"}]},
      {"role":"assistant","content":[
        {"type":"tool_use","id":"c1","name":"weather","input":{"city":"Oslo"}},
        {"type":"tool_use","id":"c2","name":"weather","input":{"text":"{broken"}}]},
      {"role":"user","content":[
        {"type":"tool_result","tool_use_id":"c1","content":"rain"},
        {"type":"tool_result","tool_use_id":"c2","content":"no JSON"},
        {"type":"text","text":"And?"}]}])"));
  EXPECT_EQ(body["tools"], json(R"([{"name":"weather","description":"Tells the weather.",
      "input_schema":{"type":"object"}}])"));
  EXPECT_EQ(body["tool_choice"], json(R"({"type":"auto"})"));
  request.tool_choice = ToolChoice::required;
  EXPECT_EQ(body_of(server_of("anthropic"), request)["tool_choice"], json(R"({"type":"any"})"));
}

TEST(Anthropic, GetsThePartOfASchemaThatItTakesAndTheRestInWords) {
  ModelRequest request = with_schema();
  Value body = body_of(server_of("anthropic"), request);
  EXPECT_EQ(body["output_config"], json(R"({"format":{"type":"json_schema","schema":{
      "type":"object","properties":{"n":{"type":"integer"}},"required":["n"],
      "additionalProperties":false}}})"));
  EXPECT_NE(body["system"].as_string()->find("\"minimum\":1"), std::string::npos);
}

TEST(Protocols, AskWhichModelsThereAre) {
  EXPECT_EQ(protocol_of(server_of("ollama"))->listing().url, "http://models.test/v1/api/tags");
  EXPECT_EQ(protocol_of(server_of("openai"))->listing().url, "http://models.test/v1/models");
  EXPECT_THAT(protocol_of(server_of("ollama"))->names_in(json(R"({"models":[{"name":"a"},{}]})")),
              ElementsAre("a"));
  EXPECT_THAT(protocol_of(server_of("openai"))->names_in(json(R"({"data":[{"id":"b"}]})")),
              ElementsAre("b"));
  EXPECT_THAT(protocol_of(server_of("anthropic"))->names_in(json("[]")), IsEmpty());
}

}  // namespace
}  // namespace belay::models
