#pragma once
// tests/support/agent_server_run_fixture.h - RunFixture: runs of the Agent Server API, for tests.
//
//     mail  of RuntimeFixture: one run per thread
//     poet  streams a text in pieces; an approval for urgent topics; fails for a bad one, and at
//           the first attempt about luck; sleeps `nap` milliseconds; its threads have many runs;
//           for the topic "settings", the verse is the configuration of the run
//     pair  two approvals at the same time
//     guard the same, one of which requires a role
//     stop  a timer of a minute, then a breakpoint before its last node
//     shell executes a poet as a subgraph

#include "langgraph/run_records.h"
#include "tests/support/agent_server_fixture.h"

namespace belay::langgraph {

struct Poem {
  std::string topic{};
  int nap = 0;
  std::string verse{};
  std::vector<std::string> log{};
};

inline Task<Result<Update<Poem>>> write_poem(const Poem& poem, Context& context) {
  using namespace std::chrono_literals;
  for (const char* word : {"An ", "öde ", "to "}) {
    context.stream(word);
    co_await sleep_for(10ms);
  }
  context.stream(poem.topic);
  co_await sleep_for(std::chrono::milliseconds(poem.nap));
  bool has_no_luck = poem.topic == "luck" && context.attempt() == 1;
  if (has_no_luck) co_return error(ErrorCode::unavailable, "No luck.");
  if (poem.topic == "bad") co_return error(ErrorCode::invalid, "No rhyme.");
  if (poem.topic == "worse") co_return error(ErrorCode::invalid, "RhymeError: No rhyme.");
  if (poem.topic == "settings") co_return set(&Poem::verse, to_json(context.configuration()));
  context.emit("written", Value(poem.topic));
  co_return set(&Poem::verse, "An öde to " + poem.topic).append(&Poem::log, poem.topic);
}

inline Graph<Poem> poet_graph() {
  GraphBuilder<Poem> graph{"poet"};
  graph.node("write", write_poem).retry({.attempts = 2, .base = std::chrono::milliseconds(50)});
  graph.approval("review", &Poem::verse, {.question = "Print it?"})
      .when([](const Poem& poem) { return poem.topic.starts_with("urgent"); })
      .approved("print")
      .rejected(end);
  graph.node("print", [](const Poem& poem, Context&) {
    bool is_reviewed = poem.topic.starts_with("urgent");
    return is_reviewed ? append(&Poem::log, "printed") : unchanged<Poem>();
  });
  graph.edge(start, "write").edge("write", "review").edge("print", end);
  return std::move(graph).build().value();
}

inline Graph<Poem> pair_graph(const char* name, std::vector<std::string> roles) {
  GraphBuilder<Poem> graph{name};
  graph.approval("left", &Poem::verse, {.question = "Left?"}).approved(end).rejected(end);
  graph.approval("right", &Poem::verse, {.question = "Right?", .roles = std::move(roles)})
      .approved(end)
      .rejected(end);
  graph.edge(start, "left").edge(start, "right");
  return std::move(graph).build().value();
}

inline Graph<Poem> shell_graph() {
  GraphBuilder<Poem> inner{"inner"};
  inner.node("write", write_poem);
  inner.edge(start, "write").edge("write", end);
  GraphBuilder<Poem> graph{"shell"};
  auto whole = [](const Poem& poem) { return poem; };
  auto result = [](const Poem& poem) { return set(&Poem::verse, poem.verse); };
  graph.subgraph("inside", std::move(inner).build().value(), whole, result);
  graph.edge(start, "inside").edge("inside", end);
  return std::move(graph).build().value();
}

inline Graph<Poem> stop_graph() {
  GraphBuilder<Poem> graph{"stop"};
  graph.wait("rest", std::chrono::minutes(1));
  auto note = [](const Poem&, Context&) { return append(&Poem::log, "ended"); };
  graph.node("last", note).interrupt_before();
  graph.edge(start, "rest").edge("rest", "last").edge("last", end);
  return std::move(graph).build().value();
}

struct RunFixture : AgentServerFixture {
  Graph<Poem> poet = poet_graph();
  Graph<Poem> pair = pair_graph("pair", {}), guard = pair_graph("guard", {"captain"});
  Graph<Poem> shell = shell_graph();
  Graph<Poem> stop = stop_graph();

  struct Event {
    std::string name;
    Value data;
    std::string id;
    friend bool operator==(const Event&, const Event&) = default;
  };
  using Events = std::vector<Event>;

  RunFixture() {
    api.reset();
    std::vector<std::shared_ptr<const GraphDefinition>> graphs{graph.definition()};
    for (const Graph<Poem>* each : {&poet, &pair, &guard, &stop, &shell}) {
      runtime->add(*each);
      graphs.push_back(each->definition());
    }
    LocalServiceParts parts{*store, *store, *runtime, loop, clock, random, graphs, {}, {}};
    service = make_local_service(std::move(parts));
    serve();
    post("/threads", std::string(R"({"thread_id":")") + kThreadA + "\"}");
  }

  static std::string runs(const std::string& more = {}) {
    return std::string("/threads/") + kThreadA + "/runs" + more;
  }
  static std::string about(const std::string& topic, const std::string& more = {}) {
    return R"({"assistant_id":"poet","input":{"topic":")" + topic + "\"}" + more + "}";
  }
  // A run that sleeps for a minute.
  static std::string sleeper(const std::string& more = {}) {
    return R"({"assistant_id":"poet","input":{"topic":"sleep","nap":60000})" + more + "}";
  }
  static std::string resume(const std::string& reply, const std::string& more = {}) {
    return R"({"assistant_id":"poet","command":{"resume":)" + reply + "}" + more + "}";
  }
  // Starts a run, and returns its id.
  std::string begin(const std::string& body, const std::string& path = runs()) {
    clock.move(std::chrono::seconds(1));
    Answered begun = post(path, body);
    EXPECT_EQ(begun.status, 200) << to_json(begun.body);
    return server::text(begun.body["run_id"]);
  }
  std::string status_of_run(const std::string& run) {
    return server::text(get(runs("/" + run)).body["status"]);
  }
  // The JSON document that a response streams.
  Value streamed(const Answered& answered) {
    EXPECT_TRUE(answered.stream) << to_json(answered.body);
    return answered.stream ? parse_json(read_all(*answered.stream)).value_or(Value()) : Value();
  }
  Value joined(const std::string& run) { return streamed(get(runs("/" + run + "/join"))); }

  static Events parsed(const std::string& whole) {
    Events events;
    std::size_t at = 0;
    while (at < whole.size()) {
      std::size_t end = std::min(whole.find("\n\n", at), whole.size());
      std::string piece = whole.substr(at, end - at);
      at = end + 2;
      std::size_t data = piece.find("\ndata: "), id = piece.rfind("\nid: ");
      if (piece.starts_with(":")) continue;
      EXPECT_TRUE(piece.starts_with("event: ") && data != piece.npos && id != piece.npos) << piece;
      if (data == piece.npos || id == piece.npos) continue;
      Value body = parse_json(piece.substr(data + 7, id - data - 7)).value();
      events.push_back({piece.substr(7, data - 7), std::move(body), piece.substr(id + 5)});
    }
    return events;
  }
  Events events_of(const Answered& answered) {
    EXPECT_TRUE(answered.stream) << to_json(answered.body);
    return answered.stream ? parsed(read_all(*answered.stream)) : Events();
  }
  Events stream_run(const std::string& body, const std::string& path = runs("/stream")) {
    clock.move(std::chrono::seconds(1));
    return events_of(post(path, body));
  }
  // The rest of a stream after an event.
  Events rejoined(const std::string& path, const std::string& last) {
    auto sent = request("GET", path);
    if (!last.empty()) sent.headers.push_back({"Last-Event-ID", last});
    return events_of(send(std::move(sent)));
  }
  static std::string lines_of(const Events& events) {
    std::string all;
    for (const Event& each : events) {
      all += each.id + " " + each.name + " " + to_json(each.data) + "\n";
    }
    return all;
  }
  static Events named(const Events& events, const std::string& name) {
    Events found;
    for (const Event& each : events) {
      if (each.name == name) found.push_back(each);
    }
    return found;
  }
  // Rejoins the stream after each of its events, and before the first.
  void expect_each_rest(const Events& whole, const std::string& path) {
    EXPECT_EQ(lines_of(rejoined(path, "-1")), lines_of(whole));
    EXPECT_EQ(lines_of(rejoined(path, "")), lines_of(whole));
    for (std::size_t i = 0; i < whole.size(); ++i) {
      Events rest(whole.begin() + static_cast<std::ptrdiff_t>(i) + 1, whole.end());
      EXPECT_EQ(lines_of(rejoined(path, whole[i].id)), lines_of(rest)) << "after " << i;
    }
  }
  // Starts a run that waits for a decision; returns the id of its interrupt.
  std::string urgent_interrupt() {
    Events events = stream_run(about("urgent"));
    if (events.empty()) return {};
    const Value::Array* list = events.back().data["__interrupt__"].as_array();
    EXPECT_TRUE(list && list->size() == 1) << lines_of(events);
    return list && !list->empty() ? server::text(list->front()["id"]) : "";
  }
};

}  // namespace belay::langgraph
