#include "server/routes.h"
#include "tests/support/api_fixture.h"

namespace belay::server {
namespace {

class IdleSession final : public WebSocketSession {
  void open(WebSocket&) override {}
  void receive(std::string) override {}
};

struct WebSockets : ApiFixture {
  WebSockets() { serve(); }

  void serve() {
    ApiParts parts{*service, loop, clock, random};
    api = std::make_unique<Api>(parts, options, [this](ApiContext&) {
      Route route = route_of("GET", "/echo", "echo", "Returns each message");
      route.permission = Permission::run;
      route.open_web_socket = [this](Call call) { return open_session(std::move(call)); };
      std::vector<Route> routes;
      routes.push_back(std::move(route));
      return routes;
    });
  }
  Task<Result<std::unique_ptr<WebSocketSession>>> open_session(Call) {
    if (refuses) co_return error(ErrorCode::not_found, "No echo here.");
    ++opened;
    std::unique_ptr<WebSocketSession> made = std::make_unique<IdleSession>();
    co_return std::move(made);
  }
  void add_key(const std::string& name, Permission permission) {
    ApiKey key;
    key.name = name;
    key.permission = permission;
    key.token = sha256("token-of-" + name);
    options.keys.push_back(std::move(key));
  }
  // The status of the response to a valid handshake with these headers instead.
  int status_with(const std::vector<http::Header>& headers) {
    http::Request sent = request("GET", "/echo");
    std::vector<http::Header> valid{{"Connection", "keep-alive, Upgrade"},
                                    {"Upgrade", "websocket"},
                                    {"Sec-WebSocket-Version", "13"},
                                    {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}};
    for (const http::Header& each : headers) sent.headers.push_back(each);
    for (const http::Header& each : valid) {
      if (!http::find_header(headers, each.name)) sent.headers.push_back(each);
    }
    return send(std::move(sent)).status;
  }

  int opened = 0;
  bool refuses = false;
};

TEST_F(WebSockets, NeedAKeyWithThePermission) {
  add_key("reader", Permission::read);
  add_key("runner", Permission::run);
  serve();
  EXPECT_EQ(status_with({}), 401);
  EXPECT_EQ(status_with({{"Authorization", "Bearer wrong"}}), 401);
  EXPECT_EQ(status_with({{"Authorization", "Bearer token-of-reader"}}), 403);
  EXPECT_EQ(opened, 0);
  EXPECT_EQ(status_with({{"X-Api-Key", "token-of-runner"}}), 101);
  EXPECT_EQ(opened, 1);
}

TEST_F(WebSockets, RefusePagesOfOtherOrigins) {
  add_key("runner", Permission::run);
  options.cors_origins = {"http://chat.example"};
  serve();
  auto status_of_page = [&](const std::string& origin) {
    return status_with({{"X-Api-Key", "token-of-runner"}, {"Origin", origin}});
  };
  EXPECT_EQ(status_of_page("http://evil.example"), 403);
  EXPECT_EQ(status_of_page("null"), 403);
  EXPECT_EQ(status_of_page("http://chat.example"), 101);
  EXPECT_EQ(status_of_page("http://127.0.0.1:8123"), 101);
}

TEST_F(WebSockets, AnswerFaultyHandshakesAsRequests) {
  serve();
  EXPECT_EQ(status_with({{"Upgrade", "h2c"}}), 426);
  EXPECT_EQ(status_with({{"Sec-WebSocket-Version", "8"}}), 426);
  EXPECT_EQ(status_with({{"Sec-WebSocket-Key", "short"}}), 400);
  EXPECT_EQ(status_with({{"Connection", "keep-alive"}}), 400);
  EXPECT_EQ(opened, 0);
}

TEST_F(WebSockets, AnswerAnErrorOfTheRouteAsARequest) {
  refuses = true;
  serve();
  EXPECT_EQ(status_with({}), 404);
}

}  // namespace
}  // namespace belay::server
