// Streams about tasks, and their continuation after each event.

#include <gmock/gmock.h>

#include "tests/a2a/a2a_fixture.h"

namespace belay::a2a {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

struct A2aStreams : A2aFixture {
  struct Event {
    std::string id;
    Value result;
  };

  static Event parsed(const std::string& piece) {
    Event event;
    std::size_t data = piece.find("data: ");
    if (piece.starts_with("id: ")) event.id = piece.substr(4, piece.find('\n') - 4);
    EXPECT_NE(data, piece.npos) << piece;
    Value response = parse_json(piece.substr(data + 6)).value_or(Value());
    EXPECT_EQ(response["id"], Value(7));
    EXPECT_EQ(text(response["jsonrpc"]), "2.0");
    event.result = response["result"];
    return event;
  }
  std::string piece_of(http::BodyStream& stream) {
    std::string piece = block_on(loop, stream.next()).value();
    while (piece.starts_with(":")) piece = block_on(loop, stream.next()).value();
    return piece;
  }
  std::vector<Event> events_of(const Answered& answered) {
    std::vector<Event> events;
    EXPECT_TRUE(answered.stream) << to_json(answered.body);
    if (!answered.stream) return events;
    for (std::string piece = piece_of(*answered.stream); !piece.empty();
         piece = piece_of(*answered.stream)) {
      events.push_back(parsed(piece));
    }
    return events;
  }
  std::vector<Event> rest_after(const std::string& id, const std::string& event) {
    last_event = event;
    std::vector<Event> rest = events_of(call("SubscribeToTask", task_id(id)));
    last_event.clear();
    return rest;
  }
  static std::vector<std::string> states_of(const std::vector<Event>& events) {
    std::vector<std::string> states;
    for (const Event& event : events) {
      const Value& status = event.result.find("task") ? event.result["task"]["status"]
                                                      : event.result["statusUpdate"]["status"];
      if (!status.is_null()) states.push_back(text(status["state"]));
    }
    return states;
  }
  static std::string texts_of(const std::vector<Event>& events) {
    std::string all;
    for (const Event& event : events) all += event.id + " " + to_json(event.result) + "\n";
    return all;
  }
};

TEST_F(A2aStreams, BeginWithTheTaskAndEndWithItsEnd) {
  model.takes(5s);
  Answered answered = call("SendStreamingMessage", sent(about("m1", "calm")));
  EXPECT_EQ(answered.header("Content-Type"), "text/event-stream");
  std::vector<Event> events = events_of(answered);
  ASSERT_GE(events.size(), 3u);
  ASSERT_TRUE(events.front().result.find("task"));
  EXPECT_EQ(text(events.front().result["task"]["status"]["state"]), "TASK_STATE_WORKING");
  const Value& last = events.back().result["statusUpdate"];
  EXPECT_EQ(text(last["status"]["state"]), "TASK_STATE_COMPLETED");
  EXPECT_FALSE(last.find("final"));
  const Value& result = events[events.size() - 2].result["artifactUpdate"];
  EXPECT_EQ(text(result["artifact"]["artifactId"]), "result");
  EXPECT_EQ(result["lastChunk"], Value(true));
  std::string id = text(last["taskId"]);
  EXPECT_EQ(to_json(result["artifact"]), to_json(task_now(id)["artifacts"].as_array()->at(0)));
}

TEST_F(A2aStreams, BeginWithTheHistoryThatTheMessageAsksFor) {
  auto first_task = [this](const std::string& id, Value configuration) {
    Value params = sent(about(id, "urgent"), std::move(configuration));
    call("SendMessage", params);  // until the task waits: then it has a history
    return events_of(call("SendStreamingMessage", params)).front().result["task"];
  };
  EXPECT_TRUE(first_task("m1", Value()).find("history"));
  EXPECT_FALSE(first_task("m2", object(R"({"historyLength":0})")).find("history"));
}

TEST_F(A2aStreams, OfASendEndWhenTheTaskWaitsForAPersonAndSubscribersGoOn) {
  model.takes(5s);
  std::vector<Event> events = events_of(call("SendStreamingMessage", sent(about("m1", "urgent"))));
  const Value& last = events.back().result["statusUpdate"];
  ASSERT_EQ(text(last["status"]["state"]), "TASK_STATE_INPUT_REQUIRED");
  EXPECT_EQ(text(last["status"]["message"]["parts"].as_array()->at(1)["data"]["payload"]),
            "Dear urgent");
  std::string id = text(last["taskId"]);
  Answered open = call("SubscribeToTask", task_id(id));
  ASSERT_TRUE(open.stream);
  EXPECT_EQ(states_of({parsed(piece_of(*open.stream))}),
            std::vector<std::string>{"TASK_STATE_INPUT_REQUIRED"});
  std::vector<Event> decided =
      events_of(call("SendStreamingMessage", sent(reply("r", id, words("approve")))));
  EXPECT_EQ(states_of(decided).back(), "TASK_STATE_COMPLETED");
  EXPECT_EQ(states_of(events_of(open)).back(), "TASK_STATE_COMPLETED");
}

TEST_F(A2aStreams, AreContinuedAfterEachEventByAnyServerWithoutAGap) {
  model.takes(5s);
  std::vector<Event> first = events_of(call("SendStreamingMessage", sent(about("m1", "urgent"))));
  std::string id = text(first.front().result["task"]["id"]);
  Answered open = call("SubscribeToTask", task_id(id));
  ASSERT_TRUE(open.stream);
  std::vector<Event> whole = first;
  piece_of(*open.stream);  // the task
  task_of_message(reply("r", id, words("approve")));
  for (Event& event : events_of(open)) whole.push_back(std::move(event));
  EXPECT_GE(whole.size(), 7u) << texts_of(whole);
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    ASSERT_FALSE(whole[cut].id.empty());
    serve();
    std::vector<Event> expected(whole.begin() + static_cast<std::ptrdiff_t>(cut) + 1, whole.end());
    EXPECT_EQ(texts_of(rest_after(id, whole[cut].id)), texts_of(expected)) << whole[cut].id;
  }
}

TEST_F(A2aStreams, ShowAPauseToALateReaderHoweverManyApprovalsTheUserHas) {
  model.takes(5s);
  std::vector<Event> first = events_of(call("SendStreamingMessage", sent(about("m1", "urgent"))));
  std::string id = text(first.front().result["task"]["id"]);
  StartOptions another;
  another.user = options.user;
  for (std::size_t i = 0; i <= limits::list_rows_max; ++i) {
    another.thread = ThreadId("other " + std::to_string(i));
    ASSERT_TRUE(start_mail("urgent", another).ok());
  }
  task_of_message(reply("r", id, words("approve")));
  std::vector<Event> again = rest_after(id, first.front().id);
  first.erase(first.begin());
  ASSERT_GT(again.size(), first.size());
  again.resize(first.size());
  EXPECT_EQ(texts_of(again), texts_of(first));
  EXPECT_EQ(states_of(again).back(), "TASK_STATE_INPUT_REQUIRED");
}

TEST_F(A2aStreams, ShowThePauseOfATaskThatWasCancelledMeanwhile) {
  std::vector<Event> first = events_of(call("SendStreamingMessage", sent(about("m1", "urgent"))));
  std::string id = text(first.front().result["task"]["id"]);
  result_of(call("CancelTask", task_id(id)));
  std::vector<std::string> states = states_of(rest_after(id, "1-0"));
  ASSERT_GE(states.size(), 2u);
  EXPECT_EQ(states[states.size() - 2], "TASK_STATE_INPUT_REQUIRED");
  EXPECT_EQ(states.back(), "TASK_STATE_CANCELED");
}

TEST_F(A2aStreams, ShowOfEachPauseTheApprovalsThatWereOpenThen) {
  GraphBuilder<Mail> builder{"mail"};
  builder.approval("first", &Mail::topic, {.question = "One?"}).approved("second").rejected(end);
  builder.approval("second", &Mail::topic, {.question = "Two?"}).approved(end).rejected(end);
  builder.edge(start, "first");
  graph = std::move(builder).build().value();
  runtime->add(graph);
  service = make_service();
  serve();
  std::string id = text(task_of_message(about("m1", "calm"))["id"]);
  task_of_message(reply("r1", id, words("approve")));
  task_of_message(reply("r2", id, words("approve")));
  std::vector<Event> whole = rest_after(id, "1-0");
  std::vector<std::string> questions;
  for (const Event& event : whole) {
    const Value& status = event.result["statusUpdate"]["status"];
    const Value::Array* parts = status["message"]["parts"].as_array();
    if (!parts) continue;
    EXPECT_EQ(parts->size(), 2u) << to_json(event.result);
    questions.push_back(text(parts->front()["text"]));
    std::vector<Event> before = rest_after(id, whole.front().id);
    EXPECT_THAT(texts_of(before), HasSubstr(event.id + " " + to_json(event.result)));
  }
  EXPECT_THAT(questions, ElementsAre("One?", "Two?"));
}

TEST_F(A2aStreams, ASubscriptionToATaskThatHasEndedIsRefused) {
  std::string id = text(task_of_message(about("m1", "calm"))["id"]);
  Answered refused = call("SubscribeToTask", task_id(id));
  EXPECT_FALSE(refused.stream);
  EXPECT_EQ(fault_of(refused), -32004);
  EXPECT_EQ(reason_of(refused), "UNSUPPORTED_OPERATION");
  std::vector<Event> whole = rest_after(id, "1-0");
  EXPECT_EQ(states_of(whole).back(), "TASK_STATE_COMPLETED");
  for (const char* wrong : {"soon", "1000000-0"}) {
    last_event = wrong;
    EXPECT_EQ(fault_of(call("SubscribeToTask", task_id(id))), -32602) << wrong;
  }
}

TEST_F(A2aStreams, ACancelledTaskEndsItsStreams) {
  std::string id = text(task_of_message(about("m1", "urgent"))["id"]);
  Answered open = call("SubscribeToTask", task_id(id));
  ASSERT_TRUE(open.stream);
  result_of(call("CancelTask", task_id(id)));
  std::vector<Event> events = events_of(open);
  EXPECT_EQ(states_of(events).back(), "TASK_STATE_CANCELED");
  const Value& said = events.back().result["statusUpdate"]["status"]["message"];
  EXPECT_THAT(text(said["parts"].as_array()->at(0)["text"]), HasSubstr("cancelled"));
}

TEST_F(A2aStreams, AClientThatLeavesLeavesTheRun) {
  model.takes(10s);
  {
    Answered left = call("SendStreamingMessage", sent(about("m1", "calm")));
  }
  loop.run_until(clock.now() + 1min);
  ASSERT_EQ(all_runs().size(), 1u);
  EXPECT_EQ(all_runs().front().status, RunStatus::completed);
}

TEST_F(A2aStreams, TheSameMessageTwiceIsTwoStreamsOfOneTask) {
  model.takes(5s);
  Answered one = call("SendStreamingMessage", sent(about("m1", "calm")));
  Answered two = call("SendStreamingMessage", sent(about("m1", "calm")));
  EXPECT_EQ(texts_of(events_of(one)), texts_of(events_of(two)));
  EXPECT_EQ(all_runs().size(), 1u);
}

}  // namespace
}  // namespace belay::a2a
