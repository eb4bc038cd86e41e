#include "belay/agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/turn.h"
#include "belay/testing.h"

namespace belay {
namespace {

struct PlaceArguments {
  std::string place{};
  int days = 3;
  static void describe(Described<PlaceArguments>& arguments) {
    arguments.member(&PlaceArguments::place).text("A city").length(1, 20);
    arguments.member(&PlaceArguments::days).between(1, 14).optional();
  }
};

Tool weather_tool(ToolOptions options = {.name = "weather",
                                         .description = "Returns the weather.",
                                         .effect = ToolEffect::reads}) {
  return make_tool<PlaceArguments>(
      std::move(options),
      [](const PlaceArguments& arguments, ToolContext&) { return "rain in " + arguments.place; });
}

Value place(std::string name) { return Value::object({{"place", std::move(name)}}); }

ModelReply text_reply(std::string text) {
  ModelReply reply;
  reply.text = std::move(text);
  reply.provider = "scripted";
  reply.model = "script";
  reply.method = "script";
  reply.usage = Usage{10, 5};
  return reply;
}

ModelReply call_reply(std::vector<ToolCall> calls) {
  ModelReply reply = text_reply("");
  reply.tool_calls = std::move(calls);
  reply.stop_reason = StopReason::tool_calls;
  return reply;
}

// A model whose reply is a function of the request: the same one after a crash.
class FunctionModel final : public Model {
 public:
  using Function = std::function<Result<ModelReply>(const ModelRequest&)>;
  explicit FunctionModel(Function function) : function_(std::move(function)) {}
  Task<Result<ModelReply>> generate(ModelRequest request) override { co_return function_(request); }

 private:
  Function function_;
};

int results_in(const ModelRequest& request) {
  auto is_result = [](const Message& message) { return message.role == Role::tool; };
  return static_cast<int>(
      std::count_if(request.messages.begin(), request.messages.end(), is_result));
}

testing::World world_with(FunctionModel::Function function) {
  testing::World world;
  world.model(std::make_shared<FunctionModel>(std::move(function)));
  return world;
}

AgentState asked(std::string question) {
  AgentState state;
  state.question = std::move(question);
  return state;
}

AgentOptions options_with(std::vector<Tool> tools) {
  AgentOptions options;
  options.prompt = "You know the weather.";
  options.tools = std::move(tools);
  return options;
}

TEST(ToolSchema, FollowsFromTheStruct) {
  EXPECT_EQ(to_json(json_schema<PlaceArguments>(RequiredMembers::all)),
            R"({"additionalProperties":false,"properties":{"days":{"maximum":14,"minimum":1,)"
            R"("type":"integer"},"place":{"description":"A city","maxLength":20,"minLength":1,)"
            R"("type":"string"}},"required":["place"],"type":"object"})");
}

TEST(ToolRegistry, RefusesASecondToolOfOneName) {
  ToolRegistry tools;
  ASSERT_TRUE(tools.add(weather_tool()).ok());
  auto again = tools.add(weather_tool());
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().message, "Two tools are named \"weather\". Rename one of them.");
  EXPECT_FALSE(tools.add(weather_tool({.name = "the weather"})).ok());
}

TEST(ToolRegistry, FiltersByName) {
  ToolRegistry tools;
  ASSERT_TRUE(tools.add(weather_tool()).ok());
  ASSERT_TRUE(tools.add(weather_tool({.name = "other"})).ok());
  EXPECT_EQ(tools.filter_by_names({}).value().size(), 2u);
  EXPECT_EQ(tools.filter_by_names({"other", "other"}).value().size(), 1u);
  EXPECT_EQ(tools.filter_by_names({"third"}).error().message,
            "There is no tool \"third\". Known tools: weather, other.");
}

TEST(Agent, AnswersAfterItsCallsHaveResults) {
  auto world = world_with([](const ModelRequest& request) -> Result<ModelReply> {
    if (results_in(request) < 2) {
      return call_reply({{"a", "weather", place("Oslo")}, {"b", "weather", place("Rome")}});
    }
    return text_reply(request.messages[3].text + " and " + request.messages[4].text);
  });
  auto run =
      world.run(agent_graph("trip", options_with({weather_tool()})), asked("Rain?")).approve_all();
  EXPECT_FALSE(run.error()) << run.error()->message;
  EXPECT_EQ(run.state().answer, "rain in Oslo and rain in Rome");
  EXPECT_EQ(run.outcome(), "answered");
  EXPECT_EQ(run.state().steps, 2);
  EXPECT_EQ(run.state().usage.input_tokens, 20);
  EXPECT_EQ(run.attempts("tool"), 2);
}

TEST(Agent, CallsTheModelThatItsOptionsName) {
  auto world = world_with([](const ModelRequest& request) -> Result<ModelReply> {
    return text_reply("by " + (request.model.empty() ? "the run's model" : request.model));
  });
  AgentOptions options = options_with({});
  EXPECT_EQ(world.run(agent_graph("trip", options), asked("?")).approve_all().state().answer,
            "by the run's model");
  options.model = "openai:small";
  EXPECT_EQ(world.run(agent_graph("trip", options), asked("?")).approve_all().state().answer,
            "by openai:small");
}

TEST(Agent, RepeatsNoCallThatEndedBeforeACrash) {
  auto model = [](const ModelRequest& request) -> Result<ModelReply> {
    if (results_in(request) < 4) {
      return call_reply({{"a", "order", place("A")},
                         {"b", "order", place("B")},
                         {"c", "order", place("C")},
                         {"d", "order", place("D")}});
    }
    return text_reply("done");
  };
  Tool order = weather_tool({.name = "order", .description = "", .effect = ToolEffect::keyed});
  auto graph = agent_graph("orders", options_with({order})).value();
  auto world = world_with(model);
  auto baseline = world.run(graph, asked("Order four.")).approve_all();
  ASSERT_FALSE(baseline.error()) << baseline.error()->message;
  EXPECT_EQ(baseline.effects("call"), 4);
  for (auto crash : baseline.crash_points()) {
    auto crashed = world.run(graph, asked("Order four.")).crash_at(crash).approve_all();
    ASSERT_FALSE(crashed.error()) << crashed.error()->message;
    EXPECT_EQ(crashed.state(), baseline.state());
    EXPECT_EQ(crashed.effects("call"), 4);
  }
}

TEST(Agent, ReturnsFaultsToTheModel) {
  std::vector<std::string> results;
  auto world = world_with([&](const ModelRequest& request) -> Result<ModelReply> {
    if (results_in(request) == 0) {
      return call_reply({{"", "moon", place("Oslo")},
                         {"x", "weather", Value("not an object")},
                         {"x", "weather", Value::object({{"place", ""}, {"more", 1}})},
                         {"y", "weather", place("Oslo")}});
    }
    results.clear();
    for (const Message& message : request.messages) {
      if (message.role == Role::tool) results.push_back(message.text);
    }
    return text_reply("done");
  });
  auto run =
      world.run(agent_graph("trip", options_with({weather_tool()})), asked("Rain?")).approve_all();
  ASSERT_FALSE(run.error()) << run.error()->message;
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results[0], "Error: there is no tool \"moon\". The tools are: weather.");
  EXPECT_THAT(results[1], ::testing::HasSubstr("they must be a JSON object"));
  EXPECT_THAT(results[2], ::testing::HasSubstr("do not fit"));
  EXPECT_EQ(results[3], "rain in Oslo");
  EXPECT_EQ(run.attempts("tool"), 1);
}

TEST(Agent, AsksForAnAnswerInItsLastStep) {
  int requests = 0;
  std::string last;
  auto world = world_with([&](const ModelRequest& request) -> Result<ModelReply> {
    ++requests;
    last = request.messages.back().text;
    return call_reply({{"", "weather", place("P" + std::to_string(requests))}});
  });
  AgentOptions options = options_with({weather_tool()});
  options.steps_max = 3;
  auto run = world.run(agent_graph("trip", options), asked("Rain?")).approve_all();
  ASSERT_FALSE(run.error()) << run.error()->message;
  EXPECT_EQ(requests, 3);
  EXPECT_THAT(last, ::testing::HasSubstr("limit of steps"));
  EXPECT_EQ(run.outcome(), "steps_spent");
  EXPECT_EQ(run.attempts("tool"), 2);
}

TEST(Agent, DoesNotExecuteACallThatRepeatsWithoutANewResult) {
  auto world = world_with([&](const ModelRequest& request) -> Result<ModelReply> {
    if (results_in(request) < 4) return call_reply({{"", "weather", place("Oslo")}});
    return text_reply(request.messages.back().text);
  });
  auto run =
      world.run(agent_graph("trip", options_with({weather_tool()})), asked("Rain?")).approve_all();
  EXPECT_EQ(run.attempts("tool"), 2);
  EXPECT_THAT(run.state().answer, ::testing::HasSubstr("not executed again"));
}

TEST(Agent, StopsAFunctionThatTakesTooLongAndTheRunGoesOn) {
  Tool slow = make_tool<PlaceArguments>(
      {.name = "slow",
       .description = "",
       .effect = ToolEffect::reads,
       .timeout = std::chrono::seconds(2),
       .attempts = 2},
      [](const PlaceArguments&, ToolContext&) -> Task<Result<std::string>> {
        co_await sleep_for(std::chrono::hours(1));
        co_return std::string("late");
      });
  auto world = world_with([&](const ModelRequest& request) -> Result<ModelReply> {
    if (results_in(request) == 0) return call_reply({{"a", "slow", place("Oslo")}});
    return text_reply(request.messages.back().text);
  });
  auto run = world.run(agent_graph("trip", options_with({slow})), asked("Rain?")).approve_all();
  ASSERT_FALSE(run.error()) << run.error()->message;
  EXPECT_EQ(run.attempts("tool"), 2);
  EXPECT_EQ(run.state().answer, "Error: The tool \"slow\" did not end within 2000 ms.");
}

TEST(Agent, ReturnsExceptionsAndHugeResultsAsText) {
  auto tool = [](std::string name, std::function<std::string()> text) {
    return make_tool<PlaceArguments>(
        {.name = std::move(name), .description = "", .effect = ToolEffect::reads},
        [text](const PlaceArguments&, ToolContext&) { return text(); });
  };
  Tool throws = tool("throws", []() -> std::string { throw std::runtime_error("no such host"); });
  Tool large = tool("large", [] { return std::string(std::size_t{1} << 24, 'x'); });
  Tool broken = tool("broken", [] { return std::string("a\0b\xff", 4); });
  std::vector<std::string> results;
  auto world = world_with([&](const ModelRequest& request) -> Result<ModelReply> {
    if (results_in(request) == 0) {
      return call_reply(
          {{"a", "throws", place("A")}, {"b", "large", place("A")}, {"c", "broken", place("A")}});
    }
    results.clear();
    for (const Message& message : request.messages) {
      if (message.role == Role::tool) results.push_back(message.text);
    }
    return text_reply("done");
  });
  AgentOptions options = options_with({throws, large, broken});
  options.result_bytes_max = 100;
  auto run = world.run(agent_graph("trip", options), asked("Rain?")).approve_all();
  ASSERT_FALSE(run.error()) << run.error()->message;
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0], "Error: The tool threw: no such host");
  EXPECT_THAT(results[1], ::testing::EndsWith("100 of 16777216 bytes are shown.]"));
  EXPECT_EQ(results[2],
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
}

TEST(Agent, SendsBackNoNameOrIdThatAProviderRejects) {
  std::vector<ToolCall> sent;
  auto world = world_with([&](const ModelRequest& request) -> Result<ModelReply> {
    if (results_in(request) == 0) {
      return call_reply({{"an id", "no such tool!", place("A")},
                         {std::string(1000, 'i'), std::string(1000, 'n'), place("A")},
                         {"c", "", place("A")}});
    }
    sent = request.messages[2].tool_calls;
    return text_reply(" \n ");
  });
  auto run =
      world.run(agent_graph("trip", options_with({weather_tool()})), asked("Rain?")).approve_all();
  ASSERT_FALSE(run.error()) << run.error()->message;
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].name, "no_such_tool_");
  EXPECT_EQ(sent[0].id, "call_1_1");
  EXPECT_EQ(sent[1].name, std::string(64, 'n'));
  EXPECT_EQ(sent[1].id, "call_1_2");
  EXPECT_EQ(sent[2].name, "unnamed");
  EXPECT_EQ(run.state().answer, "");
}

// Two of them in one reply: both results mark the conversation.
TEST(Agent, WaitsForAnApprovalOnceTheConversationContainsUntrustedText) {
  Tool page = weather_tool({.name = "page", .effect = ToolEffect::reads, .untrusted = true});
  Tool send = weather_tool({.name = "send"});
  auto world = world_with([](const ModelRequest& request) -> Result<ModelReply> {
    switch (results_in(request)) {
      case 0:
        return call_reply({{"a", "send", place("first")}});
      case 1:
        return call_reply({{"b", "page", place("A")}, {"c", "page", place("B")}});
      case 3:
        return call_reply({{"d", "send", place("second")}, {"e", "page", place("C")}});
      default:
        return text_reply("done");
    }
  });
  auto run =
      world.run(agent_graph("trip", options_with({page, send})), asked("Send it.")).approve_all();
  ASSERT_FALSE(run.error()) << run.error()->message;
  ASSERT_EQ(run.approvals().size(), 1u);
  auto payload = parse_json(*json_in_envelope(run.approvals()[0].payload)).value();
  EXPECT_EQ(payload["call"], Value("d"));
  EXPECT_EQ(payload["untrusted"], Value(true));
  EXPECT_EQ(run.effects("call"), 2);
}

TEST(Agent, StartsNoMoreCallsOfAToolThanItAllows) {
  auto running = std::make_shared<int>(0);
  auto most = std::make_shared<int>(0);
  Tool slow = make_tool<PlaceArguments>(
      {.name = "slow", .effect = ToolEffect::reads, .parallel = 2},
      [running, most](const PlaceArguments& arguments, ToolContext&) -> Task<Result<std::string>> {
        *most = std::max(*most, ++*running);
        co_await sleep_for(std::chrono::seconds(1));
        --*running;
        co_return arguments.place;
      });
  auto world = world_with([](const ModelRequest& request) -> Result<ModelReply> {
    if (results_in(request) > 0) return text_reply(std::to_string(results_in(request)));
    std::vector<ToolCall> calls;
    for (int i = 0; i < 1000; ++i) {
      calls.push_back({std::to_string(i), "slow", place("P" + std::to_string(i))});
    }
    return call_reply(std::move(calls));
  });
  auto run = world.run(agent_graph("trip", options_with({slow})), asked("Begin.")).approve_all();
  ASSERT_FALSE(run.error()) << run.error()->message;
  EXPECT_EQ(*most, 2);
  EXPECT_EQ(run.state().answer, std::to_string(agents::turn_calls_max));
}

TEST(Agent, LetsAPersonDecideWhetherACallOfUnknownOutcomeHappened) {
  Tool pay = make_tool<PlaceArguments>(
      {.name = "pay", .timeout = std::chrono::seconds(2), .attempts = 2},
      [](const PlaceArguments&, ToolContext&) -> Task<Result<std::string>> {
        co_await sleep_for(std::chrono::hours(1));
        co_return std::string("late");
      });
  auto world = world_with([](const ModelRequest& request) -> Result<ModelReply> {
    if (results_in(request) == 0) return call_reply({{"a", "pay", place("A")}});
    return text_reply(request.messages.back().text);
  });
  Decision happened;
  happened.choice = "happened";
  happened.decided_by = "ana";
  auto run = world.run(agent_graph("payer", options_with({pay})), asked("Pay."))
                 .decide("tool", happened)
                 .leave_open();
  ASSERT_FALSE(run.error()) << run.error()->message;
  EXPECT_EQ(run.state().answer,
            "The call happened, as a person confirmed. Its result is not known.");
}

TEST(Agent, IsANodeOfAnotherGraph) {
  GraphBuilder<AgentState> graph{"outer"};
  graph.agent("ask", options_with({weather_tool()}), &AgentState::question, &AgentState::answer);
  graph.edge(start, "ask").edge("ask", end);
  auto world = world_with([&](const ModelRequest& request) -> Result<ModelReply> {
    if (results_in(request) == 0) return call_reply({{"a", "weather", place("Oslo")}});
    return text_reply(request.messages.back().text);
  });
  auto run = world.run(std::move(graph).build(), asked("Rain?")).approve_all();
  ASSERT_FALSE(run.error()) << run.error()->message;
  EXPECT_EQ(run.state().answer, "rain in Oslo");
}

TEST(Agent, WithTwoToolsOfOneNameIsAFaultOfItsGraph) {
  GraphBuilder<AgentState> graph{"outer"};
  graph.agent("ask", options_with({weather_tool(), weather_tool()}), &AgentState::question,
              &AgentState::answer);
  graph.edge(start, "ask").edge("ask", end);
  auto built = std::move(graph).build();
  ASSERT_FALSE(built.ok());
  EXPECT_THAT(built.error().message, ::testing::HasSubstr("Two tools are named \"weather\""));
}

}  // namespace
}  // namespace belay
