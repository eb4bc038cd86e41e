#pragma once
// tests/support/agent_server_tool_fixture.h - ToolFixture: agents with tools behind the API of the
// Agent Server, for tests.
//
//     clerk   asks for two forecasts, one of which fails; or sends a letter, after an approval
//     office  executes the clerk as a subgraph

#include <array>

#include "belay/agent.h"
#include "tests/support/agent_server_run_fixture.h"

namespace belay::langgraph {

struct CityArguments {
  std::string city{};
};

// Asks for two forecasts, one of which fails; or sends a letter, which needs an approval.
inline Result<ModelReply> clerk_reply(const ModelRequest& request) {
  ModelReply reply;
  const Message& last = request.messages.back();
  if (last.role == Role::tool) {
    reply.text = "That is all.";
    return reply;
  }
  auto city = [](const char* name) { return Value::object({{"city", name}}); };
  reply.stop_reason = StopReason::tool_calls;
  if (last.text.starts_with("send")) {
    reply.tool_calls = {{"", "letter", city("Bonn")}};
  } else {
    reply.text = "Let me look.";
    reply.tool_calls = {{"", "forecast", city("Oslo")}, {"", "forecast", city("Nowhere")}};
  }
  return reply;
}

inline AgentOptions clerk_options() {
  AgentOptions options;
  Tool forecast = make_tool<CityArguments>(
      {.name = "forecast", .description = "Weather.", .effect = ToolEffect::reads},
      [](const CityArguments& arguments, ToolContext&) -> Result<std::string> {
        if (arguments.city == "Nowhere") return error(ErrorCode::invalid, "No such city.");
        return "rain in " + arguments.city;
      });
  Tool letter = make_tool<CityArguments>(
      {.name = "letter",
       .description = "Sends a letter.",
       .effect = ToolEffect::keyed,
       .approval = ToolApproval::always},
      [](const CityArguments& arguments, ToolContext&) { return "sent to " + arguments.city; });
  options.tools = {forecast, letter};
  return options;
}

// Executes the clerk as a subgraph.
inline Graph<Poem> office_graph() {
  GraphBuilder<Poem> graph{"office"};
  graph.agent("ask", clerk_options(), &Poem::topic, &Poem::verse);
  graph.edge(start, "ask").edge("ask", end);
  return std::move(graph).build().value();
}

inline constexpr std::array<const char*, 10> kModes{
    "values",   "updates", "messages-tuple", "custom", "checkpoints",
    "messages", "tasks",   "debug",          "events", "tools"};

struct ToolFixture : RunFixture {
  Graph<AgentState> clerk = agent_graph("clerk", clerk_options()).value();
  Graph<Poem> office = office_graph();
  int threads = 0;

  ToolFixture() {
    model.then_always(clerk_reply);
    api.reset();
    runtime->add(clerk);
    runtime->add(office);
    LocalServiceParts parts{*store,
                            *store,
                            *runtime,
                            loop,
                            clock,
                            random,
                            {clerk.definition(), office.definition(), poet.definition()},
                            {},
                            {}};
    service = make_local_service(std::move(parts));
    serve();
  }

  static std::string question(const std::string& words, const std::string& modes) {
    return R"({"assistant_id":"clerk","input":{"question":")" + words +
           R"("},"if_not_exists":"create","stream_mode":)" + modes + "}";
  }
  static std::string in_office(const std::string& words, const std::string& modes,
                               const std::string& more = {}) {
    return R"({"assistant_id":"office","input":{"topic":")" + words +
           R"("},"if_not_exists":"create","stream_mode":)" + modes + more + "}";
  }
  static std::string approval(const std::string& modes, const std::string& agent = "clerk") {
    return R"({"assistant_id":")" + agent + R"(","command":{"resume":true},"stream_mode":)" +
           modes + "}";
  }
  static std::string all_modes() {
    std::string list;
    for (const char* mode : kModes) list += (list.empty() ? "\"" : ",\"") + std::string(mode) + '"';
    return "[" + list + "]";
  }
  std::string new_thread() {
    std::string digits = std::to_string(100 + ++threads);
    return "/threads/00000000-0000-4000-8000-000000000" + digits + "/runs";
  }
  // Starts or resumes a run, and cuts its stream after each of its events.
  Events cut_everywhere(const std::string& thread, const std::string& body) {
    Events whole = stream_run(body, thread + "/stream");
    if (whole.empty()) {
      ADD_FAILURE() << body;
      return whole;
    }
    for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(whole[i].id, std::to_string(i));
    expect_each_rest(whole, thread + "/" + server::text(whole[0].data["run_id"]) + "/stream");
    return whole;
  }
  // "on_tool_start forecast" of each event.
  static std::string steps_of(const Events& events) {
    std::string all;
    for (const Event& each : events) {
      all += server::text(each.data["event"]) + " " + server::text(each.data["name"]) + "\n";
    }
    return all;
  }
  Events v2_until(const std::string& thread, const std::string& more, const std::string& last) {
    std::string body =
        R"({"channels":["values","checkpoints","lifecycle","input","messages","tools"])" + more +
        "}";
    auto opened = call("POST", thread + "/stream/events", body);
    EXPECT_EQ(opened.status, 200) << to_json(opened.body);
    Events events;
    for (int pieces = 0; pieces < 100; ++pieces) {
      for (Event& each : parsed(block_on(loop, opened.stream->next()).value())) {
        bool is_last = each.name == "lifecycle" &&
                       each.data["params"]["data"]["event"] == Value(last) &&
                       each.data["params"]["namespace"].as_array()->empty();
        events.push_back(std::move(each));
        if (is_last) return events;
      }
    }
    ADD_FAILURE() << "no lifecycle event " << last << "\n" << lines_of(events);
    return events;
  }
};

}  // namespace belay::langgraph
