// `belay calls`: lists the model calls, effects and costs of a run.

#include "cli/commands.h"
#include "cli/documents.h"
#include "cli/named_run.h"

namespace belay::cli {
namespace {

constexpr std::size_t kTextWidth = 160;

std::string text_of(const Value& value) {
  const std::string* text = value.as_string();
  return text ? *text : std::string();
}

std::string brief(const std::string& text) { return shortened(one_line(text), kTextWidth, "..."); }

void show_usage(Output& output, const Value& usage) {
  if (usage.is_null()) return;
  output.line("    tokens: " + to_json(usage["input_tokens"]) + " in, " +
              to_json(usage["output_tokens"]) + " out");
}

void show_model_call(Output& output, const Value& call) {
  if (const Value::Array* messages = call["prompt"]["messages"].as_array()) {
    for (const Value& message : *messages) {
      output.line("    " + text_of(message["role"]) + ": " + brief(text_of(message["text"])));
    }
  }
  const Value& reply = call["reply"];
  if (reply.is_null()) return;
  output.line("    -> " + brief(text_of(reply["text"])));
  if (const Value::Array* wanted = reply["tool_calls"].as_array()) {
    for (const Value& tool : *wanted) {
      output.line("    -> " + brief(text_of(tool["name"]) + " " + to_json(tool["arguments"])));
    }
  }
  show_usage(output, reply["usage"]);
}

void show_call(const CommandContext& world, const Value& call) {
  Output& output = world.output;
  Instant at = instant_from(text_of(call["createdAt"])).value_or(Instant());
  output.line(precise_text(world.settings.time_zone, at) + "  " +
              padded(text_of(call["name"]), 24) + "  " + padded(text_of(call["node"]), 18) + "  " +
              text_of(call["status"]));
  if (text_of(call["kind"]) == "model") show_model_call(output, call);
  if (!call["result"].is_null()) output.line("    -> " + brief(to_json(call["result"])));
  const Value& failed = call["error"];
  if (failed.is_null()) return;
  std::string message = text_of(failed["message"]);
  output.line("    failed: " + brief(message.empty() ? to_json(failed) : message));
}

}  // namespace

Task<CommandResult> show_calls(CommandContext& world, Calls wanted) {
  CallPage page;
  page.thread = ThreadId(std::move(wanted.thread));
  page.limit = wanted.limit;
  BELAY_CO_TRY(page.run, co_await named_run(world, page.thread, std::move(wanted.run)));
  BELAY_CO_TRY(Value document, co_await world.service.calls(std::move(page)));
  const Value::Array& calls = *document["calls"].as_array();
  for (const Value& call : calls) show_call(world, call);
  if (calls.empty()) world.output.line("The run has no model calls and no effects.");
  world.output.document(document);
  co_return ExitCode::done;
}

}  // namespace belay::cli
