#pragma once
// tests/support/mcp_fixture.h - McpFixture: messages of MCP to an API, in both eras.

#include "tests/support/api_fixture.h"

namespace belay::server {

struct McpFixture : ApiFixture {
  static Value object(std::string_view json) { return parse_json(json).value(); }

  // The capabilities of a modern client.
  static Value with_tasks() {
    return object(R"({"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}})");
  }
  static Value with_elicitation() { return object(R"({"elicitation":{}})"); }

  static Value meta(Value capabilities) {
    return Value::object({{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                          {"io.modelcontextprotocol/clientCapabilities", std::move(capabilities)}});
  }

  static Value message(std::string_view method, Value params) {
    return Value::object(
        {{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", std::move(params)}});
  }

  http::Request http_message(const Value& document) const {
    http::Request made = request("POST", "/mcp", to_json(document));
    made.headers.push_back({"Accept", "application/json, text/event-stream"});
    if (!token.empty()) made.headers.push_back({"Authorization", "Bearer " + token});
    return made;
  }

  http::Request modern_message(std::string_view method, Value params, Value capabilities) const {
    auto& members = *params.as_object();
    Value extra = params["_meta"];
    Value all = meta(std::move(capabilities));
    if (extra.as_object())
      all.as_object()->insert(extra.as_object()->begin(), extra.as_object()->end());
    members.insert_or_assign("_meta", std::move(all));
    const std::string* name = params["name"].as_string();
    if (!name) name = params["taskId"].as_string();
    std::string named = name ? *name : "";
    http::Request made = http_message(message(method, std::move(params)));
    made.headers.push_back({"MCP-Protocol-Version", "2026-07-28"});
    made.headers.push_back({"Mcp-Method", std::string(method)});
    if (!named.empty()) made.headers.push_back({"Mcp-Name", named});
    return made;
  }

  // Returns the result; null, with a failure of the test, for an error.
  Value result_of(const Answered& answered) {
    EXPECT_EQ(answered.status, 200) << to_json(answered.body);
    EXPECT_FALSE(answered.body.find("error")) << to_json(answered.body);
    EXPECT_EQ(answered.body["id"], Value(7));
    return answered.body["result"];
  }
  static std::int64_t fault_of(const Answered& answered) {
    return answered.body["error"]["code"].as_int().value_or(0);
  }

  Answered legacy(std::string_view method, std::string_view params = "{}") {
    return send(http_message(message(method, object(params))));
  }
  Answered modern(std::string_view method, std::string_view params, Value capabilities) {
    return send(modern_message(method, object(params), std::move(capabilities)));
  }
  Answered task(std::string_view method, const std::string& id, const std::string& more = {}) {
    return modern(method, R"({"taskId":")" + id + "\"" + more + "}", with_tasks());
  }
  // Starts a run of the mail agent. Returns the id of its task.
  std::string started_task(const std::string& topic) {
    Value result = result_of(modern("tools/call", call_of(topic), with_tasks()));
    EXPECT_EQ(text(result["resultType"]), "task") << to_json(result);
    return text(result["taskId"]);
  }
  static std::string call_of(const std::string& topic) {
    return R"({"name":"mail","arguments":{"topic":")" + topic + "\"}}";
  }

  void add_key(std::string name, Permission permission) {
    ApiKey key;
    key.name = name;
    key.permission = permission;
    key.token = sha256("token of " + name);
    options.keys.push_back(std::move(key));
  }
  void act_as(const std::string& name) { token = "token of " + name; }

  std::string token;
};

}  // namespace belay::server
