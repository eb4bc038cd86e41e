// The configuration that the nodes of a run read.

#include "belay/schedule.h"
#include "tests/support/agent_server_run_fixture.h"

namespace belay::langgraph {
namespace {

using server::text;

struct RunConfigurations : RunFixture {
  // The configuration that a node of the run has read.
  Value read_by(const Answered& answered) {
    return parse_json(text(streamed(answered)["verse"])).value_or(Value());
  }
  Value read_with(const std::string& more) { return read_by(post(runs("/wait"), asked(more))); }
  static std::string asked(const std::string& more) { return about("settings", more); }
};

TEST_F(RunConfigurations, AreReadByNodes) {
  Value read = read_with(R"(,"config":{"configurable":{"a":1,"b":{"c":2}},"tags":["x"]},)"
                         R"("context":{"model":"small"})");
  EXPECT_EQ(read["configurable"]["a"], Value(1)) << to_json(read);
  EXPECT_EQ(read["configurable"]["b"]["c"], Value(2));
  EXPECT_EQ(text(read["configurable"]["graph_id"]), "poet");
  EXPECT_EQ(text(read["configurable"]["thread_id"]), kThreadA);
  EXPECT_EQ(text(read["configurable"]["user_id"]), "local");
  Value chosen = read_with(R"(,"config":{"configurable":{"user_id":"u","thread_id":"t",)"
                           R"("langgraph_auth_user_id":"root"}})");
  EXPECT_EQ(text(chosen["configurable"]["user_id"]), "u");
  EXPECT_EQ(text(chosen["configurable"]["langgraph_auth_user_id"]), "local");
  EXPECT_EQ(text(chosen["configurable"]["thread_id"]), kThreadA);
  EXPECT_EQ(text(read["context"]["model"]), "small");
}

TEST_F(RunConfigurations, OfARunWithoutAThreadHaveNoThreadOfTheClient) {
  auto sent = asked(R"(,"config":{"configurable":{"thread_id":"t","a":1}})");
  Value read = read_by(post("/runs/wait", sent))["configurable"];
  EXPECT_EQ(read["a"], Value(1)) << to_json(read);
  EXPECT_FALSE(read.find("thread_id"));
}

TEST_F(RunConfigurations, OfABatchWithAKeyHaveTheHeadersOfTheRequest) {
  auto sent = request(
      "POST", "/runs/batch",
      "[" + asked(R"(,"on_completion":"keep")") + "," + asked(R"(,"on_completion":"keep")") + "]");
  sent.headers.push_back({"idempotency-key", "k"});
  sent.headers.push_back({"X-Place", "here"});
  auto begun = send(std::move(sent));
  ASSERT_EQ(size_of(begun.body), 2u) << to_json(begun.body);
  EXPECT_NE((*begun.body.as_array())[0]["run_id"], (*begun.body.as_array())[1]["run_id"]);
  for (const Value& run : *begun.body.as_array()) {
    Value values = streamed(
        get("/threads/" + text(run["thread_id"]) + "/runs/" + text(run["run_id"]) + "/join"));
    Value read = parse_json(text(values["verse"])).value_or(Value());
    EXPECT_EQ(text(read["configurable"]["x-place"]), "here") << to_json(values);
  }
}

TEST_F(RunConfigurations, ComeFromTheAssistantThenTheThreadThenTheRun) {
  auto made =
      post("/assistants", R"({"graph_id":"poet","context":{"model":"of assistant","k":1},)"
                          R"("config":{"configurable":{"a":"assistant","b":"assistant"}}})");
  ASSERT_EQ(made.status, 200) << to_json(made.body);
  std::string body = R"({"assistant_id":")" + text(made.body["assistant_id"]) +
                     R"(","input":{"topic":"settings"},"context":{"model":"of run"},)"
                     R"("config":{"configurable":{"b":"run"}}})";
  Value read = read_by(post(runs("/wait"), body));
  EXPECT_EQ(text(read["configurable"]["a"]), "assistant") << to_json(read);
  EXPECT_EQ(text(read["configurable"]["b"]), "run");
  EXPECT_EQ(text(read["context"]["model"]), "of run");
  EXPECT_EQ(read["context"]["k"], Value(1));
  EXPECT_EQ(read["configurable"]["assistant_id"], made.body["assistant_id"]);
}

TEST_F(RunConfigurations, HaveTheHeadersOfTheRequestExceptKeys) {
  auto sent = request("POST", runs("/wait"), asked(""));
  for (const char* name :
       {"X-Configurable-Header", "X-Api-Key", "x-tenant-id", "X-Service-Key", "Authorization",
        "X-Forwarded-Access-Token", "X-Amzn-Oidc-Data", "X-Auth-Request-User", "X-Client-Secret",
        "X-Cookie", "X-Goog-Iap-Jwt-Assertion"}) {
    sent.headers.push_back({name, "value"});
  }
  sent.headers.push_back({"X-Bytes", "a\xff"});
  Value read = read_by(send(std::move(sent)))["configurable"];
  EXPECT_EQ(text(read["x-configurable-header"]), "value") << to_json(read);
  for (const char* secret : {"x-api-key", "x-tenant-id", "x-service-key", "authorization",
                             "x-forwarded-access-token", "x-amzn-oidc-data", "x-auth-request-user",
                             "x-client-secret", "x-cookie", "x-goog-iap-jwt-assertion"}) {
    EXPECT_FALSE(read.find(secret)) << secret;
  }
  EXPECT_FALSE(read.find("x-bytes"));
}

TEST_F(RunConfigurations, ThatAreTooLargeAreRefusedAndStartNothing) {
  std::string large(limits::configuration_bytes_max, 'x');
  auto refused = post(runs(), asked(R"(,"config":{"configurable":{"a":")" + large + "\"}}"));
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(size_of(get(runs()).body), 0u);
}

TEST_F(RunConfigurations, BelongToTheStartsOfOtherDoorsToo) {
  auto begun =
      post("/api/agents/poet/runs", R"({"input":{"topic":"settings"},"configuration":{"a":1}})");
  ASSERT_EQ(begun.status, 200) << to_json(begun.body);
  EXPECT_EQ(text(begun.body["state"]["verse"]), R"({"a":1})") << to_json(begun.body);
  auto plain = post("/api/agents/poet/runs", R"({"input":{"topic":"settings"}})");
  EXPECT_EQ(text(plain.body["state"]["verse"]), "{}");
  EXPECT_EQ(post("/api/agents/poet/runs", R"({"input":{},"configuration":[1]})").status, 422);
  // A fork has the configuration of its origin.
  Principal who;
  ForkOptions fork;
  fork.from = ThreadId(text(begun.body["threadId"]));
  fork.seq = 1;
  auto forked = block_on(loop, service->fork(who, std::move(fork)));
  ASSERT_TRUE(forked.ok()) << forked.error().message;
  EXPECT_EQ(text(forked->state["verse"]), R"({"a":1})");
}

TEST_F(RunConfigurations, OfACronAreKeptUnlessAChangeNamesThem) {
  std::string assistant =
      text(post("/assistants",
                R"({"graph_id":"poet","config":{"recursion_limit":9,"configurable":{"a":1}}})")
               .body["assistant_id"]);
  auto from = [this](const char* place, const char* method, const std::string& to,
                     const std::string& sent_body) {
    auto sent = request(method, to, sent_body);
    sent.headers.push_back({"X-Place", place});
    return send(std::move(sent));
  };
  Value cron = from("home", "POST", "/runs/crons",
                    R"({"assistant_id":")" + assistant +
                        R"(","schedule":"*/5 * * * *","input":{"topic":"a"}})")
                   .body;
  const std::string path = "/runs/crons/" + text(cron["cron_id"]);
  auto run = [&] {
    return block_on(loop, service->schedules().show(Principal(), UserId(text(cron["user_id"])),
                                                    "cron-" + text(cron["cron_id"]), 1))
        .value()
        .schedule.run;
  };
  auto configurable = [&] { return parse_json(run().configuration).value()["configurable"]; };
  const std::string before = run().configuration;
  EXPECT_EQ(text(configurable()["x-place"]), "home");
  ASSERT_EQ(call("PATCH", "/assistants/" + assistant,
                 R"({"config":{"recursion_limit":3,"configurable":{"a":2}}})")
                .status,
            200);
  for (const char* change : {R"({"metadata":{"b":1}})", R"({"enabled":true})", "{}"}) {
    ASSERT_EQ(from("work", "PATCH", path, change).status, 200) << change;
    EXPECT_EQ(run().configuration, before) << change;
    EXPECT_EQ(run().supersteps, 9) << change;
  }
  ASSERT_EQ(from("work", "PATCH", path, R"({"config":{"configurable":{"b":1}}})").status, 200);
  EXPECT_EQ(text(configurable()["x-place"]), "home") << "as the request that has made the cron";
  EXPECT_EQ(configurable()["a"], Value(2));
  EXPECT_EQ(configurable()["b"], Value(1));
  EXPECT_EQ(run().supersteps, 3);
  const std::string changed = run().configuration;
  ASSERT_EQ(call("DELETE", "/assistants/" + assistant).status, 200);
  EXPECT_EQ(call("PATCH", path, R"({"enabled":false})").status, 200);
  EXPECT_EQ(call("PATCH", path, R"({"context":{"c":1}})").status, 409);
  EXPECT_EQ(run().configuration, changed);
}

}  // namespace
}  // namespace belay::langgraph
