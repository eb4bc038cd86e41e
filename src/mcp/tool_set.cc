// tools_of(): the tools of a server as tools of an agent.

#include <algorithm>
#include <set>

#include "agent/tool_name.h"
#include "base/in_quotes.h"
#include "belay/ids.h"
#include "mcp/pins.h"
#include "net/egress.h"

namespace belay::mcp {
namespace {

constexpr std::size_t hash_digits = 8;
constexpr std::string_view separator = "__";
// Longer than the timeout of the server's calls, which cancels the call and reports its outcome.
constexpr std::chrono::milliseconds timeout_margin{5'000};

// Returns the name for the model. It does not depend on the other tools of the server.
std::string tool_name_of(const std::string& server, const std::string& tool) {
  std::string whole = server + std::string(separator) + tool;
  std::string name = agents::with_name_characters(whole);
  if (name == whole && name.size() <= agents::name_length_max) return name;
  std::string hash = "_" + to_hex(sha256(tool)).substr(0, hash_digits);
  name.resize(std::min(name.size(), agents::name_length_max - hash.size()));
  return name + hash;
}

Value defaults_of(const Value& schema) {
  Value::Object defaults;
  for (const auto& [name, member] : *schema["properties"].as_object()) {
    const Value* preset = member.find("default");
    if (preset) defaults.emplace(name, *preset);
  }
  return Value(std::move(defaults));
}

// Requests the decision of a person, durably: the node ends, and the call is made again after the
// decision. The server then asks the same, and receives the decision immediately.
class InputByApproval {
 public:
  InputByApproval(ToolContext& call, std::chrono::milliseconds expires)
      : call_(call), expires_(expires) {}

  Task<Result<InputResponse>> ask(InputRequest request) {
    InterruptRequest question;
    question.name = "input/" + call_.call_id() + "/" + std::to_string(++asked_);
    question.text = "The MCP server " + in_quotes(request.server) + " asks, for its tool " +
                    in_quotes(request.tool) + ": " + request.message;
    question.payload = Value::object({{"content", defaults_of(request.schema)},
                                      {"message", request.message},
                                      {"schema", request.schema},
                                      {"server", request.server},
                                      {"tool", request.tool}});
    question.expires = expires_;
    InterruptResponse decision = call_.node().interrupt(std::move(question));
    InputResponse response;
    if (decision.approved) {
      response.action = InputAction::accept;
    } else if (!decision.decided_by.empty()) {
      response.action = InputAction::decline;
    }
    response.content = decision.payload["content"];
    co_return response;
  }

 private:
  ToolContext& call_;
  const std::chrono::milliseconds expires_;
  int asked_ = 0;
};

Task<Result<std::string>> call_tool_of(std::shared_ptr<Server> server,
                                       std::shared_ptr<const ToolInfo> tool, Value arguments,
                                       ToolContext& call) {
  InputFunction on_input = server->options().on_input;
  if (!on_input) {
    auto by_approval = std::make_shared<InputByApproval>(call, std::chrono::hours(24));
    on_input = [by_approval](InputRequest request) { return by_approval->ask(std::move(request)); };
  }
  Instant now = call.node().now();
  auto called =
      co_await server->call_as_known(*tool, std::move(arguments), now, std::move(on_input));
  if (called.ok() && !called->is_error) co_return std::move(called->text);
  if (called.ok()) co_return error(ErrorCode::invalid, std::move(called->text));
  Error fault = std::move(called).error();
  // Repeating a call of the other classes is permitted.
  bool repeats = tool->effect() != ToolEffect::unkeyed;
  if (fault.code == ErrorCode::uncertain && repeats) fault.code = ErrorCode::unavailable;
  co_return fault;
}

// A call with input has several requests.
std::chrono::milliseconds call_time_max(const ServerOptions& options) {
  auto most = std::max(options.call_timeout, options.call_timeout_max);
  return (options.inputs_max + 1) * most +
         (options.on_input ? options.inputs_max * options.input_timeout : most.zero());
}

Tool tool_of(std::shared_ptr<Server> server, const ToolInfo& info, std::string name,
             const ToolSetOptions& options) {
  ToolOptions tool;
  tool.name = std::move(name);
  tool.description = info.description;
  tool.effect = info.effect();
  tool.approval = options.approval;
  tool.uncertain = options.uncertain;
  tool.timeout = call_time_max(server->options()) + timeout_margin;
  tool.attempts = options.attempts;
  tool.untrusted = true;
  auto target = net::parse_target(server->options().url);
  if (target.ok()) tool.reaches = {target->host};
  auto shared = std::make_shared<const ToolInfo>(info);
  return Tool(std::move(tool), info.input_schema,
              [server = std::move(server), shared](Value arguments, ToolContext& call) {
                return call_tool_of(server, shared, std::move(arguments), call);
              });
}

Result<Done> check_names(const ToolSetOptions& options, const ToolList& list) {
  for (const std::string& name : options.names) {
    bool exists = std::any_of(list.tools.begin(), list.tools.end(),
                              [&](const ToolInfo& tool) { return tool.name == name; });
    if (exists) continue;
    return error(ErrorCode::invalid,
                 "The MCP server has no tool " + in_quotes(name) + " that can be used.");
  }
  return Done{};
}

bool is_wanted(const ToolSetOptions& options, const std::string& name) {
  return options.names.empty() ||
         std::find(options.names.begin(), options.names.end(), name) != options.names.end();
}

}  // namespace

Task<Result<ToolSet>> tools_of(std::shared_ptr<Server> server, ToolSetOptions options) {
  Pins pins;
  if (!options.pins.empty()) {
    std::function<Result<Pins>()> read = [path = options.pins] { return read_pins(path); };
    BELAY_CO_TRY(pins, co_await on_blocking_pool<Pins>(std::move(read)));
  }
  BELAY_CO_TRY(ToolList list, co_await server->list());
  BELAY_CO_CHECK(check_names(options, list));
  ToolSet set;
  set.refused = std::move(list.refused);
  std::set<std::string> differing;
  if (!options.pins.empty()) {
    set.differences = check_pins(pins, server->options(), list.tools);
    for (const PinDifference& difference : set.differences) differing.insert(difference.tool);
  }
  std::set<std::string> used;
  // Sorted: the names, and the requests to a model, do not depend on the server's order.
  std::sort(list.tools.begin(), list.tools.end(),
            [](const ToolInfo& one, const ToolInfo& other) { return one.name < other.name; });
  for (const ToolInfo& info : list.tools) {
    if (!is_wanted(options, info.name) || differing.count(info.name) > 0) continue;
    std::string name = tool_name_of(server->options().name, info.name);
    if (!used.insert(name).second) {
      set.refused.push_back({info.name, "its name is that of another tool"});
      continue;
    }
    set.tools.push_back(tool_of(server, info, std::move(name), options));
  }
  co_return set;
}

}  // namespace belay::mcp
