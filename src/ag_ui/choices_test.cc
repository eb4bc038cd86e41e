// Decisions by choice through AG-UI: on terms with a form, and on an effect with an unknown
// outcome.

#include <gmock/gmock.h>

#include "tests/ag_ui/ag_ui_fixture.h"
#include "tests/support/deal_graph.h"

namespace belay::ag_ui {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct AgUiChoices : AgUiFixture {
  int posted = 0;
  Graph<Deal> deal = deal_graph(posted);
  int requests = 0;

  AgUiChoices() {
    api.reset();
    runtime->add(deal);
    service = service_of(deal);
    serve();
  }
  std::string next_run() { return "r" + std::to_string(++requests); }
  // Starts a deal; returns its interrupt.
  Value asked() {
    auto found = interrupts_in(events_of_run("deal", about("t", next_run(), "rain")));
    return found.empty() ? Value() : found.front();
  }
  Answered reply(const std::string& interrupt, const std::string& answer) {
    return run("deal", resume("t", next_run(), {answer_to(interrupt, object(answer))}));
  }
  // Starts a deal, and chooses its terms; returns the question about the effect.
  Value asked_about_effect() {
    auto found = interrupts_in(events_of(reply(text(asked()["id"]), deal_reply)));
    return found.empty() ? Value() : found.front();
  }
  Value state() {
    return block_on(loop, runtime->status(default_tenant(), ThreadId("t"))).value().state;
  }
};

TEST_F(AgUiChoices, ReachTheNextNodeWithTheirCommentAndAnswer) {
  Value interrupt = asked();
  EXPECT_EQ(to_json(interrupt["responseSchema"]["properties"]["choice"]["enum"]),
            R"(["approve","change","reject"])");
  std::string id = text(interrupt["id"]);
  EXPECT_EQ(reply(id, R"({"choice":"burn"})").status, 422);
  EXPECT_EQ(reply(id, R"({"choice":"change"})").status, 422) << "its form is empty";
  EXPECT_EQ(outcome_in(events_of(reply(id, deal_reply))), "interrupt");
  EXPECT_EQ(text(state()["told"]), deal_told);
}

TEST_F(AgUiChoices, AboutAnEffectAreHappenedAndRedo) {
  Value interrupt = asked_about_effect();
  EXPECT_EQ(to_json(interrupt["responseSchema"]["properties"]["choice"]["enum"]),
            R"(["happened","redo"])");
  Events events = events_of(reply(text(interrupt["id"]), R"({"choice":"happened"})"));
  EXPECT_EQ(outcome_in(events), "success");
  EXPECT_EQ(posted, 1);
  EXPECT_EQ(text(state()["receipt"]), "sent ");
}

TEST_F(AgUiChoices, ToRedoAnEffectCallItAgain) {
  std::string id = text(asked_about_effect()["id"]);
  EXPECT_EQ(outcome_in(events_of(reply(id, R"({"choice":"redo"})"))), "success");
  EXPECT_EQ(posted, 2);
  EXPECT_EQ(text(state()["receipt"]), "sent receipt 2");
}

TEST_F(AgUiChoices, AboutAnEffectAreNotApproveOrReject) {
  std::string id = text(asked_about_effect()["id"]);
  Value before = state();
  for (const char* said : {R"({"approved":true})", R"({"approved":false})", R"("approve")",
                           R"("reject")", R"({"choice":"approve"})", "true"}) {
    Answered refused = reply(id, said);
    EXPECT_EQ(refused.status, 422) << said;
    EXPECT_THAT(text(refused.body["detail"]), AllOf(HasSubstr("happened"), HasSubstr("redo")));
  }
  Answered ended = run("deal", resume("t", next_run(), {cancelled(id)}));
  EXPECT_EQ(ended.status, 422) << "a cancelled interrupt is no choice";
  auto row = block_on(loop, service->approval(Principal(), id, Whose())).value();
  EXPECT_EQ(row.status, ApprovalStatus::open);
  EXPECT_EQ(state(), before);
  EXPECT_EQ(posted, 1);
  EXPECT_EQ(outcome_in(events_of(reply(id, R"("redo")"))), "success");
}

}  // namespace
}  // namespace belay::ag_ui
