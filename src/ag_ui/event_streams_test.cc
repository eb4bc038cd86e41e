// The events of runs, and the continuation of their streams.

#include <gmock/gmock.h>

#include "ag_ui/json_patch.h"
#include "tests/ag_ui/ag_ui_fixture.h"

namespace belay::ag_ui {
namespace {

using ::testing::ElementsAre;
using namespace std::chrono_literals;

struct AgUiStreams : AgUiFixture {
  // The texts that a client shows, by message, and the state.
  struct Shown {
    std::vector<std::string> order;
    std::map<std::string, std::string> texts;
    Value state;
  };
  static Shown shown(const Events& events) {
    Shown now;
    for (const Event& event : events) {
      std::string id = text(event.body["messageId"]);
      if (event.type() == "TEXT_MESSAGE_START") now.order.push_back(id);
      if (event.type() == "TEXT_MESSAGE_CONTENT") now.texts[id] += text(event.body["delta"]);
      if (event.type() == "STATE_SNAPSHOT") now.state = event.body["snapshot"];
      if (event.type() == "STATE_DELTA") {
        now.state = patched(now.state, *event.body["delta"].as_array()).value();
      }
    }
    return now;
  }
};

TEST_F(AgUiStreams, BeginWithTheRunAndEndWithItsSuccess) {
  Answered answered = run("mail", about("t", "r", "calm"));
  EXPECT_EQ(answered.header("Content-Type"), "text/event-stream");
  Events events = events_of(answered);
  expect_order(events);
  EXPECT_EQ(text(events.front().body["threadId"]), "t");
  EXPECT_EQ(text(events.front().body["runId"]), "r");
  EXPECT_EQ(text(events.front().body["protocolVersion"]), "1.0");
  EXPECT_EQ(text(events.back().body["runId"]), "r");
  EXPECT_EQ(outcome_in(events), "success");
  EXPECT_EQ(text(events.back().body["result"]["outcome"]), "sent");
  EXPECT_EQ(text(shown(events).state["draft"]), "Dear calm");
}

TEST_F(AgUiStreams, HaveStepsAStateAndCustomEvents) {
  Events events = events_of_run("poet", about("t", "r", "rain"));
  expect_order(events);
  Shown end = shown(events);
  ASSERT_EQ(end.order.size(), 1u) << lines_of(events);
  EXPECT_EQ(end.texts[end.order.front()], "An öde to rain");
  EXPECT_EQ(text(end.state["verse"]), "An öde to rain");
  EXPECT_EQ(of_type(events, "STEP_STARTED").size(), 1u);
  EXPECT_EQ(of_type(events, "STEP_FINISHED").size(), 1u);
  ASSERT_EQ(of_type(events, "CUSTOM").size(), 1u);
  EXPECT_EQ(text(of_type(events, "CUSTOM").front().body["name"]), "written");
  EXPECT_EQ(text(of_type(events, "CUSTOM").front().body["value"]), "rain");
}

TEST_F(AgUiStreams, ShowATextWhileItIsWritten) {
  Answered answered = run("poet", about("t", "r", "rain"));
  Events events = events_of(answered);
  EXPECT_GT(of_type(events, "TEXT_MESSAGE_CONTENT").size(), 2u) << lines_of(events);
}

TEST_F(AgUiStreams, EndTheTextOfAnAttemptThatFailedAndBeginAnother) {
  Events events = events_of_run("poet", about("t", "r", "luck"));
  expect_order(events);
  Shown end = shown(events);
  ASSERT_EQ(end.order.size(), 2u) << lines_of(events);
  EXPECT_EQ(end.texts[end.order[1]], "An öde to luck");
  Events custom = of_type(events, "CUSTOM");
  ASSERT_FALSE(custom.empty());
  EXPECT_EQ(text(custom.front().body["name"]), "belay:attempt_failed");
  EXPECT_EQ(text(custom.front().body["value"]["messageId"]), end.order[0]);
}

TEST_F(AgUiStreams, EndWithAnErrorIfTheRunFails) {
  model.fails(error(ErrorCode::invalid, "No."));
  Events events = events_of_run("mail", about("t", "r", "calm"));
  expect_order(events);
  EXPECT_EQ(events.back().type(), "RUN_ERROR");
  EXPECT_NE(text(events.back().body["message"]), "");
  EXPECT_NE(text(events.back().body["code"]), "");
}

TEST_F(AgUiStreams, HaveTheCallsOfToolsTheirResultsAndTheMessages) {
  model.calls({{"c1", "weather", Value::object({{"city", "Oslo"}})}}, "I look.").replies("Rain.");
  Events events = events_of_run("trip", input("t", "r", {said("u1", "Rain in Oslo?")}));
  expect_order(events);
  Events calls = of_type(events, "TOOL_CALL_START");
  ASSERT_EQ(calls.size(), 1u) << lines_of(events);
  EXPECT_EQ(text(calls.front().body["toolCallName"]), "weather");
  EXPECT_EQ(text(of_type(events, "TOOL_CALL_ARGS").front().body["delta"]), R"({"city":"Oslo"})");
  ASSERT_EQ(of_type(events, "TOOL_CALL_RESULT").size(), 1u);
  EXPECT_EQ(text(of_type(events, "TOOL_CALL_RESULT").front().body["content"]), "rain in Oslo");
  Shown end = shown(events);
  ASSERT_EQ(end.order.size(), 2u) << "each text once\n" << lines_of(events);
  EXPECT_EQ(end.texts[end.order[0]], "I look.");
  EXPECT_EQ(text(calls.front().body["parentMessageId"]), end.order[0]);
  EXPECT_EQ(end.texts[end.order[1]], "Rain.");
  Events snapshots = of_type(events, "MESSAGES_SNAPSHOT");
  ASSERT_EQ(snapshots.size(), 1u);
  const Value::Array& messages = *snapshots.front().body["messages"].as_array();
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(text(messages[0]["role"]), "user");
  EXPECT_EQ(text(messages[0]["content"]), "Rain in Oslo?");
  std::string call = text(calls.front().body["toolCallId"]);
  EXPECT_EQ(text(messages[1]["toolCalls"].as_array()->front()["id"]), call);
  EXPECT_EQ(text(messages[2]["toolCallId"]), call);
  EXPECT_EQ(text(messages[3]["content"]), "Rain.");
  // A client would keep a message of a known id before all those of other ids.
  for (const Value& message : messages) {
    for (const Event& event : events) EXPECT_NE(message["id"], event.body["messageId"]);
  }
}

TEST_F(AgUiStreams, OfTheNextRunOfAThreadHaveOnlyItsMessages) {
  model.replies("One.").replies("Two.");
  events_of_run("trip", input("t", "r1", {said("u1", "First?")}));
  Value second =
      input("t", "r2",
            {said("u1", "First?"), object(R"({"id":"a1","role":"assistant","content":"One."})"),
             said("u2", "Second?")});
  Events events = events_of_run("trip", second);
  expect_order(events);
  Shown end = shown(events);
  ASSERT_EQ(end.order.size(), 1u) << lines_of(events);
  EXPECT_EQ(end.texts[end.order[0]], "Two.");
  Events snapshots = of_type(events, "MESSAGES_SNAPSHOT");
  ASSERT_EQ(snapshots.size(), 1u);
  EXPECT_EQ(snapshots.front().body["messages"].as_array()->size(), 4u);
  EXPECT_EQ(model.requests().size(), 2u);
}

// Cuts a stream after each event, and compares the rest, from another server.
TEST_F(AgUiStreams, AreContinuedAfterEachEventWithoutAGapOrARepetition) {
  for (const char* topic : {"rain", "luck"}) {
    std::string thread = std::string("t-") + topic;
    Events whole = events_of_run("poet", about(thread, "r", topic));
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
      serve();
      Events joined(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut) + 1);
      for (Event& event : rest_after(whole[cut].id, "poet", thread, "r")) joined.push_back(event);
      SCOPED_TRACE(lines_of(joined));
      expect_order(joined);
      Shown end = shown(joined), expected = shown(whole);
      // The text of a failed attempt is not stored: a client that has not received it has none.
      EXPECT_EQ(end.texts[end.order.back()], expected.texts[expected.order.back()]);
      EXPECT_EQ(to_json(end.state), to_json(expected.state));
      std::set<std::string> ids;
      for (const Event& event : joined) ids.insert(event.id);
      EXPECT_EQ(ids.size(), joined.size()) << "each event has an id";
    }
  }
}

// Takes the connection from a client after each piece of a run in progress.
TEST_F(AgUiStreams, ThatAreCutWhileTheTextIsWrittenContinueWithItsNextByte) {
  Events joined = events_with_cuts("poet", about("t", "r", "rain"));
  SCOPED_TRACE(lines_of(joined));
  expect_order(joined);
  Shown end = shown(joined);
  ASSERT_EQ(end.order.size(), 1u);
  EXPECT_EQ(end.texts[end.order.front()], "An öde to rain");
  EXPECT_GT(of_type(joined, "TEXT_MESSAGE_CONTENT").size(), 2u);
  EXPECT_EQ(outcome_in(joined), "success");
}

TEST_F(AgUiStreams, OfDurableEventsAreTheSameForEachReader) {
  model.calls({{"c1", "weather", Value::object({{"city", "Oslo"}})}}, "I look.").replies("Rain.");
  Value body = input("t", "r", {said("u1", "Rain in Oslo?")});
  events_of_run("trip", body);
  Events whole = events_of(rejoin("trip", "t", "r"));
  EXPECT_EQ(lines_of(events_of_run("trip", body)), lines_of(whole));
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    Events expected(whole.begin() + static_cast<std::ptrdiff_t>(cut) + 1, whole.end());
    EXPECT_EQ(lines_of(rest_after(whole[cut].id, "trip", "t", "r")), lines_of(expected));
  }
}

TEST_F(AgUiStreams, OfARunThatWaitsContinueWithAHeartbeat) {
  model.takes(20s);
  options.heartbeat = 15s;
  serve();
  Answered answered = run("mail", about("t", "r", "calm"));
  ASSERT_TRUE(answered.stream);
  std::string whole = read_all(*answered.stream);
  EXPECT_NE(whole.find(": still here\n\n"), whole.npos);
  EXPECT_EQ(outcome_in(parsed(whole)), "success");
}

TEST_F(AgUiStreams, OfACancelledRunEndWithThatOutcome) {
  model.takes(60s);
  Answered answered = run("mail", about("t", "r", "calm"));
  auto cancelled_run = post("/api/threads/t/cancel");
  EXPECT_EQ(cancelled_run.status, 200) << to_json(cancelled_run.body);
  Events events = events_of(answered);
  expect_order(events);
  EXPECT_EQ(outcome_in(events), "cancelled");
}

}  // namespace
}  // namespace belay::ag_ui
