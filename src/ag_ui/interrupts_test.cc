// Approvals as interrupts, and the requests that answer them.

#include <gmock/gmock.h>

#include "tests/ag_ui/ag_ui_fixture.h"

namespace belay::ag_ui {
namespace {

using ::testing::ElementsAre;
using namespace std::chrono_literals;

struct AgUiInterrupts : AgUiFixture {
  static Value city(const std::string& name) { return Value::object({{"city", name}}); }
  // Starts a trip that books rooms; returns its interrupts.
  Value::Array ask_to_book(std::vector<ToolCall> calls) {
    model.calls(std::move(calls)).replies("Done.");
    return interrupts_in(events_of_run("trip", input("t", "r1", {said("u1", "Book.")})));
  }
  static std::string id_of(const Value& interrupt) { return text(interrupt["id"]); }
};

TEST_F(AgUiInterrupts, EndTheRunWithTheQuestionAndTheFormOfTheAnswer) {
  Events events = events_of_run("mail", about("t", "r1", "urgent"));
  EXPECT_EQ(outcome_in(events), "interrupt");
  Value::Array interrupts = interrupts_in(events);
  ASSERT_EQ(interrupts.size(), 1u);
  const Value& interrupt = interrupts.front();
  EXPECT_EQ(text(interrupt["reason"]), "confirmation");
  EXPECT_EQ(text(interrupt["message"]), "Send this mail?");
  EXPECT_EQ(text(interrupt["metadata"]["belay"]["payload"]), "Dear urgent");
  EXPECT_TRUE(interrupt["responseSchema"]["properties"]["approved"].as_object());
  EXPECT_TRUE(instant_from(text(interrupt["expiresAt"])));
  EXPECT_FALSE(interrupt.find("toolCallId"));
}

TEST_F(AgUiInterrupts, OfACallNameItAndItsArguments) {
  Value::Array interrupts = ask_to_book({{"c1", "book", city("Oslo")}});
  ASSERT_EQ(interrupts.size(), 1u);
  EXPECT_EQ(text(interrupts[0]["reason"]), "tool_call");
  EXPECT_NE(text(interrupts[0]["toolCallId"]), "null");
  EXPECT_EQ(text(interrupts[0]["metadata"]["belay"]["payload"]["arguments"]["city"]), "Oslo");
  EXPECT_TRUE(interrupts[0]["responseSchema"]["properties"]["editedArgs"].as_object());
  EXPECT_TRUE(booked.empty());
}

TEST_F(AgUiInterrupts, AreAnsweredByARunThatContinuesToTheEnd) {
  std::string id = interrupt_of_urgent("t", "r1");
  Events events = events_of_run("mail", resume("t", "r2", {answer_to(id, approved())}));
  EXPECT_EQ(events.front().type(), "RUN_STARTED");
  EXPECT_EQ(text(events.front().body["runId"]), "r2");
  ASSERT_GE(events.size(), 3u);
  EXPECT_EQ(events[1].type(), "STATE_SNAPSHOT") << lines_of(events);
  EXPECT_EQ(text(events[1].body["snapshot"]["draft"]), "Dear urgent");
  EXPECT_EQ(outcome_in(events), "success");
  EXPECT_EQ(text(events.back().body["result"]["outcome"]), "sent");
  EXPECT_EQ(all_runs().size(), 1u);
  EXPECT_EQ(outcome_in(events_of(rejoin("mail", "t", "r1"))), "interrupt") << "the first is closed";
}

TEST_F(AgUiInterrupts, AreRejectedOrCancelled) {
  std::string id = interrupt_of_urgent("t1", "r1");
  Value no = object(R"({"approved":false,"comment":"too dear"})");
  Events rejected = events_of_run("mail", resume("t1", "r2", {answer_to(id, no)}));
  EXPECT_EQ(outcome_in(rejected), "success");
  EXPECT_EQ(text(rejected.back().body["result"]["outcome"]), "rejected");
  id = interrupt_of_urgent("t2", "r1");
  Events ended = events_of_run("mail", resume("t2", "r2", {cancelled(id)}));
  EXPECT_EQ(outcome_in(ended), "success");
  auto row = block_on(loop, service->approval(Principal(), id, Whose())).value();
  EXPECT_EQ(row.status, ApprovalStatus::rejected);
  EXPECT_EQ(row.comment, "Cancelled by the client.");
}

TEST_F(AgUiInterrupts, AreApprovedWithEdits) {
  Value::Array interrupts = ask_to_book({{"c1", "book", city("Oslo")}});
  ASSERT_EQ(interrupts.size(), 1u);
  Value edited = Value::object({{"approved", true}, {"editedArgs", city("Bergen")}});
  Events events =
      events_of_run("trip", resume("t", "r2", {answer_to(id_of(interrupts[0]), edited)}));
  EXPECT_THAT(booked, ElementsAre("Bergen"));
  ASSERT_EQ(of_type(events, "TOOL_CALL_RESULT").size(), 1u) << lines_of(events);
  const Event result = of_type(events, "TOOL_CALL_RESULT").front();
  EXPECT_EQ(text(result.body["toolCallId"]), text(interrupts[0]["toolCallId"]));
  EXPECT_TRUE(text(result.body["content"]).ends_with("booked Bergen"));
  EXPECT_EQ(of_type(events, "TOOL_CALL_START").size(), 0u) << "the client knows the call";
  EXPECT_EQ(outcome_in(events), "success");
}

TEST_F(AgUiInterrupts, OfSeveralCallsAreAllAnsweredByOneRequest) {
  Value::Array interrupts =
      ask_to_book({{"c1", "book", city("Oslo")}, {"c2", "book", city("Bergen")}});
  ASSERT_EQ(interrupts.size(), 2u);
  std::string one = id_of(interrupts[0]), two = id_of(interrupts[1]);
  Answered partial = run("trip", resume("t", "r2", {answer_to(one, approved())}));
  EXPECT_EQ(partial.status, 422);
  EXPECT_NE(text(partial.body["detail"]).find(two), std::string::npos) << text(partial.body);
  EXPECT_TRUE(booked.empty());
  Value body = resume("t", "r2", {answer_to(one, approved()), cancelled(two)});
  Events events = events_of_run("trip", body);
  EXPECT_EQ(outcome_in(events), "success") << lines_of(events);
  EXPECT_EQ(booked.size(), 1u);
  EXPECT_EQ(of_type(events, "RUN_FINISHED").size(), 1u);
  EXPECT_EQ(lines_of(events_of(rejoin("trip", "t", "r2"))), lines_of(events));
}

TEST_F(AgUiInterrupts, AnAnswerThatIsSentAgainDecidesNothingElse) {
  std::string id = interrupt_of_urgent("t", "r1");
  Value body = resume("t", "r2", {answer_to(id, approved())});
  Events first = events_of_run("mail", body);
  serve();
  EXPECT_EQ(lines_of(events_of_run("mail", body)), lines_of(first));
  Value other = resume("t", "r2", {cancelled(id)});
  EXPECT_EQ(run("mail", other).status, 409) << "the runId has another request";
  Value late = resume("t", "r3", {answer_to(id, object(R"({"approved":false})"))});
  Answered refused = run("mail", late);
  EXPECT_EQ(refused.status, 409) << "another decision was made";
  EXPECT_NE(text(refused.body["detail"]).find(id), std::string::npos);
  EXPECT_EQ(model.requests().size(), 1u);
}

TEST_F(AgUiInterrupts, ThatWereAnsweredByAnotherDoorAreContinuedToo) {
  std::string id = interrupt_of_urgent("t", "r1");
  EXPECT_EQ(post("/api/approvals/" + id + "/decision", R"({"approved":true})").status, 200);
  Events events = events_of_run("mail", resume("t", "r2", {answer_to(id, approved())}));
  EXPECT_EQ(outcome_in(events), "success") << lines_of(events);
  EXPECT_EQ(text(events.back().body["result"]["outcome"]), "sent");
}

TEST_F(AgUiInterrupts, ThatAnotherDoorApprovedCannotBeCancelled) {
  std::string id = interrupt_of_urgent("t", "r1");
  EXPECT_EQ(post("/api/approvals/" + id + "/decision", R"({"approved":true})").status, 200);
  Answered refused = run("mail", resume("t", "r2", {cancelled(id)}));
  EXPECT_EQ(refused.status, 409) << to_json(refused.body);
  EXPECT_NE(text(refused.body["detail"]).find("it was approved"), std::string::npos);
  EXPECT_EQ(rejoin("mail", "t", "r2").status, 404) << "the runId is free";
  Events events = events_of_run("mail", resume("t", "r2", {answer_to(id, approved())}));
  EXPECT_EQ(outcome_in(events), "success") << lines_of(events);
}

TEST_F(AgUiInterrupts, ThatAnotherDoorRejectedCanBeCancelled) {
  std::string id = interrupt_of_urgent("t", "r1");
  EXPECT_EQ(post("/api/approvals/" + id + "/decision", R"({"approved":false})").status, 200);
  Events events = events_of_run("mail", resume("t", "r2", {cancelled(id)}));
  EXPECT_EQ(outcome_in(events), "success") << lines_of(events);
  EXPECT_EQ(text(events.back().body["result"]["outcome"]), "rejected");
}

TEST_F(AgUiInterrupts, ThatHaveExpiredCannotBeApprovedButAbandoned) {
  std::string id = interrupt_of_urgent("t", "r1");
  auto row = block_on(loop, service->approval(Principal(), id, Whose())).value();
  loop.run_until(row.expires_at + 1h);
  Answered late = run("mail", resume("t", "r2", {answer_to(id, approved())}));
  EXPECT_EQ(late.status, 409) << to_json(late.body);
  Events events = events_of_run("mail", resume("t", "r3", {cancelled(id)}));
  EXPECT_EQ(events.front().type(), "RUN_STARTED");
  EXPECT_EQ(outcome_in(events), "success") << lines_of(events);
  EXPECT_EQ(text(events.back().body["result"]["outcome"]), "expired");
}

TEST_F(AgUiInterrupts, OfAnotherThreadOrAgentAreUnknown) {
  std::string id = interrupt_of_urgent("t", "r1");
  EXPECT_EQ(run("mail", resume("other", "r2", {answer_to(id, approved())})).status, 404);
  EXPECT_EQ(run("trip", resume("t", "r2", {answer_to(id, approved())})).status, 404);
  std::string absent = "01890000-0000-7000-8000-000000000000";
  EXPECT_EQ(run("mail", resume("t", "r2", {answer_to(absent, approved())})).status, 404);
  EXPECT_EQ(run("mail", resume("t", "r2", {answer_to("t", approved())})).status, 404);
  EXPECT_EQ(outcome_in(events_of(rejoin("mail", "t", "r1"))), "interrupt");
}

TEST_F(AgUiInterrupts, WithAnswersThatDecideNothingStayOpen) {
  std::string id = interrupt_of_urgent("t", "r1");
  for (const char* payload : {"null", "7", "{}", R"("maybe")", R"({"approved":"yes"})",
                              R"({"approved":true,"more":1})"}) {
    Answered refused = run("mail", resume("t", "r2", {answer_to(id, object(payload))}));
    EXPECT_EQ(refused.status, 422) << payload;
  }
  auto row = block_on(loop, service->approval(Principal(), id, Whose())).value();
  EXPECT_EQ(row.status, ApprovalStatus::open);
}

TEST_F(AgUiInterrupts, AreContinuedAfterEachEventByAnyServer) {
  Value::Array interrupts =
      ask_to_book({{"c1", "book", city("Oslo")}, {"c2", "book", city("Bergen")}});
  ASSERT_EQ(interrupts.size(), 2u);
  Value body = resume(
      "t", "r2",
      {answer_to(id_of(interrupts[0]), approved()), answer_to(id_of(interrupts[1]), approved())});
  events_of_run("trip", body);
  for (const char* name : {"r1", "r2"}) {
    Events whole = events_of(rejoin("trip", "t", name));
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
      serve();
      Events expected(whole.begin() + static_cast<std::ptrdiff_t>(cut) + 1, whole.end());
      EXPECT_EQ(lines_of(rest_after(whole[cut].id, "trip", "t", name)), lines_of(expected));
    }
  }
}

}  // namespace
}  // namespace belay::ag_ui
