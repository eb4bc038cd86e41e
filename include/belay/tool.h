#pragma once
// belay/tool.h - tools: functions that a model can call through an agent (agent.h).
//
// A tool is a function of a plain struct. The struct's members are the arguments; describe() adds
// texts and bounds, and the JSON Schema for the model follows from both:
//
//     struct ForecastOf {
//       std::string city{};
//       int days = 3;
//       static void describe(belay::Described<ForecastOf>& arguments) {
//         arguments.member(&ForecastOf::city).text("The city, in English").length(1, 80);
//         arguments.member(&ForecastOf::days).text("Days from today").between(1, 14).optional();
//       }
//     };
//     Tool forecast = make_tool<ForecastOf>(
//         {.name = "forecast", .description = "Returns the weather forecast of a city.",
//          .effect = ToolEffect::reads},
//         [](const ForecastOf& arguments, ToolContext&) { return forecast_of(arguments.city); });
//
// The function returns text, or a value that becomes JSON text: a string, a Value, a plain struct,
// a Result of one, or a Task of either. Its model receives an Error as text and can correct the
// call; an Error of code `unavailable` is first retried as `attempts` allows. An exception is an
// Error. A plain function must not block and cannot time out: wait in a coroutine, or use
// ToolContext::node().run_blocking().
//
// Arguments come from a model: they are checked against the schema before the function is called,
// and the model receives the fault of arguments that do not fit.
//
// Threading: functions are called on the executor of the run, and calls of a tool can overlap.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "belay/context.h"
#include "belay/detail/json_schema.h"
#include "belay/detail/tool_function.h"
#include "belay/model.h"

namespace belay {

// The guarantee for the effects of a call after a crash; see the classes of effects in context.h.
// A call whose result is committed is never repeated, whichever class it has.
enum class ToolEffect {
  reads,    // has no effect outside: a call that a crash interrupted is repeated
  keyed,    // the receiver deduplicates by ToolContext::key(): repeated with the same key
  unkeyed,  // the intent is committed first, and a call of unknown outcome follows `uncertain`
};

// When a call waits for the approval of a person.
enum class ToolApproval {
  never,
  untrusted,  // if the conversation contains results of tools that are `untrusted`
  always,
};

struct ToolOptions {
  std::string name = {};         // letters, digits, _ and -, at most 64
  std::string description = {};  // for the model: when to call it, and its result
  ToolEffect effect = ToolEffect::unkeyed;
  ToolApproval approval = ToolApproval::untrusted;
  // Requires an approval for these arguments, in addition to `approval`. Pure; null: none.
  std::function<bool(const Value& arguments)> approve_if = nullptr;
  std::chrono::milliseconds approval_expires{std::chrono::hours(24)};
  EffectOptions uncertain = {};  // of `unkeyed`
  // Maximum time of one attempt; zero: unlimited. An unkeyed call that times out is uncertain.
  std::chrono::milliseconds timeout{std::chrono::seconds(60)};
  int attempts = 1;  // of a call, for errors of code `unavailable`; including the first
  // Maximum number of calls that run in parallel in one agent; 0: AgentOptions::calls_max.
  int parallel = 0;
  // The results contain text of others, such as web pages: later calls of tools with
  // ToolApproval::untrusted then require an approval, until the end of the conversation.
  bool untrusted = false;
  // Hosts that it connects to, as in EgressPolicy; shown to people who approve a call.
  std::vector<std::string> reaches = {};
};

// One call, for the function of a tool.
class ToolContext {
 public:
  ToolContext(Context& node, std::string call_id, std::string key)
      : node_(node), call_id_(std::move(call_id)), key_(std::move(key)) {}

  // The id of the call in the conversation.
  const std::string& call_id() const { return call_id_; }
  // The idempotency key: the same for all attempts of this call, and of no other call.
  const std::string& key() const { return key_; }
  // The context of the task that executes the call: ids, records, costs, time.
  Context& node() { return node_; }

 private:
  Context& node_;
  std::string call_id_;
  std::string key_;
};

class Tool {
 public:
  // `arguments` fit the schema. The ToolContext lives until the task has ended.
  using Function = std::function<Task<Result<std::string>>(Value arguments, ToolContext& call)>;
  // Returns whether an uncertain call has happened: its result, or nullopt if it has not happened.
  using Probe = std::function<Result<std::optional<std::string>>(const Value& arguments,
                                                                 const std::string& key)>;

  // A tool whose arguments are not a struct, such as one of an MCP server.
  Tool(ToolOptions options, Value parameters, Function function);

  const std::string& name() const { return options_->name; }
  const ToolOptions& options() const { return *options_; }
  const Value& parameters() const { return *parameters_; }
  ToolDefinition definition() const;
  const Function& function() const { return *function_; }
  // For WhenUncertain::probe, from any thread; see ToolOptions::uncertain.
  Tool& probe(Probe probe);
  const Probe& probe() const { return probe_; }

  // SHA-256 of name, description, schema, effect and approval, in hex. An approval holds for one
  // version: after a change of the tool it is requested again.
  std::string version() const;

 private:
  std::shared_ptr<const ToolOptions> options_;
  std::shared_ptr<const Value> parameters_;
  std::shared_ptr<const Function> function_;
  Probe probe_;
};

// Returns the tool with this function: (const Arguments&, ToolContext&) -> see the top.
template <reflect::PlainStruct Arguments, typename F>
Tool make_tool(ToolOptions options, F function) {
  return Tool(std::move(options), json_schema<Arguments>(RequiredMembers::all),
              detail::tool_function<Arguments>(std::move(function)));
}

// Tools by name, in the order in which they were added. Not thread-safe while tools are added.
class ToolRegistry {
 public:
  // Fails with `invalid` for a name that exists or is not allowed, or a schema that is not one of
  // an object.
  Result<Done> add(Tool tool);
  const Tool* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const std::vector<Tool>& all() const { return tools_; }
  std::vector<ToolDefinition> definitions() const;
  // Returns the tools of these names, all for an empty list. Fails with `invalid` for a name that
  // does not exist.
  Result<std::vector<Tool>> filter_by_names(const std::vector<std::string>& names) const;

 private:
  std::vector<Tool> tools_;
};

// The result of a call, as the model receives it.
struct ToolResult {
  std::string text{};
  bool is_error = false;
  bool untrusted = false;  // see ToolOptions::untrusted
};

struct ToolCallOptions {
  bool is_untrusted = false;                 // the conversation contains results that are
  std::string version = {};                  // of the caller's prompt: an approval holds for one
  std::size_t result_bytes_max = 64 * 1024;  // the rest of the result is cut off
};

// Executes one call in a task that has no other one, such as a task of a send: waits for the
// approval that the call needs, makes it with the guarantee of its class, and returns the
// result for the model, which is also the text of a fault. Fails with `unavailable` if the task
// must be retried; throws as Context::interrupt() does. `tools` must outlive the task.
Task<Result<ToolResult>> call_tool(const ToolRegistry& tools, ToolCall call,
                                   ToolCallOptions options, Context& context);

std::string_view name_of(ToolEffect effect);
std::string_view name_of(ToolApproval approval);

}  // namespace belay
