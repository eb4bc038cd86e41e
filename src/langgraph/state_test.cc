#include "langgraph/state.h"

#include "langgraph/assistants.h"
#include "tests/support/agent_server_fixture.h"
#include "tests/support/service_fixture.h"

namespace belay::langgraph {
namespace {

using server::text;

struct Trip {
  std::string place{};
  bool booked = false;
  std::vector<std::string> log{};
};

// Packs, and asks a person whether to book, at the same time.
Graph<Trip> trip_graph() {
  GraphBuilder<Trip> graph{"trip"};
  graph.node("pack", [](const Trip&, Context&) { return append(&Trip::log, "packed"); });
  graph.approval("book", &Trip::place, {.question = "Book it?"}).approved(end).rejected(end);
  graph.edge(start, "pack").edge(start, "book").edge("pack", end);
  return std::move(graph).build().value();
}

// Executes a trip as a subgraph; if `packs`, and another task at the same time.
Graph<Trip> tour_graph(std::string name, bool packs) {
  GraphBuilder<Trip> graph{std::move(name)};
  if (packs) {
    graph.node("dress", [](const Trip&, Context&) { return append(&Trip::log, "dressed"); });
    graph.edge(start, "dress").edge("dress", end);
  }
  auto whole = [](const Trip& trip) { return trip; };
  graph.subgraph("plan", trip_graph(), whole, [](const Trip&) { return set(&Trip::booked, true); });
  graph.edge(start, "plan").edge("plan", end);
  return std::move(graph).build().value();
}

struct States : AgentServerFixture {
  Graph<Order> orders = order_graph();
  Graph<Trip> trips = trip_graph();
  Graph<Trip> tour = tour_graph("tour", false), tours = tour_graph("tours", true);

  States() {
    runtime->add(orders);
    runtime->add(trips);
    runtime->add(tour);
    runtime->add(tours);
    api.reset();
    std::vector<std::shared_ptr<const GraphDefinition>> graphs{
        graph.definition(), orders.definition(), trips.definition(), tour.definition(),
        tours.definition()};
    LocalServiceParts parts{*store, *store, *runtime, loop, clock, random, graphs, {}, {}};
    service = make_local_service(std::move(parts));
    serve();
  }
  void start_run(const std::string& agent, const std::string& input, int status) {
    auto begun =
        post("/api/agents/" + agent + "/runs", R"({"threadId":"t","input":)" + input + "}");
    ASSERT_EQ(begun.status, status) << to_json(begun.body);
    clock.move(std::chrono::seconds(1));
  }
  Value::Array history(const std::string& body = "{}") {
    auto answered = post("/threads/t/history", body);
    EXPECT_EQ(answered.status, 200) << to_json(answered.body);
    const Value::Array* states = answered.body.as_array();
    return states ? *states : Value::Array();
  }
  static std::string id_of(const Value& state) {
    return text(state["checkpoint"]["checkpoint_id"]);
  }
};

TEST_F(States, OneThatWaitsHasItsInterruptsAndItsNextNode) {
  begin_urgent("t");
  auto state = get("/threads/t/state");
  ASSERT_EQ(state.status, 200) << to_json(state.body);
  EXPECT_EQ(text(state.body["values"]["topic"]), "urgent");
  EXPECT_EQ(state.body["values"], get("/threads/t").body["values"]);
  EXPECT_EQ(to_json(state.body["next"]), R"(["review"])");
  ASSERT_EQ(size_of(state.body["tasks"]), 1u);
  const Value& task = state.body["tasks"].as_array()->front();
  EXPECT_EQ(text(task["name"]), "review");
  EXPECT_EQ(to_json(task["path"]), R"(["__pregel_pull","review"])");
  ASSERT_EQ(size_of(task["interrupts"]), 1u);
  EXPECT_EQ(task["interrupts"], state.body["interrupts"]);
  const Value::Object interrupts = *get("/threads/t").body["interrupts"].as_object();
  ASSERT_EQ(interrupts.size(), 1u);
  EXPECT_EQ(interrupts.begin()->first, text(task["id"])) << "the same task";
  EXPECT_EQ(interrupts.begin()->second, task["interrupts"]);
  EXPECT_EQ(text(state.body["metadata"]["source"]), "loop");
  EXPECT_EQ(text(state.body["metadata"]["graph_id"]), "mail");
  EXPECT_EQ(text(state.body["metadata"]["assistant_id"]), system_assistant_id("mail"));
  EXPECT_EQ(text(state.body["checkpoint"]["thread_id"]), "t");
  EXPECT_EQ(text(state.body["checkpoint"]["checkpoint_ns"]), "");
}

TEST_F(States, OneThatHasEndedHasNoNextNode) {
  start_run("order", R"({"item":"hat"})", 202);
  auto approval = block_on(loop, service->approval(Principal(), "t", {})).value();
  block_on(loop, service->decide(Principal(), approval.interrupt, approve())).value();
  auto state = get("/threads/t/state");
  EXPECT_EQ(to_json(state.body["next"]), "[]");
  EXPECT_EQ(to_json(state.body["tasks"]), "[]");
  EXPECT_EQ(to_json(state.body["interrupts"]), "[]");
  EXPECT_EQ(to_json(state.body["values"]["log"]), R"(["priced as 7","bought hat"])");
}

TEST_F(States, TheHistoryIsOneChainOverAllRuns) {
  start_run("order", R"({"item":"stone"})", 200);
  start_run("order", R"({"item":"hat"})", 202);
  Value::Array states = history();
  ASSERT_EQ(states.size(), 3u);
  EXPECT_EQ(to_json(states[0]["next"]), R"(["confirm"])");
  EXPECT_EQ(to_json(states[1]["next"]), R"(["price"])");
  EXPECT_EQ(text(states[1]["metadata"]["source"]), "input");
  EXPECT_EQ(text(states[1]["values"]["item"]), "hat");
  EXPECT_EQ(text(states[2]["values"]["item"]), "stone");
  EXPECT_NE(text(states[2]["tasks"].as_array()->front()["error"]).find("Nobody sells a stone"),
            std::string::npos);
  for (std::size_t i = 0; i + 1 < states.size(); ++i) {
    EXPECT_EQ(states[i]["parent_checkpoint"], states[i + 1]["checkpoint"]) << i;
    EXPECT_GT(id_of(states[i]), id_of(states[i + 1])) << i;
  }
  EXPECT_TRUE(states[2]["parent_checkpoint"].is_null());
  EXPECT_EQ(get("/threads/t/state").body, states[0]);
  EXPECT_EQ(*get("/threads/t/history").body.as_array(), states);
}

TEST_F(States, EachOneIsFoundByTheIdOfItsCheckpoint) {
  start_run("order", R"({"item":"hat"})", 202);
  for (const Value& state : history()) {
    EXPECT_EQ(get("/threads/t/state/" + id_of(state)).body, state);
    Value body = Value::object({{"checkpoint", state["checkpoint"]}});
    EXPECT_EQ(post("/threads/t/state/checkpoint", to_json(body)).body, state);
    EXPECT_EQ(history(to_json(body)), Value::Array{state});
  }
  EXPECT_EQ(post("/threads/t/state/checkpoint", "{}").body, get("/threads/t/state").body);
}

TEST_F(States, ACopyOfAThreadBeginsAnotherChain) {
  begin_urgent("letters");
  Value original = get("/threads/letters/state").body;
  std::string copy = "/threads/" + text(post("/threads/letters/copy").body["thread_id"]);
  Value copied = get(copy + "/state").body;
  EXPECT_EQ(copied["values"], original["values"]);
  EXPECT_EQ(copied["next"], original["next"]);
  EXPECT_EQ(size_of(copied["interrupts"]), 1u);
  EXPECT_EQ(text(copied["metadata"]["source"]), "fork");
  EXPECT_TRUE(copied["parent_checkpoint"].is_null());
  EXPECT_EQ(get(copy + "/state/" + id_of(original)).status, 404);
}

TEST_F(States, UnknownCheckpointsAreNotFound) {
  begin_urgent("t");
  begin_urgent("other");
  std::string foreign = id_of(get("/threads/other/state").body);
  for (const std::string& id : {foreign, std::string("x"), std::string(kThreadA)}) {
    auto refused = get("/threads/t/state/" + id);
    EXPECT_EQ(refused.status, 404) << id;
    EXPECT_NE(text(refused.body["detail"]).find(id), std::string::npos);
  }
  std::string body = R"({"checkpoint":{"checkpoint_id":")" + foreign + "\"}}";
  EXPECT_EQ(post("/threads/t/state/checkpoint", body).status, 404);
  EXPECT_EQ(history(body), Value::Array());
}

TEST_F(States, PagesOfAHistoryContinueBeforeACheckpoint) {
  start_run("order", R"({"item":"stone"})", 200);
  start_run("order", R"({"item":"stone"})", 200);
  start_run("order", R"({"item":"hat"})", 202);
  Value::Array all = history(R"({"limit":1000})"), pages;
  ASSERT_EQ(all.size(), 4u);
  std::string body = R"({"limit":3})";
  for (int i = 0; i < 2; ++i) {
    for (Value& each : history(body)) pages.push_back(std::move(each));
    body = R"({"limit":3,"before":)" + to_json(pages.back()["checkpoint"]) + "}";
  }
  EXPECT_EQ(pages, all);
  std::string before = id_of(all[1]);
  EXPECT_EQ(get("/threads/t/history?limit=1&before=" + before).body, Value(Value::Array{all[2]}));
  body = R"({"before":{"configurable":{"checkpoint_id":")" + before + "\"}}}";
  EXPECT_EQ(history(body), (Value::Array{all[2], all[3]}));
  Value filter = Value::object(
      {{"metadata", Value::object({{"run_id", all[3]["metadata"]["run_id"]}, {"step", 1}})}});
  EXPECT_EQ(history(to_json(filter)), Value::Array{all[3]});
  Value::Array selected = history(R"({"limit":1,"select":["next"]})");
  EXPECT_EQ(to_json(Value(selected)), R"([{"next":["confirm"]}])");
  EXPECT_EQ(to_json(get("/threads/t/state?select=next").body), R"({"next":["confirm"]})");
}

TEST_F(States, ARunThatWaitsForAnotherOneHasNone) {
  start_run("order", R"({"item":"hat"})", 202);
  Value before = get("/threads/t/state").body;
  StartRun later;
  later.agent = "order";
  later.thread = ThreadId("t");
  later.input = Value::object({{"item", "coat"}});
  later.if_busy = BusyThread::enqueue;
  ASSERT_TRUE(block_on(loop, service->start(Principal(), std::move(later))).ok());
  EXPECT_EQ(get("/threads/t/state").body, before);
}

TEST_F(States, ASuperstepThatWaitsShowsTheTasksThatAreLeft) {
  start_run("trip", R"({"place":"Rome"})", 202);
  auto state = get("/threads/t/state");
  EXPECT_EQ(to_json(state.body["next"]), R"(["book"])");
  ASSERT_EQ(size_of(state.body["tasks"]), 2u);
  for (const Value& task : *state.body["tasks"].as_array()) {
    bool waits = text(task["name"]) == "book";
    EXPECT_EQ(size_of(task["interrupts"]), waits ? 1u : 0u) << to_json(task);
  }
  EXPECT_EQ(size_of(state.body["interrupts"]), 1u);
}

TEST_F(States, ASubgraphInProgressHasItsState) {
  start_run("tour", R"({"place":"Rome"})", 202);
  auto plain = get("/threads/t/state");
  EXPECT_EQ(to_json(plain.body["next"]), R"(["plan"])");
  ASSERT_EQ(size_of(plain.body["interrupts"]), 1u);
  const Value& unopened = plain.body["tasks"].as_array()->front();
  EXPECT_EQ(unopened["interrupts"], plain.body["interrupts"]);
  EXPECT_TRUE(unopened["state"].is_null());
  auto state = get("/threads/t/state?subgraphs=true");
  ASSERT_EQ(state.status, 200) << to_json(state.body);
  EXPECT_EQ(state.body["interrupts"], plain.body["interrupts"]);
  const Value& task = state.body["tasks"].as_array()->front();
  const Value& inside = task["state"];
  EXPECT_EQ(text(inside["values"]["place"]), "Rome");
  EXPECT_EQ(to_json(inside["next"]), R"(["book"])");
  EXPECT_EQ(inside["interrupts"], state.body["interrupts"]);
  EXPECT_TRUE(task["checkpoint"].is_null()) << "its state has it";
  EXPECT_EQ(text(inside["checkpoint"]["checkpoint_ns"]), "plan:" + text(task["id"]));
  Value named = Value::object({{"checkpoint", inside["checkpoint"]}});
  EXPECT_EQ(post("/threads/t/state/checkpoint", to_json(named)).body, inside);
  (*named.as_object())["checkpoint"].as_object()->erase("checkpoint_id");
  EXPECT_EQ(post("/threads/t/state/checkpoint", to_json(named)).body, inside);
  for (const char* unknown : {R"({"checkpoint_ns":"plan:x"})", R"({"checkpoint_ns":"x"})"}) {
    std::string body = std::string(R"({"checkpoint":)") + unknown + "}";
    EXPECT_EQ(post("/threads/t/state/checkpoint", body).status, 404) << unknown;
    EXPECT_EQ(post("/threads/t/history", body).status, 422) << unknown;
  }
  EXPECT_EQ(text(inside["metadata"]["parents"][""]), id_of(state.body));
  ASSERT_EQ(size_of(inside["tasks"]), 2u);
  for (const Value& each : *inside["tasks"].as_array()) {
    bool waits = text(each["name"]) == "book";
    EXPECT_EQ(size_of(each["interrupts"]), waits ? 1u : 0u) << to_json(each);
    EXPECT_EQ(to_json(each["result"]), waits ? "null" : R"({"log":["packed"]})");
  }
  EXPECT_EQ(post("/threads/t/state/checkpoint", R"({"subgraphs":true})").body, state.body);
}

TEST_F(States, AnInterruptIsShownAtTheSubgraphThatAsks) {
  start_run("tours", R"({"place":"Rome"})", 202);
  auto state = get("/threads/t/state?subgraphs=true");
  EXPECT_EQ(to_json(state.body["next"]), R"(["plan"])");
  ASSERT_EQ(size_of(state.body["tasks"]), 2u) << to_json(state.body);
  for (const Value& task : *state.body["tasks"].as_array()) {
    bool waits = text(task["name"]) == "plan";
    EXPECT_EQ(size_of(task["interrupts"]), waits ? 1u : 0u) << to_json(task);
    EXPECT_EQ(task["state"].is_null(), !waits) << to_json(task);
  }
}

TEST_F(States, ALaterRunShowsItsOwnWrites) {
  start_run("trip", R"({"place":"Rome"})", 202);
  auto approval = block_on(loop, service->approval(Principal(), "t", {})).value();
  block_on(loop, service->decide(Principal(), approval.interrupt, approve())).value();
  start_run("trip", R"({"place":"Oslo"})", 202);
  auto state = get("/threads/t/state?subgraphs=true");
  EXPECT_EQ(text(state.body["values"]["place"]), "Oslo");
  const Value& packed = state.body["tasks"].as_array()->front();
  EXPECT_EQ(text(packed["name"]), "pack");
  EXPECT_EQ(to_json(packed["result"]), R"({"log":["packed"]})");
  EXPECT_EQ(to_json(state.body["next"]), R"(["book"])");
}

TEST_F(States, HaveTheMetadataOfTheRunThatMadeThem) {
  start_run("order", R"({"item":"stone"})", 200);
  start_run("order", R"({"item":"hat"})", 202);
  RunRow run = block_on(loop, service->run_of(Principal(), ThreadId("t"))).value();
  RunRecord record;
  record.id = record.run = run.run.text();
  record.thread = "t";
  record.created_at = clock.now();
  record.metadata = Value::object({{"campaign", "spring"}, {"step", 99}});
  RunRecord resumed = record;
  resumed.id = kThreadA;
  resumed.after = 1;
  std::vector<RecordWrite> writes;
  for (const RunRecord& each : {record, resumed}) {
    writes.push_back(record_write(each, run.user).value());
  }
  ASSERT_TRUE(block_on(loop, service->save_records(Principal(), std::move(writes))).ok());
  Value::Array states = history(R"({"metadata":{"campaign":"spring"}})");
  ASSERT_EQ(states.size(), 2u);
  EXPECT_EQ(text(states[0]["metadata"]["run_id"]), kThreadA) << "begins after the first commit";
  EXPECT_EQ(text(states[1]["metadata"]["run_id"]), run.run.text());
  EXPECT_EQ(states[1]["metadata"]["step"], Value(1)) << "not that of the run";
}

TEST_F(States, AThreadWithoutARunIsEmpty) {
  post("/threads", std::string(R"({"thread_id":")") + kThreadA + "\"}");
  std::string path = std::string("/threads/") + kThreadA;
  auto state = get(path + "/state");
  ASSERT_EQ(state.status, 200);
  EXPECT_EQ(to_json(state.body["values"]), "{}");
  EXPECT_EQ(to_json(state.body["next"]), "[]");
  EXPECT_TRUE(state.body["checkpoint"].is_null());
  EXPECT_EQ(to_json(get(path + "/history").body), "[]");
  EXPECT_EQ(get(path + "/state/" + kThreadB).status, 404);
  EXPECT_EQ(post(path + "/state", R"({"values":{}})").status, 400) << "no graph";
  EXPECT_EQ(get("/threads/none/state").status, 404);
}

TEST_F(States, OfAGraphOfOneRunPerThreadAreNotChanged) {
  begin_urgent("t");
  Value before = get("/threads/t/state").body;
  auto refused = post("/threads/t/state", R"({"values":{"topic":"x"},"as_node":"write"})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_NE(text(refused.body["detail"]).find("Fork"), std::string::npos);
  EXPECT_EQ(get("/threads/t/state").body, before);
  StartRun queued;
  queued.agent = "order";
  queued.thread = ThreadId("busy");
  queued.input = Value::object({{"item", "hat"}});
  queued.queued = true;
  ASSERT_TRUE(block_on(loop, service->start(Principal(), std::move(queued))).ok());
  auto busy = post("/threads/busy/state", R"({"values":{}})");
  EXPECT_EQ(busy.status, 409);
  EXPECT_NE(text(busy.body["detail"]).find("Thread is busy"), std::string::npos);
}

TEST_F(States, HostileQueriesAreRefused) {
  begin_urgent("t");
  for (const char* body :
       {R"({"limit":0})", R"({"limit":100000})", R"({"limit":"x"})", R"({"before":7})",
        R"({"before":"x"})", R"({"before":{"checkpoint_id":7}})", R"({"checkpoint":[]})",
        R"({"checkpoint":{"checkpoint_ns":"a:b"}})", R"({"metadata":7})", R"({"select":"x"})"}) {
    EXPECT_EQ(post("/threads/t/history", body).status, 422) << body;
  }
  EXPECT_EQ(get("/threads/t/history?limit=x").status, 422);
  EXPECT_EQ(get("/threads/t/history?before=x").status, 422);
  EXPECT_EQ(post("/threads/t/state/checkpoint", R"({"subgraphs":"x"})").status, 422);
}

TEST_F(States, ThoseOfAnotherUserDoNotExist) {
  add_key("ada", Permission::run);
  add_key("bob", Permission::run);
  add_key("eve", Permission::read);
  auto begun =
      as("ada", "POST", "/api/agents/mail/runs", R"({"input":{"topic":"urgent"},"threadId":"t"})");
  ASSERT_EQ(begun.status, 202);
  std::string id = id_of(as("ada", "GET", "/threads/t/state").body);
  for (const std::string& path : {std::string("/state"), "/state/" + id, std::string("/history")}) {
    EXPECT_EQ(as("ada", "GET", "/threads/t" + path).status, 200) << path;
    EXPECT_EQ(as("bob", "GET", "/threads/t" + path).status, 404) << path;
  }
  for (const char* path : {"/state", "/history", "/state/checkpoint"}) {
    EXPECT_EQ(as("bob", "POST", std::string("/threads/t") + path, "{}").status, 404) << path;
  }
  EXPECT_EQ(as("eve", "POST", "/threads/t/state", "{}").status, 403);
}

}  // namespace
}  // namespace belay::langgraph
