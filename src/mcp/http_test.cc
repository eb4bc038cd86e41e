// A server over streamable HTTP, in both eras, on loopback.
// Long on purpose: each course of a reply over HTTP, with one scripted server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "belay/mcp.h"
#include "mcp/parameter_headers.h"
#include "net/ascii.h"
#include "tests/support/scripted_server.h"

namespace belay::mcp {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string response(int status, std::string_view type, std::string_view body,
                     std::string_view more_headers = "") {
  return "HTTP/1.1 " + std::to_string(status) +
         " Any\r\nConnection: close\r\nContent-Type: " + std::string(type) +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + std::string(more_headers) +
         "\r\n" + std::string(body);
}

std::string json_response(const Value& id, std::string_view result) {
  return response(
      200, "application/json; charset=utf-8",
      R"({"jsonrpc":"2.0","id":)" + to_json(id) + R"(,"result":)" + std::string(result) + "}");
}

std::string fault_response(int status, const Value& id, int code, std::string_view data = "{}") {
  return response(status, "application/json",
                  R"({"jsonrpc":"2.0","id":)" + to_json(id) + R"(,"error":{"code":)" +
                      std::to_string(code) + R"(,"message":"refused","data":)" + std::string(data) +
                      "}}");
}

constexpr std::string_view discovered =
    R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})";
constexpr std::string_view tool_page =
    R"({"tools":[{"name":"echo","inputSchema":{"type":"object","properties":)"
    R"({"where":{"type":"string","x-mcp-header":"Where"}}}},)"
    R"({"name":"bad","inputSchema":{"type":"object","x-mcp-header":"Where"}}]})";
constexpr std::string_view hello = R"({"content":[{"type":"text","text":"hello"}]})";

struct HttpRequestSeen {
  std::string head{};  // in lower case
  Value message{};
  std::string method{};  // of the message, otherwise of HTTP
};

// Answers each request by a function, and records the requests.
class LoopbackServer {
 public:
  using Answer = std::function<std::string(const HttpRequestSeen& request, int number)>;

  explicit LoopbackServer(Answer answer)
      : answer_(std::move(answer)), server_([this](net::Peer& peer, int number) {
          std::string text = peer.request();
          if (text.empty()) return;
          HttpRequestSeen seen;
          std::size_t end = text.find("\r\n\r\n");
          seen.head = net::lower_case(text.substr(0, end));
          seen.message = parse_json(text.substr(end + 4)).value_or(Value());
          const std::string* method = seen.message["method"].as_string();
          seen.method = method ? *method : text.substr(0, text.find(' '));
          std::string bytes = answer_(seen, number);
          {
            std::lock_guard lock(mutex_);
            seen_.push_back(seen);
          }
          peer.send(bytes);
        }) {}

  std::string url() const { return server_.url("/mcp"); }
  std::vector<HttpRequestSeen> seen() {
    std::lock_guard lock(mutex_);
    return seen_;
  }
  std::vector<std::string> methods() {
    std::vector<std::string> methods;
    for (const HttpRequestSeen& each : seen()) methods.push_back(each.method);
    return methods;
  }

 private:
  const Answer answer_;
  std::mutex mutex_;
  std::vector<HttpRequestSeen> seen_;
  net::ScriptedServer server_;  // last: it uses all members above
};

ServerOptions options_for(const LoopbackServer& loopback) {
  EgressPolicy policy;
  policy.allowed_networks = {"127.0.0.1/32"};
  policy.allowed_ports = {};
  ServerOptions options;
  options.name = "remote";
  options.url = loopback.url();
  options.headers = {{"Authorization", "Bearer token"}};
  options.http = open_http(std::move(policy)).value();
  return options;
}

template <typename T>
T finished(Task<T> task) {
  auto loop = make_event_loop(1);
  return block_on(*loop, std::move(task));
}

Result<CallResult> call_echo(const LoopbackServer& loopback,
                             Value arguments = Value(Value::Object())) {
  auto server = open_server(options_for(loopback)).value();
  return finished(server->call("echo", std::move(arguments)));
}

std::string modern_answer(const HttpRequestSeen& request) {
  const Value& id = request.message["id"];
  if (request.method == "server/discover") return json_response(id, discovered);
  if (request.method == "tools/list") return json_response(id, tool_page);
  return json_response(id, hello);
}

std::string legacy_answer(const HttpRequestSeen& request) {
  const Value& id = request.message["id"];
  if (request.method == "server/discover") return fault_response(400, Value(), -32000);
  if (request.method == "initialize") {
    std::string result = R"({"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{}})";
    return response(200, "application/json",
                    R"({"jsonrpc":"2.0","id":)" + to_json(id) + R"(,"result":)" + result + "}",
                    "Mcp-Session-Id: s-1\r\n");
  }
  if (id.is_null()) return response(202, "text/plain", "");
  return request.method == "tools/list" ? json_response(id, tool_page) : json_response(id, hello);
}

TEST(McpHttp, TheModernEraRepeatsPartsOfTheRequestInHeaders) {
  LoopbackServer loopback(
      [](const HttpRequestSeen& request, int) { return modern_answer(request); });
  Value arguments = Value::object({{"where", "caf\xC3\xA9"}});
  EXPECT_EQ(call_echo(loopback, arguments).value().text, "hello");
  EXPECT_THAT(loopback.methods(), ElementsAre("server/discover", "tools/list", "tools/call"));
  HttpRequestSeen called = loopback.seen()[2];
  EXPECT_THAT(called.head, AllOf(HasSubstr("accept: application/json, text/event-stream\r\n"),
                                 HasSubstr("authorization: bearer token"),
                                 HasSubstr("mcp-protocol-version: 2026-07-28"),
                                 HasSubstr("mcp-method: tools/call"), HasSubstr("mcp-name: echo"),
                                 HasSubstr("mcp-param-where: =?base64?y2fmw6k=?=")));
  const Value& meta = called.message["params"]["_meta"];
  EXPECT_EQ(meta["io.modelcontextprotocol/protocolVersion"], Value("2026-07-28"));
  EXPECT_TRUE(meta["io.modelcontextprotocol/clientCapabilities"].as_object());
  EXPECT_THAT(loopback.seen()[1].head, Not(HasSubstr("mcp-name")));
}

TEST(McpHttp, AToolWithMarksThatAreNotValidIsRefused) {
  LoopbackServer loopback(
      [](const HttpRequestSeen& request, int) { return modern_answer(request); });
  auto list = finished(open_server(options_for(loopback)).value()->list()).value();
  ASSERT_EQ(list.refused.size(), 1u);
  EXPECT_EQ(list.refused[0].name, "bad");
}

TEST(McpHttp, TheOlderEraKeepsItsSession) {
  LoopbackServer loopback(
      [](const HttpRequestSeen& request, int) { return legacy_answer(request); });
  auto server = open_server(options_for(loopback)).value();
  EXPECT_EQ(finished(server->info()).value().protocol, "2025-06-18");
  EXPECT_EQ(finished(server->call("echo", Value(Value::Object()))).value().text, "hello");
  EXPECT_THAT(loopback.methods(), ElementsAre("server/discover", "initialize",
                                              "notifications/initialized", "tools/call"));
  std::vector<HttpRequestSeen> seen = loopback.seen();
  EXPECT_THAT(seen[1].head, Not(HasSubstr("mcp-protocol-version")));
  for (std::size_t later : {2u, 3u}) {
    EXPECT_THAT(seen[later].head,
                AllOf(HasSubstr("mcp-session-id: s-1"),
                      HasSubstr("mcp-protocol-version: 2025-06-18"), Not(HasSubstr("mcp-method"))));
  }
}

TEST(McpHttp, ASessionEndsTogetherWithItsServer) {
  LoopbackServer loopback(
      [](const HttpRequestSeen& request, int) { return legacy_answer(request); });
  EXPECT_EQ(call_echo(loopback).value().text, "hello");
  HttpRequestSeen last = loopback.seen().back();
  EXPECT_EQ(last.method, "DELETE");
  EXPECT_THAT(last.head,
              AllOf(HasSubstr("mcp-session-id: s-1"), HasSubstr("authorization: bearer token"),
                    HasSubstr("mcp-protocol-version: 2025-06-18")));
}

TEST(McpHttp, ARefusedRevisionThatTheServerHasIsTriedOnceMore) {
  LoopbackServer once([](const HttpRequestSeen& request, int number) {
    if (number > 0) return modern_answer(request);
    return fault_response(400, request.message["id"], -32022, R"({"supported":["2026-07-28"]})");
  });
  EXPECT_EQ(call_echo(once).value().text, "hello");
  LoopbackServer always([](const HttpRequestSeen& request, int) {
    return fault_response(400, request.message["id"], -32022, R"({"supported":["2026-07-28"]})");
  });
  EXPECT_EQ(call_echo(always).error().code, ErrorCode::invalid);
  EXPECT_EQ(always.methods().size(), 2u);
}

TEST(McpHttp, InputAndTasksHaveTheHeadersOfTheirRequests) {
  LoopbackServer loopback([](const HttpRequestSeen& request, int) {
    const Value& id = request.message["id"];
    if (request.method == "tasks/get") {
      return json_response(id, R"({"resultType":"complete","taskId":"t-1","status":"completed",)"
                               R"("result":)" +
                                   std::string(hello) + "}");
    }
    if (request.method != "tools/call") return modern_answer(request);
    if (request.message["params"]["requestState"] == Value("s")) {
      return json_response(id, R"({"resultType":"task","taskId":"t-1","status":"working",)"
                               R"("pollIntervalMs":10})");
    }
    return json_response(id, R"({"resultType":"input_required","requestState":"s"})");
  });
  EXPECT_EQ(call_echo(loopback).value().text, "hello");
  EXPECT_THAT(loopback.methods(), ElementsAre("server/discover", "tools/list", "tools/call",
                                              "tools/call", "tasks/get"));
  EXPECT_THAT(loopback.seen()[4].head,
              AllOf(HasSubstr("mcp-method: tasks/get"), HasSubstr("mcp-name: t-1")));
}

TEST(McpHttp, AChangeArrivesOnTheStreamThatListens) {
  constexpr std::string_view announces =
      R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}})";
  std::atomic<int> lists = 0;
  LoopbackServer loopback([&](const HttpRequestSeen& request, int) {
    const Value& id = request.message["id"];
    if (request.method == "server/discover") return json_response(id, announces);
    if (request.method == "tools/list") ++lists;
    if (request.method != "subscriptions/listen") return modern_answer(request);
    return response(
        200, "text/event-stream",
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n");
  });
  auto server = open_server(options_for(loopback)).value();
  ToolInfo echo = finished(server->list()).value().tools[0];
  // The stream is another connection, which might be later than the list.
  for (int i = 0; i < 600 && lists < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    Value arguments{Value::Object()};
    EXPECT_TRUE(finished(server->call_as_known(echo, std::move(arguments), Instant())).ok());
  }
  EXPECT_GE(lists, 2);
}

TEST(McpHttp, ALostSessionIsBegunAgainOnce) {
  for (int status : {404, 400}) {
    LoopbackServer loopback([status](const HttpRequestSeen& request, int number) {
      return number == 3 ? fault_response(status, Value(), -32000) : legacy_answer(request);
    });
    EXPECT_EQ(call_echo(loopback).value().text, "hello") << status;
    EXPECT_THAT(
        loopback.methods(),
        ElementsAre("server/discover", "initialize", "notifications/initialized", "tools/call",
                    "initialize", "notifications/initialized", "tools/call", "DELETE"));
  }
  LoopbackServer never([](const HttpRequestSeen& request, int) {
    return request.method == "tools/call" ? response(404, "text/plain", "")
                                          : legacy_answer(request);
  });
  auto lost = call_echo(never);
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().code, ErrorCode::unavailable);
  EXPECT_EQ(never.methods().size(), 7u);
}

TEST(McpHttp, AStreamOfEventsContainsTheReply) {
  LoopbackServer loopback([](const HttpRequestSeen& request, int) {
    if (request.method != "tools/call") return modern_answer(request);
    std::string reply = R"({"jsonrpc":"2.0","id":)" + to_json(request.message["id"]) +
                        R"(,"result":)" + std::string(hello) + "}";
    return response(200, "text/event-stream",
                    "id: 1\ndata:\n\n: comment\n\nevent: message\ndata: "
                    R"({"jsonrpc":"2.0","method":"notifications/progress"})"
                    "\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{}}\n\ndata: " +
                        reply + "\n\n");
  });
  EXPECT_EQ(call_echo(loopback).value().text, "hello");
}

TEST(McpHttp, AStreamOfTheOlderEraIsContinued) {
  LoopbackServer loopback([](const HttpRequestSeen& request, int number) {
    if (request.method == "tools/call") {
      return response(200, "text/event-stream",
                      "retry: 10\nid: e-" + std::to_string(number) + "\ndata:\n\n");
    }
    if (request.method != "GET") return legacy_answer(request);
    return response(200, "text/event-stream",
                    R"(data: {"jsonrpc":"2.0","id":3,"result":)" + std::string(hello) + "}\n\n");
  });
  EXPECT_EQ(call_echo(loopback).value().text, "hello");
  std::vector<HttpRequestSeen> seen = loopback.seen();
  auto next = std::find_if(seen.begin(), seen.end(),
                           [](const HttpRequestSeen& each) { return each.method == "GET"; });
  ASSERT_NE(next, seen.end());
  EXPECT_THAT(next->head, AllOf(HasSubstr("last-event-id: e-3"), HasSubstr("mcp-session-id: s-1")));
}

TEST(McpHttp, AReplyThatIsCutOffIsUncertain) {
  LoopbackServer loopback([](const HttpRequestSeen& request, int) {
    if (request.method != "tools/call") return modern_answer(request);
    return std::string("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{");
  });
  auto cut = call_echo(loopback);
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().code, ErrorCode::uncertain);
  LoopbackServer empty([](const HttpRequestSeen& request, int) {
    return request.method == "tools/call" ? response(200, "text/event-stream", "id: 1\ndata:\n\n")
                                          : modern_answer(request);
  });
  EXPECT_EQ(call_echo(empty).error().code, ErrorCode::uncertain);
}

TEST(McpHttp, StatusesBecomeErrors) {
  const std::pair<int, ErrorCode> statuses[] = {
      {401, ErrorCode::forbidden},   {403, ErrorCode::forbidden}, {429, ErrorCode::unavailable},
      {503, ErrorCode::unavailable}, {500, ErrorCode::uncertain}, {404, ErrorCode::invalid},
      {302, ErrorCode::invalid}};
  for (const auto& [status, code] : statuses) {
    LoopbackServer loopback([answer_status = status](const HttpRequestSeen& request, int) {
      return request.method == "tools/call" ? response(answer_status, "text/plain", "no")
                                            : modern_answer(request);
    });
    auto refused = call_echo(loopback);
    ASSERT_FALSE(refused.ok()) << status;
    EXPECT_EQ(refused.error().code, code) << status << refused.error().message;
  }
}

TEST(McpHttp, AfterAMismatchOfHeadersTheToolsAreListedAgain) {
  LoopbackServer loopback([](const HttpRequestSeen& request, int number) {
    if (number == 2) return fault_response(400, request.message["id"], -32020);
    return modern_answer(request);
  });
  EXPECT_EQ(call_echo(loopback).value().text, "hello");
  EXPECT_THAT(loopback.methods(), ElementsAre("server/discover", "tools/list", "tools/call",
                                              "tools/list", "tools/call"));
}

TEST(McpHttp, LimitsAndThePolicyHold) {
  LoopbackServer loopback([](const HttpRequestSeen& request, int) {
    return request.method == "tools/call"
               ? response(200, "application/json", std::string(100'000, 'x'))
               : modern_answer(request);
  });
  ServerOptions options = options_for(loopback);
  options.message_bytes_max = 10'000;
  auto large = finished(open_server(options).value()->call("echo", Value(Value::Object())));
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, ErrorCode::exhausted);
  options.http = nullptr;
  auto refused = finished(open_server(options).value()->info());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::forbidden);
}

// The examples of the specification.
TEST(McpHeaders, AreEncodedIfTheyAreNotPlain) {
  EXPECT_EQ(header_value("us-west1"), "us-west1");
  EXPECT_EQ(header_value("Hello, \xE4\xB8\x96\xE7\x95\x8C"), "=?base64?SGVsbG8sIOS4lueVjA==?=");
  EXPECT_EQ(header_value(" padded "), "=?base64?IHBhZGRlZCA=?=");
  EXPECT_EQ(header_value("line1\nline2"), "=?base64?bGluZTEKbGluZTI=?=");
  EXPECT_EQ(header_value("=?base64?literal?="), "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
}

TEST(McpHeaders, OnlyReachablePrimitivesAreMarked) {
  auto schema = [](std::string_view properties) {
    return parse_json(R"({"type":"object","properties":)" + std::string(properties) + "}").value();
  };
  Value good = schema(R"({"a":{"type":"integer","x-mcp-header":"A"},"b":{"type":"object",)"
                      R"("properties":{"c":{"type":"boolean","x-mcp-header":"C"}}}})");
  EXPECT_FALSE(marks_fault(good));
  Value arguments = parse_json(R"({"a":-7,"b":{"c":true}})").value();
  auto headers = parameter_headers(good, arguments);
  ASSERT_EQ(headers.size(), 2u);
  EXPECT_EQ(headers[0].name + ": " + headers[0].value, "Mcp-Param-A: -7");
  EXPECT_EQ(headers[1].name + ": " + headers[1].value, "Mcp-Param-C: true");
  EXPECT_TRUE(parameter_headers(good, parse_json(R"({"a":null})").value()).empty());
  const char* wrong[] = {
      R"({"a":{"type":"number","x-mcp-header":"A"}})",
      R"({"a":{"type":"string","x-mcp-header":""}})",
      R"({"a":{"type":"string","x-mcp-header":"A B"}})",
      R"({"a":{"type":"string","x-mcp-header":"A\r\nB"}})",
      R"({"a":{"type":"string","x-mcp-header":7}})",
      R"({"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}})",
      R"({"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}})",
      R"({"a":{"anyOf":[{"type":"string","x-mcp-header":"A"}]}})"};
  for (const char* properties : wrong) EXPECT_TRUE(marks_fault(schema(properties))) << properties;
}

}  // namespace
}  // namespace belay::mcp
