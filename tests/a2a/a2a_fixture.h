#pragma once
// tests/a2a/a2a_fixture.h - A2aFixture: requests of A2A to an API over the mail agent, for tests.

#include "a2a/a2a_options.h"
#include "tests/support/mcp_fixture.h"

namespace belay::a2a {

using server::Answered;
using server::text;

struct A2aFixture : server::McpFixture {
  A2aOptions a2a = {};
  std::string version = "1.0";
  std::string last_event;

  A2aFixture() { serve(); }

  // Opens another server on the store.
  void serve() {
    server::ApiParts parts{*service, loop, clock, random};
    server::Api::OwnRoutes own = [this](server::ApiContext& world) {
      return a2a_routes(world, a2a);
    };
    api = std::make_unique<server::Api>(parts, options, own);
  }

  static Value message(const std::string& id, Value::Array parts) {
    return Value::object({{"messageId", id}, {"role", "ROLE_USER"}, {"parts", std::move(parts)}});
  }
  static Value about(const std::string& id, const std::string& topic) {
    Value data = Value::object({{"data", Value::object({{"topic", topic}})}});
    return message(id, Value::Array{std::move(data)});
  }
  static Value reply(const std::string& id, const std::string& task, Value part) {
    Value made = message(id, Value::Array{std::move(part)});
    made.as_object()->emplace("taskId", task);
    return made;
  }
  static Value words(const std::string& said) { return Value::object({{"text", said}}); }
  static Value sent(Value message, Value configuration = {}) {
    Value params = Value::object({{"message", std::move(message)}});
    if (!configuration.is_null()) {
      params.as_object()->emplace("configuration", std::move(configuration));
    }
    return params;
  }
  static Value at_once() { return Value::object({{"returnImmediately", true}}); }
  static Value task_id(const std::string& id) { return Value::object({{"id", id}}); }

  http::Request http_call(const std::string& body, const std::string& agent = "mail") {
    http::Request made = request("POST", "/a2a/" + agent, body);
    if (!version.empty()) made.headers.push_back({"A2A-Version", version});
    if (!token.empty()) made.headers.push_back({"Authorization", "Bearer " + token});
    if (!last_event.empty()) made.headers.push_back({"Last-Event-ID", last_event});
    return made;
  }
  Answered call(const std::string& method, Value params, const std::string& agent = "mail") {
    return send(http_call(to_json(server::McpFixture::message(method, std::move(params))), agent));
  }
  // Sends a message, and returns the task.
  Value task_of_message(Value message, Value configuration = {}) {
    Value params = sent(std::move(message), std::move(configuration));
    Value result = result_of(call("SendMessage", std::move(params)));
    return result["task"];
  }
  Value task_now(const std::string& id) { return result_of(call("GetTask", task_id(id))); }
  static std::string state(const Value& task) { return text(task["status"]["state"]); }
  static std::string reason_of(const Answered& answered) {
    const Value::Array* data = answered.body["error"]["data"].as_array();
    return data ? text(data->front()["reason"]) : "";
  }
};

}  // namespace belay::a2a
