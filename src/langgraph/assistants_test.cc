#include "langgraph/assistants.h"

#include "tests/support/agent_server_fixture.h"

namespace belay::langgraph {
namespace {

using server::text;
using Assistants = AgentServerFixture;

constexpr const char* kOwnId = "33333333-3333-4333-8333-333333333333";

TEST(AssistantIds, ThoseOfTheServerAreUuidsOfTheNameOfTheGraph) {
  EXPECT_EQ(system_assistant_id("agent"), "fe096781-5601-53d2-b2f6-0d3403f7e9ca");
}

TEST_F(Assistants, EachAgentIsOneUnderItsNameAndItsId) {
  auto by_name = get("/assistants/mail");
  ASSERT_EQ(by_name.status, 200) << to_json(by_name.body);
  EXPECT_EQ(text(by_name.body["graph_id"]), "mail");
  EXPECT_EQ(to_json(by_name.body["metadata"]), R"({"created_by":"system"})");
  EXPECT_EQ(by_name.body["version"], Value(1));
  auto by_id = get("/assistants/" + system_assistant_id("mail"));
  EXPECT_EQ(by_id.body, by_name.body);
}

TEST_F(Assistants, AnUnknownOneIsNamedInAllMembersThatClientsRead) {
  auto unknown = get("/assistants/none");
  EXPECT_EQ(unknown.status, 404);
  for (const char* member : {"detail", "message"}) {
    EXPECT_TRUE(text(unknown.body[member]).starts_with("No assistant found for \"none\""));
  }
  EXPECT_EQ(text(unknown.body["error"]), "not_found");
  EXPECT_EQ(get(std::string("/assistants/") + kOwnId).status, 404);
}

TEST_F(Assistants, TheGraphHasItsNodesAndDecisions) {
  auto shown = get("/assistants/mail/graph?xray=1&unknown=2");
  ASSERT_EQ(shown.status, 200) << to_json(shown.body);
  EXPECT_EQ(text(shown.body["nodes"].as_array()->front()["id"]), "__start__");
  std::string edges = to_json(shown.body["edges"]);
  EXPECT_NE(edges.find(R"({"source":"__start__","target":"write"})"), std::string::npos) << edges;
  EXPECT_NE(edges.find(R"({"source":"send","target":"__end__"})"), std::string::npos) << edges;
  EXPECT_NE(edges.find(R"("data":"approved")"), std::string::npos) << edges;
  EXPECT_EQ(text(get("/assistants/mail/schemas").body["graph_id"]), "mail");
  EXPECT_EQ(to_json(get("/assistants/mail/subgraphs").body), "{}");
}

TEST_F(Assistants, EachChangeMakesAVersionAndAnyVersionCanBeUsedAgain) {
  auto made = post("/assistants", R"({"graph_id":"mail","name":"First","metadata":{"a":1},)"
                                  R"("config":{"configurable":{"m":"x"}},"unknown":true})");
  ASSERT_EQ(made.status, 200) << to_json(made.body);
  std::string path = "/assistants/" + text(made.body["assistant_id"]);
  auto changed = call("PATCH", path, R"({"name":"Second","metadata":{"b":2}})");
  ASSERT_EQ(changed.status, 200) << to_json(changed.body);
  EXPECT_EQ(changed.body["version"], Value(2));
  EXPECT_EQ(to_json(changed.body["metadata"]), R"({"a":1,"b":2})");
  EXPECT_EQ(text(changed.body["config"]["configurable"]["m"]), "x");
  auto versions = post(path + "/versions", "{}");
  ASSERT_EQ(size_of(versions.body), 2u);
  EXPECT_EQ(versions.body.as_array()->front()["version"], Value(2));
  auto again = post(path + "/latest", R"({"version":1})");
  EXPECT_EQ(text(again.body["name"]), "First");
  EXPECT_EQ(get(path).body, again.body);
  EXPECT_EQ(call("PATCH", path, "{}").body["version"], Value(1)) << "nothing changes";
  EXPECT_EQ(call("PATCH", path, R"({"name":"Third"})").body["version"], Value(3))
      << "no version has two meanings";
  EXPECT_EQ(post(path + "/latest", R"({"version":9})").status, 404);
  EXPECT_EQ(post(path + "/latest", "{}").status, 422);
  EXPECT_EQ(to_json(call("DELETE", path).body), "[\"" + text(made.body["assistant_id"]) + "\"]");
  EXPECT_EQ(get(path).status, 404);
  EXPECT_EQ(call("DELETE", path).status, 404);
}

TEST_F(Assistants, AnIdIsTakenOnce) {
  std::string body = std::string(R"({"graph_id":"mail","assistant_id":")") + kOwnId + "\"";
  EXPECT_EQ(post("/assistants", body + "}").status, 200);
  EXPECT_EQ(post("/assistants", body + "}").status, 409);
  EXPECT_EQ(post("/assistants", body + R"(,"if_exists":"do_nothing"})").status, 200);
  EXPECT_EQ(post("/assistants", body + R"(,"if_exists":"perhaps"})").status, 422);
  std::string of_server = R"({"graph_id":"mail","assistant_id":")" + system_assistant_id("mail");
  EXPECT_EQ(post("/assistants", of_server + "\"}").status, 409);
}

TEST_F(Assistants, HostileBodiesCreateNothing) {
  for (const char* body : {"{}", R"({"graph_id":7})", R"({"graph_id":"mail","config":[]})",
                           R"({"graph_id":"mail","metadata":"x"})",
                           R"({"graph_id":"mail","assistant_id":"x"})", "[]", "null"}) {
    EXPECT_EQ(post("/assistants", body).status, 422) << body;
  }
  EXPECT_EQ(post("/assistants", "{").status, 400);
  EXPECT_EQ(post("/assistants", R"({"graph_id":"none"})").status, 404);
  EXPECT_EQ(post("/assistants/count", "{}").body, Value(1));
}

TEST_F(Assistants, ThoseOfTheServerCannotBeChanged) {
  EXPECT_EQ(call("PATCH", "/assistants/mail", R"({"name":"x"})").status, 409);
  EXPECT_EQ(call("DELETE", "/assistants/mail").status, 409);
  EXPECT_EQ(post("/assistants/mail/latest", R"({"version":1})").status, 409);
  EXPECT_EQ(size_of(post("/assistants/mail/versions", "{}").body), 1u);
}

TEST_F(Assistants, SearchesFilterSortAndPage) {
  for (const char* name : {"beta", "Alpha", "gamma"}) {
    post("/assistants",
         std::string(R"({"graph_id":"mail","metadata":{"k":{"x":1}},"name":")") + name + "\"}");
  }
  auto page = post("/assistants/search", R"({"metadata":{"k":{"x":1.0}},"limit":2,)"
                                         R"("sort_by":"name","sort_order":"asc"})");
  ASSERT_EQ(size_of(page.body), 2u) << to_json(page.body);
  EXPECT_EQ(text(page.body.as_array()->front()["name"]), "Alpha");
  EXPECT_EQ(page.header("X-Pagination-Total"), "3");
  EXPECT_EQ(page.header("X-Pagination-Next"), "2");
  auto rest = post("/assistants/search", R"({"name":"ALPH","select":["name"]})");
  EXPECT_EQ(to_json(rest.body), R"([{"name":"Alpha"}])");
  EXPECT_EQ(rest.header("X-Pagination-Next"), "");
  EXPECT_EQ(size_of(post("/assistants/search", R"({"offset":50})").body), 0u);
  EXPECT_EQ(post("/assistants/search", R"({"limit":0})").status, 422);
  EXPECT_EQ(post("/assistants/search", R"({"limit":1001})").status, 422);
  EXPECT_EQ(post("/assistants/search", R"({"sort_by":"x"})").status, 422);
  EXPECT_EQ(post("/assistants/count", R"({"graph_id":"mail"})").body, Value(4));
}

TEST_F(Assistants, ThoseOfOneUserDoNotExistForAnother) {
  add_key("ada", Permission::run);
  add_key("bob", Permission::run);
  add_key("eve", Permission::read);
  auto made = as("ada", "POST", "/assistants", R"({"graph_id":"mail"})");
  ASSERT_EQ(made.status, 200) << to_json(made.body);
  std::string path = "/assistants/" + text(made.body["assistant_id"]);
  EXPECT_EQ(as("ada", "GET", path).status, 200);
  EXPECT_EQ(as("bob", "GET", path).status, 404);
  EXPECT_EQ(as("bob", "DELETE", path).status, 404);
  EXPECT_EQ(as("bob", "POST", "/assistants/count", "{}").body, Value(1));
  EXPECT_EQ(as("eve", "POST", "/assistants", R"({"graph_id":"mail"})").status, 403);
  EXPECT_EQ(get(path).status, 401);
  EXPECT_EQ(get("/ok").status, 200) << "it needs no key";
  EXPECT_EQ(get("/info").body["flags"]["assistants"], Value(true));
}

TEST_F(Assistants, ABodyOfPlainTextIsJson) {
  auto sent = request("POST", "/assistants/search", R"({"limit":1})");
  sent.headers.front().value = "text/plain";
  EXPECT_EQ(send(std::move(sent)).status, 200);
}

}  // namespace
}  // namespace belay::langgraph
