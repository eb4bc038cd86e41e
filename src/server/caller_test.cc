// Callers: keys, the names and roles under which they act, and the operations that they are denied.

#include <gmock/gmock.h>

#include "tests/support/api_fixture.h"

namespace belay::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string text_of(const Value& value) {
  const std::string* held = value.as_string();
  return held ? *held : to_json(value);
}

struct ApiCallers : ApiFixture {
  ApiCallers() {
    add_key("ana", Permission::run);
    add_key("ana", Permission::administer, {}, "ana-administers-16");
    add_key("bob", Permission::decide);
    add_key("eve", Permission::run);
    add_key("lea", Permission::decide, {"lawyer"});
    api = make_api();
  }

  void add_key(const std::string& name, Permission permission, std::vector<std::string> roles = {},
               std::string token = "") {
    ApiKey key;
    key.name = name;
    key.permission = permission;
    key.roles = std::move(roles);
    key.token = sha256(token.empty() ? token_of(name) : token);
    options.keys.push_back(std::move(key));
  }
  static std::string token_of(const std::string& name) { return name + "-token-0123456789"; }

  http::Request request_as(const std::string& name, std::string method, std::string target,
                           std::string body = {}) {
    auto made = request(std::move(method), std::move(target), std::move(body));
    made.headers.push_back({"Authorization", "Bearer " + token_of(name)});
    return made;
  }
  Answered as(const std::string& name, std::string method, std::string target,
              std::string body = {}) {
    return send(request_as(name, std::move(method), std::move(target), std::move(body)));
  }

  Answered begin(const std::string& name, const std::string& thread,
                 const std::string& agent = "mail") {
    return as(name, "POST", "/api/agents/" + agent + "/runs",
              R"({"input":{"topic":"urgent"},"threadId":")" + thread + "\"}");
  }

  // Adds a graph whose approval requires a role.
  void add_contracts() {
    GraphBuilder<Mail> builder{"contracts"};
    builder.approval("sign", &Mail::topic, {.question = "Sign?", .roles = {"lawyer", "notary"}})
        .approved("send")
        .rejected(end);
    builder.node("send", send_mail);
    builder.edge(start, "sign").edge("send", end);
    auto contracts = std::move(builder).build().value();
    runtime->add(contracts);
    service = make_local_service(LocalServiceParts{*store,
                                                   *store,
                                                   *runtime,
                                                   loop,
                                                   clock,
                                                   random,
                                                   {graph.definition(), contracts.definition()},
                                                   {},
                                                   {}});
    api = make_api();
  }
};

TEST_F(ApiCallers, DecideInTheirOwnNameWhateverTheBodySays) {
  begin("ana", "t");
  auto decided =
      as("bob", "POST", "/api/approvals/t/decision", R"({"approved":true,"decidedBy":"ana"})");
  EXPECT_EQ(decided.status, 200);
  EXPECT_EQ(text_of(decided.body["approval"]["decidedBy"]), "bob");
  EXPECT_EQ(text_of(decided.body["approval"]["onBehalfOf"]), "ana");
  auto run = *uuid_from(text_of(decided.body["run"]["runId"]));
  auto bodies = event_bodies(RunId(run), "decision");
  ASSERT_EQ(bodies.size(), 1u);
  EXPECT_EQ(text_of(bodies[0]["decidedBy"]), "bob");
  EXPECT_EQ(text_of(bodies[0]["onBehalfOf"]), "ana");
  std::string events = to_json(as("ana", "GET", "/api/threads/t/events?kinds=approvals").body);
  EXPECT_THAT(events, HasSubstr(R"("decidedBy":"bob")"));
  EXPECT_THAT(events, HasSubstr(R"("onBehalfOf":"ana")"));
}

TEST_F(ApiCallers, AreToldThatTheirDecisionWonAlsoIfTheyDoNotWait) {
  begin("ana", "t");
  auto sent = request_as("bob", "POST", "/api/approvals/t/decision",
                         R"({"approved":true,"decidedBy":"Zoe"})");
  sent.headers.push_back({"Prefer", "wait=0"});
  auto decided = send(std::move(sent));
  EXPECT_EQ(text_of(decided.body["result"]), "accepted");
  EXPECT_EQ(text_of(decided.body["answer"]), "won");
}

TEST_F(ApiCallers, DecideForNobodyElseWhereTheyNameThemselves) {
  begin("ana", "t");
  auto decided = as("bob", "POST", "/api/approvals/t/decision",
                    R"({"approved":true,"decidedBy":"bob","onBehalfOf":"bob"})");
  EXPECT_EQ(text_of(decided.body["approval"]["decidedBy"]), "bob");
  EXPECT_TRUE(decided.body["approval"]["onBehalfOf"].is_null());
}

TEST_F(ApiCallers, NameOnlyOneOtherPerson) {
  begin("ana", "t");
  auto refused = as("bob", "POST", "/api/approvals/t/decision",
                    R"({"approved":true,"decidedBy":"eve","onBehalfOf":"ana"})");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(text_of(refused.body["code"]), "forbidden");
  EXPECT_EQ(text_of(as("ana", "GET", "/api/threads/t").body["status"]), "paused");
}

TEST_F(ApiCallers, CancelInTheirOwnName) {
  auto begun = begin("ana", "t");
  EXPECT_EQ(as("ana", "POST", "/api/threads/t/cancel", R"({"by":"bob"})").status, 200);
  auto bodies = event_bodies(RunId(*uuid_from(text_of(begun.body["runId"]))), "cancel");
  ASSERT_EQ(bodies.size(), 1u);
  EXPECT_EQ(text_of(bodies[0]["by"]), "ana");
  EXPECT_EQ(text_of(bodies[0]["onBehalfOf"]), "bob");
}

TEST_F(ApiCallers, WithoutKeysActUnderTheNamesOfTheBody) {
  options.keys.clear();
  api = make_api();
  begin_urgent("t");
  auto decided = post("/api/approvals/t/decision",
                      R"({"approved":true,"decidedBy":"the office","onBehalfOf":"ana"})");
  EXPECT_EQ(text_of(decided.body["approval"]["decidedBy"]), "the office");
  EXPECT_EQ(text_of(decided.body["approval"]["onBehalfOf"]), "ana");
}

TEST_F(ApiCallers, DecideWhatTakesARoleWithOneOfTheirKeysRoles) {
  add_contracts();
  auto begun = begin("ana", "t", "contracts");
  ASSERT_EQ(begun.status, 202);
  EXPECT_EQ(to_json(begun.body["approval"]["roles"]), R"(["lawyer","notary"])");
  const std::string address = "/api/approvals/t/decision";
  auto refused = as("bob", "POST", address, R"({"approved":true})");
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(text_of(refused.body["detail"]), HasSubstr("lawyer,notary"));
  refused = as("bob", "POST", address, R"({"approved":true,"roles":["lawyer"]})");
  EXPECT_EQ(refused.status, 403) << "a role is the key's, not the body's";
  EXPECT_EQ(text_of(as("ana", "GET", "/api/approvals/t").body["status"]), "open");
  auto decided = as("lea", "POST", address, R"({"approved":true})");
  EXPECT_EQ(decided.status, 200) << to_json(decided.body);
  EXPECT_EQ(text_of(decided.body["approval"]["decidedBy"]), "lea");
}

TEST_F(ApiCallers, WithoutKeysHaveTheRolesOfTheBody) {
  options.keys.clear();
  add_contracts();
  post("/api/agents/contracts/runs", R"({"input":{"topic":"x"},"threadId":"t"})");
  EXPECT_EQ(post("/api/approvals/t/decision", R"({"approved":true})").status, 403);
  EXPECT_EQ(post("/api/approvals/t/decision", R"({"approved":true,"roles":["notary"]})").status,
            200);
}

TEST_F(ApiCallers, ForkWithEditsOnlyInTheRoleOfWhatTheySkip) {
  add_contracts();
  begin("lea", "t", "contracts");
  ASSERT_EQ(as("lea", "POST", "/api/approvals/t/decision", R"({"approved":true})").status, 200);
  options.keys.back().roles.clear();  // lea's
  api = make_api();
  const std::string edits = R"({"edits":{"topic":"another"},"threadId":"u"})";
  EXPECT_EQ(as("lea", "POST", "/api/threads/t/fork", edits).status, 403);
  options.keys.back().roles = {"notary"};
  api = make_api();
  auto forked = as("lea", "POST", "/api/threads/t/fork", edits);
  EXPECT_EQ(forked.status, 202) << to_json(forked.body);
  EXPECT_EQ(text_of(forked.body["approval"]["payload"]), "another") << "it is asked anew";
}

TEST_F(ApiCallers, OfAnotherUsersApprovalSeeWhatItShowsAndNotTheRun) {
  begin("ana", "t");
  auto shown = as("bob", "GET", "/api/approvals/t");
  EXPECT_EQ(text_of(shown.body["payload"]), "Dear urgent");
  for (const char* target : {"/api/threads/t", "/api/threads/t/history", "/api/threads/t/calls",
                             "/api/threads/t/events", "/api/threads/t/export"}) {
    EXPECT_EQ(as("bob", "GET", target).status, 404) << target;
  }
  auto decided = as("bob", "POST", "/api/approvals/t/decision", R"({"approved":true})");
  EXPECT_EQ(decided.status, 200);
  EXPECT_TRUE(decided.body["run"]["state"].is_null());
  EXPECT_EQ(text_of(decided.body["run"]["status"]), "completed");
  begin("bob", "own");
  decided = as("bob", "POST", "/api/approvals/own/decision", R"({"approved":true})");
  EXPECT_EQ(text_of(decided.body["run"]["state"]["draft"]), "Dear urgent");
}

TEST_F(ApiCallers, AreNotToldThatAnothersThreadDoesNotAsk) {
  as("ana", "POST", "/api/agents/mail/runs", R"({"input":{"topic":"calm"},"threadId":"calm"})");
  auto absent = as("bob", "GET", "/api/approvals/none");
  auto calm = as("bob", "GET", "/api/approvals/calm");
  EXPECT_EQ(calm.status, 404);
  std::string detail = text_of(calm.body["detail"]);
  detail.replace(detail.find("calm"), 4, "none");
  EXPECT_EQ(detail, text_of(absent.body["detail"]));
  EXPECT_EQ(as("ana", "GET", "/api/approvals/calm").status, 409) << "she may know";
}

TEST_F(ApiCallers, AreToldOfATakenNameAndNoMore) {
  begin("ana", "waits");
  as("ana", "POST", "/api/agents/mail/runs", R"({"input":{"topic":"calm"},"threadId":"ended"})");
  std::vector<std::string> said;
  for (const char* thread : {"waits", "ended"}) {
    for (const char* topic : {"urgent", "calm", "else"}) {
      std::string body =
          std::string(R"({"input":{"topic":")") + topic + R"("},"threadId":")" + thread + "\"}";
      auto refused = as("eve", "POST", "/api/agents/mail/runs", std::move(body));
      EXPECT_EQ(refused.status, 409);
      std::string detail = text_of(refused.body["detail"]);
      detail.replace(detail.find(thread), 5, "X");
      said.push_back(detail);
    }
  }
  EXPECT_THAT(said, ::testing::Each(said.front()));
}

TEST_F(ApiCallers, AreNotAnsweredWithWhatWasKeptForAnother) {
  begin("ana", "t");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(as("ana", "GET", "/api/threads/t").status, 200);
    EXPECT_EQ(as("eve", "GET", "/api/threads/t").status, 404);
    EXPECT_EQ(as("ana", "GET", "/api/runs").body["runs"].as_array()->size(), 1u);
    EXPECT_EQ(as("eve", "GET", "/api/runs").body["runs"].as_array()->size(), 0u);
  }
  // Two keys with one name might have different permissions.
  begin("eve", "u");
  auto all = request("GET", "/api/runs");
  all.headers.push_back({"Authorization", "Bearer ana-administers-16"});
  EXPECT_EQ(send(std::move(all)).body["runs"].as_array()->size(), 2u);
  EXPECT_EQ(as("ana", "GET", "/api/runs").body["runs"].as_array()->size(), 1u);
}

TEST_F(ApiCallers, BeginNoRunThatAsksNobodyUnlessTheyMay) {
  const std::string body = R"({"input":{"topic":"urgent"},"requireApproval":false})";
  auto refused = as("eve", "POST", "/api/agents/mail/runs", body);
  EXPECT_EQ(refused.status, 403);
  EXPECT_TRUE(all_runs().empty());
  EXPECT_EQ(as("bob", "POST", "/api/agents/mail/runs", body).status, 200);
  struct Setting {
    std::optional<Permission> takes;
    int eve, bob;
  };
  for (const Setting& each :
       {Setting{Permission::run, 200, 200}, Setting{Permission::administer, 403, 403},
        Setting{std::nullopt, 403, 403}}) {
    options.no_approval_takes = each.takes;
    api = make_api();
    EXPECT_EQ(as("eve", "POST", "/api/agents/mail/runs", body).status, each.eve);
    EXPECT_EQ(as("bob", "POST", "/api/agents/mail/runs", body).status, each.bob);
  }
}

// A fork has the options of its original run.
TEST_F(ApiCallers, ForkNoRunThatAsksNobodyUnlessTheyMay) {
  options.no_approval_takes = Permission::run;
  api = make_api();
  as("eve", "POST", "/api/agents/mail/runs",
     R"({"input":{"topic":"urgent"},"requireApproval":false,"threadId":"t"})");
  EXPECT_EQ(as("eve", "POST", "/api/threads/t/fork", R"({"seq":1})").status, 200);
  options.no_approval_takes = Permission::decide;
  api = make_api();
  EXPECT_EQ(as("eve", "POST", "/api/threads/t/fork", R"({"seq":1})").status, 403);
}

TEST_F(ApiCallers, WithoutKeysMayAskNobody) {
  options.keys.clear();
  options.no_approval_takes = std::nullopt;
  api = make_api();
  EXPECT_EQ(post("/api/agents/mail/runs", R"({"input":{"topic":"urgent"},"requireApproval":false})")
                .status,
            200);
}

TEST_F(ApiCallers, ForkAsThemselves) {
  begin("ana", "t");
  auto forked = as("ana", "POST", "/api/threads/t/fork", R"({"threadId":"u"})");
  EXPECT_EQ(text_of(forked.body["userId"]), "ana");
  auto as_other = as("ana", "POST", "/api/threads/t/fork", R"({"threadId":"v","userId":"bob"})");
  EXPECT_EQ(as_other.status, 404);
  auto made = request("POST", "/api/threads/t/fork", R"({"threadId":"v","userId":"bob"})");
  made.headers.push_back({"Authorization", "Bearer ana-administers-16"});
  EXPECT_EQ(text_of(send(std::move(made)).body["userId"]), "bob");
}

TEST_F(ApiCallers, MayWriteTheSchemeInAnyCase) {
  for (const char* scheme : {"Bearer ", "bearer ", "BEARER ", "Bearer  "}) {
    auto made = request("GET", "/api/runs");
    made.headers.push_back({"Authorization", scheme + token_of("ana")});
    EXPECT_EQ(send(std::move(made)).status, 200) << scheme;
  }
  for (std::string said : {"Basic " + token_of("ana"), token_of("ana"), std::string("bearer "),
                           std::string("Bearer    "), "bearer" + token_of("ana")}) {
    auto made = request("GET", "/api/runs");
    made.headers.push_back({"Authorization", said});
    EXPECT_EQ(send(std::move(made)).status, 401) << said;
  }
}

TEST_F(ApiCallers, WithoutKeysMayWriteTheHostInAnyCase) {
  options.keys.clear();
  api = make_api();
  for (const char* host : {"LOCALHOST", "LocalHost:8123", "localhost", "127.0.0.1", "[::1]:8123"}) {
    auto made = request("GET", "/api/runs");
    made.headers.back().value = host;
    EXPECT_EQ(send(std::move(made)).status, 200) << host;
  }
  auto foreign = request("GET", "/api/runs");
  foreign.headers.back().value = "localhost.evil.example";
  EXPECT_EQ(send(std::move(foreign)).status, 403);
}

TEST_F(ApiCallers, GetAnswersThatNobodyInBetweenKeepsOrGuessesAt) {
  begin("ana", "t");
  for (const Route& route : api->routes()) {
    auto answered = as("ana", route.method, route.path);
    EXPECT_EQ(answered.header("X-Content-Type-Options"), "nosniff") << route.id;
    EXPECT_EQ(answered.header("Cache-Control"), "no-store") << route.id;
  }
  auto streamed = request_as("ana", "GET", "/api/threads/t/events");
  streamed.headers.push_back({"Accept", "text/event-stream"});
  auto stream = send(std::move(streamed));
  EXPECT_EQ(stream.header("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(stream.header("Cache-Control"), "no-store");
  EXPECT_EQ(as("ana", "GET", "/nowhere").header("X-Content-Type-Options"), "nosniff");
}

}  // namespace
}  // namespace belay::server
