// Approvals as requests for input, and the messages that answer them.

#include <gmock/gmock.h>

#include "tests/a2a/a2a_fixture.h"

namespace belay::a2a {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

struct A2aAnswers : A2aFixture {
  std::string waiting(const std::string& message = "m1") {
    Value task = task_of_message(about(message, "urgent"));
    EXPECT_EQ(state(task), "TASK_STATE_INPUT_REQUIRED");
    return text(task["id"]);
  }
  Answered answer(const std::string& task, Value part, const std::string& id = "r") {
    return call("SendMessage", sent(reply(id, task, std::move(part))));
  }
};

TEST_F(A2aAnswers, AnOpenApprovalIsARequestForInputWithItsPayload) {
  Value task = task_now(waiting());
  const Value::Array& parts = *task["status"]["message"]["parts"].as_array();
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(text(parts[0]["text"]), "Send this mail?");
  EXPECT_EQ(text(parts[1]["data"]["payload"]), "Dear urgent");
  EXPECT_TRUE(uuid_from(text(parts[1]["data"]["interrupt"])));
  EXPECT_TRUE(instant_from(text(parts[1]["data"]["expiresAt"])));
}

TEST_F(A2aAnswers, AMessageWithTheTaskDecides) {
  std::string id = waiting();
  Value ended = result_of(answer(id, words("approve")))["task"];
  EXPECT_EQ(text(ended["id"]), id);
  EXPECT_EQ(state(ended), "TASK_STATE_COMPLETED");
  EXPECT_EQ(text(ended["metadata"]["belay/outcome"]), "sent");
  std::string other = waiting("m2");
  Value rejected = result_of(answer(other, words("reject")))["task"];
  EXPECT_EQ(state(rejected), "TASK_STATE_COMPLETED");
  EXPECT_NE(text(rejected["metadata"]["belay/outcome"]), "sent");
}

TEST_F(A2aAnswers, DataCanEditThePayloadAndNameTheApproval) {
  std::string id = waiting();
  Value task = task_now(id);
  std::string interrupt =
      text(task["status"]["message"]["parts"].as_array()->at(1)["data"]["interrupt"]);
  Value wrong = object(R"({"data":{"interrupt":"01890000-0000-7000-8000-000000000000",)"
                       R"("approved":true}})");
  EXPECT_EQ(fault_of(answer(id, wrong)), -32602);
  Value edited = object(R"({"data":{"interrupt":")" + interrupt +
                        R"(","approved":true,"edited":"Dear all"}})");
  Value ended = result_of(answer(id, edited))["task"];
  const Value& part = ended["artifacts"].as_array()->at(0)["parts"].as_array()->back();
  EXPECT_EQ(text(part["data"]["draft"]), "Dear all");
}

TEST_F(A2aAnswers, AMessageThatNeitherApprovesNorRejectsDecidesNothing) {
  std::string id = waiting();
  for (const char* said : {"", "maybe", "approve it unless it rains", "{}", "1"}) {
    EXPECT_EQ(fault_of(answer(id, words(said))), -32602) << said;
  }
  for (const char* data : {"{}", "7", "null", "[]", R"({"approved":"yes"})"}) {
    Value part = Value::object({{"data", object(data)}});
    EXPECT_EQ(fault_of(answer(id, part)), -32602) << data;
  }
  EXPECT_EQ(state(task_now(id)), "TASK_STATE_INPUT_REQUIRED");
  result_of(answer(id, words("approve")));
  EXPECT_EQ(state(task_now(id)), "TASK_STATE_COMPLETED") << "the same id, corrected";
}

TEST_F(A2aAnswers, TheSameAnswerTwiceReturnsTheTaskOfTheFirst) {
  std::string id = waiting();
  result_of(answer(id, words("approve")));
  serve();
  Value again = result_of(answer(id, words("approve")))["task"];
  EXPECT_EQ(state(again), "TASK_STATE_COMPLETED");
  EXPECT_EQ(fault_of(answer(id, words("reject"))), -32004) << "the same id, another decision";
  EXPECT_EQ(fault_of(answer(id, words("approve"), "r2")), -32004) << "a new message";
}

TEST_F(A2aAnswers, TheContextMustBeThatOfTheTask) {
  std::string id = waiting();
  Value said = reply("r", id, words("approve"));
  said.as_object()->emplace("contextId", "another");
  EXPECT_EQ(fault_of(call("SendMessage", sent(said))), -32602);
  EXPECT_EQ(state(task_now(id)), "TASK_STATE_INPUT_REQUIRED");
  said.as_object()->insert_or_assign("contextId", text(task_now(id)["contextId"]));
  EXPECT_EQ(state(task_of_message(said)), "TASK_STATE_COMPLETED");
}

TEST_F(A2aAnswers, ATaskThatDoesNotWaitAcceptsNoMessage) {
  model.takes(10s);
  std::string id = text(task_of_message(about("m1", "urgent"), at_once())["id"]);
  EXPECT_EQ(fault_of(answer(id, words("approve"))), -32004);
  loop.run_until(clock.now() + 20s);
  EXPECT_EQ(state(task_now(id)), "TASK_STATE_INPUT_REQUIRED");
}

TEST_F(A2aAnswers, AnExpiredApprovalIsNotDecided) {
  std::string id = waiting();
  loop.run_until(clock.now() + std::chrono::hours(24 * 365));
  EXPECT_NE(fault_of(answer(id, words("approve"))), 0);
  EXPECT_NE(text(task_now(id)["metadata"]["belay/outcome"]), "sent");
}

// Two approvals, one after the other.
struct TwiceAsked {
  std::string topic{};
  std::string log{};
};

Graph<TwiceAsked> twice_graph() {
  GraphBuilder<TwiceAsked> built{"twice"};
  built.approval("first", &TwiceAsked::topic, {.question = "First?"})
      .approved("second")
      .rejected(end);
  built.approval("second", &TwiceAsked::log, {.question = "Second?"}).approved(end).rejected(end);
  built.edge(start, "first");
  return std::move(built).build().value();
}

TEST_F(A2aAnswers, ARepeatedAnswerDoesNotDecideTheNextApproval) {
  Graph<TwiceAsked> twice = twice_graph();
  runtime->add(twice);
  service = service_of(twice);
  serve();
  Value params = sent(about("m1", "x"));
  std::string id = text(result_of(call("SendMessage", params, "twice"))["task"]["id"]);
  Value said = sent(reply("r", id, words("approve")));
  for (int i = 0; i < 3; ++i) {
    Value task = result_of(call("SendMessage", said, "twice"))["task"];
    EXPECT_EQ(state(task), "TASK_STATE_INPUT_REQUIRED");
    EXPECT_EQ(text(task["status"]["message"]["parts"].as_array()->at(0)["text"]), "Second?");
  }
  Value next = sent(reply("r2", id, words("approve")));
  EXPECT_EQ(state(result_of(call("SendMessage", next, "twice"))["task"]), "TASK_STATE_COMPLETED");
  api.reset();
}

}  // namespace
}  // namespace belay::a2a
