// Tests graphs over JSON objects.

#include "belay/json_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct JsonGraphs : CrashingStoreFixture {
  std::map<std::string, int> visits;

  static JsonGraph built(JsonGraphBuilder graph) {
    auto result = std::move(graph).build();
    if (!result.ok()) ADD_FAILURE() << result.error().message;
    return *std::move(result);
  }

  static JsonGraphBuilder trip(std::string name = "trip") {
    JsonGraphBuilder graph{std::move(name)};
    graph.one_run_per_thread();
    graph.channel("place", {.kind = JsonKind::string});
    graph.channel("log", {.kind = JsonKind::array, .reducer = JsonReducer::append});
    graph.channel("prices", {.kind = JsonKind::object, .reducer = JsonReducer::merge});
    graph.channel("total", {.kind = JsonKind::integer, .reducer = JsonReducer::add});
    graph.channel("longest", {.kind = JsonKind::string, .reduce = longer});
    graph.channel("asking", {.kind = JsonKind::boolean});
    graph.channel("agreed", {.kind = JsonKind::boolean});
    return graph;
  }
  static Value longer(Value so_far, const Value& operand) {
    return operand.as_string()->size() > so_far.as_string()->size() ? operand : so_far;
  }

  // Returns a node that writes its name to all channels and counts its executions.
  auto notes(std::string name, std::chrono::milliseconds time = 0ms) {
    return [this, name, time](const Value&, Context&) -> Task<JsonUpdate> {
      ++visits[name];
      if (time > 0ms) co_await sleep_for(time);
      Value::Array line;
      line.emplace_back(name);
      co_return put("log", line).merge("prices", name, 1).add("total", 1).put("longest", name);
    };
  }

  JsonGraph fan_out() {
    JsonGraphBuilder graph = trip();
    graph.node("split", notes("split"));
    graph.node("a", notes("a", 30ms));
    graph.node("bb", notes("bb", 10ms));
    graph.node("join", notes("join"));
    graph.edge(start, "split").edge("split", "a").edge("split", "bb");
    graph.edge("a", "join").edge("bb", "join").edge("join", end);
    return built(std::move(graph));
  }

  Result<RunView> run(const JsonGraph& graph, Value input = Value::Object(),
                      StartOptions options = {}) {
    auto runtime = process(graph);
    return block_on(loop, runtime->start(graph, std::move(input), std::move(options)));
  }

  // Returns the error of a run whose only node is this one.
  template <typename Node>
  std::string failure_of(Node node) {
    JsonGraphBuilder graph = trip("failing");
    graph.node("bad", std::move(node));
    graph.edge(start, "bad").edge("bad", end);
    auto view = run(built(std::move(graph))).value();
    EXPECT_EQ(view.row.status, RunStatus::failed);
    return view.row.error_code + ": " + view.row.error;
  }
};

TEST_F(JsonGraphs, ParallelNodesCombineAsTheirChannelsSay) {
  auto view = run(fan_out(), Value::object({{"place", "Rome"}})).value();
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(to_json(view.state),
            R"({"agreed":false,"asking":false,"log":["split","a","bb","join"],"longest":"split",)"
            R"("place":"Rome","prices":{"a":1,"bb":1,"join":1,"split":1},"total":4})");
}

TEST_F(JsonGraphs, NoFinishedNodeRunsAgainAfterACrashAtAnyCommit) {
  auto graph = fan_out();
  auto calm = run(graph).value();
  int commits = store.commits;
  ASSERT_GE(commits, 5);
  for (int at = 1; at <= commits; ++at) {
    for (bool lands : {false, true}) {
      visits.clear();
      auto view = run_with_crash(graph, at, lands).value();
      EXPECT_EQ(view.row.status, RunStatus::completed) << at << view.row.error;
      EXPECT_EQ(view.state, calm.state) << at;
      EXPECT_TRUE(at < 3 || (at == 3 && !lands) || visits["bb"] == 1) << at;
    }
  }
}

TEST_F(JsonGraphs, ANodeThatGivesAnotherTypeFailsWithNodeChannelExpectedAndFound) {
  EXPECT_EQ(failure_of([](const Value&, Context&) { return set("place", 7); }),
            "invalid: The node \"bad\" sets the channel \"place\" with a value of kind integer; "
            "expected is string.");
  EXPECT_THAT(failure_of([](const Value&, Context&) -> Task<JsonUpdate> {
                co_return set("plaice", "Rome");
              }),
              HasSubstr("invalid: The node \"bad\" writes the channel \"plaice\""));
  EXPECT_THAT(failure_of([](const Value&, Context&) -> Result<JsonUpdate> {
                return error(ErrorCode::not_found, "No such place.");
              }),
              HasSubstr("not_found: No such place."));
}

TEST_F(JsonGraphs, AReducerThatThrowsOrMakesAnotherKindFailsTheRun) {
  for (bool throws : {true, false}) {
    JsonGraphBuilder graph = trip("reducing");
    graph.channel("best",
                  {.kind = JsonKind::string, .reduce = [throws](Value, const Value&) -> Value {
                     if (throws) detail::throw_failure(error(ErrorCode::invalid, "No."));
                     return 7;
                   }});
    graph.node("bad", [](const Value&, Context&) { return put("best", "x"); });
    graph.edge(start, "bad").edge("bad", end);
    auto view = run(built(std::move(graph))).value();
    EXPECT_EQ(view.row.status, RunStatus::failed);
    EXPECT_EQ(view.row.error_code, "invalid");
    EXPECT_THAT(
        view.row.error,
        HasSubstr(throws ? "No." : "\"best\" made a value of kind integer; the channel is"));
  }
}

TEST_F(JsonGraphs, ASumThatDoesNotFitFailsTheRunAndNamesNodeAndChannel) {
  JsonGraphBuilder graph = trip("sums");
  graph.node("adds", [](const Value&, Context&) { return add("total", 1); });
  graph.edge(start, "adds").edge("adds", end);
  auto view = run(built(std::move(graph)), Value::object({{"total", UINT64_MAX}})).value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_THAT(view.row.error, HasSubstr("the node \"adds\" for the channel \"total\""));
}

TEST_F(JsonGraphs, AnApprovalShowsAChannelTakesAnEditAndKeepsItsFlags) {
  JsonGraphBuilder graph = trip("asks");
  graph.node("go", [](const Value& state, Context&) {
    return append("log", state["asking"]).append("log", state["agreed"]);
  });
  graph.approval("review", "place", {.question = "There?"})
      .question([](const Value& state) { return "To " + *state["place"].as_string() + "?"; })
      .validate([](const Value& state) -> Result<Done> {
        if (state["place"] == Value("Mars")) return error(ErrorCode::invalid, "Too far.");
        return Done{};
      })
      .pending_flag("asking")
      .decision_flag("agreed")
      .approved("go")
      .rejected(end);
  graph.edge(start, "review").edge("go", end);
  auto asks = built(std::move(graph));
  auto runtime = process(asks);
  auto paused =
      block_on(loop, runtime->start(asks, Value::object({{"place", "Rome"}}), {})).value();
  ASSERT_TRUE(paused.approval);
  EXPECT_EQ(paused.approval->question, "To Rome?");
  EXPECT_EQ(paused.state["asking"], Value(true));
  auto decide = [&](Value edited) {
    Decision decision;
    decision.approved = true;
    decision.decided_by = "ana";
    decision.edited = std::move(edited);
    return block_on(loop, runtime->decide(default_tenant(), paused.approval->interrupt, decision));
  };
  EXPECT_THAT(decide(7).error().message, HasSubstr("\"place\" should be string, but is 7"));
  EXPECT_THAT(decide("Mars").error().message, HasSubstr("Too far"));
  auto view = decide("Oslo").value().view;
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(view.state["place"], Value("Oslo"));
  EXPECT_EQ(to_json(view.state["log"]), "[false,true]");
}

TEST_F(JsonGraphs, BranchesAndSendsGoByNamesAndValues) {
  JsonGraphBuilder graph = trip("sends");
  graph.node("plan", [](const Value&, Context&) { return JsonUpdate(); });
  graph.node("fetch", [](const Value&, Context& context) {
    return append("log", context.input<Value>()["page"]);
  });
  graph.branch("plan",
               [](const Value& state) {
                 std::vector<Send> sends;
                 for (int page = 0; page < *state["total"].as_int(); ++page) {
                   sends.push_back(send_to("fetch", Value::object({{"page", page}})));
                 }
                 return sends;
               },
               {"fetch"});
  graph.edge(start, "plan").edge("fetch", end);
  auto view = run(built(std::move(graph)), Value::object({{"total", 3}})).value();
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(to_json(view.state["log"]), "[0,1,2]");
}

TEST_F(JsonGraphs, ATransientChannelIsNeverStored) {
  JsonGraphBuilder graph = trip("cached");
  graph.channel("cache", {.kind = JsonKind::string, .transient = true});
  graph.node("fill", [](const Value&, Context&) { return set("cache", "warm"); });
  graph.node("use", [](const Value& state, Context&) { return append("log", state["cache"]); });
  graph.edge(start, "fill").edge("fill", "use").edge("use", end);
  auto cached = built(std::move(graph));
  EXPECT_EQ(to_json(run(cached).value().state["log"]), "[\"warm\"]");
  EXPECT_EQ(to_json(run_with_crash(cached, 2, true).value().state["log"]), "[\"\"]");
}

struct Parcel {
  std::string label{};
  std::vector<std::string> stamps{};
};

Graph<Parcel> parcel_graph() {
  GraphBuilder<Parcel> graph{"parcel"};
  graph.one_run_per_thread();
  graph.approval("agree", &Parcel::label, {.question = "Send it?"}).approved("stamp").rejected(end);
  graph.node("stamp", [](const Parcel& parcel, Context&) {
    return append(&Parcel::stamps, "for " + parcel.label);
  });
  graph.edge(start, "agree").edge("stamp", end);
  return std::move(graph).build().value();
}

TEST_F(JsonGraphs, ATypedGraphIsASubgraphByChannelNames) {
  JsonGraphBuilder graph = trip("outer");
  graph.subgraph("send", parcel_graph(), {{"place", "label"}}, {{"stamps", "log"}});
  graph.edge(start, "send").edge("send", end);
  auto outer = built(std::move(graph));
  auto runtime = process(outer);
  auto paused =
      block_on(loop, runtime->start(outer, Value::object({{"place", "Rome"}}), {})).value();
  ASSERT_TRUE(paused.approval) << paused.row.error;
  Decision decision;
  decision.approved = true;
  decision.decided_by = "ana";
  auto view =
      block_on(loop, runtime->decide(default_tenant(), paused.approval->interrupt, decision))
          .value()
          .view;
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(to_json(view.state["log"]), "[\"for Rome\"]");
}

TEST_F(JsonGraphs, AJsonGraphIsASubgraphOfATypedOneThroughFunctions) {
  GraphBuilder<Parcel> graph{"typed"};
  graph.one_run_per_thread();
  graph.subgraph(
      "inside", fan_out(),
      [](const Parcel& parcel) { return Value::object({{"place", parcel.label}}); },
      [](const Value& inner) { return append(&Parcel::stamps, to_json(inner["total"])); });
  graph.edge(start, "inside").edge("inside", end);
  auto typed = std::move(graph).build().value();
  auto runtime = process(typed);
  auto view = block_on(loop, runtime->start(typed, Parcel{"x", {}}, {})).value();
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(to_json(view.state["stamps"]), "[\"4\"]");
}

TEST_F(JsonGraphs, AnInputOfASubgraphThatDoesNotFitFailsTheRunAndNamesIt) {
  JsonGraphBuilder inner = trip("inner");
  inner.channel("need", {.kind = JsonKind::string, .required = true});
  inner.node("n", notes("n"));
  inner.edge(start, "n").edge("n", end);
  JsonGraphBuilder graph = trip("outer");
  graph.channel("whatever", {.default_value = 7});
  graph.subgraph("sub", built(std::move(inner)), {{"whatever", "need"}}, {});
  graph.edge(start, "sub").edge("sub", end);
  auto view = run(built(std::move(graph))).value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_THAT(view.row.error, HasSubstr("input of the subgraph \"sub\" does not fit"));
  EXPECT_THAT(view.row.error, HasSubstr("\"need\" should be string, but is 7"));
}

TEST_F(JsonGraphs, AnInputThatDoesNotFitBeginsNothing) {
  auto refused = run(fan_out(), Value::object({{"place", 7}}));
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("\"place\" should be string"));
  EXPECT_EQ(run(fan_out(), Value("Rome")).error().code, ErrorCode::invalid);
  EXPECT_EQ(store.commits, 0);
}

TEST_F(JsonGraphs, ARunIsUpgradedToTheChannelsOfTheNextVersion) {
  auto first = [] {
    JsonGraphBuilder graph{"grows"};
    graph.one_run_per_thread();
    graph.channel("name", {.kind = JsonKind::string});
    graph.node("hold", [](const Value&, Context&) { return JsonUpdate(); }).interrupt_before();
    graph.edge(start, "hold").edge("hold", end);
    return built(std::move(graph));
  }();
  StartOptions options;
  options.thread = ThreadId("t");
  auto paused = run(first, Value::object({{"name", "Ana Ruiz"}}), options).value();
  ASSERT_EQ(paused.row.status, RunStatus::paused);
  JsonGraphBuilder graph{"grows"};
  graph.one_run_per_thread();
  graph.channel("names", {.kind = JsonKind::array});
  graph.node("hold", [](const Value&, Context&) { return append("names", "end"); });
  graph.edge(start, "hold").edge("hold", end);
  graph.upgrade_from(to_hex(first.definition()->hash), [](Value state) -> Result<Value> {
    Value::Array names;
    names.push_back(state["name"]);
    return Value::object({{"names", std::move(names)}});
  });
  auto second = process(built(std::move(graph)));
  auto view = block_on(loop, second->resume(default_tenant(), ThreadId("t"))).value();
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(to_json(view.state["names"]), "[\"Ana Ruiz\",\"end\"]");
}

}  // namespace
}  // namespace belay
