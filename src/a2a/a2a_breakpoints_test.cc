// Tasks at breakpoints: they require input, which no message can give.

#include <gmock/gmock.h>

#include "tests/a2a/a2a_fixture.h"

namespace belay::a2a {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

Graph<Mail> graph_with_breakpoint() {
  GraphBuilder<Mail> builder{"mail"};
  builder.node("write", write_mail).interrupt_after();
  builder.node("send", send_mail);
  builder.edge(start, "write").edge("write", "send").edge("send", end);
  return std::move(builder).build().value();
}

struct A2aBreakpoints : A2aFixture {
  A2aBreakpoints() {
    graph = graph_with_breakpoint();
    api.reset();
    runtime->add(graph);
    service = make_service();
    serve();
  }
  void resume() {
    Principal program;
    ThreadId thread = all_runs().at(0).thread;
    ASSERT_TRUE(block_on(loop, service->resume(program, std::move(thread))).ok());
  }
  static std::string said(const Value& status) {
    const Value::Array* parts = status["message"]["parts"].as_array();
    return parts ? text(parts->front()["text"]) : "";
  }
};

TEST_F(A2aBreakpoints, ATaskAtABreakpointRequiresInputAndTheMessageIsAnswered) {
  Instant before = clock.now();
  Value task = task_of_message(about("m1", "calm"));
  EXPECT_LT(clock.now() - before, 1min);
  EXPECT_EQ(state(task), "TASK_STATE_INPUT_REQUIRED");
  EXPECT_THAT(said(task["status"]), HasSubstr("waits at a breakpoint"));
  std::string id = text(task["id"]);
  EXPECT_EQ(to_json(task_now(id)), to_json(task));
  Value waiting = Value::object({{"status", "TASK_STATE_INPUT_REQUIRED"}});
  EXPECT_EQ(result_of(call("ListTasks", waiting))["totalSize"], Value(1));
  Answered refused = call("SendMessage", sent(reply("r", id, words("approve"))));
  EXPECT_EQ(fault_of(refused), -32004);
  EXPECT_EQ(text(refused.body["error"]["message"]), said(task["status"]));
  resume();
  EXPECT_EQ(state(task_now(id)), "TASK_STATE_COMPLETED");
}

TEST_F(A2aBreakpoints, AStreamOfASendEndsThereAndTheOthersGoOn) {
  model.takes(5s);
  Answered sending = call("SendStreamingMessage", sent(about("m1", "calm")));
  ASSERT_TRUE(sending.stream);
  std::string whole = read_all(*sending.stream);
  EXPECT_THAT(whole, HasSubstr("TASK_STATE_INPUT_REQUIRED"));
  EXPECT_THAT(whole, HasSubstr("waits at a breakpoint"));
  std::string id = all_runs().at(0).run.text();
  resume();
  last_event = "1-0";
  Answered late = call("SubscribeToTask", task_id(id));
  ASSERT_TRUE(late.stream);
  std::string all = read_all(*late.stream);
  std::size_t pause = all.find("TASK_STATE_INPUT_REQUIRED");
  ASSERT_NE(pause, all.npos) << all;
  EXPECT_THAT(all.substr(pause), HasSubstr("TASK_STATE_COMPLETED"));
  std::string last = whole.substr(whole.rfind("id: "));
  EXPECT_THAT(all, HasSubstr(last)) << "a late reader receives the same response";
}

// A timer continues the run without a person.
TEST_F(A2aBreakpoints, ATaskThatSleepsIsAtWork) {
  GraphBuilder<Mail> builder{"mail"};
  builder.wait("nap", 1h);
  builder.edge(start, "nap").edge("nap", end);
  graph = std::move(builder).build().value();
  api.reset();
  runtime->add(graph);
  service = make_service();
  a2a.answer_within = 10s;
  serve();
  Value task = task_of_message(about("m1", "calm"));
  EXPECT_EQ(state(task), "TASK_STATE_WORKING");
  EXPECT_EQ(all_runs().at(0).status, RunStatus::paused);
}

}  // namespace
}  // namespace belay::a2a
