// Decisions by choice as resumes of the Agent Server API: on terms with a form, and on an effect
// with an unknown outcome.

#include <gmock/gmock.h>

#include "tests/support/agent_server_fixture.h"
#include "tests/support/deal_graph.h"

namespace belay::langgraph {
namespace {

using server::text;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct AgentServerChoices : AgentServerFixture {
  int posted = 0;
  Graph<Deal> deal = deal_graph(posted);

  AgentServerChoices() {
    api.reset();
    runtime->add(deal);
    service = service_of(deal);
    serve();
    post("/threads", std::string(R"({"thread_id":")") + kThreadA + "\"}");
  }
  static std::string waited() { return std::string("/threads/") + kThreadA + "/runs/wait"; }
  Value values_of(const Answered& answered) {
    EXPECT_TRUE(answered.stream) << to_json(answered.body);
    return answered.stream ? parse_json(read_all(*answered.stream)).value_or(Value()) : Value();
  }
  static Value interrupt_in(const Value& values) {
    const Value::Array* list = values["__interrupt__"].as_array();
    EXPECT_TRUE(list && list->size() == 1) << to_json(values);
    return list && !list->empty() ? list->front() : Value();
  }
  // Starts a deal; returns its interrupt.
  Value asked() {
    return interrupt_in(
        values_of(post(waited(), R"({"assistant_id":"deal","input":{"topic":"rain"}})")));
  }
  Answered reply(const std::string& interrupt, const std::string& answer) {
    return post(waited(), R"({"assistant_id":"deal","command":{"resume":{")" + interrupt +
                              "\":" + answer + "}}}");
  }
  // Starts a deal, and chooses its terms; returns the question about the effect.
  Value asked_about_effect() {
    return interrupt_in(values_of(reply(text(asked()["id"]), deal_reply)));
  }
  std::string told() {
    auto view = block_on(loop, runtime->status(default_tenant(), ThreadId(kThreadA)));
    return text(view.value().state["told"]);
  }
  Value thread() { return get(std::string("/threads/") + kThreadA).body; }
};

TEST_F(AgentServerChoices, ReachTheNextNodeWithTheirCommentAndAnswer) {
  Value interrupt = asked();
  EXPECT_THAT(to_json(interrupt["value"]), HasSubstr(R"("label":"Other terms","name":"change")"));
  std::string id = text(interrupt["id"]);
  EXPECT_EQ(reply(id, R"({"choice":"burn"})").status, 422);
  EXPECT_EQ(reply(id, R"({"choice":"change"})").status, 422) << "its form is empty";
  interrupt_in(values_of(reply(id, deal_reply)));
  EXPECT_EQ(told(), deal_told);
}

TEST_F(AgentServerChoices, OfTheOnlyInterruptNeedNoId) {
  asked();
  Answered chosen = post(
      waited(), std::string(R"({"assistant_id":"deal","command":{"resume":)") + deal_reply + "}}");
  interrupt_in(values_of(chosen));
  EXPECT_EQ(told(), deal_told);
}

TEST_F(AgentServerChoices, AboutAnEffectAreHappenedAndRedo) {
  Value interrupt = asked_about_effect();
  EXPECT_THAT(to_json(interrupt["value"]), HasSubstr(R"("name":"redo")"));
  Value values = values_of(reply(text(interrupt["id"]), R"({"choice":"happened"})"));
  EXPECT_EQ(text(values["receipt"]), "sent ");
  EXPECT_EQ(posted, 1);
}

TEST_F(AgentServerChoices, ToRedoAnEffectCallItAgain) {
  Value values = values_of(reply(text(asked_about_effect()["id"]), R"("redo")"));
  EXPECT_EQ(text(values["receipt"]), "sent receipt 2");
  EXPECT_EQ(posted, 2);
}

TEST_F(AgentServerChoices, AboutAnEffectAreNotApproveOrReject) {
  std::string id = text(asked_about_effect()["id"]);
  Value before = thread();
  for (const char* said :
       {"true", "false", R"("approve")", R"({"approved":false})", R"({"choice":"reject"})",
        R"([{"type":"accept"}])", R"({"decisions":[{"type":"reject"}]})"}) {
    Answered refused = reply(id, said);
    EXPECT_EQ(refused.status, 422) << said;
    EXPECT_THAT(to_json(refused.body), AllOf(HasSubstr("happened"), HasSubstr("redo"))) << said;
  }
  EXPECT_EQ(thread(), before);
  EXPECT_EQ(posted, 1);
  EXPECT_EQ(text(values_of(reply(id, R"({"choice":"redo"})"))["receipt"]), "sent receipt 2");
}

TEST_F(AgentServerChoices, AboutAnEffectAreRefusedAtItsCheckpoint) {
  Value interrupt = asked_about_effect();
  std::string path = std::string("/threads/") + kThreadA;
  std::string there = text(get(path + "/state").body["checkpoint"]["checkpoint_id"]);
  values_of(reply(text(interrupt["id"]), R"("redo")"));
  ASSERT_EQ(posted, 2);
  auto refused = post(waited(), R"({"assistant_id":"deal","command":{"resume":"redo"},)"
                                R"("checkpoint_id":")" +
                                    there + "\"}");
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(to_json(refused.body), HasSubstr("repeat the effect"));
  loop.run_until(clock.now() + std::chrono::seconds(30));
  EXPECT_EQ(posted, 2);
}

TEST_F(AgentServerChoices, AreCheckedBeforeARunBeginsAtTheirCheckpoint) {
  Value interrupt = asked();
  std::string path = std::string("/threads/") + kThreadA;
  std::string there = text(get(path + "/state").body["checkpoint"]["checkpoint_id"]);
  values_of(reply(text(interrupt["id"]), R"({"choice":"reject"})"));
  std::size_t count = size_of(get(path + "/runs").body);
  auto refused =
      post(waited(), R"({"assistant_id":"deal","command":{"resume":{"choice":"change"}},)"
                     R"("checkpoint_id":")" +
                         there + "\"}");
  EXPECT_EQ(refused.status, 422) << to_json(refused.body);
  EXPECT_EQ(size_of(get(path + "/runs").body), count) << "its form is empty: nothing was started";
}

}  // namespace
}  // namespace belay::langgraph
