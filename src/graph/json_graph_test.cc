#include "belay/json_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/limits.h"
#include "graph/sum.h"

namespace belay {
namespace {

using testing::HasSubstr;

JsonGraphBuilder sound_mail() {
  JsonGraphBuilder graph{"mail"};
  graph.channel("topic", {.kind = JsonKind::string, .required = true});
  graph.channel("draft", {.kind = JsonKind::string});
  graph.channel("log", {.kind = JsonKind::array, .reducer = JsonReducer::append});
  graph.channel("prices", {.kind = JsonKind::object, .reducer = JsonReducer::merge});
  graph.channel("count", {.kind = JsonKind::integer, .reducer = JsonReducer::add});
  graph.channel("share", {.kind = JsonKind::number, .nullable = true});
  graph.channel("sent", {.kind = JsonKind::boolean});
  graph.channel("extra");
  graph.channel("longest", {.reduce = [](Value, const Value& operand) { return operand; }});
  return graph;
}

// Builds the mail graph with one node that returns `update`.
Result<JsonGraph> answering(JsonUpdate update, JsonGraphBuilder graph = sound_mail()) {
  graph.node("write", [update](const Value&, Context&) { return update; });
  graph.edge(start, "write").edge("write", end);
  return std::move(graph).build();
}

// Returns the state after the node's update, or the error.
Result<Value> state_after(JsonUpdate update) {
  auto graph = answering(std::move(update)).value();
  auto state = std::static_pointer_cast<Value>(graph.definition()->state->make());
  Context context{Context::Attempt()};
  BELAY_TRY(NodeUpdate answer, graph.definition()->find("write")->run_plain(state.get(), context));
  for (ChannelWrite& change : answer.changes) {
    if (change.kind != WriteOp::reduce) {
      BELAY_CHECK(change.operand->apply(state.get()));
    } else {
      const auto& rule = graph.definition()->channel_rules[change.channel];
      BELAY_CHECK(rule.reduce(state.get(), change.operand->value()));
    }
  }
  return *state;
}

std::string fault_of(JsonUpdate update) {
  auto state = state_after(std::move(update));
  return state.ok() ? to_json(*state) : state.error().message;
}

TEST(JsonGraph, AStateBeginsWithTheDefaultsOfItsKinds) {
  EXPECT_EQ(to_json(state_after(JsonUpdate()).value()),
            R"({"count":0,"draft":"","extra":null,"log":[],"longest":null,"prices":{},)"
            R"("sent":false,"share":null,"topic":""})");
}

TEST(JsonGraph, AnUpdateSetsAppendsMergesAndAdds) {
  Value state = state_after(set("draft", "Dear Ana")
                                .append("log", "one")
                                .append("log", "two")
                                .merge("prices", "fig", 2)
                                .merge("prices", "fig", 3)
                                .add("count", 2)
                                .add("count", 5))
                    .value();
  EXPECT_EQ(state["draft"], Value("Dear Ana"));
  EXPECT_EQ(to_json(state["log"]), R"(["one","two"])");
  EXPECT_EQ(to_json(state["prices"]), R"({"fig":3})");
  EXPECT_EQ(state["count"], Value(7));
}

TEST(JsonGraph, AnUpdateIsWholeAfterACallWhoseResultItIsGiven) {
  JsonUpdate update = put("count", Value(1));
  for (int each = 0; each < 3; ++each) {
    update = std::move(update).send("weigh", Value(each)).append("items", Value(each));
  }
  NodeUpdate answer = std::move(update).take_update();
  EXPECT_EQ(answer.named.size(), 4u);
  EXPECT_EQ(answer.sends.size(), 3u);
}

TEST(JsonGraph, PutDoesWhatTheChannelSReducerSays) {
  Value::Array lines;
  lines.emplace_back("one");
  Value::Object update;
  update.emplace("draft", "Dear Ana");
  update.emplace("log", lines);
  update.emplace("count", 2);
  update.emplace("longest", "abc");
  JsonUpdate twice = JsonUpdate(update).put("log", lines).put("count", 3);
  Value state = state_after(std::move(twice)).value();
  EXPECT_EQ(to_json(state["log"]), R"(["one","one"])");
  EXPECT_EQ(state["count"], Value(5));
  EXPECT_EQ(state["longest"], Value("abc"));
}

TEST(JsonGraph, WhatIsSetAndThenAddedToIsSetAsAWhole) {
  Value state = state_after(set("count", 7.0).add("count", 1).append("log", 1).set("log", {}))
                    .value_or(Value());
  EXPECT_TRUE(state.is_null()) << "null is no array";
  Value::Array none;
  state = state_after(set("count", 7.0).add("count", 1).append("log", 1).set("log", none)).value();
  EXPECT_EQ(to_json(state["count"]), "8") << "7.0 counts as 7";
  EXPECT_EQ(to_json(state["log"]), "[]");
}

TEST(JsonGraph, ANodeThatWritesAnUnknownChannelIsNamedWithIt) {
  EXPECT_THAT(fault_of(set("drafts", "x")),
              HasSubstr("The node \"write\" writes the channel \"drafts\", which is not declared"));
}

TEST(JsonGraph, AValueOfAnotherKindNamesNodeChannelExpectedAndFound) {
  EXPECT_EQ(fault_of(set("draft", 7)),
            "The node \"write\" sets the channel \"draft\" with a value of kind integer; expected "
            "is string.");
  EXPECT_THAT(fault_of(set("share", "half")),
              HasSubstr("of kind string; expected is number or null"));
  EXPECT_THAT(fault_of(set("count", 7.5)), HasSubstr("of kind number; expected is integer"));
  EXPECT_THAT(fault_of(add("count", "one")), HasSubstr("of kind string; expected is integer"));
  EXPECT_THAT(
      fault_of(put("log", "line")),
      HasSubstr("appends to the channel \"log\" with a value of kind string; expected is an "
                "array of new items"));
  EXPECT_THAT(fault_of(put("prices", 1)), HasSubstr("an object of new members"));
  EXPECT_THAT(fault_of(append("draft", "x")), HasSubstr("is declared as string"));
  EXPECT_THAT(fault_of(merge("extra", "a", 1)), HasSubstr("is declared as any"));
  EXPECT_THAT(fault_of(add("sent", 1)), HasSubstr("is declared as boolean"));
  EXPECT_THAT(fault_of(put("longest", "a").put("longest", "b")), HasSubstr("can't be combined"));
}

TEST(JsonGraph, ASumOfIntegersThatDoesNotFitIsNeverRounded) {
  EXPECT_THAT(fault_of(set("count", std::uint64_t{UINT64_MAX}).add("count", 1)),
              HasSubstr("can't be combined"));
  EXPECT_EQ(sum_of(Value(INT64_MAX), Value(1)), Value(std::uint64_t{1} << 63));
  EXPECT_EQ(sum_of(Value(UINT64_MAX), Value(-1)), Value(UINT64_MAX - 1));
  EXPECT_EQ(sum_of(Value(UINT64_MAX), Value(INT64_MIN)), Value(INT64_MAX));
  EXPECT_EQ(sum_of(Value(INT64_MIN), Value(-1)), std::nullopt);
  EXPECT_EQ(to_json(*sum_of(Value(1.5), Value(1.5))), "3.0");
  EXPECT_EQ(to_json(*sum_of(Value(1), Value(1.0))), "2.0");
  EXPECT_EQ(sum_of(Value(1e308), Value(1e308)), std::nullopt);
  EXPECT_EQ(sum_of(Value("1"), Value(1)), std::nullopt);
}

TEST(JsonGraph, AnInputIsReadByItsChannels) {
  auto graph = answering(JsonUpdate()).value();
  const StateType& type = *graph.definition()->state;
  auto refusal = [&](Value input) { return state_from(type, input).error().message; };
  EXPECT_THAT(refusal(Value::object({{"draft", "x"}})),
              HasSubstr("lacks \"topic\", which is required"));
  EXPECT_THAT(refusal(Value::object({{"topic", 7}})),
              HasSubstr("\"topic\" should be string, but is 7"));
  EXPECT_THAT(refusal(Value::object({{"topic", "x"}, {"strange", 1}})), HasSubstr("\"strange\""));
  EXPECT_TRUE(state_from(type, Value::object({{"topic", "x"}, {"share", Value()}})).ok());
}

TEST(JsonGraph, BuildReportsAllFaultsAtOnce) {
  JsonGraphBuilder graph{"broken"};
  graph.channel("a", {.kind = JsonKind::string, .reducer = JsonReducer::append});
  graph.channel("a");
  graph.channel("", {.default_value = 1});
  graph.channel("n", {.kind = JsonKind::integer, .default_value = Value("x")});
  graph.approval("review", "draft", {.question = "Send?"})
      .approved(end)
      .rejected(end)
      .pending_flag("n");
  graph.subgraph("inner", answering(JsonUpdate()).value(), {{"n", "topic"}, {"a", "tropic"}},
                 {{"sent", "b"}});
  graph.edge(start, "review").edge("inner", "nowhere");
  std::string message = std::move(graph).build().error().message;
  for (std::string_view part :
       {"\"a\" is declared as string, which cannot append", "Two channels are called \"a\"",
        "name of a channel", "declared as integer, and its default is of kind string",
        "The approval \"review\" shows the channel \"draft\", which is not declared",
        "true or false to the channel \"n\", which is declared as integer",
        "maps a channel of kind integer, \"n\", to one of kind string, \"topic\"",
        "maps the channel \"tropic\", which the graph \"mail\" does not have",
        "maps the channel \"b\", which is not declared", "leads to \"nowhere\""}) {
    EXPECT_THAT(message, HasSubstr(part));
  }
}

TEST(JsonGraph, HasAsManyChannelsAsItsLimitAndNoMore) {
  for (std::size_t count : {limits::json_channels_max, limits::json_channels_max + 1}) {
    JsonGraphBuilder graph{"wide"};
    for (std::size_t i = 0; i < count; ++i) graph.channel("c" + std::to_string(i));
    EXPECT_EQ(answering(set("c999", 1), std::move(graph)).ok(), count <= limits::json_channels_max);
  }
}

TEST(JsonGraph, ItsHashCoversWhatItsChannelsAreDeclaredAs) {
  auto hash_with = [](JsonChannel extra) {
    JsonGraphBuilder graph = sound_mail();
    graph.channel("more", std::move(extra));
    return answering(JsonUpdate(), std::move(graph)).value().definition()->hash;
  };
  Digest plain = hash_with({.kind = JsonKind::array});
  EXPECT_EQ(plain, hash_with({.kind = JsonKind::array}));
  EXPECT_NE(plain, hash_with({.kind = JsonKind::object}));
  EXPECT_NE(plain, hash_with({.kind = JsonKind::array, .reducer = JsonReducer::append}));
  EXPECT_NE(plain, hash_with({.kind = JsonKind::array, .required = true}));
  EXPECT_NE(plain, hash_with({.kind = JsonKind::array, .nullable = true}));
  EXPECT_NE(plain, hash_with({.kind = JsonKind::array, .transient = true}));
  EXPECT_NE(plain, hash_with({.kind = JsonKind::array, .default_value = Value(Value::Array())}));
}

}  // namespace
}  // namespace belay
