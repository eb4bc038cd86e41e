// The graphs with subgraphs, and those of a single node.

#include <algorithm>
#include <chrono>

#include "tests/conformance/graphs/graphs.h"
#include "tests/conformance/graphs/messages.h"

namespace belay::conformance {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTimeToFailure{1'000};
constexpr std::int64_t kDelayMax = 3'600'000;

const ChannelPairs kMessages = {{"messages", "messages"}};

JsonChannel text_or_null() { return {.kind = JsonKind::string, .nullable = true}; }

JsonUpdate model_node(const Value&, Context&) { return set("city", "San Francisco"); }

JsonUpdate weather_node(const Value& state, Context& context) {
  InterruptRequest request;
  request.name = "before";
  request.text = "Continue with weather_node?";
  request.payload = "weather_node";
  (void)context.interrupt(std::move(request));
  std::string text = "It's sunny in " + *state["city"].as_string() + "!";
  return put("messages", agent_message(context.task().text(), std::move(text)));
}

Result<JsonGraph> city_graph() {
  JsonGraphBuilder graph{"weather_graph"};
  graph.channel("messages", messages_channel());
  graph.channel("city", text_or_null());
  graph.node("model_node", model_node);
  graph.node("weather_node", weather_node);
  graph.edge(start, "model_node").edge("model_node", "weather_node").edge("weather_node", end);
  return std::move(graph).build();
}

JsonUpdate router_node(const Value&, Context&) { return set("route", "weather"); }

JsonUpdate normal_llm_node(const Value&, Context& context) {
  return put("messages", agent_message(context.task().text(), "Hello"));
}

std::string_view after_router(const Value& state) {
  return state["route"] == Value("weather") ? "weather_graph" : "normal_llm_node";
}

// A graph whose messages are texts.
JsonGraphBuilder level(std::string name) {
  JsonGraphBuilder graph{std::move(name)};
  graph.channel("messages", {.kind = JsonKind::array, .reducer = JsonReducer::append});
  return graph;
}

JsonUpdate enter(const Value&, Context& context) {
  return append("messages", "Entered " + std::string(context.node()) + " node");
}

Result<JsonGraph> child_graph() {
  JsonGraphBuilder graph = level("child");
  graph.channel("child", text_or_null());
  graph.node("c_one", enter);
  graph.node("c_two", enter);
  graph.edge(start, "c_one").edge("c_one", "c_two").edge("c_two", end);
  return std::move(graph).build();
}

// The level above `inner`, whose second node is that graph. The messages of the inner graph, which
// begin with those of this one, are appended.
Result<JsonGraph> level_above(JsonGraphBuilder graph, const JsonGraph& inner, std::string_view one,
                              std::string_view two) {
  graph.node(one, enter);
  graph.subgraph(two, inner, kMessages, kMessages);
  graph.edge(start, one).edge(one, two).edge(two, end);
  return std::move(graph).build();
}

Task<Result<JsonUpdate>> error_node(const Value&, Context&) {
  co_await sleep_for(kTimeToFailure);
  co_return error(ErrorCode::invalid, "CustomError: Boo!");
}

Task<JsonUpdate> long_running(const Value& state, Context&) {
  std::int64_t delay = std::clamp<std::int64_t>(state["delay"].as_int().value_or(0), 0, kDelayMax);
  co_await sleep_for(milliseconds(delay));
  std::string text = "finished after " + std::to_string(delay) + "ms";
  co_return put("messages", std::move(text));
}

JsonUpdate write_name_of_node(const Value&, Context& context) {
  const std::string* given = context.configuration()["configurable"]["nodeName"].as_string();
  std::string name = given ? *given : std::string(context.node());
  return set("node", name).append("messages", name);
}

JsonUpdate use_context(const Value&, Context& context) {
  const std::string* model = context.configuration()["context"]["model"].as_string();
  return set("model", model ? *model : "unknown");
}

}  // namespace

Result<JsonGraph> weather_graph() {
  BELAY_TRY(JsonGraph city, city_graph());
  JsonGraphBuilder graph{"weather"};
  graph.describe("Conformance: a subgraph that stops before its last node.");
  graph.channel("messages", messages_channel());
  graph.channel("route", text_or_null());
  graph.node("router_node", router_node);
  graph.node("normal_llm_node", normal_llm_node);
  graph.subgraph("weather_graph", city, kMessages, kMessages);
  graph.edge(start, "router_node");
  graph.branch("router_node", after_router, {"weather_graph", "normal_llm_node"});
  graph.edge("weather_graph", end).edge("normal_llm_node", end);
  return std::move(graph).build();
}

Result<JsonGraph> nested_graph() {
  BELAY_TRY(JsonGraph child, child_graph());
  JsonGraphBuilder middle = level("parent");
  middle.channel("parent", text_or_null());
  BELAY_TRY(JsonGraph parent, level_above(std::move(middle), child, "p_one", "p_two"));
  JsonGraphBuilder graph = level("nested");
  graph.describe("Conformance: a subgraph in a subgraph.");
  return level_above(std::move(graph), parent, "gp_one", "gp_two");
}

Result<JsonGraph> error_graph() {
  JsonGraphBuilder graph{"error"};
  graph.describe("Conformance: fails after a second.");
  graph.channel("messages", messages_channel());
  graph.node("error_node", error_node);
  graph.edge(start, "error_node").edge("error_node", end);
  return std::move(graph).build();
}

Result<JsonGraph> delay_graph() {
  JsonGraphBuilder graph{"delay"};
  graph.describe("Conformance: waits for `delay` milliseconds.");
  graph.channel("messages", messages_channel());
  graph.channel("delay", {.kind = JsonKind::number});
  graph.node("long_running", long_running);
  graph.edge(start, "long_running").edge("long_running", end);
  return std::move(graph).build();
}

Result<JsonGraph> dynamic_graph() {
  JsonGraphBuilder graph = level("dynamic");
  graph.describe("Conformance: writes the name of its node, or that of its configuration.");
  graph.channel("node", text_or_null());
  graph.node("default", write_name_of_node);
  graph.edge(start, "default").edge("default", end);
  return std::move(graph).build();
}

Result<JsonGraph> simple_runtime_graph() {
  JsonGraphBuilder graph{"simple_runtime"};
  graph.describe("Conformance: writes the model of its context.");
  graph.channel("message", text_or_null());
  graph.channel("model", text_or_null());
  graph.node("use_context", use_context);
  graph.edge(start, "use_context").edge("use_context", end);
  return std::move(graph).build();
}

Result<Definitions> graphs() {
  Definitions all;
  for (auto make : {agent_graph, agent_simple_graph, weather_graph, nested_graph, error_graph,
                    delay_graph, dynamic_graph, simple_runtime_graph}) {
    BELAY_TRY(JsonGraph graph, make());
    all.push_back(graph.definition());
  }
  return all;
}

}  // namespace belay::conformance
