#pragma once
// tests/ag_ui/ag_ui_fixture.h - AgUiFixture: requests of AG-UI to an API over three agents, for
// tests.
//
//     mail    of RuntimeFixture: an approval for urgent mails, and a state that is no conversation
//     poet    streams a text in pieces; the first attempt about "luck" fails in the middle
//     trip    an agent with a tool that reads, and one that needs approvals

#include <set>

#include "ag_ui/ag_ui_options.h"
#include "belay/agent.h"
#include "tests/support/mcp_fixture.h"

namespace belay::ag_ui {

using server::Answered;
using server::text;

struct Poem {
  std::string topic{};
  std::string verse{};
};

inline Task<Result<Update<Poem>>> write_poem(const Poem& poem, Context& context) {
  using namespace std::chrono_literals;
  std::string whole;
  for (const char* word : {"An ", "öde ", "to "}) {
    context.stream(word);
    whole += word;
    co_await sleep_for(10ms);
    bool fails = poem.topic == "luck" && context.attempt() == 1 && whole.size() > 6;
    if (fails) co_return error(ErrorCode::unavailable, "No luck.");
  }
  context.stream(poem.topic);
  co_await sleep_for(10ms);
  context.emit("written", Value(poem.topic));
  co_return set(&Poem::verse, whole + poem.topic);
}

inline Graph<Poem> poet_graph() {
  using namespace std::chrono_literals;
  GraphBuilder<Poem> graph{"poet"};
  graph.node("write", write_poem).retry({.attempts = 2, .base = 50ms});
  graph.edge(start, "write").edge("write", end);
  return std::move(graph).build().value();
}

struct CityArguments {
  std::string city{};
};

inline Graph<AgentState> trip_graph(std::vector<std::string>& booked) {
  auto read = [](const CityArguments& in, ToolContext&) -> Result<std::string> {
    return "rain in " + in.city;
  };
  auto book = [&booked](const CityArguments& in, ToolContext&) -> Result<std::string> {
    booked.push_back(in.city);
    return "booked " + in.city;
  };
  AgentOptions options;
  options.tools = {
      make_tool<CityArguments>(
          {.name = "weather", .description = "The weather.", .effect = ToolEffect::reads}, read),
      make_tool<CityArguments>({.name = "book",
                                .description = "Books a room.",
                                .effect = ToolEffect::keyed,
                                .approval = ToolApproval::always},
                               book)};
  return agent_graph("trip", std::move(options)).value();
}

struct AgUiFixture : server::McpFixture {
  std::vector<std::string> booked;
  Graph<Poem> poet = poet_graph();
  Graph<AgentState> trip = trip_graph(booked);
  std::string last_event;

  struct Event {
    std::string id;
    Value body;
    std::string type() const { return text(body["type"]); }
  };
  using Events = std::vector<Event>;

  AgUiFixture() {
    runtime->add(poet);
    runtime->add(trip);
    service = make_local_service(
        LocalServiceParts{*store,
                          *store,
                          *runtime,
                          loop,
                          clock,
                          random,
                          {graph.definition(), poet.definition(), trip.definition()},
                          {},
                          {}});
    serve();
  }

  // Opens another server on the store.
  void serve() {
    server::ApiParts parts{*service, loop, clock, random};
    server::Api::OwnRoutes own = [](server::ApiContext& world) { return ag_ui_routes(world, {}); };
    api = std::make_unique<server::Api>(parts, options, own);
  }

  static Value said(const std::string& id, const std::string& words) {
    return Value::object({{"id", id}, {"role", "user"}, {"content", words}});
  }
  static Value input(const std::string& thread, const std::string& run, Value::Array messages) {
    return Value::object({{"threadId", thread}, {"runId", run}, {"messages", std::move(messages)}});
  }
  // The input of the mail agent and of the poet.
  static Value about(const std::string& thread, const std::string& run, const std::string& topic) {
    return input(thread, run, {said("m-" + run, R"({"topic":")" + topic + "\"}")});
  }
  static Value answer_to(const std::string& interrupt, Value payload) {
    return Value::object(
        {{"interruptId", interrupt}, {"status", "resolved"}, {"payload", std::move(payload)}});
  }
  static Value cancelled(const std::string& interrupt) {
    return Value::object({{"interruptId", interrupt}, {"status", "cancelled"}});
  }
  static Value approved() { return Value::object({{"approved", true}}); }
  static Value resume(const std::string& thread, const std::string& run, Value::Array entries) {
    Value made = input(thread, run, {});
    made.as_object()->emplace("resume", std::move(entries));
    return made;
  }

  http::Request with_headers(http::Request made) const {
    if (!token.empty()) made.headers.push_back({"Authorization", "Bearer " + token});
    if (!last_event.empty()) made.headers.push_back({"Last-Event-ID", last_event});
    return made;
  }
  Answered run(const std::string& agent, const Value& body) {
    return send(with_headers(request("POST", "/ag-ui/" + agent, to_json(body))));
  }
  Answered rejoin(const std::string& agent, const std::string& thread, const std::string& run) {
    std::string path = "/ag-ui/" + agent + "/threads/" + thread + "/runs/" + run;
    return send(with_headers(request("GET", path)));
  }

  static Events parsed(const std::string& whole) {
    Events events;
    std::size_t at = 0;
    while (at < whole.size()) {
      std::size_t end = std::min(whole.find("\n\n", at), whole.size());
      std::string piece = whole.substr(at, end - at);
      at = end + 2;
      if (piece.starts_with(":")) continue;
      std::size_t data = piece.find("\ndata: ");
      EXPECT_TRUE(piece.starts_with("id: ") && data != piece.npos) << piece;
      if (data == piece.npos) continue;
      events.push_back({piece.substr(4, data - 4), parse_json(piece.substr(data + 7)).value()});
    }
    return events;
  }
  Events events_of(const Answered& answered) {
    EXPECT_TRUE(answered.stream) << to_json(answered.body);
    return answered.stream ? parsed(read_all(*answered.stream)) : Events();
  }
  Events events_of_run(const std::string& agent, const Value& body) {
    return events_of(run(agent, body));
  }
  // The same for a client that loses its connection after each piece.
  Events events_with_cuts(const std::string& agent, const Value& body) {
    Events joined;
    Answered answered = run(agent, body);
    for (int connections = 1; answered.stream && connections < 200; ++connections) {
      std::string piece = block_on(loop, answered.stream->next()).value();
      answered.stream.reset();
      if (piece.empty()) break;
      for (Event& event : parsed(piece)) joined.push_back(std::move(event));
      last_event = joined.back().id;
      serve();
      answered = rejoin(agent, text(body["threadId"]), text(body["runId"]));
    }
    last_event.clear();
    return joined;
  }
  // Returns the rest of a stream, after an event.
  Events rest_after(const std::string& event, const std::string& agent, const std::string& thread,
                    const std::string& run) {
    last_event = event;
    Events rest = events_of(rejoin(agent, thread, run));
    last_event.clear();
    return rest;
  }

  static std::vector<std::string> types_of(const Events& events) {
    std::vector<std::string> types;
    for (const Event& event : events) types.push_back(event.type());
    return types;
  }
  static Events of_type(const Events& events, const std::string& type) {
    Events found;
    for (const Event& event : events) {
      if (event.type() == type) found.push_back(event);
    }
    return found;
  }
  static std::string lines_of(const Events& events) {
    std::string all;
    for (const Event& event : events) all += event.id + " " + to_json(event.body) + "\n";
    return all;
  }
  // The interrupts that the last event has.
  static Value::Array interrupts_in(const Events& events) {
    if (events.empty()) return {};
    const Value::Array* found = events.back().body["outcome"]["interrupts"].as_array();
    EXPECT_TRUE(found) << lines_of(events);
    return found ? *found : Value::Array();
  }
  static void expect_part(const std::string& type, const std::string& kind, const std::string& id,
                          std::set<std::string>& open) {
    bool starts = type == kind + "_START" || type == kind + "_STARTED";
    bool ends = type == kind + "_END" || type == kind + "_FINISHED";
    bool is_inside = type == kind + "_CONTENT" || type == kind + "_ARGS";
    bool is_open = open.contains(id);
    EXPECT_FALSE(starts && is_open) << type << " " << id;
    EXPECT_FALSE((ends || is_inside) && !is_open) << type << " " << id;
    if (starts) open.insert(id);
    if (ends) open.erase(id);
  }
  // Checks the order that clients of AG-UI require.
  static void expect_order(const Events& events) {
    std::set<std::string> texts, calls, steps;
    ASSERT_FALSE(events.empty());
    EXPECT_EQ(events.front().type(), "RUN_STARTED");
    for (std::size_t i = 0; i < events.size(); ++i) {
      const Value& body = events[i].body;
      std::string type = events[i].type(), id = text(body["messageId"]);
      EXPECT_EQ(type == "RUN_STARTED", i == 0);
      EXPECT_EQ(type == "RUN_FINISHED" || type == "RUN_ERROR", i + 1 == events.size()) << type;
      expect_part(type, "TEXT_MESSAGE", id, texts);
      expect_part(type, "TOOL_CALL", text(body["toolCallId"]), calls);
      expect_part(type, "STEP", text(body["stepName"]), steps);
      bool is_text = type == "TEXT_MESSAGE_CONTENT" || type == "TOOL_CALL_ARGS";
      EXPECT_FALSE(is_text && text(body["delta"]).empty());
    }
    bool is_finished = events.back().type() == "RUN_FINISHED";
    EXPECT_TRUE(!is_finished || texts.size() + calls.size() + steps.size() == 0);
  }
  static std::string outcome_in(const Events& events) {
    return events.empty() ? "" : text(events.back().body["outcome"]["type"]);
  }
  std::string interrupt_of_urgent(const std::string& thread, const std::string& run) {
    Value::Array asked = interrupts_in(events_of_run("mail", about(thread, run, "urgent")));
    return asked.empty() ? "" : text(asked.front()["id"]);
  }
};

}  // namespace belay::ag_ui
