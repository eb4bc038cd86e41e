// POST /mcp: agents as tools, in both eras, and messages that are refused.

#include <gmock/gmock.h>

#include "tests/support/mcp_fixture.h"

namespace belay::server {
namespace {

using Mcp = McpFixture;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

TEST_F(Mcp, AnOlderClientInitializesAndListsAgentsAsTools) {
  Value begun = result_of(legacy("initialize", R"({"protocolVersion":"2025-06-18"})"));
  EXPECT_EQ(text(begun["protocolVersion"]), "2025-06-18");
  EXPECT_EQ(text(begun["serverInfo"]["name"]), "belay");
  EXPECT_TRUE(begun["capabilities"]["tools"].as_object());
  begun = result_of(legacy("initialize", R"({"protocolVersion":"1999-01-01"})"));
  EXPECT_EQ(text(begun["protocolVersion"]), "2025-11-25");
  EXPECT_EQ(to_json(result_of(legacy("ping"))), "{}");
  Value list = result_of(legacy("tools/list"));
  ASSERT_EQ(list["tools"].as_array()->size(), 1u);
  const Value& tool = list["tools"].as_array()->front();
  EXPECT_EQ(text(tool["name"]), "mail");
  EXPECT_EQ(text(tool["inputSchema"]["properties"]["topic"]["type"]), "string");
  EXPECT_EQ(text(tool["inputSchema"]["properties"]["rounds"]["type"]), "integer");
  EXPECT_FALSE(list.find("resultType"));
  EXPECT_EQ(result_of(legacy("tools/list", R"({"cursor":"mail"})"))["tools"].as_array()->size(),
            0u);
  EXPECT_EQ(fault_of(legacy("tools/list", R"({"cursor":1})")), -32602);
}

TEST_F(Mcp, AModernClientDiscoversWithoutAHandshake) {
  Value found = result_of(modern("server/discover", "{}", Value(Value::Object())));
  EXPECT_EQ(found["supportedVersions"].as_array()->front(), Value("2026-07-28"));
  EXPECT_TRUE(found["capabilities"]["extensions"]["io.modelcontextprotocol/tasks"].as_object());
  EXPECT_EQ(text(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"]), "belay");
  Value list = result_of(modern("tools/list", "{}", Value(Value::Object())));
  EXPECT_EQ(text(list["resultType"]), "complete");
  EXPECT_EQ(text(list["cacheScope"]), "private");
  EXPECT_TRUE(list["ttlMs"].as_int());
}

TEST_F(Mcp, ACallReturnsTheFinalState) {
  Value result = result_of(legacy("tools/call", call_of("calm")));
  EXPECT_EQ(result["isError"], Value(false));
  EXPECT_EQ(text(result["structuredContent"]["status"]), "completed");
  EXPECT_EQ(text(result["structuredContent"]["outcome"]), "sent");
  EXPECT_EQ(text(result["structuredContent"]["state"]["draft"]), "Dear calm");
  const Value& content = result["content"].as_array()->front();
  EXPECT_EQ(text(content["text"]), to_json(result["structuredContent"]));
  EXPECT_FALSE(result.find("resultType"));
  result = result_of(modern("tools/call", call_of("calm"), with_tasks()));
  EXPECT_EQ(text(result["resultType"]), "complete") << "it ends at once";
  EXPECT_EQ(all_runs().size(), 2u);
}

TEST_F(Mcp, AFaultOfTheArgumentsIsAnErrorInWords) {
  Value result = result_of(legacy("tools/call", R"({"name":"mail","arguments":{"topik":"x"}})"));
  EXPECT_EQ(result["isError"], Value(true));
  EXPECT_THAT(text(result["content"].as_array()->front()["text"]), HasSubstr("topik"));
  result = result_of(legacy("tools/call", R"({"name":"mail","arguments":{"topic":1}})"));
  EXPECT_EQ(result["isError"], Value(true));
  EXPECT_EQ(fault_of(legacy("tools/call", R"({"name":"none"})")), -32602);
  EXPECT_EQ(fault_of(legacy("tools/call", R"({"name":1})")), -32602);
  EXPECT_EQ(fault_of(legacy("tools/call", R"({"name":"mail","arguments":[]})")), -32602);
  EXPECT_TRUE(all_runs().empty());
}

TEST_F(Mcp, ARunThatFailsIsAnErrorInWords) {
  model.then_always([](const ModelRequest&) -> Result<std::string> {
    return error(ErrorCode::invalid, "No such model.");
  });
  Value result = result_of(legacy("tools/call", call_of("calm")));
  EXPECT_EQ(result["isError"], Value(true));
  EXPECT_THAT(text(result["content"].as_array()->front()["text"]), HasSubstr("No such model."));
  EXPECT_EQ(text(result["structuredContent"]["status"]), "failed");
}

TEST_F(Mcp, AnOlderClientLearnsInWordsThatTheRunWaits) {
  Value result = result_of(legacy("tools/call", call_of("urgent")));
  EXPECT_EQ(result["isError"], Value(false));
  std::string said = text(result["content"].as_array()->front()["text"]);
  EXPECT_THAT(said, HasSubstr("Send this mail?"));
  EXPECT_THAT(said, HasSubstr(text(result["structuredContent"]["threadId"])));
  EXPECT_EQ(text(result["structuredContent"]["status"]), "paused");
}

TEST_F(Mcp, ALongRunIsReportedInProgressAndContinues) {
  model.takes(2min);
  Value result = result_of(legacy("tools/call", call_of("calm")));
  EXPECT_EQ(text(result["structuredContent"]["status"]), "running");
  EXPECT_EQ(all_runs().front().status, RunStatus::running);
  loop.run_until(clock.now() + 3min);
  // The node has a time limit, and three attempts.
  EXPECT_EQ(all_runs().front().status, RunStatus::failed);
}

TEST_F(Mcp, ACallWithAKeyFindsItsRun) {
  std::string call =
      R"({"name":"mail","arguments":{"topic":"calm"},"_meta":{"belay/idempotencyKey":"k"}})";
  Value first = result_of(legacy("tools/call", call));
  Value again = result_of(modern("tools/call", call, with_tasks()));
  EXPECT_EQ(first["structuredContent"]["runId"], again["structuredContent"]["runId"]);
  EXPECT_EQ(all_runs().size(), 1u);
  std::string wrong = R"({"name":"mail","arguments":{},"_meta":{"belay/idempotencyKey":7}})";
  EXPECT_EQ(result_of(legacy("tools/call", wrong))["isError"], Value(true));
  std::string named = R"({"name":"mail","arguments":{},"_meta":{"belay/threadId":"mine"}})";
  Value mine = result_of(legacy("tools/call", named));
  EXPECT_EQ(text(mine["structuredContent"]["threadId"]), "mine");
}

TEST_F(Mcp, ARepeatedCallFindsItsRunWhateverTheLimit) {
  options.starts.per_minute = 1;
  api = make_api();
  auto call = [](const std::string& key) {
    return R"({"name":"mail","arguments":{"topic":"calm"},"_meta":{"belay/idempotencyKey":")" +
           key + "\"}}";
  };
  Value first = result_of(legacy("tools/call", call("k")));
  clock.move(1ms);
  EXPECT_EQ(legacy("tools/call", call("other")).status, 429);
  Value again = result_of(legacy("tools/call", call("k")));
  EXPECT_EQ(first["structuredContent"]["runId"], again["structuredContent"]["runId"]);
  EXPECT_EQ(all_runs().size(), 1u);
}

TEST_F(Mcp, MalformedMessagesAreErrorsOfJsonRpc) {
  auto sent = [this](const std::string& body) {
    http::Request made = request("POST", "/mcp", body);
    return send(std::move(made));
  };
  const std::pair<std::string, std::int64_t> bodies[] = {
      {"{", -32700},
      {"", -32700},
      {R"({"a":"\ud800"})", -32700},
      {std::string(10'000, '['), -32700},
      {"[]", -32600},
      {R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", -32600},
      {"7", -32600},
      {R"({"id":1,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":{},"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1})", -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":7})", -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":""})", -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})", -32602},
  };
  for (const auto& [body, code] : bodies) {
    auto made = request("POST", "/mcp", body);
    if (body.empty()) made.headers.push_back({"Content-Type", "application/json"});
    Answered answered = send(std::move(made));
    EXPECT_EQ(answered.status, 400) << body.substr(0, 80);
    EXPECT_EQ(fault_of(answered), code) << body.substr(0, 80);
  }
  EXPECT_EQ(fault_of(sent(R"({"jsonrpc":"2.0","id":"a","method":"no/such"})")), -32601);
  EXPECT_EQ(text(sent(R"({"jsonrpc":"2.0","id":"a","method":"no/such"})").body["id"]), "a");
}

TEST_F(Mcp, NotificationsAndRepliesAreAcceptedWithoutABody) {
  for (const char* body :
       {R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
        R"({"jsonrpc":"2.0","method":"no/such"})", R"({"jsonrpc":"2.0","id":1,"result":{}})"}) {
    Answered answered = post("/mcp", body);
    EXPECT_EQ(answered.status, 202) << body;
    EXPECT_TRUE(answered.body.is_null());
    EXPECT_EQ(answered.header("Content-Type"), "");
  }
}

TEST_F(Mcp, TheTransportChecksTypesAndMethods) {
  http::Request events = http_message(message("ping", Value(Value::Object())));
  for (http::Header& header : events.headers) {
    if (header.name == "Accept") header.value = "text/event-stream";
  }
  EXPECT_EQ(send(std::move(events)).status, 406);
  http::Request plain = request("POST", "/mcp", "{}");
  plain.headers.front().value = "text/plain";
  EXPECT_EQ(send(std::move(plain)).status, 415);
  EXPECT_EQ(get("/mcp").status, 405);
  EXPECT_EQ(get("/mcp").header("Allow"), "POST");
  EXPECT_EQ(send(request("DELETE", "/mcp")).status, 405);
  http::Request foreign = http_message(message("ping", Value(Value::Object())));
  foreign.headers.push_back({"Origin", "https://evil.example"});
  EXPECT_EQ(send(std::move(foreign)).status, 403);
}

TEST_F(Mcp, TheHeadersOfAModernRequestRepeatItsMessage) {
  auto refused = [this](std::string_view name, std::optional<std::string> value) {
    http::Request made = modern_message("tools/call", object(call_of("calm")), with_tasks());
    std::erase_if(made.headers, [name](const http::Header& each) { return each.name == name; });
    if (value) made.headers.push_back({std::string(name), *value});
    Answered answered = send(std::move(made));
    return answered.status == 400 ? fault_of(answered) : 0;
  };
  EXPECT_EQ(refused("Mcp-Method", std::nullopt), -32020);
  EXPECT_EQ(refused("Mcp-Method", "TOOLS/CALL"), -32020);
  EXPECT_EQ(refused("Mcp-Name", std::nullopt), -32020);
  EXPECT_EQ(refused("Mcp-Name", "another"), -32020);
  EXPECT_EQ(refused("MCP-Protocol-Version", std::nullopt), -32020);
  EXPECT_EQ(refused("MCP-Protocol-Version", "2025-11-25"), -32020);
  EXPECT_TRUE(all_runs().empty());
  EXPECT_EQ(refused("Mcp-Name", "=?base64?bWFpbA==?="), 0);
}

TEST_F(Mcp, MetadataVersionsAndMethodsOfTheModernEraAreChecked) {
  auto with = [this](std::string_view method, Value meta_value, std::string version) {
    Value params = Value::object({{"_meta", std::move(meta_value)}});
    http::Request made = http_message(message(method, std::move(params)));
    made.headers.push_back({"MCP-Protocol-Version", std::move(version)});
    made.headers.push_back({"Mcp-Method", std::string(method)});
    return send(std::move(made));
  };
  Answered answered = with("tools/list", Value(), "2026-07-28");
  EXPECT_EQ(answered.status, 400);
  EXPECT_EQ(fault_of(answered), -32602);
  Value no_capabilities =
      Value::object({{"io.modelcontextprotocol/protocolVersion", "2026-07-28"}});
  EXPECT_EQ(fault_of(with("tools/list", std::move(no_capabilities), "2026-07-28")), -32602);
  Value future = meta(Value(Value::Object()));
  future.as_object()->insert_or_assign("io.modelcontextprotocol/protocolVersion", "2999-01-01");
  answered = with("tools/list", std::move(future), "2999-01-01");
  EXPECT_EQ(answered.status, 400);
  EXPECT_EQ(fault_of(answered), -32022);
  EXPECT_EQ(text(answered.body["error"]["data"]["requested"]), "2999-01-01");
  EXPECT_TRUE(answered.body["error"]["data"]["supported"].as_array());
  for (const char* method :
       {"ping", "initialize", "resources/list", "tasks/list", "tasks/result"}) {
    answered = with(method, meta(with_tasks()), "2026-07-28");
    EXPECT_EQ(answered.status, 404) << method;
    EXPECT_EQ(fault_of(answered), -32601) << method;
  }
}

TEST_F(Mcp, AboveTheLimitOfRunningRunsACallIsRefusedUnlessItsKeyHasARun) {
  GraphBuilder<Mail> builder{"mail"};
  builder.node("write", write_mail);
  builder.edge(start, "write").edge("write", end);
  graph = std::move(builder).build().value();
  runtime->add(graph);
  service = make_service();
  options.starts.at_work = 1;
  api = make_api();
  model.takes(10s);
  auto with_key = [this](const std::string& key) {
    std::string names = R"("_meta":{"belay/threadId":"t","belay/idempotencyKey":")" + key + "\"}";
    std::string params = R"({"name":"mail","arguments":{"topic":"calm"},)" + names + "}";
    return modern("tools/call", params, with_tasks());
  };
  Value first = result_of(with_key("k"));
  EXPECT_EQ(text(first["resultType"]), "task");
  EXPECT_EQ(result_of(with_key("k"))["taskId"], first["taskId"]);
  for (bool is_modern : {true, false}) {
    Answered refused = is_modern ? with_key("l") : legacy("tools/call", call_of("calm"));
    EXPECT_EQ(refused.status, 429) << is_modern;
    EXPECT_EQ(fault_of(refused), -32000);
    EXPECT_THAT(text(refused.body["error"]["message"]), HasSubstr("Start limit reached"));
  }
  EXPECT_EQ(all_runs().size(), 1u);
}

TEST_F(Mcp, StartsAreLimitedAndOtherRequestsAreNot) {
  options.starts.per_minute = 1;
  api = make_api();
  EXPECT_EQ(legacy("tools/call", R"({"name":"none"})").status, 200) << "it starts nothing";
  std::string id = started_task("urgent");
  Answered limited = legacy("tools/call", call_of("calm"));
  EXPECT_EQ(limited.status, 429);
  EXPECT_NE(limited.header("Retry-After"), "");
  EXPECT_EQ(legacy("tools/list").status, 200);
  EXPECT_EQ(task("tasks/get", id).status, 200);
  EXPECT_EQ(all_runs().size(), 1u);
}

}  // namespace
}  // namespace belay::server
