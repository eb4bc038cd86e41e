// A typed graph and the JSON graph with the same channels and nodes commit the same rows, byte for
// byte, for all values and crash points: both use one engine.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "belay/json_graph.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay::property {

using namespace std::chrono_literals;

struct Twin {
  std::string text{};
  std::int64_t count = 0;
  double share = 0.0;
  bool asking = false;
  bool agreed = false;
  std::vector<std::string> list{};
  std::map<std::string, std::int64_t> table{};
  std::string longest{};
  std::optional<bool> flag{};
};

namespace {

struct Given {
  std::string text;
  std::int64_t count = 0;
  double share = 0;
  std::vector<std::string> list;
  bool approves = false;
};

struct World : CrashingStoreFixture {
  void TestBody() override {}
};

std::string longer(std::string so_far, const std::string& operand) {
  return operand.size() > so_far.size() ? operand : so_far;
}

// Edges, branches and policies are declared in the same way for both.
template <typename Builder>
void connect(Builder& graph) {
  graph.edge(start, "split").edge("split", "left").edge("split", "right");
  graph.join({"left", "right"}, "pages");
  graph.branch("pages",
               [](const auto&) {
                 std::vector<Send> sends;
                 for (int page = 0; page < 3; ++page) sends.push_back(send_to("page", page));
                 return sends;
               },
               {"page"});
  graph.edge("page", "inner").edge("inner", "review").edge("last", end);
}

template <typename Setting>
void decide_by(Setting setting) {
  setting.approved("last").rejected(end);
}

Graph<Twin> typed_inner() {
  GraphBuilder<Twin> graph{"inner"};
  graph.node("note", [](const Twin& twin, Context&) {
    return append(&Twin::list, twin.text).add(&Twin::count, 1);
  });
  graph.edge(start, "note").edge("note", end);
  return std::move(graph).build().value();
}

Graph<Twin> typed_twin(const Given& given) {
  GraphBuilder<Twin> graph{"twin"};
  graph.one_run_per_thread();
  graph.reducer(&Twin::longest, longer);
  graph.node("split", [given](const Twin& twin, Context&) {
    return set(&Twin::text, given.text + twin.text).set(&Twin::share, given.share);
  });
  graph.node("left", [given](const Twin&, Context&) -> Task<Update<Twin>> {
    co_await sleep_for(20ms);
    co_return add(&Twin::count, given.count).merge(&Twin::table, "left", 1);
  });
  graph
      .node("right",
            [given](const Twin&, Context& context) -> Result<Update<Twin>> {
              if (context.attempt() == 1) return error(ErrorCode::unavailable, "busy");
              auto update = reduce(&Twin::longest, given.text).merge(&Twin::table, "right", 2);
              for (const std::string& item : given.list) {
                update = std::move(update).append(&Twin::list, item);
              }
              return update;
            })
      .retry({.attempts = 2});
  graph.node("pages", [](const Twin&, Context&) { return set(&Twin::flag, true); });
  graph.node("page", [](const Twin&, Context& context) {
    return add(&Twin::count, context.input<int>()).reduce(&Twin::longest, "page");
  });
  graph.subgraph(
      "inner", typed_inner(),
      [](const Twin& twin) {
        Twin inner;
        inner.text = twin.text;
        return inner;
      },
      [](const Twin& inner) { return append(&Twin::list, inner.list.at(0)); });
  decide_by(graph.approval("review", &Twin::text, {.question = "So?"})
                .pending_flag(&Twin::asking)
                .decision_flag(&Twin::agreed));
  graph.node("last", [](const Twin& twin, Context& context) {
    context.emit("last", Value(twin.count));
    context.publish("done", Value(twin.text));
    return set(&Twin::flag, std::nullopt);
  });
  connect(graph);
  return std::move(graph).build().value();
}

// Declares the channels in the order of the struct's members.
JsonGraphBuilder twin_channels(std::string name) {
  JsonGraphBuilder graph{std::move(name)};
  graph.one_run_per_thread();
  graph.channel("text", {.kind = JsonKind::string});
  graph.channel("count", {.kind = JsonKind::integer});
  graph.channel("share", {.kind = JsonKind::number, .default_value = Value(0.0)});
  graph.channel("asking", {.kind = JsonKind::boolean});
  graph.channel("agreed", {.kind = JsonKind::boolean});
  graph.channel("list", {.kind = JsonKind::array, .reducer = JsonReducer::append});
  graph.channel("table", {.kind = JsonKind::object});
  graph.channel("longest", {.kind = JsonKind::string, .reduce = [](Value held, const Value& more) {
                              return Value(longer(*held.as_string(), *more.as_string()));
                            }});
  graph.channel("flag", {.kind = JsonKind::boolean, .nullable = true});
  return graph;
}

JsonGraph json_inner() {
  JsonGraphBuilder graph = twin_channels("inner");
  graph.node("note", [](const Value& twin, Context&) {
    return append("list", twin["text"]).add("count", 1);
  });
  graph.edge(start, "note").edge("note", end);
  return std::move(graph).build().value();
}

JsonGraph json_twin(const Given& given) {
  JsonGraphBuilder graph = twin_channels("twin");
  graph.node("split", [given](const Value& twin, Context&) {
    return set("text", given.text + *twin["text"].as_string()).set("share", given.share);
  });
  graph.node("left", [given](const Value&, Context&) -> Task<JsonUpdate> {
    co_await sleep_for(20ms);
    co_return add("count", given.count).merge("table", "left", 1);
  });
  graph
      .node("right",
            [given](const Value&, Context& context) -> Result<JsonUpdate> {
              if (context.attempt() == 1) return error(ErrorCode::unavailable, "busy");
              auto update = put("longest", given.text).merge("table", "right", 2);
              if (given.list.empty()) return update;
              return std::move(update).put("list",
                                           Value::Array(given.list.begin(), given.list.end()));
            })
      .retry({.attempts = 2});
  graph.node("pages", [](const Value&, Context&) { return set("flag", true); });
  graph.node("page", [](const Value&, Context& context) {
    return add("count", context.input<Value>()).put("longest", "page");
  });
  graph.subgraph("inner", json_inner(), {{"text", "text"}}, {{"list", "list"}});
  decide_by(graph.approval("review", "text", {.question = "So?"})
                .pending_flag("asking")
                .decision_flag("agreed"));
  graph.node("last", [](const Value& twin, Context& context) {
    context.emit("last", twin["count"]);
    context.publish("done", twin["text"]);
    return set("flag", Value());
  });
  connect(graph);
  return std::move(graph).build().value();
}

// All rows that a store contains of its one run.
struct Rows {
  RunRow run;
  std::vector<CheckpointRow> checkpoints;
  std::vector<ValueRow> values;
  std::vector<EventRow> events;
  std::vector<ApprovalRow> approvals;
  std::vector<OutboxRow> messages;
  std::vector<TaskRow> tasks;
  std::vector<StoredEnvelope> envelopes;
};

Result<Rows> rows_of(Snapshot& view) {
  Rows rows;
  RunFilter runs;
  runs.tenant = default_tenant();
  BELAY_TRY(auto found, view.runs(runs));
  rows.run = found.at(0);
  rows.run.graph_hash = {};  // only the declarations differ
  CheckpointFilter checkpoints;
  checkpoints.tenant = default_tenant();
  checkpoints.run = rows.run.run;
  checkpoints.limit = 1'000;
  BELAY_TRY(rows.checkpoints, view.checkpoints(checkpoints));
  ValueFilter values;
  values.tenant = default_tenant();
  values.run = rows.run.run;
  values.at_seq = 1'000'000;
  values.every_version = true;
  BELAY_TRY(rows.values, view.values(values));
  EventFilter events;
  events.tenant = default_tenant();
  events.run = rows.run.run;
  BELAY_TRY(rows.events, view.events(events));
  ApprovalFilter approvals;
  approvals.tenant = default_tenant();
  BELAY_TRY(rows.approvals, view.approvals(approvals));
  OutboxFilter messages;
  messages.tenant = default_tenant();
  BELAY_TRY(rows.messages, view.outbox(messages));
  TaskFilter tasks;
  tasks.tenant = default_tenant();
  tasks.run = rows.run.run;
  BELAY_TRY(rows.tasks, view.tasks(tasks));
  EnvelopeFilter envelopes;
  envelopes.tenant = default_tenant();
  envelopes.limit = 10'000;
  BELAY_TRY(rows.envelopes, view.envelopes(envelopes));
  return rows;
}

// Returns the run's rows after it was executed with a crash and decided.
template <typename State>
Rows played(const Graph<State>& graph, bool approves, int crash_at, bool lands) {
  World world;
  RunView view = world.run_with_crash(graph, crash_at, lands).value();
  if (view.approval) {
    Decision decision;
    decision.approved = approves;
    decision.decided_by = "ana";
    auto runtime = world.process(graph);
    auto answer = block_on(world.loop, runtime->decide(default_tenant(), view.approval->interrupt,
                                                       std::move(decision)));
    view = answer.value().view;
  }
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  std::function<Result<Rows>(Snapshot&)> reader = rows_of;
  return block_on(world.loop, read<Rows>(*world.kept, std::move(reader))).value();
}

RC_GTEST_PROP(Twins, ATypedGraphAndItsJsonTwinCommitTheSameRows, ()) {
  Given given;
  auto word = rc::gen::element<std::string>("", "a", "\"b\"", "\n", "gold", "\xc3\xa9", "\\");
  given.text = *word + *word;
  given.count = *rc::gen::inRange<std::int64_t>(INT64_MIN / 2, INT64_MAX / 2);
  given.share = *rc::gen::arbitrary<double>();
  given.list = *rc::gen::container<std::vector<std::string>>(word);
  given.approves = *rc::gen::arbitrary<bool>();
  int crash_at = *rc::gen::inRange(0, 20);
  bool lands = *rc::gen::arbitrary<bool>();
  Rows typed = played(typed_twin(given), given.approves, crash_at, lands);
  Rows json = played(json_twin(given), given.approves, crash_at, lands);
  RC_ASSERT(typed.checkpoints.size() >= 8u);
  RC_ASSERT(typed.run == json.run);
  RC_ASSERT(typed.checkpoints == json.checkpoints);
  RC_ASSERT(typed.values == json.values);
  RC_ASSERT(typed.events == json.events);
  RC_ASSERT(typed.approvals == json.approvals);
  RC_ASSERT(typed.messages == json.messages);
  RC_ASSERT(typed.tasks == json.tasks);
  RC_ASSERT(typed.envelopes.size() == json.envelopes.size());
}

TEST(Twins, EitherGoesOnWithARunOfTheOther) {
  Given given{"text", 3, 0.5, {"one"}, true};
  World world;
  auto typed = typed_twin(given);
  RunView paused = world.run_with_crash(typed, 4, true).value();
  ASSERT_TRUE(paused.approval);
  JsonGraphBuilder builder = twin_channels("twin");
  builder.node("last", [](const Value& twin, Context&) { return append("list", twin["count"]); });
  builder.approval("review", "text", {.question = "So?"})
      .pending_flag("asking")
      .decision_flag("agreed")
      .approved("last")
      .rejected(end);
  builder.edge(start, "review").edge("last", end).accept_older_versions();
  auto runtime = world.process(std::move(builder).build().value());
  Decision decision;
  decision.approved = true;
  decision.decided_by = "ana";
  auto view = block_on(world.loop, runtime->decide(default_tenant(), paused.approval->interrupt,
                                                   std::move(decision)))
                  .value()
                  .view;
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(to_json(view.state["list"]), R"(["one","text",6])");
}

}  // namespace
}  // namespace belay::property
