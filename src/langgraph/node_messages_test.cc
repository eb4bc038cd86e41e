// Messages and writes of nodes in streams of the Agent Server API, of channels with a custom
// reducer.

#include <algorithm>

#include "belay/agent.h"
#include "belay/json_graph.h"
#include "tests/support/agent_server_run_fixture.h"

namespace belay::langgraph {
namespace {

using server::text;

Value message_with(const char* type, std::string id, const std::string& content) {
  return Value::object({{"type", type}, {"id", std::move(id)}, {"content", content}});
}

// Appends messages, or replaces those with the same id.
Value joined_messages(Value so_far, const Value& written) {
  Value::Array messages = so_far.as_array() ? *so_far.as_array() : Value::Array();
  Value::Array added = written.as_array() ? *written.as_array() : Value::Array{written};
  for (Value& each : messages) each.as_object()->emplace("response_metadata", Value::Object());
  for (Value& each : added) {
    auto known = std::find_if(messages.begin(), messages.end(),
                              [&](const Value& held) { return held["id"] == each["id"]; });
    if (known == messages.end()) {
      messages.push_back(std::move(each));
    } else {
      *known = std::move(each);
    }
  }
  return messages;
}

std::string_view last_content(const Value& state) {
  return *state["messages"].as_array()->back()["content"].as_string();
}

// Streams "begin", has a tool called, and then streams "end".
Task<JsonUpdate> chat_agent(const Value& state, Context& context) {
  std::string said = last_content(state).starts_with("tool_call__") ? "end" : "begin";
  for (char letter : said) {
    context.stream(std::string_view(&letter, 1));
    co_await sleep_for(std::chrono::milliseconds(1));
  }
  Value message = message_with("ai", streamed_message_id(context), said);
  co_return put("messages", std::move(message)).set("asked", said == "begin");
}

JsonUpdate chat_tool(const Value& state, Context& context) {
  std::string content = "tool_call__" + std::string(last_content(state));
  return put("messages", message_with("tool", context.task().text(), content));
}

JsonGraph chat_graph() {
  JsonGraphBuilder builder{"chat"};
  builder.channel("messages", {.kind = JsonKind::array, .reduce = joined_messages});
  builder.channel("asked", {.kind = JsonKind::boolean, .nullable = true});
  builder.node("agent", chat_agent);
  builder.node("tool", chat_tool);
  builder.edge(start, "agent").edge("tool", "agent");
  auto after = [](const Value& state) {
    return last_content(state) == "end" ? end : std::string_view("tool");
  };
  builder.branch("agent", after, {"tool", end});
  return std::move(builder).build().value();
}

// Two nodes that return messages at the same time, and do not stream; then one that changes the
// first.
JsonGraph team_graph() {
  JsonGraphBuilder builder{"team"};
  builder.channel("messages", {.kind = JsonKind::array, .reduce = joined_messages});
  builder.node("left", [](const Value&, Context&) {
    return put("messages", message_with("ai", "of-left", "left"));
  });
  builder.node("right", [](const Value&, Context&) {
    return put("messages", message_with("ai", "of-right", "right"));
  });
  builder.node("judge", [](const Value&, Context&) {
    return put("messages", Value(Value::Array{message_with("ai", "of-left", "changed"),
                                              message_with("human", "of-judge", "judged")}));
  });
  builder.edge(start, "left").edge(start, "right");
  builder.edge("left", "judge").edge("right", "judge").edge("judge", end);
  return std::move(builder).build().value();
}

struct NodeMessages : RunFixture {
  JsonGraph chat = chat_graph(), team = team_graph();

  NodeMessages() {
    api.reset();
    runtime->add(chat);
    runtime->add(team);
    LocalServiceParts parts{
        *store, *store, *runtime, loop, clock, random, {chat.definition(), team.definition()},
        {},     {}};
    service = make_local_service(std::move(parts));
    serve();
  }

  static std::string asking(const std::string& modes, const std::string& agent = "chat") {
    return R"({"assistant_id":")" + agent + R"(","input":{"messages":[{"type":"human",)" +
           R"("content":"foo","id":"asked"}]},"stream_mode":)" + modes + "}";
  }
  static std::string contents_of(const Events& events) {
    std::string all;
    for (const Event& each : events) {
      all += text(each.data.as_array()->front()["content"]) + " ";
    }
    return all;
  }
  // "node: contents of its messages" of each update.
  static std::string updates_in(const Events& events) {
    std::string all;
    for (const Event& each : events) {
      const auto& [node, writes] = *each.data.as_object()->begin();
      all += node + ":";
      const Value::Array* messages = writes["messages"].as_array();
      for (std::size_t i = 0; messages && i < messages->size(); ++i) {
        all += " " + text((*messages)[i]["content"]);
      }
      all += "\n";
    }
    return all;
  }
  void expect_rests(const Events& whole) {
    expect_each_rest(whole, runs("/" + text(whole.front().data["run_id"]) + "/stream"));
  }
};

TEST_F(NodeMessages, AreStreamedOrSentWhole) {
  Events events = stream_run(asking(R"("messages-tuple")"));
  EXPECT_EQ(contents_of(named(events, "messages")), "begin tool_call__begin end ")
      << lines_of(events);
  EXPECT_EQ(named(events, "messages").size() + 1, events.size());
  Value metadata = named(events, "messages").at(1).data.as_array()->back();
  EXPECT_EQ(text(metadata["langgraph_node"]), "tool");
  EXPECT_EQ(metadata["langgraph_step"], Value(2));
  expect_rests(events);
  events = stream_run(asking(R"("messages-tuple")"));
  EXPECT_EQ(contents_of(named(events, "messages")), "begin tool_call__begin end ")
      << "those of the first run are not sent again\n"
      << lines_of(events);
}

TEST_F(NodeMessages, AreCompleteAfterTheirValues) {
  Events events = stream_run(asking(R"(["messages","values"])"));
  EXPECT_EQ(contents_of(named(events, "messages/complete")), "begin tool_call__begin end ");
  EXPECT_EQ(named(events, "messages/metadata").size(), 3u);
  EXPECT_EQ(events.back().name, "messages/complete") << lines_of(events);
  expect_rests(events);
}

TEST_F(NodeMessages, OfNodesAtTheSameTimeAreSentWithoutThem) {
  Events events = stream_run(asking(R"(["messages-tuple","updates"])", "team"));
  Events messages = named(events, "messages");
  EXPECT_EQ(contents_of(messages), "left right judged ") << lines_of(events);
  EXPECT_TRUE(messages.at(0).data.as_array()->back()["langgraph_node"].is_null());
  EXPECT_FALSE(messages.at(0).data.as_array()->back()["run_id"].is_null());
  EXPECT_EQ(text(messages.at(2).data.as_array()->back()["langgraph_node"]), "judge");
  EXPECT_EQ(updates_in(named(events, "updates")), "left:\nright:\njudge: changed judged\n");
  expect_rests(events);
}

TEST_F(NodeMessages, AreTheUpdatesOfTheirNodes) {
  const std::string expected = "agent: begin\ntool: tool_call__begin\nagent: end\n";
  Events events = stream_run(asking(R"("updates")"));
  EXPECT_EQ(updates_in(events = named(events, "updates")), expected) << lines_of(events);
  EXPECT_EQ(events.at(0).data["agent"]["asked"], Value(true)) << "with the other channels";
  events = stream_run(asking(R"(["updates","tasks","debug","events"])"));
  EXPECT_EQ(updates_in(named(events, "updates")), expected) << "of the second run";
  expect_rests(events);
  std::string results, payloads, outputs;
  for (const Event& each : events) {
    const Value& data = each.data;
    auto add = [](std::string& all, const Value& writes) {
      const Value::Array* messages = writes["messages"].as_array();
      all += messages ? text(messages->front()["content"]) + " " : "";
    };
    if (each.name == "tasks") add(results, data["result"]);
    if (data["type"] == Value("task_result")) add(payloads, data["payload"]["result"]);
    bool is_tool = data["event"] == Value("on_chain_end") && data["name"] == Value("tool");
    if (is_tool) add(outputs, data["data"]["output"]);
  }
  EXPECT_EQ(results, "begin tool_call__begin end ");
  EXPECT_EQ(payloads, results);
  EXPECT_EQ(outputs, "tool_call__begin ");
}

}  // namespace
}  // namespace belay::langgraph
