// The graphs `agent` and `agent_simple`: an agent and its tool, with a model that has two answers.

#include <algorithm>
#include <chrono>

#include "belay/agent.h"
#include "tests/conformance/graphs/graphs.h"
#include "tests/conformance/graphs/messages.h"

namespace belay::conformance {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// The time after each character, in which readers receive it as a chunk.
constexpr milliseconds kChunkTime{1};
constexpr double kSleepSecondsMax = 3'600;
constexpr std::int64_t kSleepStepsMax = 10'000;
constexpr std::string_view kLineSeparator = "\u2028";

// Streams the text, one character a chunk.
Task<Done> stream_characters(std::string text, Context& context) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t next = begin + 1;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80) ++next;
    context.stream(std::string_view(text).substr(begin, next - begin));
    begin = next;
    co_await sleep_for(kChunkTime);
  }
  co_return Done{};
}

// The model answers "begin" and "end" in turn. The state determines which: a node that is executed
// again has the same answer.
bool answers_first(const Value& state) {
  const Value::Array* messages = state["messages"].as_array();
  if (!messages) return true;
  auto answers = std::count_if(messages->begin(), messages->end(),
                               [](const Value& message) { return message["type"] == Value("ai"); });
  return answers % 2 == 0;
}

Task<JsonUpdate> answer(std::string text, Context& context) {
  std::string streamed = text;
  co_await stream_characters(std::move(streamed), context);
  Value message = agent_message(streamed_message_id(context), std::move(text));
  co_return put("messages", std::move(message));
}

microseconds seconds_of(double seconds) {
  double bounded = std::clamp(seconds, 0.0, kSleepSecondsMax);
  return microseconds(static_cast<std::int64_t>(bounded * 1e6));
}

// `sleep`: seconds, or {"steps": number, "ms": time of a step}, which also emits an event per step.
Task<Done> sleep_as_asked(const Value& sleep, Context& context) {
  if (auto seconds = sleep.as_double()) co_await sleep_for(seconds_of(*seconds));
  std::int64_t steps = std::min(sleep["steps"].as_int().value_or(0), kSleepStepsMax);
  microseconds time = seconds_of(sleep["ms"].as_double().value_or(0) / 1e3);
  for (std::int64_t step = 0; step < steps; ++step) {
    context.emit("sleep", Value::object({{"type", "sleep"}, {"step", step}}));
    co_await sleep_for(time);
  }
  co_return Done{};
}

bool is_of_person(const Value& message) {
  const Value& type = message.find("type") ? message["type"] : message["role"];
  return type == Value("human") || type == Value("user");
}

// The decision is not used: the node continues after any.
void ask_if_wanted(const Value& state, Context& context) {
  if (state["interrupt"] != Value(true)) return;
  InterruptRequest request;
  request.name = "interrupt";
  request.text = "Continue?";
  request.payload = "i want to interrupt";
  (void)context.interrupt(std::move(request));
}

Task<JsonUpdate> agent_node(const Value& state, Context& context) {
  ask_if_wanted(state, context);
  if (is_of_person(last_message(state))) co_await sleep_as_asked(state["sleep"], context);
  std::string text = answers_first(state) ? "begin" : "end";
  JsonUpdate update = co_await answer(std::move(text), context);
  co_return std::move(update).set("interrupt", false);
}

JsonUpdate called_tool(const Value& message, Context& context) {
  std::string text = "tool_call__" + content_of(message);
  return put("messages", tool_message(context.task().text(), std::move(text), "tool_call_id"));
}

JsonUpdate tool_node(const Value& state, Context& context) {
  const Value& last = last_message(state);
  return last.is_null() ? JsonUpdate() : called_tool(last, context);
}

std::string_view after_agent(const Value& state) {
  const Value::Array& messages = *state["messages"].as_array();
  if (content_of(messages.front()) == "should_end") return end;
  return content_of(messages.back()) == "end" ? end : std::string_view("tool");
}

Task<JsonUpdate> simple_agent_node(const Value& state, Context& context) {
  const Value& configurable = context.configuration()["configurable"];
  std::string text = answers_first(state) ? "begin" : "end" + std::string(kLineSeparator);
  const std::string* header = configurable["x-configurable-header"].as_string();
  if (header) text = "end: " + *header;
  JsonUpdate update = co_await answer(std::move(text), context);
  co_return std::move(update);
}

JsonUpdate simple_tool_node(const Value&, Context& context) {
  return called_tool(context.input<Value>(), context);
}

// The tool receives the last message. Without a Send, the run ends.
std::vector<Send> after_simple_agent(const Value& state) {
  const Value& last = last_message(state);
  if (content_of(last).starts_with("end")) return {};
  return {send_to("tool", last)};
}

}  // namespace

Result<JsonGraph> agent_graph() {
  const JsonChannel text_or_null{.kind = JsonKind::string, .nullable = true};
  JsonGraphBuilder graph{"agent"};
  graph.describe("Conformance: answers \"begin\", calls a tool, and answers \"end\".");
  graph.channel("messages", messages_channel());
  graph.channel("sharedStateValue", text_or_null);
  graph.channel("sharedStateFromStoreConfig", {.kind = JsonKind::object, .nullable = true});
  graph.channel("interrupt", {.kind = JsonKind::boolean, .nullable = true});
  graph.channel("keyOne", text_or_null);
  graph.channel("keyTwo", text_or_null);
  graph.channel("sleep", {.nullable = true});
  graph.node("agent", agent_node);
  graph.node("tool", tool_node);
  graph.edge(start, "agent").edge("tool", "agent");
  graph.branch("agent", after_agent, {"tool", end});
  return std::move(graph).build();
}

Result<JsonGraph> agent_simple_graph() {
  const JsonChannel text_or_null{.kind = JsonKind::string, .nullable = true};
  JsonGraphBuilder graph{"agent_simple"};
  graph.describe("Conformance: an agent that sends its last message to a tool.");
  graph.channel("messages", messages_channel());
  graph.channel("key_one", text_or_null);
  graph.channel("key_two", text_or_null);
  graph.channel("sleep", {.kind = JsonKind::number, .nullable = true});
  graph.node("agent", simple_agent_node);
  graph.node("tool", simple_tool_node);
  graph.edge(start, "agent").edge("tool", "agent");
  graph.branch("agent", after_simple_agent, {"tool", end});
  return std::move(graph).build();
}

}  // namespace belay::conformance
