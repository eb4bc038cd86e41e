// The order within a call: approval, then the intent, then the effect. Each part is recorded before
// the next one starts, and an attempt after a crash continues with the recorded part.

#include "agent/deadline.h"
#include "agent/turn.h"
#include "base/in_quotes.h"
#include "belay/agent.h"

namespace belay {
namespace agents {
namespace {

// One call for each task: the name is unique in it.
constexpr std::string_view effect_name = "call";

bool needs_approval(const Tool& tool, const Value& arguments, bool is_untrusted) {
  const ToolOptions& options = tool.options();
  if (options.approval == ToolApproval::always) return true;
  if (options.approve_if && options.approve_if(arguments)) return true;
  return options.approval == ToolApproval::untrusted && options.effect != ToolEffect::reads &&
         is_untrusted;
}

// The whole identity of that which is approved: if any part of it changes, the question is another
// one, and an earlier decision does not apply.
InterruptRequest question_about(const ToolCall& call, const Tool& tool,
                                const ToolCallOptions& caller) {
  Value::Array reaches;
  for (const std::string& host : tool.options().reaches) reaches.emplace_back(host);
  InterruptRequest question;
  question.name = "call/" + call.id;
  question.text = "Call the tool " + in_quotes(call.name) + "?";
  if (caller.is_untrusted) question.text += " The conversation contains text from outside.";
  question.payload = Value::object({{"agentVersion", caller.version},
                                    {"arguments", call.arguments},
                                    {"call", call.id},
                                    {"effect", name_of(tool.options().effect)},
                                    {"reaches", Value(std::move(reaches))},
                                    {"tool", call.name},
                                    {"toolVersion", tool.version()},
                                    {"untrusted", caller.is_untrusted}});
  question.expires = tool.options().approval_expires;
  return question;
}

ToolResult failed(std::string text) {
  ToolResult result;
  result.text = std::move(text);
  result.is_error = true;
  return result;
}

std::string refusal(const InterruptResponse& response) {
  if (response.decided_by.empty()) {
    return "Error: this call was not approved in time. It was not made.";
  }
  std::string text = "Error: a person rejected this call. It was not made.";
  if (!response.comment.empty()) text += " Their comment: " + response.comment;
  return text;
}

Error late(const Tool& tool, const std::string& name) {
  ErrorCode code =
      tool.options().effect == ToolEffect::unkeyed ? ErrorCode::uncertain : ErrorCode::unavailable;
  return error(code, "The tool " + in_quotes(name) + " did not end within " +
                         std::to_string(tool.options().timeout.count()) + " ms.");
}

// Calls the function once. Errors that a retry cannot correct become the text for the model, so
// that the effect is recorded with them.
Task<Result<std::string>> call_once(const Tool& tool, Value arguments, ToolContext& call,
                                    std::size_t bytes_max, bool& is_error) {
  auto function = tool.function()(std::move(arguments), call);
  Error too_late = late(tool, tool.name());
  auto ended = co_await within(tool.options().timeout, std::move(function), std::move(too_late));
  if (ended.thrown) std::rethrow_exception(ended.thrown);
  if (ended.text.ok()) co_return result_text(*ended.text, bytes_max);
  ErrorCode code = ended.text.error().code;
  bool is_final = code != ErrorCode::unavailable && code != ErrorCode::uncertain &&
                  code != ErrorCode::cancelled;
  if (!is_final) co_return ended.text.error();
  is_error = true;
  co_return result_text("Error: " + ended.text.error().message, bytes_max);
}

// The recorded form of an effect's result.
struct Recorded {
  std::string text{};
  bool is_error = false;
  // False if a person confirmed that an uncertain call happened: its result is not known.
  bool is_known = false;
};

Task<Result<Recorded>> call_recorded(const Tool& tool, Value arguments, ToolContext& call,
                                     std::size_t bytes_max) {
  Recorded recorded;
  auto text = co_await call_once(tool, std::move(arguments), call, bytes_max, recorded.is_error);
  if (!text.ok()) co_return std::move(text).error();
  recorded.text = *std::move(text);
  recorded.is_known = true;
  co_return recorded;
}

// A call that requests a decision has not happened: it is made again after the decision.
Task<Result<Recorded>> call_until_asked(const Tool& tool, Value arguments, ToolContext& call,
                                        std::size_t bytes_max, std::optional<Interrupted>& asked) {
  try {
    auto recorded = co_await call_recorded(tool, std::move(arguments), call, bytes_max);
    co_return recorded;
  } catch (const Interrupted& thrown) {
    asked = thrown;
  }
  co_return error(ErrorCode::cancelled, "The call waits for a decision.");
}

// Executes the call with the guarantee of its class. Throws Failure for an error that is not one of
// the tool's text.
Task<Recorded> call_by_class(const Tool& tool, Value arguments, ToolContext& call,
                             std::size_t bytes_max) {
  Context& context = call.node();
  std::string name(effect_name);
  auto action = [&]() { return call_recorded(tool, arguments, call, bytes_max); };
  if (tool.options().effect == ToolEffect::reads) {
    auto read = co_await action();
    co_return std::move(read).value();
  }
  if (tool.options().effect == ToolEffect::keyed) {
    auto keyed = co_await context.keyed_effect(std::move(name), action);
    co_return keyed;
  }
  Probe<Recorded> probe;
  if (tool.probe()) {
    probe = [&]() -> Result<std::optional<Recorded>> {
      auto found = tool.probe()(arguments, call.key());
      if (!found.ok()) return std::move(found).error();
      if (!*found) return std::optional<Recorded>();
      Recorded recorded;
      recorded.text = result_text(**found, bytes_max);
      recorded.is_known = true;
      return std::optional<Recorded>(std::move(recorded));
    };
  }
  EffectOptions policy = tool.options().uncertain;
  std::optional<Interrupted> asked;
  auto asking = [&]() { return call_until_asked(tool, arguments, call, bytes_max, asked); };
  std::optional<Recorded> once;
  try {
    once = co_await context.unkeyed_effect(std::move(name), policy, std::move(asking),
                                           std::move(probe));
  } catch (const Failure&) {
    if (!asked) throw;
  }
  if (asked) throw *std::move(asked);
  if (once && (once->is_known || !once->text.empty())) co_return *std::move(once);
  if (once) {
    once->text = "The call happened, as a person confirmed. Its result is not known.";
    co_return *std::move(once);
  }
  Recorded skipped;
  skipped.text = "Error: the outcome of this call is unknown. It was not repeated.";
  skipped.is_error = true;
  co_return skipped;
}

Task<Result<ToolResult>> execute_with(const Tool& tool, Value arguments, const ToolCall& call,
                                      std::size_t bytes_max, Context& context) {
  ToolContext tool_context(context, call.id, context.idempotency_key(effect_name));
  std::optional<Error> failure;
  ToolResult result;
  result.untrusted = tool.options().untrusted;
  try {
    auto recorded = co_await call_by_class(tool, std::move(arguments), tool_context, bytes_max);
    result.text = std::move(recorded.text);
    result.is_error = recorded.is_error;
  } catch (const Failure& thrown) {
    failure = thrown.error();
  }
  if (!failure) co_return result;
  bool retries =
      failure->code == ErrorCode::unavailable && context.attempt() < tool.options().attempts;
  if (retries || failure->code == ErrorCode::cancelled) co_return *std::move(failure);
  co_return failed(result_text("Error: " + failure->message, bytes_max));
}

}  // namespace
}  // namespace agents

Task<Result<ToolResult>> call_tool(const ToolRegistry& tools, ToolCall call,
                                   ToolCallOptions options, Context& context) {
  using namespace agents;
  const Tool* tool = tools.find(call.name);
  if (!tool) {
    co_return failed("Error: the tool " + in_quotes(call.name) +
                     " does not exist any more. The call was not made.");
  }
  // The version of the program, and with it the schema, might have changed since the model's reply.
  if (auto fault = arguments_fault(*tool, call.arguments)) {
    co_return failed("Error: the arguments do not fit the tool: " + *fault + ".");
  }
  Value arguments = call.arguments;
  std::string edited;
  if (needs_approval(*tool, arguments, options.is_untrusted)) {
    auto question = question_about(call, *tool, options);
    InterruptResponse response = context.interrupt(std::move(question));
    if (!response.approved) co_return failed(refusal(response));
    const Value& given = response.payload["arguments"];
    if (given != arguments) {
      if (auto fault = arguments_fault(*tool, given)) {
        co_return failed("Error: a person edited the arguments, and they do not fit the tool: " +
                         *fault + ". The call was not made.");
      }
      edited = "[A person changed the arguments to " + to_json(given) + ".]\n";
      arguments = given;
    }
  }
  auto result =
      co_await execute_with(*tool, std::move(arguments), call, options.result_bytes_max, context);
  if (result.ok()) result->text.insert(0, edited);
  co_return result;
}

}  // namespace belay
