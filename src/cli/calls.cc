// `belay calls`: lists the model calls, effects and costs of a run.

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/documents.h"
#include "cli/named_run.h"
#include "cli/shared_options.h"

namespace belay::cli {
namespace {

constexpr const char* kCallsHelp =
    R"(Lists the calls of the thread's current run, or of --run, in the order in which they were
started: requests and replies of the model, and results of effects and costs. The setting
model_prompts defines which part of a prompt is stored (docs/models.md).

Examples:
  {p} calls first
  {p} calls first --json | jq '.calls[].prompt.messages'
)";

constexpr std::size_t kTextWidth = 160;

std::string text_of(const Value& value) {
  const std::string* text = value.as_string();
  return text ? *text : std::string();
}

std::string brief(const std::string& text) { return shortened(one_line(text), kTextWidth, "..."); }

void show_usage(Output& output, const Value& usage) {
  if (usage.is_null()) return;
  std::string cached;
  if (usage["cached_input_tokens"].as_int().value_or(0) > 0) {
    cached = " (" + to_json(usage["cached_input_tokens"]) + " of them cached)";
  }
  output.line("    tokens: " + to_json(usage["input_tokens"]) + " in" + cached + ", " +
              to_json(usage["output_tokens"]) + " out");
}

void show_tool_calls(Output& output, const Value& calls, std::string_view before) {
  const Value::Array* wanted = calls.as_array();
  if (!wanted) return;
  for (const Value& tool : *wanted) {
    std::string call = text_of(tool["name"]) + " " + to_json(tool["arguments"]);
    output.line(std::string(before) + brief(call));
  }
}

// A message of an assistant that only calls tools has no text.
void show_message(Output& output, const Value& message) {
  std::string before = "    " + text_of(message["role"]) + ": ";
  std::string text = text_of(message["text"]);
  bool calls_tools = message["toolCalls"].as_array() != nullptr;
  if (!text.empty() || !calls_tools) output.line(before + brief(text));
  show_tool_calls(output, message["toolCalls"], before);
}

void show_model_call(Output& output, const Value& call) {
  if (const Value& before = call["prompt"]["messagesBefore"]; !before.is_null()) {
    output.line("    after " + to_json(before) + " messages of earlier calls:");
  }
  if (const Value::Array* messages = call["prompt"]["messages"].as_array()) {
    for (const Value& message : *messages) show_message(output, message);
  }
  const Value& reply = call["reply"];
  if (reply.is_null()) return;
  std::string text = brief(text_of(reply["text"]));
  if (!text.empty()) output.line("    -> " + text);
  show_tool_calls(output, reply["tool_calls"], "    -> ");
  show_usage(output, reply["usage"]);
}

std::string duration_of(const Value& call) {
  auto took = call["durationMs"].as_int();
  return took ? "  " + span_text(std::chrono::milliseconds(*took)) : std::string();
}

void show_call(const CommandContext& world, const Value& call) {
  Output& output = world.output;
  Instant at = instant_from(text_of(call["createdAt"])).value_or(Instant());
  output.line(precise_text(world.settings.time_zone, at) + "  " +
              padded(text_of(call["name"]), 24) + "  " + padded(text_of(call["node"]), 18) + "  " +
              text_of(call["status"]) + duration_of(call));
  if (text_of(call["kind"]) == "model") show_model_call(output, call);
  if (!call["result"].is_null()) output.line("    -> " + brief(to_json(call["result"])));
  const Value& failed = call["error"];
  if (failed.is_null()) return;
  std::string message = text_of(failed["message"]);
  output.line("    failed: " + brief(message.empty() ? to_json(failed) : message));
}

class CallsCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    declare_thread(words, thread_);
    declare_run(words, run_);
    declare_limit(words, limit_);
  }
  Result<Done> validate(const CommandValidation&) override {
    return check_thread_and_run(thread_, run_);
  }

  Task<CommandResult> run(CommandContext& world) override {
    CallPage page;
    page.thread = ThreadId(thread_);
    page.limit = limit_;
    BELAY_CO_TRY(page.run, co_await named_run(world, page.thread, run_));
    BELAY_CO_TRY(Value document, co_await world.service.calls(world.who, std::move(page)));
    const Value::Array& calls = *document["calls"].as_array();
    for (const Value& call : calls) show_call(world, call);
    if (calls.empty()) world.output.line("The run has no model calls and no effects.");
    world.output.document(document);
    co_return ExitCode::done;
  }

 private:
  std::string thread_;
  std::optional<std::string> run_;
  std::size_t limit_ = 100;
};

}  // namespace

CommandSpec builtin::calls_command(const Program&) {
  return {.path = {"calls"},
          .line = "Show the model calls, costs and effects of a run",
          .end = kCallsHelp,
          .make = make_command<CallsCommand>};
}

}  // namespace belay::cli
