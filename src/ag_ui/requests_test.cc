// Requests: the same one again, those of other users, and those that are not acceptable.

#include "tests/ag_ui/ag_ui_fixture.h"

namespace belay::ag_ui {
namespace {

using namespace std::chrono_literals;

struct AgUiRequests : AgUiFixture {
  Answered raw(const std::string& body) {
    return send(with_headers(request("POST", "/ag-ui/mail", body)));
  }
  void add_users() {
    add_key("ana", Permission::decide);
    add_key("bo", Permission::decide);
    add_key("reader", Permission::read);
    add_key("runner", Permission::run);
    serve();
    act_as("ana");
  }
};

TEST_F(AgUiRequests, SentAgainJoinTheRunAndStartNothing) {
  model.takes(5s);
  Answered first = run("mail", about("t", "r", "calm"));
  serve();
  Answered again = run("mail", about("t", "r", "calm"));
  Events one = events_of(first), two = events_of(again);
  EXPECT_EQ(outcome_in(one), "success");
  EXPECT_EQ(lines_of(one), lines_of(two));
  EXPECT_EQ(lines_of(events_of_run("mail", about("t", "r", "calm"))), lines_of(one));
  EXPECT_EQ(all_runs().size(), 1u);
  EXPECT_EQ(model.requests().size(), 1u);
}

// The reply to a repeated request does not wait for the end of the run.
TEST_F(AgUiRequests, SentAgainToARunOfAConversationJoinItWhileItIsAtWork) {
  model.takes(60s);
  model.replies("Hello.");
  Value body = input("t", "r", {said("u1", "Hello?")});
  Answered first = run("trip", body);
  Instant before = clock.now();
  Answered again = run("trip", body);
  EXPECT_LT(clock.now() - before, 10s);
  EXPECT_EQ(lines_of(events_of(first)), lines_of(events_of(again)));
  EXPECT_EQ(model.requests().size(), 1u);
  EXPECT_EQ(all_runs().size(), 1u);
}

TEST_F(AgUiRequests, SentAgainContinueAfterTheLastEvent) {
  Events whole = events_of_run("mail", about("t", "r", "calm"));
  last_event = whole[1].id;
  Events rest = events_of_run("mail", about("t", "r", "calm"));
  EXPECT_EQ(lines_of(rest), lines_of(Events(whole.begin() + 2, whole.end())));
}

TEST_F(AgUiRequests, SentAgainAreNotCountedAsStarts) {
  options.starts.per_minute = 1;
  serve();
  Events whole = events_of_run("mail", about("t", "r", "calm"));
  clock.move(1ms);
  EXPECT_EQ(run("mail", about("u", "r", "calm")).status, 429);
  EXPECT_EQ(lines_of(events_of_run("mail", about("t", "r", "calm"))), lines_of(whole));
  EXPECT_EQ(all_runs().size(), 1u);
}

TEST_F(AgUiRequests, WithAUsedRunIdAndOtherContentsAreRefused) {
  events_of_run("poet", about("t", "r", "rain"));
  Answered refused = run("poet", about("t", "r", "snow"));
  EXPECT_EQ(refused.status, 409) << to_json(refused.body);
  EXPECT_EQ(all_runs().size(), 1u);
}

TEST_F(AgUiRequests, ToABusyThreadAreRefusedWithAReason) {
  model.takes(60s);
  model.replies("Hello.");
  run("trip", input("t", "r1", {said("u1", "Hello?")}));
  Answered refused = run("trip", input("t", "r2", {said("u2", "And?")}));
  EXPECT_EQ(refused.status, 409);
  EXPECT_NE(text(refused.body["detail"]).find("busy"), std::string::npos);
  EXPECT_EQ(all_runs().size(), 1u);
}

TEST_F(AgUiRequests, ToAThreadThatWaitsForAPersonAreRefused) {
  model.calls({{"c1", "book", Value::object({{"city", "Oslo"}})}});
  events_of_run("trip", input("t", "r1", {said("u1", "Book.")}));
  EXPECT_EQ(run("trip", input("t", "r2", {said("u2", "And?")})).status, 409);
}

TEST_F(AgUiRequests, CanHaveTheInputOfTheAgentInForwardedProps) {
  Value body = input("t", "r", {});
  body.as_object()->emplace("forwardedProps", object(R"({"input":{"topic":"calm"},"theme":1})"));
  EXPECT_EQ(outcome_in(events_of_run("mail", body)), "success");
}

TEST_F(AgUiRequests, WithMembersThatAreNotKnownAndContentsOfOtherKindsRun) {
  Value body = object(
      R"({"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":[
          {"type":"image","source":{"type":"url","value":"https://a.example/b.png"}},
          {"type":"text","text":"{\"topic\":\"calm\"}"}],"new":1}],"tools":[],"context":[],
          "state":{},"protocolVersion":"1.7","more":{"x":1},"resume":[]})");
  EXPECT_EQ(outcome_in(events_of_run("mail", body)), "success");
}

TEST_F(AgUiRequests, OfOneUserAreUnknownToOthers) {
  add_users();
  std::string id = interrupt_of_urgent("t", "r");
  act_as("bo");
  EXPECT_EQ(rejoin("mail", "t", "r").status, 404);
  Answered refused = run("mail", about("t", "r", "urgent"));
  EXPECT_EQ(refused.status, 404) << "the thread is another user's";
  EXPECT_EQ(text(refused.body["detail"]), "This threadId cannot be used.");
  EXPECT_EQ(run("mail", resume("t", "r2", {answer_to(id, approved())})).status, 404);
  act_as("ana");
  EXPECT_EQ(outcome_in(events_of(rejoin("mail", "t", "r"))), "interrupt");
  EXPECT_EQ(all_runs().size(), 1u);
}

TEST_F(AgUiRequests, NeedThePermissionForTheirKind) {
  add_users();
  act_as("reader");
  EXPECT_EQ(run("mail", about("t", "r", "calm")).status, 403);
  act_as("runner");
  std::string id = interrupt_of_urgent("t", "r");
  ASSERT_NE(id, "");
  EXPECT_EQ(run("mail", resume("t", "r2", {answer_to(id, approved())})).status, 403);
  act_as("stranger");
  EXPECT_EQ(rejoin("mail", "t", "r").status, 401);
}

TEST_F(AgUiRequests, WithFaultsStartNothing) {
  for (const char* body : {
           "7",
           "[]",
           "{}",
           R"({"threadId":"t","runId":"r"})",
           R"({"threadId":"t","messages":[]})",
           R"({"runId":"r","messages":[]})",
           R"({"threadId":"","runId":"r","messages":[]})",
           R"({"threadId":7,"runId":"r","messages":[]})",
           R"({"threadId":"a\nb","runId":"r","messages":[]})",
           R"({"threadId":"t","runId":"r","messages":{}})",
           R"({"threadId":"t","runId":"r","messages":[]})",
           R"({"threadId":"t","runId":"r","messages":[7]})",
           R"({"threadId":"t","runId":"r","messages":[{"role":"user","content":"x"}]})",
           R"({"threadId":"t","runId":"r","messages":[{"id":"m","role":"x","content":"x"}]})",
           R"({"threadId":"t","runId":"r","messages":[{"id":"m","role":"user"}]})",
           R"({"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":"x"}]})",
           R"({"threadId":"t","runId":"r","messages":[],"forwardedProps":{"input":7}})",
           R"({"threadId":"t","runId":"r","messages":[],"forwardedProps":{"input":{"x":1}}})",
           R"({"threadId":"t","runId":"r","messages":[],"resume":{}})",
           R"({"threadId":"t","runId":"r","messages":[],"resume":[7]})",
           R"({"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"i"}]})",
       }) {
    EXPECT_EQ(raw(body).status, 422) << body;
  }
  EXPECT_EQ(raw("{").status, 400);
  EXPECT_EQ(raw("\xff").status, 400);
  EXPECT_EQ(raw(std::string(100'000, '[')).status, 400);
  http::Request plain = request("POST", "/ag-ui/mail", "{}");
  for (http::Header& header : plain.headers) {
    if (header.name == "Content-Type") header.value = "text/plain";
  }
  EXPECT_EQ(send(std::move(plain)).status, 415);
  EXPECT_EQ(run("absent", about("t", "r", "calm")).status, 404);
  EXPECT_EQ(rejoin("mail", "t", "r").status, 404);
  EXPECT_TRUE(all_runs().empty());
}

TEST_F(AgUiRequests, AboutADeletedThreadOrWithAVeryLongNameHaveAnError) {
  events_of_run("poet", about("t", "r", "rain"));
  EXPECT_EQ(send(request("DELETE", "/api/threads/t")).status, 200);
  EXPECT_EQ(rejoin("poet", "t", "r").status, 404);
  std::string name(1'000, 'x');
  EXPECT_EQ(rejoin("poet", name, "r").status, 422);
  EXPECT_EQ(rejoin("poet", "t", name).status, 422);
  EXPECT_EQ(run("poet", about(name, "r", "rain")).status, 422);
  EXPECT_EQ(run("poet", about("t2", name, "rain")).status, 422);
  EXPECT_TRUE(all_runs().empty());
}

TEST_F(AgUiRequests, AfterTheDeletionOfTheThreadStartAnotherRun) {
  Value rain = about("t", "r1", "rain"), snow = about("t", "r1", "snow");
  EXPECT_EQ(outcome_in(events_of_run("poet", rain)), "success");
  EXPECT_EQ(send(request("DELETE", "/api/threads/t")).status, 200);
  EXPECT_EQ(outcome_in(events_of_run("poet", rain)), "success");
  Events same = events_of(rejoin("poet", "t", "r1"));
  EXPECT_EQ(lines_of(events_of_run("poet", rain)), lines_of(same));
  EXPECT_EQ(run("poet", snow).status, 409) << "the thread exists";
  EXPECT_EQ(send(request("DELETE", "/api/threads/t")).status, 200);
  Events other = events_of_run("poet", snow);
  EXPECT_EQ(outcome_in(other), "success");
  EXPECT_EQ(lines_of(events_of(rejoin("poet", "t", "r1"))), lines_of(events_of_run("poet", snow)));
  EXPECT_EQ(all_runs().size(), 1u);
}

// The run that follows has the id of the deleted one.
TEST_F(AgUiRequests, ThatResumedADeletedRunDoNotResumeTheNextOne) {
  Value start = input("t", "r1", {said("u1", "Book.")});
  std::vector<Events> asked;
  for (const char* call : {"c1", "c2"}) {
    model.calls({{call, "book", Value::object({{"city", "Oslo"}})}}).replies("Done.");
    asked.push_back(events_of_run("trip", start));
    EXPECT_EQ(outcome_in(asked.back()), "interrupt");
    EXPECT_EQ(rejoin("trip", "t", "r2").status, 404);
    std::string id = text(interrupts_in(asked.back()).front()["id"]);
    Events last = events_of_run("trip", resume("t", "r2", {answer_to(id, approved())}));
    EXPECT_EQ(outcome_in(last), "success");
    EXPECT_EQ(send(request("DELETE", "/api/threads/t")).status, 200);
    loop.run_until(clock.now() + 1s);
  }
  EXPECT_EQ(asked[0].front().body["metadata"], asked[1].front().body["metadata"]);
}

TEST_F(AgUiRequests, WithAPositionThatIsNoneAreRefused) {
  events_of_run("mail", about("t", "r", "calm"));
  for (const char* position : {"x", "1", "1-0", "1-0.", "1-0.x", "1-0.0~", "-1-0.0", "1-0.0~x:1:1",
                               "1-0.99999999999999999999"}) {
    last_event = position;
    EXPECT_EQ(rejoin("mail", "t", "r").status, 422) << position;
    EXPECT_EQ(run("mail", about("t2", "r", "calm")).status, 422) << position;
  }
  for (const char* position : {"999999-0.0", "99999-1.0"}) {
    last_event = position;
    Answered early = rejoin("mail", "t", "r");
    EXPECT_EQ(early.status, 422) << position;
    EXPECT_NE(text(early.body["detail"]).find("has no event"), std::string::npos);
    EXPECT_EQ(run("mail", about("t", "r", "calm")).status, 422) << position;
  }
  EXPECT_EQ(all_runs().size(), 1u);
}

}  // namespace
}  // namespace belay::ag_ui
