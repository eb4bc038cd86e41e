// Calls of tools in streams of the Agent Server API, and the continuation of the streams.

#include "tests/support/agent_server_tool_fixture.h"

namespace belay::langgraph {
namespace {

using server::text;

using ToolStreams = ToolFixture;

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
      EXPECT_TRUE(ids.insert(whole[i].id).second) << whole[i].id << "\n" << lines_of(whole);
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
