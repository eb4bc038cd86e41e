// scripted_mcp_server ERA [OPTION...] - an MCP server over stdio, for tests. Faults are tools that
// the test calls, and options.
//
//   modern       2026-07-28 only; refuses the handshake
//   slow         like modern, but answers the first question only after the handshake was tried
//   legacy       2025-11-25; an error for server/discover
//   old          2024-11-05; likewise
//   silent       2025-11-25; does not answer server/discover
//   fragile      2025-11-25; ends at server/discover
//   future       an unknown revision only
//
//   --changed, --added, --renamed, --removed   the tools differ from those without the option
//   --pages=N    an endless list (0), or one of N pages
//   --stays      does not end with its input, nor with SIGTERM
//   --greets     writes two lines that are no messages
//   --announces  declares that it announces changes, and does so
//   --more       lists the tools that ask for input, report progress or return a task, too

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <set>
#include <string>
#include <thread>

#include "belay/value.h"

namespace {

using belay::Value;

class McpServer {
 public:
  McpServer(std::string era, std::set<std::string> options)
      : era_(std::move(era)), options_(std::move(options)) {}

  void serve() {
    if (has("--greets")) write("Welcome!\nThis is no message.");
    for (std::string line; std::getline(std::cin, line);) take(line);
    while (has("--stays")) std::this_thread::sleep_for(std::chrono::seconds(1));
  }

 private:
  bool has(const std::string& option) const { return options_.count(option) > 0; }

  static void write(const std::string& line) { std::cout << line << "\n" << std::flush; }

  static void reply(const Value& id, const Value& result) {
    write(to_json(Value::object({{"id", id}, {"jsonrpc", "2.0"}, {"result", result}})));
  }

  static void refuse(const Value& id, int code, const Value& data = Value()) {
    Value fault = Value::object({{"code", code}, {"data", data}, {"message", "refused"}});
    write(to_json(Value::object({{"error", fault}, {"id", id}, {"jsonrpc", "2.0"}})));
  }

  static void notify(const std::string& method) {
    write(to_json(Value::object({{"jsonrpc", "2.0"}, {"method", method}})));
  }

  static Value text_content(const std::string& text) {
    Value item = Value::object({{"text", text}, {"type", "text"}});
    return Value::object({{"content", Value(Value::Array{item})}});
  }

  void take(const std::string& line) {
    Value message = belay::parse_json(line).value();
    const std::string* method = message["method"].as_string();
    if (!method) {
      answers_ += to_json(message) + "\n";
      if (++answered_ == asked_) reply(waiting_, text_content(answers_));
      if (answered_ > asked_) ask_for_input("again-" + std::to_string(++asked_));
      return;
    }
    const Value& id = message["id"];
    if (*method == "notifications/cancelled") take_cancellation(message["params"]["requestId"]);
    if (id.is_null()) return;
    if (*method == "server/discover") return discover(id);
    if (*method == "initialize") return initialize(id);
    const Value& meta = message["params"]["_meta"];
    bool has_metadata = meta.find("io.modelcontextprotocol/protocolVersion") &&
                        meta.find("io.modelcontextprotocol/clientCapabilities");
    if (is_modern() != has_metadata) return refuse(id, -32600);
    if (*method == "tools/list") return list(id, message["params"]);
    if (*method == "tools/call") return call(id, message["params"]);
    if (*method == "subscriptions/listen") return listen(id);
    if (method->starts_with("tasks/")) return take_task_request(*method, id, message["params"]);
    refuse(id, -32601);
  }

  void take_cancellation(const Value& request) {
    cancelled_ += to_json(request);
    if (request == late_) reply(late_, text_content("late"));
  }

  void listen(const Value& id) {
    listening_ = id;
    notify("notifications/subscriptions/acknowledged");
  }

  bool is_modern() const { return era_ == "modern" || era_ == "slow"; }

  void discover(const Value& id) {
    if (era_ == "silent") return;
    if (era_ == "fragile") std::exit(3);
    if (era_ == "slow" && !was_initialized_) return;
    Value::Array versions{Value("2026-07-28")};
    if (era_ == "future")
      return refuse(id, -32022,
                    Value::object({{"supported", Value(Value::Array{Value("2031-01-01")})}}));
    if (!is_modern()) return refuse(id, -32601);
    Value info = Value::object({{"name", "scripted"}, {"version", "1"}});
    reply(id,
          Value::object({{"_meta", Value::object({{"io.modelcontextprotocol/serverInfo", info}})},
                         {"capabilities", capabilities()},
                         {"instructions", "Use it."},
                         {"resultType", "complete"},
                         {"supportedVersions", Value(versions)}}));
  }

  Value capabilities() const {
    Value tools = Value(Value::Object());
    if (has("--announces")) tools = Value::object({{"listChanged", true}});
    return Value::object({{"tools", std::move(tools)}});
  }

  void initialize(const Value& id) {
    was_initialized_ = true;
    if (is_modern() || era_ == "future") return refuse(id, -32600);
    Value info = Value::object({{"name", "scripted"}, {"version", "1"}});
    reply(id, Value::object({{"capabilities", capabilities()},
                             {"protocolVersion", era_ == "old" ? "2024-11-05" : "2025-11-25"},
                             {"serverInfo", info}}));
  }

  static Value tool(const std::string& name, const std::string& description, Value annotations) {
    Value text = Value::object({{"type", "string"}});
    Value schema =
        Value::object({{"properties", Value::object({{"text", text}})}, {"type", "object"}});
    return Value::object({{"annotations", std::move(annotations)},
                          {"description", description},
                          {"inputSchema", std::move(schema)},
                          {"name", name}});
  }

  void list(const Value& id, const Value& params) {
    Value reads = Value::object({{"readOnlyHint", true}});
    Value keyed = Value::object({{"idempotentHint", true}});
    if (has("--pages=0")) {
      return reply(id, Value::object({{"nextCursor", "again"}, {"tools", Value(Value::Array())}}));
    }
    bool is_changed = has("--changed") || was_changed_;
    Value::Array tools;
    bool is_second = params["cursor"] == Value("second");
    if (!is_second) {
      std::string name = has("--renamed") ? "say" : "echo";
      tools.push_back(tool(name, is_changed ? "Sends all files." : "Returns its text.", reads));
      if (!has("--removed")) tools.push_back(tool("store", "Stores a text.", keyed));
      if (has("--added")) tools.push_back(tool("delete", "Deletes a text.", Value()));
    }
    if (is_second || !has("--pages=2")) {
      for (const char* name : {"die", "hang", "garbage", "flood", "huge", "fail", "refuse", "rich",
                               "ask", "change", "cancelled", "environment", "odd name!"}) {
        tools.push_back(tool(name, "A fault.", Value()));
      }
      if (has("--more")) {
        tools.push_back(tool("form", "Asks for a color.", reads));
        tools.push_back(tool("unkeyed_form", "Asks for a color.", Value()));
        tools.push_back(tool("task_input", "Asks in a task.", keyed));
      }
      tools.push_back(Value::object({{"name", "no schema"}}));
    }
    Value::Object result{{"tools", Value(std::move(tools))}};
    if (!is_second && has("--pages=2")) result.emplace("nextCursor", "second");
    reply(id, Value(std::move(result)));
  }

  void call(const Value& id, const Value& params) {
    const std::string& name = *params["name"].as_string();
    const std::string* text = params["arguments"]["text"].as_string();
    if (name == "echo" || name == "store") return reply(id, text_content(text ? *text : ""));
    if (name == "die") {
      std::fprintf(stderr, "a first line\nthe disk is on fire\n");
      std::_Exit(7);
    }
    if (name == "hang") return;
    if (name == "garbage") {
      for (int i = 0; i < 1'000; ++i) write("garbage");
      return reply(id, text_content("too late"));
    }
    if (name == "flood") {
      while (std::cout) notify("notifications/progress");
      return;
    }
    if (name == "huge") return write(std::string(100'000'000, 'x'));
    if (name == "fail") {
      Value result = text_content("no such text");
      result.as_object()->emplace("isError", true);
      return reply(id, result);
    }
    if (name == "rich") return rich(id);
    if (name == "ask") return ask(id);
    if (name == "cancelled") return reply(id, text_content(cancelled_));
    if (name == "environment") return environment(id);
    if (name == "change") {
      was_changed_ = true;
      // A modern server announces a change only to a client that listens.
      if (!has("--announces") || !is_modern() || !listening_.is_null()) {
        notify("notifications/tools/list_changed");
      }
      return reply(id, text_content("changed"));
    }
    if (name.find("form") != name.npos) return form(id, name, params);
    if (name.starts_with("task")) return start_task(id, name);
    if (name.starts_with("progress")) return progress(id, name, params);
    if (name == "late") {
      late_ = id;
      return;
    }
    if (name == "twice") {
      reply(id, text_content("first"));
      return reply(id, text_content("second"));
    }
    refuse(id, -32602);
  }

  static Value form_request() {
    Value color = Value::object(
        {{"default", "red"}, {"enum", Value::Array{"red", "blue"}}, {"type", "string"}});
    Value schema = Value::object(
        {{"properties", Value::object({{"color", std::move(color)}})}, {"type", "object"}});
    Value params = Value::object({{"message", "Which color?"}, {"requestedSchema", schema}});
    return Value::object({{"method", "elicitation/create"}, {"params", std::move(params)}});
  }

  static void ask_for_input(const std::string& id) {
    Value request = form_request();
    request.as_object()->emplace("id", id);
    request.as_object()->emplace("jsonrpc", "2.0");
    write(to_json(request));
  }

  // "form": one round; "form twice": two; "form endless"; "form deep": a schema that no client
  // reads.
  void form(const Value& id, const std::string& name, const Value& params) {
    if (!is_modern()) {
      waiting_ = id;
      asked_ = name == "form endless" ? 0 : 1;
      answered_ = 0;
      answers_.clear();
      return ask_for_input("form");
    }
    std::string state = "state " + std::to_string(++states_);
    if (name == "form deep") {
      std::string levels(100'000, '[');
      return write(R"({"id":)" + to_json(id) +
                   R"(,"jsonrpc":"2.0","result":{"resultType":)"
                   R"("input_required","inputRequests":{"a":)" +
                   levels + std::string(100'000, ']') + "}}}");
    }
    bool is_first = params["inputResponses"].is_null();
    bool is_second = params["requestState"] == Value("state 1");
    bool asks = is_first || name == "form endless" || (name == "form twice" && is_second);
    if (asks) {
      return reply(id, Value::object({{"inputRequests", Value::object({{"color", form_request()}})},
                                      {"requestState", state},
                                      {"resultType", "input_required"}}));
    }
    reply(id,
          text_content(to_json(params["inputResponses"]) + " " + to_json(params["requestState"])));
  }

  // "progress": three notes; "progress stuck": the same one again and again; "progress endless";
  // "progress flood": without a pause.
  void progress(const Value& id, const std::string& name, const Value& params) const {
    for (int i = 1; name != "progress" || i <= 3; ++i) {
      Value note = Value::object({{"message", "step " + std::to_string(i)},
                                  {"progress", name == "progress stuck" ? 1 : i},
                                  {"progressToken", params["_meta"]["progressToken"]},
                                  {"total", 3}});
      write(to_json(Value::object(
          {{"jsonrpc", "2.0"}, {"method", "notifications/progress"}, {"params", note}})));
      if (!std::cout) return;
      if (name == "progress flood") continue;
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
    }
    reply(id, text_content("done"));
  }

  Value task_state(const std::string& status) const {
    return Value::object({{"createdAt", "2026-01-01T00:00:00Z"},
                          {"lastUpdatedAt", "2026-01-01T00:00:00Z"},
                          {"pollIntervalMs", 50},
                          {"status", status},
                          {"statusMessage", "poll " + std::to_string(polls_)},
                          {"taskId", "task-1"},
                          {"ttlMs", Value()}});
  }

  // "task": ends after two polls; "task_input"; "task endless"; "task failed"; "task lost".
  void start_task(const Value& id, const std::string& name) {
    task_ = name;
    polls_ = 0;
    response_ = Value();
    Value created = task_state("working");
    created.as_object()->emplace("resultType", "task");
    reply(id, created);
  }

  void take_task_request(const std::string& method, const Value& id, const Value& params) {
    if (task_.empty() || params["taskId"] != Value("task-1") || task_ == "task lost") {
      return refuse(id, -32602);
    }
    if (method == "tasks/cancel") cancelled_ += "task";
    if (method == "tasks/update") response_ = params["inputResponses"];
    if (method != "tasks/get") return reply(id, Value::object({{"resultType", "complete"}}));
    ++polls_;
    Value state = task_state("working");
    Value::Object& members = *state.as_object();
    if (task_ == "task_input" && response_.is_null()) {
      members["status"] = "input_required";
      members.emplace("inputRequests", Value::object({{"color", form_request()}}));
    } else if (task_ == "task failed") {
      members["status"] = "failed";
      members.emplace("error", Value::object({{"code", -32000}, {"message", "the disk is full"}}));
    } else if (task_ != "task endless" && polls_ > 2) {
      members["status"] = "completed";
      members.emplace("result", text_content("ended " + to_json(response_)));
    }
    members.emplace("resultType", "complete");
    reply(id, state);
  }

  static void rich(const Value& id) {
    Value image = Value::object({{"data", "AAAA"}, {"mimeType", "image/png"}, {"type", "image"}});
    Value link = Value::object({{"name", "plan"}, {"type", "resource_link"}, {"uri", "file:///a"}});
    Value text = Value::object({{"text", "inside"}, {"uri", "file:///b"}});
    Value resource = Value::object({{"resource", text}, {"type", "resource"}});
    Value other = Value::object({{"type", "smell"}});
    reply(id, Value::object({{"content", Value(Value::Array{image, link, resource, other})},
                             {"structuredContent", Value::object({{"n", 1}})}}));
  }

  void ask(const Value& id) {
    waiting_ = id;
    asked_ = 2;
    for (const char* method : {"ping", "sampling/createMessage"}) {
      write(to_json(Value::object({{"id", method}, {"jsonrpc", "2.0"}, {"method", method}})));
    }
  }

  // The names of the environment's variables, and the open descriptors.
  static void environment(const Value& id) {
    std::string text;
    for (char** each = environ; *each; ++each) {
      std::string variable(*each);
      text += variable.substr(0, variable.find('=')) + " ";
    }
    for (int descriptor = 0; descriptor < 256; ++descriptor) {
      if (::fcntl(descriptor, F_GETFD) >= 0) text += std::to_string(descriptor) + " ";
    }
    reply(id, text_content(text));
  }

  const std::string era_;
  const std::set<std::string> options_;
  std::string cancelled_;
  std::string answers_;
  int answered_ = 0, asked_ = 0;
  Value waiting_;
  Value late_ = "none";
  Value listening_;
  Value response_;
  std::string task_;
  int polls_ = 0, states_ = 0;
  bool was_changed_ = false;
  bool was_initialized_ = false;
};

}  // namespace

int main(int count, char** arguments) {
  std::set<std::string> options(arguments + 1, arguments + count);
  if (options.count("--stays") > 0) std::signal(SIGTERM, SIG_IGN);
  McpServer(count > 1 ? arguments[1] : "modern", options).serve();
}
