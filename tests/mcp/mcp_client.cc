// mcp_client: a client for tests with the official servers and the referee, built on belay/mcp.h.
//
//   mcp_client referee URL
//     lists the tools of the server and calls each of them, or those of $MCP_CONFORMANCE_CONTEXT;
//     accepts every form with its defaults
//   mcp_client agent TOOL ARGUMENTS [--url URL | PROGRAM ARGUMENT...]
//     runs an agent whose model calls the tool, and prints the result of the call as JSON

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "belay/agent.h"
#include "belay/mcp.h"
#include "belay/runtime.h"
#include "belay/testing.h"

namespace {

using namespace belay;

// The servers of the tests are on this machine, on any port.
Result<std::shared_ptr<HttpAccess>> local_http() {
  EgressPolicy policy;
  policy.allowed_ports = {};
  policy.allowed_hosts = {"localhost", "127.0.0.1"};
  policy.allowed_networks = {"127.0.0.0/8", "::1/128"};
  return open_http(std::move(policy));
}

Task<Result<mcp::InputResponse>> accept_defaults(mcp::InputRequest request) {
  std::cerr << request.tool << " asks: " << request.message << "\n";
  mcp::InputResponse response;
  response.action = mcp::InputAction::accept;
  co_return response;
}

struct PlannedCall {
  std::string tool{};
  Value arguments = Value(Value::Object());
};

// Arguments that fit a schema of numbers and texts; a tool that echoes a schema gets that of the
// first tool.
Value arguments_for(const mcp::ToolInfo& tool, const mcp::ToolInfo& first) {
  Value::Object arguments;
  const Value::Object* members = tool.input_schema["properties"].as_object();
  for (const auto& [name, member] : members ? *members : Value::Object()) {
    if (member["type"] == Value("object")) {
      arguments.emplace(name, first.input_schema);
    } else if (member["type"] == Value("string")) {
      arguments.emplace(name, "text");
    } else if (member["type"] == Value("boolean")) {
      arguments.emplace(name, true);
    } else {
      arguments.emplace(name, static_cast<std::int64_t>(arguments.size()) + 3);
    }
  }
  return Value(std::move(arguments));
}

std::vector<PlannedCall> planned_calls(const mcp::ToolList& list) {
  std::vector<PlannedCall> calls;
  const char* context = std::getenv("MCP_CONFORMANCE_CONTEXT");
  Value given = context ? parse_json(context).value_or(Value()) : Value();
  if (const Value::Array* wanted = given["toolCalls"].as_array()) {
    for (const Value& each : *wanted) {
      calls.push_back({*each["name"].as_string(), each["arguments"]});
    }
    return calls;
  }
  for (const mcp::ToolInfo& tool : list.tools) {
    calls.push_back({tool.name, arguments_for(tool, list.tools.front())});
  }
  return calls;
}

Task<Result<Done>> play(std::shared_ptr<mcp::Server> server) {
  BELAY_CO_TRY(mcp::ServerInfo info, co_await server->info());
  BELAY_CO_TRY(mcp::ToolList list, co_await server->list());
  std::cerr << "protocol " << info.protocol << ", " << list.tools.size() << " tools, "
            << list.refused.size() << " refused\n";
  for (PlannedCall& call : planned_calls(list)) {
    BELAY_CO_TRY(mcp::CallResult result,
                 co_await server->call(call.tool, std::move(call.arguments)));
    std::cerr << call.tool << ": " << result.text << "\n";
  }
  co_return Done{};
}

Result<Done> referee(const std::string& url) {
  mcp::ServerOptions options;
  options.name = "referee";
  options.url = url;
  const char* name = std::getenv("MCP_CONFORMANCE_SCENARIO");
  std::string scenario = name ? name : "";
  // A client that accepts forms opens a stream for them, which some scenarios do not expect.
  bool has_forms = scenario.starts_with("elicitation") || scenario.starts_with("sep-2322");
  if (has_forms) options.on_input = accept_defaults;
  BELAY_TRY(options.http, local_http());
  BELAY_TRY(auto server, mcp::open_server(std::move(options)));
  auto loop = make_event_loop(1);
  return block_on(*loop, play(std::move(server)));
}

Result<Done> run_agent(const std::string& tool, const Value& arguments,
                       std::vector<std::string> words) {
  mcp::ServerOptions server_options;
  server_options.name = "peer";
  server_options.stop_grace = std::chrono::seconds(5);
  if (words[0] == "--url") {
    server_options.url = words.at(1);
    BELAY_TRY(server_options.http, local_http());
  } else {
    server_options.command = std::move(words);
  }
  BELAY_TRY(auto server, mcp::open_server(std::move(server_options)));
  auto loop = make_event_loop();
  BELAY_TRY(auto set, block_on(*loop, mcp::tools_of(server, mcp::ToolSetOptions())));
  AgentOptions options;
  options.tools = set.tools;
  BELAY_TRY(auto graph, agent_graph("caller", std::move(options)));
  auto clock = system_clock();
  auto random = system_random();
  testing::ScriptedModel model = testing::calls({{"a", tool, arguments}}).replies("Done.");
  BELAY_TRY(auto store, open_store("memory:", *clock, *random));
  RuntimeParts parts{*store, *loop, *clock, *random, model};
  BELAY_TRY(auto runtime, Runtime::open(std::move(parts)));
  runtime->add(graph);
  AgentState state;
  state.question = "Call it.";
  BELAY_TRY(auto view, block_on(*loop, runtime->start(graph, std::move(state), StartOptions())));
  BELAY_TRY(AgentState ended, decode_json<AgentState>(view.state));
  ToolResult& result = ended.results["a"];
  Value::Object shown{{"isError", result.is_error},
                      {"status", std::string(name_of(view.row.status))},
                      {"text", result.text},
                      {"untrusted", result.untrusted}};
  std::cout << to_json(Value(std::move(shown))) << "\n";
  return Done{};
}

Result<Done> run(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "referee") return referee(words[1]);
  if (words.size() >= 4 && words[0] == "agent") {
    BELAY_TRY(Value arguments, parse_json(words[2]));
    return run_agent(words[1], arguments, {words.begin() + 3, words.end()});
  }
  return error(ErrorCode::invalid, "Usage: see the top of mcp_client.cc.");
}

}  // namespace

int main(int count, char** arguments) {
  auto done = run({arguments + 1, arguments + count});
  if (!done.ok()) std::cerr << done.error().message << "\n";
  return done.ok() ? 0 : 1;
}
