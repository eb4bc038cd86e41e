#include "tests/conformance/graphs/graphs.h"

#include <gtest/gtest.h>

#include <set>

#include "belay/testing.h"
#include "tests/conformance/graphs/messages.h"

namespace belay::conformance {
namespace {

Value asked(std::string text, Value::Object more = {}) {
  Value message = Value::object({{"role", "human"}, {"content", std::move(text)}});
  Value::Array messages;
  messages.push_back(std::move(message));
  more.emplace("messages", std::move(messages));
  return more;
}

auto run_of(const Result<JsonGraph>& graph, Value input) {
  return testing::World{}.run(graph, std::move(input));
}

std::vector<std::string> texts_of(const Value& state) {
  std::vector<std::string> texts;
  for (const Value& message : *state["messages"].as_array()) {
    texts.push_back(message.as_string() ? *message.as_string() : content_of(message));
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(ConformanceGraphs, APlainRunOfTheAgentHasFourMessagesWithDifferentIds) {
  auto run = run_of(agent_graph(), asked("foo")).approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  EXPECT_EQ(texts_of(run.state()), (Texts{"foo", "begin", "tool_call__begin", "end"}));
  EXPECT_EQ(run.path(), (Texts{"agent", "tool", "agent"}));
  std::set<std::string> ids, types;
  for (const Value& message : *run.state()["messages"].as_array()) {
    ids.insert(*message["id"].as_string());
    types.insert(*message["type"].as_string());
  }
  EXPECT_EQ(ids.size(), 4u);
  EXPECT_EQ(types, (std::set<std::string>{"ai", "human", "tool"}));
}

TEST(ConformanceGraphs, TheAgentHasTheSameStateThroughACrashAtEachPoint) {
  auto calm = run_of(agent_graph(), asked("foo")).approve_all();
  for (const auto& crash : calm.crash_points()) {
    auto rough = run_of(agent_graph(), asked("foo")).crash_at(crash).approve_all();
    EXPECT_EQ(texts_of(rough.state()), texts_of(calm.state())) << crash;
  }
}

TEST(ConformanceGraphs, TheAgentEndsAfterItsFirstAnswerIfAsked) {
  auto run = run_of(agent_graph(), asked("should_end")).approve_all();
  EXPECT_EQ(texts_of(run.state()), (Texts{"should_end", "begin"}));
}

TEST(ConformanceGraphs, TheAgentInterruptsOnceAndContinuesAfterAnyDecision) {
  Value input = asked("foo", {{"interrupt", true}});
  auto open = run_of(agent_graph(), input).leave_open();
  EXPECT_EQ(open.status(), RunStatus::paused);
  EXPECT_EQ(texts_of(open.state()), (Texts{"foo"}));
  for (bool approves : {true, false}) {
    auto scenario = run_of(agent_graph(), input);
    auto run = approves ? scenario.approve_all() : scenario.reject_all();
    EXPECT_EQ(run.approvals().size(), 1u);
    EXPECT_EQ(run.status(), RunStatus::completed);
    EXPECT_EQ(texts_of(run.state()).size(), 4u);
    EXPECT_EQ(run.state()["interrupt"], Value(false));
  }
}

TEST(ConformanceGraphs, TheAgentEmitsAnEventForEachStepOfItsSleep) {
  Value sleep = Value::object({{"steps", 3}, {"ms", 10}});
  auto run = run_of(agent_graph(), asked("foo", {{"sleep", sleep}})).approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  std::size_t steps = 0;
  for (const EventRow& event : run.events()) steps += event.type == "custom" ? 1 : 0;
  EXPECT_EQ(steps, 3u) << "it sleeps after the message of the person, not after the tool's";
}

TEST(ConformanceGraphs, TheSimpleAgentSendsItsAnswerToTheTool) {
  auto run = run_of(agent_simple_graph(), asked("foo")).approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  EXPECT_EQ(texts_of(run.state()), (Texts{"foo", "begin", "tool_call__begin", "end\u2028"}));
  RunOptions options;
  options.configuration = R"({"configurable":{"x-configurable-header":"value"}})";
  auto echo = run_of(agent_simple_graph(), asked("foo")).options(options).approve_all();
  EXPECT_EQ(texts_of(echo.state()), (Texts{"foo", "end: value"}));
}

TEST(ConformanceGraphs, WeatherStopsInsideItsSubgraphAndKeepsItsCity) {
  auto open = run_of(weather_graph(), asked("SF?")).leave_open();
  EXPECT_EQ(open.status(), RunStatus::paused);
  auto run = run_of(weather_graph(), asked("SF?")).approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  EXPECT_EQ(texts_of(run.state()), (Texts{"SF?", "It's sunny in San Francisco!"}));
}

TEST(ConformanceGraphs, EachLevelAppendsTheMessagesOfTheLevelBelow) {
  auto run = run_of(nested_graph(), Value::Object()).approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  Texts texts = texts_of(run.state());
  EXPECT_EQ(texts.front(), "Entered gp_one node");
  EXPECT_EQ(texts.back(), "Entered c_two node");
  EXPECT_EQ(texts.size(), 7u);
}

TEST(ConformanceGraphs, TheGraphsOfASingleNodeDoWhatTheirNamesSay) {
  auto failed = run_of(error_graph(), asked("foo")).approve_all();
  EXPECT_EQ(failed.status(), RunStatus::failed);
  EXPECT_NE(failed.error()->message.find("Boo!"), std::string::npos);
  auto delayed = run_of(delay_graph(), Value::object({{"delay", 1500}})).approve_all();
  EXPECT_EQ(texts_of(delayed.state()), (Texts{"finished after 1500ms"}));
  auto named = run_of(dynamic_graph(), Value::Object()).approve_all();
  EXPECT_EQ(texts_of(named.state()), (Texts{"default"}));
  RunOptions options;
  options.configuration = R"({"configurable":{"nodeName":"custom"},"context":{"model":"openai"}})";
  auto configured = run_of(dynamic_graph(), Value::Object()).options(options).approve_all();
  EXPECT_EQ(texts_of(configured.state()), (Texts{"custom"}));
  auto model = run_of(simple_runtime_graph(), Value::Object()).options(options).approve_all();
  EXPECT_EQ(model.state()["model"], Value("openai"));
  auto unset = run_of(simple_runtime_graph(), Value::Object()).approve_all();
  EXPECT_EQ(unset.state()["model"], Value("unknown"));
}

TEST(ConformanceMessages, AMessageReplacesTheOneWithItsIdOrIsAppended) {
  Value first = Value::object({{"role", "user"}, {"content", "a"}, {"id", "1"}});
  Value held = with_messages(Value::Array(), first);
  held = with_messages(std::move(held), "b");
  held = with_messages(std::move(held), agent_message("1", "c"));
  ASSERT_EQ(held.as_array()->size(), 2u);
  EXPECT_EQ(held.as_array()->front(), agent_message("1", "c"));
  EXPECT_EQ(held, with_messages(held, Value::Array())) << "the ids remain";
  Value removal = Value::object({{"type", "remove"}, {"id", "1"}});
  EXPECT_EQ(with_messages(held, removal).as_array()->size(), 1u);
  Value clearing = Value::object({{"type", "remove"}, {"id", "__remove_all__"}});
  EXPECT_EQ(with_messages(held, clearing), Value(Value::Array()));
  EXPECT_THROW((void)with_messages(held, 7), Failure);
}

}  // namespace
}  // namespace belay::conformance
