// Calls of tools in streams of the Agent Server API, and the continuation of the streams.

#include "belay/agent.h"
#include "tests/support/agent_server_run_fixture.h"

namespace belay::langgraph {
namespace {

using server::text;

struct CityArguments {
  std::string city{};
};

// Asks for two forecasts, one of which fails; or sends a letter, which needs an approval.
Result<ModelReply> clerk_reply(const ModelRequest& request) {
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

AgentOptions clerk_options() {
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
Graph<Poem> office_graph() {
  GraphBuilder<Poem> graph{"office"};
  graph.agent("ask", clerk_options(), &Poem::topic, &Poem::verse);
  graph.edge(start, "ask").edge("ask", end);
  return std::move(graph).build().value();
}

constexpr std::array<const char*, 10> kModes{"values",      "updates",  "messages-tuple", "custom",
                                             "checkpoints", "messages", "tasks",          "debug",
                                             "events",      "tools"};

struct ToolStreams : RunFixture {
  Graph<AgentState> clerk = agent_graph("clerk", clerk_options()).value();
  Graph<Poem> office = office_graph();
  int threads = 0;

  ToolStreams() {
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
    expect_each_rest(whole, thread + "/" + text(whole[0].data["run_id"]) + "/stream");
    return whole;
  }
  // "on_tool_start forecast" of each event.
  static std::string steps_of(const Events& events) {
    std::string all;
    for (const Event& each : events) {
      all += text(each.data["event"]) + " " + text(each.data["name"]) + "\n";
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

TEST_F(ToolStreams, HaveEachCallWithItsResultOrItsError) {
  Events tools = named(stream_run(question("weather", R"(["tools"])"), runs("/stream")), "tools");
  ASSERT_EQ(steps_of(tools),
            "on_tool_start forecast\non_tool_start forecast\n"
            "on_tool_end forecast\non_tool_error forecast\n");
  EXPECT_EQ(text(tools[0].data["input"]["city"]), "Oslo");
  EXPECT_EQ(tools[0].data["toolCallId"], tools[2].data["toolCallId"]);
  EXPECT_EQ(text(tools[2].data["output"]["content"]), "rain in Oslo");
  EXPECT_EQ(text(tools[2].data["output"]["type"]), "tool");
  EXPECT_EQ(tools[1].data["toolCallId"], tools[3].data["toolCallId"]);
  EXPECT_EQ(text(tools[3].data["error"]["message"]), "Error: No such city.");
}

TEST_F(ToolStreams, HaveOnlyTheCallsOfTheirOwnRun) {
  stream_run(question("weather", R"("tools")"));
  Events tools = named(stream_run(question("weather", R"("tools")")), "tools");
  EXPECT_EQ(tools.size(), 4u) << lines_of(tools);
}

TEST_F(ToolStreams, HaveTheResultOfACallThatWasApprovedInTheStreamOfTheResume) {
  Events first = named(stream_run(question("send", R"("tools")")), "tools");
  EXPECT_EQ(steps_of(first), "on_tool_start letter\n");
  Events second = named(stream_run(approval(R"("tools")")), "tools");
  ASSERT_EQ(steps_of(second), "on_tool_end letter\n") << lines_of(second);
  EXPECT_EQ(text(second[0].data["output"]["content"]), "sent to Bonn");
  EXPECT_EQ(second[0].data["toolCallId"], first[0].data["toolCallId"]);
}

TEST_F(ToolStreams, DescribeARunInEventsOfLangChain) {
  Events whole = stream_run(question("weather", R"(["events"])"));
  ASSERT_FALSE(whole.empty());
  std::string run = text(whole[0].data["run_id"]);
  Events events = named(whole, "events");
  EXPECT_EQ(events.size() + 1, whole.size());
  EXPECT_EQ(text(events.front().data["event"]), "on_chain_start");
  EXPECT_EQ(text(events.front().data["run_id"]), run);
  EXPECT_EQ(text(events.back().data["event"]), "on_chain_end");
  EXPECT_EQ(text(events.back().data["run_id"]), run);
  EXPECT_EQ(text(events.back().data["data"]["output"]["answer"]), "That is all.");
  std::map<std::string, std::string> open;  // by run id
  std::string said;
  for (const Event& each : events) {
    std::string what = text(each.data["event"]), id = text(each.data["run_id"]);
    if (what.ends_with("_start")) {
      EXPECT_TRUE(open.emplace(id, what).second) << id;
    }
    EXPECT_TRUE(open.contains(id)) << what << " " << id;
    for (const Value& parent : *each.data["parent_ids"].as_array()) {
      EXPECT_TRUE(open.contains(text(parent)) || what.find("_tool_") != what.npos) << what;
    }
    if (what == "on_chat_model_stream") said += text(each.data["data"]["chunk"]["content"]);
    if (what.ends_with("_end") || what.ends_with("_error")) open.erase(id);
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(said, "Let me look.That is all.");
  const std::string steps = steps_of(events);
  auto place = [&steps](const char* step) { return steps.find(step); };
  EXPECT_LT(place("on_chain_start model"), place("on_chat_model_start model")) << steps;
  EXPECT_LT(place("on_chat_model_end model"), place("on_chain_end model")) << steps;
  EXPECT_LT(place("on_tool_start forecast"), place("on_tool_end forecast")) << steps;
}

TEST_F(ToolStreams, HaveTheCallsOfAReplyWithItsModel) {
  std::vector<std::string> replies;
  for (const char* words : {"weather", "send"}) {
    std::string thread = new_thread();
    Events events = named(stream_run(question(words, R"("events")"), thread + "/stream"), "events");
    for (const Event& each : events) {
      if (each.data["event"] != Value("on_chat_model_end")) continue;
      const Value& output = each.data["data"]["output"];
      replies.push_back(text(output["content"]) + std::to_string(size_of(output["tool_calls"])));
      EXPECT_EQ(text(each.data["metadata"]["langgraph_node"]), "model");
    }
  }
  EXPECT_EQ(replies, (std::vector<std::string>{"Let me look.2", "That is all.0", "1"}));
}

TEST_F(ToolStreams, HaveTheCallsOfASubgraphIfTheyAreRequested) {
  EXPECT_TRUE(
      named(stream_run(in_office("weather", R"("tools")"), new_thread() + "/stream"), "tools")
          .empty());
  Events all = stream_run(in_office("weather", R"("tools")", R"(,"stream_subgraphs":true)"),
                          new_thread() + "/stream");
  Events tools;
  for (const Event& each : all) {
    if (each.name.starts_with("tools|ask:")) tools.push_back(each);
  }
  EXPECT_EQ(tools.size(), 4u) << lines_of(all);
  Events events =
      named(stream_run(in_office("weather", R"("events")"), new_thread() + "/stream"), "events");
  EXPECT_NE(steps_of(events).find("on_tool_end forecast"), std::string::npos);
}

TEST_F(ToolStreams, ContinueAfterEachEventInEachMode) {
  std::vector<std::string> lists{all_modes()};
  for (const char* mode : kModes) lists.push_back("[\"" + std::string(mode) + "\"]");
  for (const std::string& modes : lists) {
    SCOPED_TRACE(modes);
    cut_everywhere(new_thread(), question("weather", modes));
    std::string thread = new_thread();
    cut_everywhere(thread, question("send", modes));
    cut_everywhere(thread, approval(modes));
    cut_everywhere(new_thread(), in_office("weather", modes, R"(,"stream_subgraphs":true)"));
    thread = new_thread();
    cut_everywhere(thread, in_office("send", modes));
    cut_everywhere(thread, approval(modes, "office"));
    std::string poem = R"({"assistant_id":"poet","input":{"topic":"rain"},"stream_mode":)";
    cut_everywhere(new_thread(), poem + modes + R"(,"if_not_exists":"create"})");
  }
}

TEST_F(ToolStreams, OfTheNewProtocolHaveCallsInMessagesAndTheirCourse) {
  std::string thread = new_thread();
  stream_run(question("weather", R"("values")"), thread + "/stream");
  thread = thread.substr(0, thread.rfind('/'));
  Events events = v2_until(thread, "", "completed");
  std::vector<std::string> messages, tools;
  for (const Event& each : events) {
    const Value& data = each.data["params"]["data"];
    std::string what = text(data["event"]);
    if (each.name == "messages") {
      if (what == "content-block-finish") what += " " + text(data["content"]["type"]);
      if (what != "content-block-delta") messages.push_back(what);
    }
    if (each.name == "tools") tools.push_back(what);
  }
  EXPECT_EQ(messages,
            (std::vector<std::string>{
                "message-start", "content-block-start", "content-block-finish text",
                "content-block-start", "content-block-finish tool_call", "content-block-start",
                "content-block-finish tool_call", "message-finish", "message-start",
                "content-block-start", "content-block-finish text", "message-finish"}));
  EXPECT_EQ(tools, (std::vector<std::string>{"tool-started", "tool-started", "tool-finished",
                                             "tool-error"}));
}

TEST_F(ToolStreams, OfTheNewProtocolContinueAfterEachEvent) {
  struct Story {
    std::string body, last;
  };
  std::string values = R"("values")";
  for (const Story& story : {Story{question("weather", values), "completed"},
                             Story{question("send", values), "interrupted"},
                             Story{in_office("weather", values), "completed"}}) {
    std::string thread = new_thread();
    stream_run(story.body, thread + "/stream");
    thread = thread.substr(0, thread.rfind('/'));
    Events whole = v2_until(thread, "", story.last);
    std::set<std::string> ids, numbers;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string number = to_json(whole[i].data["seq"]);
      EXPECT_TRUE(ids.insert(whole[i].id).second) << whole[i].id;
      EXPECT_TRUE(numbers.insert(number).second) << number;
      if (i + 1 == whole.size()) break;
      Events rest = v2_until(thread, ",\"since\":" + number, story.last);
      Events expected(whole.begin() + static_cast<std::ptrdiff_t>(i) + 1, whole.end());
      EXPECT_EQ(lines_of(rest), lines_of(expected)) << "after " << i;
    }
  }
}

}  // namespace
}  // namespace belay::langgraph
