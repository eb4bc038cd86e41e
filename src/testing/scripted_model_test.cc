#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/testing.h"

namespace belay::testing {
namespace {

using ::testing::ElementsAre;

struct Scripted : ::testing::Test {
  ModelReply reply_to(const ModelRequest& request) {
    return block_on(loop, model.generate(request)).value();
  }
  std::vector<std::string> ids_of(const ModelRequest& request) {
    std::vector<std::string> ids;
    for (const ToolCall& call : reply_to(request).tool_calls) ids.push_back(call.id);
    return ids;
  }

  SimulatedClock clock{*instant_from("2026-01-01T00:00:00Z")};
  SimulatedLoop loop{clock};
  ScriptedModel model;
  ToolCall weather{"", "weather", Value::object({{"city", "Oslo"}})};
};

TEST_F(Scripted, CallsToolsAndThenAnswers) {
  model.calls({weather}, "Let me look.").replies("Rain.");
  ModelReply first = reply_to({});
  EXPECT_EQ(first.stop_reason, StopReason::tool_calls);
  EXPECT_EQ(first.text, "Let me look.");
  EXPECT_EQ(first.method, "script");
  EXPECT_THAT(first.tool_calls, ElementsAre(ToolCall{"call_1", "weather", weather.arguments}));
  ModelReply second = reply_to({});
  EXPECT_EQ(second.stop_reason, StopReason::complete);
  EXPECT_EQ(second.text, "Rain.");
  EXPECT_TRUE(second.tool_calls.empty());
}

TEST_F(Scripted, GivesIdsThatAreUniqueWithinTheConversation) {
  ToolCall named{"call_7", "weather", Value()};
  model.calls({weather, named, weather}).repeat_last();
  EXPECT_THAT(ids_of({}), ElementsAre("call_8", "call_7", "call_9"));
  model = ScriptedModel();
  model.calls({weather, weather}).repeat_last();
  ModelRequest request;
  for (const char* id : {"call_3", "call_x", "toolu_9", "call_99999999999999999999"}) {
    request.messages.push_back({Role::assistant, "", {{id, "weather", Value()}}});
  }
  EXPECT_THAT(ids_of(request), ElementsAre("call_4", "call_5"));
  EXPECT_THAT(ids_of(request), ElementsAre("call_4", "call_5")) << "they depend on the request";
}

TEST_F(Scripted, RepliesWithTheTextOrTheReplyThatAFunctionReturns) {
  model.replies_with([](const ModelRequest& request) { return request.purpose + "!"; });
  model.replies_with([](const ModelRequest&) -> Result<std::string> { return std::string("b"); });
  model.replies_with([this](const ModelRequest& request) -> Result<ModelReply> {
    ModelReply reply;
    reply.provider = request.purpose;
    reply.tool_calls = {weather};
    reply.usage = Usage{3, 4};
    return reply;
  });
  model.replies_with([](const ModelRequest&) {
    ModelReply reply;
    reply.stop_reason = StopReason::length;
    return reply;
  });
  model.then_always([](const ModelRequest&) { return error(ErrorCode::unavailable, "busy"); });
  ModelRequest request;
  request.purpose = "chat";
  EXPECT_EQ(reply_to(request).text, "chat!");
  EXPECT_EQ(reply_to(request).text, "b");
  ModelReply whole = reply_to(request);
  EXPECT_EQ(whole.provider, "chat");
  EXPECT_EQ(whole.model, "script");
  EXPECT_EQ(whole.stop_reason, StopReason::tool_calls);
  EXPECT_EQ(whole.usage->output_tokens, 4);
  EXPECT_EQ(reply_to(request).stop_reason, StopReason::length);
  EXPECT_EQ(block_on(loop, model.generate(request)).error().message, "busy");
}

TEST_F(Scripted, RepeatsTheLastCallsInAWorld) {
  model = calls({weather});
  EXPECT_THAT(ids_of({}), ElementsAre("call_1"));
  EXPECT_EQ(reply_to({}).tool_calls.size(), 1u);
  model = calls({weather}).replies("Rain.");
  reply_to({});
  EXPECT_EQ(reply_to({}).text, "Rain.");
  EXPECT_EQ(reply_to({}).text, "Rain.");
}

}  // namespace
}  // namespace belay::testing
