// A program whose agents are the tools that the referee's scenarios call, and one that counts its
// steps in a file.

#include <belay/belay.hpp>
#include <cstdlib>
#include <fstream>

namespace {

using namespace belay;
using namespace std::chrono_literals;

std::int64_t seconds_of(const Value& state) { return state["seconds"].as_int().value_or(0); }

// A call of it is answered with a task unless it takes no time: a task is returned after a second.
Task<JsonUpdate> compute(const Value& state, Context&) {
  auto time = std::chrono::milliseconds(1'000 * seconds_of(state));
  if (time.count() > 0) co_await sleep_for(time + 500ms);
  co_return set("answer", 42);
}

Result<JsonGraph> slow_compute() {
  JsonGraphBuilder graph{"slow_compute"};
  graph.channel("seconds", {.kind = JsonKind::integer});
  graph.channel("label", {.kind = JsonKind::string});
  graph.channel("answer", {.kind = JsonKind::integer});
  graph.node("compute", compute);
  graph.edge(start, "compute").edge("compute", end);
  return std::move(graph).build();
}

Task<Result<JsonUpdate>> fail(const Value&, Context&) {
  co_await sleep_for(1'500ms);
  co_return error(ErrorCode::invalid, "This job always fails.");
}

Result<JsonGraph> failing_job() {
  JsonGraphBuilder graph{"failing_job"};
  graph.channel("answer", {.kind = JsonKind::string});
  graph.node("fail", fail);
  graph.edge(start, "fail").edge("fail", end);
  return std::move(graph).build();
}

// A tool that answers immediately.
Result<JsonGraph> greeting(std::string name) {
  JsonGraphBuilder graph{std::move(name)};
  graph.channel("name", {.kind = JsonKind::string, .default_value = Value("you")});
  graph.channel("greeting", {.kind = JsonKind::string});
  graph.node("greet", [](const Value& state, Context&) {
    return set("greeting", "Hello, " + *state["name"].as_string() + "!");
  });
  graph.edge(start, "greet").edge("greet", end);
  return std::move(graph).build();
}

Result<JsonGraph> error_handling() {
  JsonGraphBuilder graph{"test_error_handling"};
  graph.channel("answer", {.kind = JsonKind::string});
  graph.node("fail", [](const Value&, Context&) -> Result<JsonUpdate> {
    return error(ErrorCode::invalid, "This tool always fails.");
  });
  graph.edge(start, "fail").edge("fail", end);
  return std::move(graph).build();
}

// A tool that waits for an approval.
Result<JsonGraph> deletion(std::string name) {
  JsonGraphBuilder graph{std::move(name)};
  graph.channel("filename", {.kind = JsonKind::string});
  graph.channel("deleted", {.kind = JsonKind::boolean});
  graph.approval("confirm", "filename", {.question = "Delete this file?"})
      .approved("delete")
      .rejected(end);
  graph.node("delete", [](const Value&, Context&) { return set("deleted", true); });
  graph.edge(start, "confirm").edge("delete", end);
  return std::move(graph).build();
}

// Two approvals that are open at the same time.
Result<JsonGraph> multi_input() {
  JsonGraphBuilder graph{"multi_input"};
  graph.channel("first", {.kind = JsonKind::string});
  graph.channel("second", {.kind = JsonKind::string});
  graph.channel("count", {.kind = JsonKind::integer});
  graph.approval("one", "first", {.question = "The first?"}).approved("join").rejected("join");
  graph.approval("two", "second", {.question = "The second?"}).approved("join").rejected("join");
  graph.node("join", [](const Value&, Context&) { return set("count", 2); });
  graph.edge(start, "one").edge(start, "two").edge("join", end);
  return std::move(graph).build();
}

Task<JsonUpdate> step(const Value&, Context&) {
  co_await sleep_for(250ms);
  co_return add("steps", 1);
}

Result<JsonGraph> with_progress() {
  JsonGraphBuilder graph{"test_tool_with_progress"};
  graph.channel("steps", {.kind = JsonKind::integer, .reducer = JsonReducer::add});
  for (const char* name : {"read", "sort", "count", "write"}) graph.node(name, step);
  graph.edge(start, "read").edge("read", "sort").edge("sort", "count").edge("count", "write");
  graph.edge("write", end);
  return std::move(graph).build();
}

// Appends a line to the file in $LEDGER. It is an effect: it must not happen twice.
Task<JsonUpdate> record(const Value& state, Context& context) {
  std::string line = *state["name"].as_string() + " " + std::string(context.node());
  auto write = [line]() -> Task<Result<int>> {
    const char* path = std::getenv("LEDGER");
    if (!path) co_return error(ErrorCode::invalid, "LEDGER is not set.");
    std::ofstream(path, std::ios::app) << line << std::endl;
    co_return 1;
  };
  EffectOptions options;
  co_await context.unkeyed_effect("write", std::move(options), write);
  co_return add("written", 1);
}

// Three steps, with an approval before each but the first.
Result<JsonGraph> ledger() {
  JsonGraphBuilder graph{"ledger"};
  graph.channel("name", {.kind = JsonKind::string, .required = true});
  graph.channel("written", {.kind = JsonKind::integer, .reducer = JsonReducer::add});
  for (const char* name : {"open", "fill", "close"}) graph.node(name, record);
  graph.approval("may-fill", "name", {.question = "Fill it?"}).approved("fill").rejected(end);
  graph.approval("may-close", "name", {.question = "Close it?"}).approved("close").rejected(end);
  graph.edge(start, "open").edge("open", "may-fill").edge("fill", "may-close").edge("close", end);
  return std::move(graph).build();
}

}  // namespace

int main(int argc, char** argv) {
  MainOptions options;
  options.name = "agents";
  return belay::main(argc, argv, options, slow_compute(), failing_job(), greeting("greet"),
                     greeting("test_simple_text"), error_handling(), deletion("confirm_delete"),
                     deletion("test_input_required_result_elicitation"),
                     deletion("test_input_required_result_request_state"),
                     deletion("test_input_required_result_tampered_state"),
                     deletion("test_input_required_result_capabilities"), multi_input(),
                     with_progress(), ledger());
}
