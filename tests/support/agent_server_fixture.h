#pragma once
// tests/support/agent_server_fixture.h - AgentServerFixture: the Agent Server API over the mail
// agent of ApiFixture, for tests.

#include "langgraph/agent_server.h"
#include "tests/support/api_fixture.h"

namespace belay::langgraph {

inline constexpr const char* kThreadA = "11111111-1111-4111-8111-111111111111";
inline constexpr const char* kThreadB = "22222222-2222-4222-8222-222222222222";

struct AgentServerFixture : server::ApiFixture {
  using Answered = server::Answered;

  AgentServerOptions agent_server = {};

  AgentServerFixture() { serve(); }

  void serve() {
    server::Api::OwnRoutes own = [this](server::ApiContext& world) {
      return agent_server_routes(world, agent_server);
    };
    server::ApiParts parts{*service, loop, clock, random};
    api = std::make_unique<server::Api>(parts, options, own);
  }
  // A key of the user, whose token is "token-of-NAME".
  void add_key(const std::string& name, Permission permission) {
    server::ApiKey key;
    key.name = name;
    key.permission = permission;
    key.token = sha256("token-of-" + name);
    options.keys.push_back(std::move(key));
    serve();
  }
  Answered as(const std::string& name, std::string method, std::string target,
              std::string body = {}) {
    auto sent = request(std::move(method), std::move(target), std::move(body));
    sent.headers.push_back({"X-Api-Key", "token-of-" + name});
    return send(std::move(sent));
  }
  Answered call(std::string method, std::string target, std::string body = {}) {
    return send(request(std::move(method), std::move(target), std::move(body)));
  }
  static std::size_t size_of(const Value& list) {
    return list.as_array() ? list.as_array()->size() : 0;
  }
};

}  // namespace belay::langgraph
