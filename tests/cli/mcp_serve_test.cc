// `belay mcp serve`: a real process with a client that speaks MCP over its standard input and
// output.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "belay/mcp.h"
#include "mcp/child_process.h"
#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

using ::testing::HasSubstr;

Value object(std::string_view json) { return parse_json(json).value(); }

std::string text(const Value& value) {
  const std::string* held = value.as_string();
  return held ? *held : to_json(value);
}

// A running server, whose destructor kills it.
class McpProcess {
 public:
  explicit McpProcess(const World& world)
      : process_(mcp::ChildProcess::start(
                     {BELAY_SHOP_BINARY, "mcp", "serve", "--store", "sqlite:" + world.store_path()},
                     {{"HOME", world.folder.path()}})
                     .value()) {}

  void write(const std::string& line) const {
    std::string whole = line + "\n";
    std::string_view rest = whole;
    while (!rest.empty()) {
      pollfd event{process_.input(), POLLOUT, 0};
      if (::poll(&event, 1, kPatienceMs) != 1) return;
      ssize_t count = ::write(process_.input(), rest.data(), rest.size());
      if (count <= 0) return;
      rest.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  // Returns the next message of the server; null: none within a minute.
  Value read() {
    std::size_t end = text_.find('\n');
    while (end == text_.npos) {
      pollfd event{process_.output(), POLLIN, 0};
      if (::poll(&event, 1, kPatienceMs) != 1) return Value();
      char bytes[4096];
      ssize_t count = ::read(process_.output(), bytes, sizeof bytes);
      if (count <= 0) return Value();
      text_.append(bytes, static_cast<std::size_t>(count));
      end = text_.find('\n');
    }
    std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return parse_json(line).value_or(Value());
  }

  Value ask(const std::string& id, std::string_view method, Value params) {
    write(to_json(Value::object(
        {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}})));
    Value reply = read();
    EXPECT_EQ(reply["id"], Value(id)) << to_json(reply);
    return reply;
  }
  // As a client of 2026-07-28 that has tasks. Returns the result.
  Value modern(std::string_view method, std::string_view params) {
    Value all = object(params);
    all.as_object()->insert_or_assign(
        "_meta", object(R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                        R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{},)"
                        R"("extensions":{"io.modelcontextprotocol/tasks":{}}}})"));
    Value reply = ask("m", method, std::move(all));
    EXPECT_FALSE(reply.find("error")) << to_json(reply);
    return reply["result"];
  }
  Value task(const std::string& id) { return modern("tasks/get", R"({"taskId":")" + id + "\"}"); }
  // Returns the task when it has this status; its last state after a minute.
  Value task_in(const std::string& id, const std::string& status) {
    Value found;
    for (int i = 0; i < 600; ++i) {
      found = task(id);
      if (text(found["status"]) == status) return found;
      ::poll(nullptr, 0, 100);
    }
    return found;
  }

  std::string end() { return process_.finish(std::chrono::milliseconds(60'000)); }

 private:
  static constexpr int kPatienceMs = 60'000;

  mcp::ChildProcess process_;
  std::string text_;
};

struct CliMcpServe : ::testing::Test {
  static void approve(McpProcess& server, const std::string& task, const std::string& approval,
                      const std::string& content = R"({"confirm":true})") {
    server.modern("tasks/update", R"({"taskId":")" + task + R"(","inputResponses":{")" + approval +
                                      R"(":{"action":"accept","content":)" + content + "}}}");
  }

  World world;
};

TEST_F(CliMcpServe, AnOlderClientCallsAnAgentAndTheProcessEndsWithItsInput) {
  McpProcess server(world);
  Value begun = server.ask("1", "initialize", object(R"({"protocolVersion":"2025-11-25"})"));
  EXPECT_EQ(text(begun["result"]["serverInfo"]["name"]), "belay");
  server.write(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  Value list = server.ask("2", "tools/list", Value(Value::Object()))["result"]["tools"];
  Value tools = Value(Value::Object());
  for (const Value& tool : *list.as_array()) {
    tools.as_object()->emplace(text(tool["name"]), tool["inputSchema"]);
  }
  EXPECT_EQ(text(tools["order"]["properties"]["count"]["type"]), "integer");
  EXPECT_EQ(text(tools["errand"]["required"]), R"(["to"])");
  EXPECT_EQ(to_json(tools["errand"]["properties"]["note"]), "{}");
  Value called = server.ask("3", "tools/call",
                            object(R"({"name":"journey","arguments":{"seconds":0}})"))["result"];
  EXPECT_EQ(text(called["structuredContent"]["state"]["seen"]), R"(["drove 0","there"])");
  EXPECT_EQ(server.end(), "exit code 0");
}

TEST_F(CliMcpServe, SeveralCallsAreInProgressAndFaultsAreErrors) {
  McpProcess server(world);
  auto call = [](int id, int seconds) {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
           R"(,"method":"tools/call","params":{"name":"journey","arguments":{"seconds":)" +
           std::to_string(seconds) + "}}}";
  };
  server.write(call(1, 4));
  server.write(call(2, 0));
  EXPECT_EQ(server.read()["id"], Value(2)) << "the short one ends first";
  server.write("{");
  EXPECT_EQ(server.read()["error"]["code"], Value(-32700));
  server.write("[]");
  EXPECT_EQ(server.read()["error"]["code"], Value(-32600));
  server.write(std::string(9u << 20, 'x'));
  Value refused = server.read();
  Value result = server.read();
  if (!refused.find("error")) std::swap(refused, result);
  EXPECT_EQ(refused["error"]["code"], Value(-32600));
  EXPECT_EQ(result["id"], Value(1));
}

TEST_F(CliMcpServe, ACancelledCallCancelsItsRun) {
  McpProcess server(world);
  server.write(R"({"jsonrpc":"2.0","id":5,"method":"tools/call",)"
               R"("params":{"name":"journey","arguments":{"seconds":600}}})");
  std::string list;
  for (int i = 0; i < 600 && list.find("journey") == list.npos; ++i) {
    list = world.run({"threads", "--json"}).out;
    ::poll(nullptr, 0, 100);
  }
  ASSERT_THAT(list, HasSubstr("journey"));
  server.write(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}})");
  EXPECT_THAT(to_json(server.read()), HasSubstr("The run was cancelled."));
}

TEST_F(CliMcpServe, ACallWithATokenReportsProgressBeforeItsResponse) {
  McpProcess server(world);
  std::vector<Value> all;
  // The response can overtake the progress, if the last step is short: the call is made again.
  for (int calls = 0; calls < 10 && all.size() < 2; ++calls) {
    all.clear();
    server.write(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"journey",)"
                 R"("arguments":{"seconds":1},"_meta":{"progressToken":"p"}}})");
    do {
      all.push_back(server.read());
    } while (!all.back().is_null() && !all.back().find("id"));
  }
  ASSERT_GE(all.size(), 2u);
  EXPECT_EQ(text(all.front()["method"]), "notifications/progress");
  EXPECT_EQ(text(all.front()["params"]["progressToken"]), "p");
  EXPECT_EQ(text(all.back()["result"]["structuredContent"]["status"]), "completed");
}

TEST_F(CliMcpServe, ASubscriptionEndsWhenItsClientCancelsIt) {
  McpProcess server(world);
  std::string id =
      text(server.modern("tools/call", R"({"name":"order","arguments":{"item":"tea"}})")["taskId"]);
  std::string listen =
      R"({"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":)"
      R"({"taskIds":[")" +
      id +
      R"("]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
      R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":)"
      R"({"io.modelcontextprotocol/tasks":{}}}}}})";
  server.write(listen);
  EXPECT_EQ(text(server.read()["method"]), "notifications/subscriptions/acknowledged");
  EXPECT_EQ(text(server.read()["params"]["status"]), "input_required");
  server.write(listen);
  EXPECT_EQ(server.read()["error"]["code"], Value(-32600)) << "the id is in use";
  server.write(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}})");
  approve(server, id, server.task(id)["inputRequests"].as_object()->begin()->first);
  EXPECT_EQ(text(server.task_in(id, "completed")["status"]), "completed");
  server.write(listen);
  EXPECT_EQ(text(server.read()["method"]), "notifications/subscriptions/acknowledged");
  EXPECT_EQ(text(server.read()["params"]["status"]), "completed");
  EXPECT_EQ(server.read()["id"], Value("s"));
  EXPECT_EQ(server.end(), "exit code 0");
}

TEST_F(CliMcpServe, AClientThatDoesNotReadStopsNoRun) {
  McpProcess server(world);
  server.write(R"({"jsonrpc":"2.0","id":0,"method":"tools/call",)"
               R"("params":{"name":"journey","arguments":{"seconds":3}}})");
  // More responses than the pipe accepts, and more messages than are answered.
  std::string list = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";
  for (int i = 0; i < 200; ++i) server.write(list);
  for (int i = 0; i < 2'000; ++i) server.write("{");
  std::string threads;
  for (int i = 0; i < 600 && threads.find("completed") == threads.npos; ++i) {
    threads = world.run({"threads", "--json"}).out;
    ::poll(nullptr, 0, 100);
  }
  EXPECT_THAT(threads, HasSubstr("completed"));
  Value first = server.read();
  EXPECT_TRUE(first["result"]["tools"].as_array()) << to_json(first);
  EXPECT_EQ(server.end(), "exit code 0");
}

TEST_F(CliMcpServe, ATaskSurvivesTheProcessThatCreatedIt) {
  std::string waiting, moving;
  {
    McpProcess server(world);
    Value order = server.modern("tools/call", R"({"name":"order","arguments":{"item":"tea"}})");
    EXPECT_EQ(text(order["resultType"]), "task") << to_json(order);
    waiting = text(order["taskId"]);
    Value journey = server.modern("tools/call", R"({"name":"journey","arguments":{"seconds":3}})");
    EXPECT_EQ(text(journey["status"]), "working") << to_json(journey);
    moving = text(journey["taskId"]);
  }  // SIGKILL
  McpProcess server(world);
  Value waits = server.task(waiting);
  EXPECT_EQ(text(waits["status"]), "input_required");
  ASSERT_TRUE(waits["inputRequests"].as_object());
  std::string approval = waits["inputRequests"].as_object()->begin()->first;
  approve(server, waiting, approval);
  Value bought = server.task_in(waiting, "completed");
  EXPECT_EQ(text(bought["result"]["structuredContent"]["outcome"]), "bought");
  // The killed process was in an effect: only a person can know whether it has happened.
  Value uncertain = server.task_in(moving, "input_required");
  ASSERT_TRUE(uncertain["inputRequests"].as_object()) << to_json(uncertain);
  EXPECT_THAT(to_json(uncertain), HasSubstr("Its outcome is unknown"));
  approve(server, moving, uncertain["inputRequests"].as_object()->begin()->first,
          R"({"choice":"happened"})");
  Value arrived = server.task_in(moving, "completed");
  EXPECT_EQ(text(arrived["status"]), "completed") << to_json(arrived);
  EXPECT_EQ(server.end(), "exit code 0");
}

TEST_F(CliMcpServe, TheClientOfBelayCallsAnAgent) {
  mcp::ServerOptions options;
  options.name = "shop";
  options.command = {BELAY_SHOP_BINARY, "mcp", "serve", "--store", "sqlite:" + world.store_path()};
  options.environment = {{"HOME", world.folder.path()}};
  auto server = mcp::open_server(std::move(options)).value();
  auto loop = make_event_loop();
  auto info = block_on(*loop, server->info());
  ASSERT_TRUE(info.ok()) << info.error().message;
  EXPECT_EQ(info->name, "belay");
  EXPECT_EQ(info->protocol, "2026-07-28");
  auto result = block_on(*loop, server->call("journey", Value::object({{"seconds", 0}})));
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_FALSE(result->is_error);
  EXPECT_EQ(text(result->structured["state"]["seen"]), R"(["drove 0","there"])");
  auto wrong = block_on(*loop, server->call("journey", Value::object({{"seconds", "x"}})));
  ASSERT_TRUE(wrong.ok()) << wrong.error().message;
  EXPECT_TRUE(wrong->is_error);
}

}  // namespace
}  // namespace belay::cli::tests
