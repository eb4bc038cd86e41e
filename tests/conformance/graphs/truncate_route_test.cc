// POST /internal/truncate in a server with LangGraph's API.

#include "tests/conformance/graphs/truncate_route.h"

#include <gtest/gtest.h>

#include "server/module_routes.h"
#include "tests/support/agent_server_fixture.h"

namespace belay::conformance {
namespace {

constexpr const char* kItem = R"({"namespace":["a"],"key":"k","value":{"n":1}})";
constexpr const char* kAssistant = R"({"graph_id":"mail","name":"Mailer"})";

struct TruncateRoute : langgraph::AgentServerFixture {
  TruncateRoute() { serve_both(); }

  void serve_both() {
    server::Api::OwnRoutes own = [this](server::ApiContext& world) {
      auto routes = langgraph::agent_server_routes(world, {});
      std::vector<ModuleRoute> added{truncate_route(langgraph::collections())};
      for (server::Route& route : server::module_routes(added, settings, world)) {
        routes.push_back(std::move(route));
      }
      return routes;
    };
    server::ApiParts parts{*service, loop, clock, random};
    api = std::make_unique<server::Api>(parts, options, own);
  }
  int truncate(const std::string& body) { return post("/internal/truncate", body).status; }
  std::size_t threads() { return size_of(post("/threads/search", "{}").body); }
  std::size_t items() {
    return size_of(post("/store/items/search", R"({"namespace_prefix":[]})").body["items"]);
  }
  std::size_t assistants() { return size_of(post("/assistants/search", "{}").body); }

  ModuleSettings settings;
};

TEST_F(TruncateRoute, DeletesThreadsInEachState) {
  begin_urgent("waits");
  post("/api/agents/mail/runs", R"({"input":{"topic":"plain"},"threadId":"ended"})");
  for (int i = 0; i < 120; ++i) post("/threads", "{}");
  EXPECT_GT(threads(), 0u);
  EXPECT_EQ(truncate(R"({"threads":true,"runs":true})"), 200);
  EXPECT_EQ(threads(), 0u);
  EXPECT_EQ(get("/api/threads/waits").status, 404);
  EXPECT_EQ(truncate(R"({"threads":true})"), 200) << "an empty store";
}

TEST_F(TruncateRoute, DeletesOnlyWhatItsBodySelects) {
  begin_urgent("waits");
  ASSERT_EQ(send(request("PUT", "/store/items", kItem)).status / 100, 2);
  ASSERT_EQ(post("/assistants", kAssistant).status, 200);
  std::size_t all = assistants();
  EXPECT_EQ(truncate("{}"), 200);
  EXPECT_EQ(threads(), 1u);
  EXPECT_EQ(truncate(R"({"store":true,"threads":false})"), 200);
  EXPECT_EQ(items(), 0u);
  EXPECT_EQ(threads(), 1u);
  EXPECT_EQ(assistants(), all);
  EXPECT_EQ(truncate(R"({"assistants":true})"), 200);
  EXPECT_EQ(assistants(), all - 1) << "those of the graphs themselves remain";
  EXPECT_EQ(threads(), 1u);
}

TEST_F(TruncateRoute, RefusesAnotherBodyAndAKeyThatCannotAdminister) {
  begin_urgent("waits");
  for (const char* body : {"[]", R"({"threads":"yes"})", "{"}) {
    int status = truncate(body);
    EXPECT_TRUE(status == 400 || status == 422) << body << ": " << status;
  }
  EXPECT_EQ(threads(), 1u);
  add_key("ana", Permission::decide);
  serve_both();
  EXPECT_EQ(as("ana", "POST", "/internal/truncate", R"({"threads":true})").status, 403);
}

}  // namespace
}  // namespace belay::conformance
