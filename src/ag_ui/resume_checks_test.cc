// Resumes: all decisions are checked before the first one, and a refused resume leaves nothing.

#include <gmock/gmock.h>

#include "tests/ag_ui/ag_ui_fixture.h"

namespace belay::ag_ui {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

struct Press {
  std::string topic{};
  int copies = 3;
  std::vector<std::string> log{};
};

struct AgUiResumes : AgUiFixture {
  std::vector<std::string> roles;
  std::int64_t needs = 1;
  std::optional<Graph<Press>> press;

  // Two approvals in parallel: of a text, and of a number.
  void open_press() {
    GraphBuilder<Press> made{"press"};
    made.node("split", [](const Press&, Context&) { return unchanged<Press>(); });
    made.approval("title", &Press::topic, {.question = "This title?"})
        .approved("print")
        .rejected("print");
    made.approval("count", &Press::copies, {.question = "So many?", .expires = 1h, .roles = roles})
        .approved("note")
        .rejected("note")
        .needs(needs);
    made.node("print", [](const Press&, Context&) { return append(&Press::log, "printed"); });
    made.node("note", [](const Press&, Context&) { return append(&Press::log, "noted"); });
    made.edge(start, "split").edge("split", "title").edge("split", "count");
    made.edge("print", end).edge("note", end);
    press = std::move(made).build().value();
    api.reset();
    runtime->add(*press);
    service = service_of(*press);
    serve();
  }
  void asked() {
    Value::Array found = interrupts_in(events_of_run("press", about("t", "r1", "Rain")));
    ASSERT_EQ(found.size(), 2u);
    for (const Value& each : found) {
      bool is_title = text(each["message"]) == "This title?";
      (is_title ? title : count) = text(each["id"]);
    }
  }
  Value both(const std::string& run, Value title_reply, Value count_reply) {
    return resume(
        "t", run,
        {answer_to(title, std::move(title_reply)), answer_to(count, std::move(count_reply))});
  }
  ApprovalRow row_of(const std::string& id) {
    return block_on(loop, service->approval(Principal(), id, Whose())).value();
  }
  void expect_nothing_decided(const std::string& run, const std::string& why) {
    EXPECT_EQ(row_of(title).status, ApprovalStatus::open) << why;
    EXPECT_EQ(row_of(count).status, ApprovalStatus::open) << why;
    EXPECT_EQ(rejoin("press", "t", run).status, 404) << why;
  }

  std::string title, count;
};

TEST_F(AgUiResumes, WithOneDecisionThatIsNotAcceptableDecideNothingAndLeaveTheRunIdFree) {
  open_press();
  asked();
  std::string long_comment = R"({"approved":true,"comment":")" + std::string(10'001, 'x') + "\"}";
  for (const std::string& reply :
       {std::string(R"({"approved":true,"answer":{"x":1}})"), long_comment,
        std::string(R"({"approved":true,"edited":"many"})"),
        std::string(R"({"approved":true,"edited":{"copies":4}})")}) {
    Answered refused = run("press", both("r2", approved(), object(reply)));
    EXPECT_EQ(refused.status, 422) << reply;
    EXPECT_THAT(text(refused.body["detail"]), HasSubstr(count));
    expect_nothing_decided("r2", reply);
  }
  Value number = object(R"({"approved":true,"edited":4})");
  Events events = events_of_run("press", both("r2", approved(), number));
  EXPECT_EQ(outcome_in(events), "success") << lines_of(events);
}

TEST_F(AgUiResumes, OfAKeyWithoutTheRoleOfOneApprovalDecideNothing) {
  roles = {"printer"};
  open_press();
  add_key("ana", Permission::decide);
  serve();
  act_as("ana");
  asked();
  EXPECT_EQ(run("press", both("r2", approved(), approved())).status, 403);
  expect_nothing_decided("r2", "the role is missing");
  options.keys.back().roles = {"printer"};
  serve();
  EXPECT_EQ(outcome_in(events_of_run("press", both("r2", approved(), approved()))), "success");
}

TEST_F(AgUiResumes, WithAnExpiredApprovalDecideNothing) {
  open_press();
  asked();
  Instant expiry = row_of(count).expires_at;
  loop.run_until(expiry);
  Answered late = run("press", both("r2", approved(), approved()));
  EXPECT_EQ(late.status, 409) << to_json(late.body);
  EXPECT_EQ(row_of(title).status, ApprovalStatus::open);
  EXPECT_EQ(rejoin("press", "t", "r2").status, 404);
}

// Only a decision shows what the application refuses.
TEST_F(AgUiResumes, WhoseFirstDecisionIsRefusedAreWithdrawn) {
  GraphBuilder<Press> made{"press"};
  made.node("split", [](const Press&, Context&) { return unchanged<Press>(); });
  made.approval("title", &Press::topic, {.question = "This title?"})
      .approved("print")
      .rejected("print");
  made.approval("count", &Press::copies, {.question = "So many?"})
      .approved("print")
      .rejected("print")
      .validate([](const Press& tried) -> Result<Done> {
        if (tried.copies > 9) return error(ErrorCode::invalid, "Too many.");
        return Done{};
      });
  made.node("print", [](const Press&, Context&) { return append(&Press::log, "printed"); });
  made.edge(start, "split").edge("split", "title").edge("split", "count").edge("print", end);
  press = std::move(made).build().value();
  api.reset();
  runtime->add(*press);
  service = service_of(*press);
  serve();
  asked();
  Value many = object(R"({"approved":true,"edited":10})");
  Answered refused = run("press", both("r2", approved(), many));
  EXPECT_EQ(refused.status, 422) << to_json(refused.body);
  expect_nothing_decided("r2", "the edit is decided first");
  Value few = object(R"({"approved":true,"edited":5})");
  EXPECT_EQ(outcome_in(events_of_run("press", both("r2", approved(), few))), "success");
}

TEST_F(AgUiResumes, OfOneVoteEndWithTheSameInterrupt) {
  needs = 2;
  open_press();
  asked();
  Events first = events_of_run("press", both("r2", approved(), approved()));
  expect_order(first);
  Value::Array open = interrupts_in(first);
  ASSERT_EQ(open.size(), 1u) << lines_of(first);
  EXPECT_EQ(text(open[0]["id"]), count);
  EXPECT_EQ(open[0]["metadata"]["belay"]["needs"], Value(2));
  EXPECT_EQ(open[0]["metadata"]["belay"]["votes"].as_array()->size(), 1u);
  EXPECT_EQ(row_of(title).status, ApprovalStatus::approved);
  // Nothing but a vote.
  Value again = resume("t", "r3", {answer_to(count, approved())});
  Events second = events_of_run("press", again);
  expect_order(second);
  ASSERT_EQ(interrupts_in(second).size(), 1u) << lines_of(second);
  EXPECT_EQ(lines_of(events_of_run("press", again)), lines_of(second));
  EXPECT_EQ(
      post("/api/approvals/" + count + "/decision", R"({"approved":true,"decidedBy":"bo"})").status,
      200);
  Events last = events_of_run("press", resume("t", "r4", {answer_to(count, approved())}));
  EXPECT_EQ(outcome_in(last), "success") << lines_of(last);
  EXPECT_EQ(lines_of(events_of_run("press", again)), lines_of(second)) << "it was one vote then";
  for (const char* name : {"r1", "r2", "r3", "r4"}) {
    Events whole = events_of(rejoin("press", "t", name));
    expect_order(whole);
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
      Events expected(whole.begin() + static_cast<std::ptrdiff_t>(cut) + 1, whole.end());
      EXPECT_EQ(lines_of(rest_after(whole[cut].id, "press", "t", name)), lines_of(expected));
    }
  }
  Events r1 = events_of(rejoin("press", "t", "r1"));
  for (const Value& each : interrupts_in(r1)) {
    if (text(each["id"]) == count) {
      EXPECT_EQ(to_json(each["metadata"]["belay"]["votes"]), "[]");
    }
  }
}

TEST_F(AgUiResumes, OfOneVoteThatDiffersFromAnEarlierOneDecideNothing) {
  needs = 2;
  open_press();
  asked();
  EXPECT_EQ(post("/api/approvals/" + count + "/decision", R"({"approved":true})").status, 200);
  Answered refused = run("press", both("r2", approved(), Value(false)));
  EXPECT_EQ(refused.status, 409) << to_json(refused.body);
  expect_nothing_decided("r2", "the person has voted");
  Value ended = resume("t", "r2", {answer_to(title, approved()), cancelled(count)});
  EXPECT_EQ(run("press", ended).status, 409);
  expect_nothing_decided("r2", "a cancellation is a vote as well");
}

}  // namespace
}  // namespace belay::ag_ui
