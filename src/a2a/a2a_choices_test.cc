// Decisions by choice through A2A: on terms with a form, and on an effect with an unknown outcome.

#include <gmock/gmock.h>

#include "tests/a2a/a2a_fixture.h"
#include "tests/support/deal_graph.h"

namespace belay::a2a {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct A2aChoices : A2aFixture {
  int posted = 0;
  Graph<Deal> deal = deal_graph(posted);
  int messages = 0;

  A2aChoices() {
    api.reset();
    runtime->add(deal);
    service = service_of(deal);
    serve();
  }
  std::string next_message() { return "m" + std::to_string(++messages); }
  Answered said(const std::string& task, Value part) {
    Value params = sent(reply(next_message(), task, std::move(part)));
    return call("SendMessage", std::move(params), "deal");
  }
  Answered chosen(const std::string& task, const std::string& data) {
    return said(task, Value::object({{"data", object(data)}}));
  }
  Value now(const std::string& id) { return result_of(call("GetTask", task_id(id), "deal")); }
  // Starts a deal; returns the id of its task.
  std::string asked() {
    Value task =
        result_of(call("SendMessage", sent(about(next_message(), "rain")), "deal"))["task"];
    EXPECT_EQ(A2aFixture::state(task), "TASK_STATE_INPUT_REQUIRED");
    return text(task["id"]);
  }
  // Starts a deal, and chooses its terms: the task then asks about the effect.
  std::string asked_about_effect() {
    std::string id = asked();
    Value task = result_of(chosen(id, deal_reply))["task"];
    EXPECT_EQ(A2aFixture::state(task), "TASK_STATE_INPUT_REQUIRED");
    return id;
  }
  static Value offered(const Value& task) {
    const Value::Array& parts = *task["status"]["message"]["parts"].as_array();
    return parts.back()["data"]["choices"];
  }
  Value deal_state() {
    ThreadId thread = all_runs().front().thread;
    return block_on(loop, runtime->status(default_tenant(), std::move(thread))).value().state;
  }
};

TEST_F(A2aChoices, ReachTheNextNodeWithTheirCommentAndAnswer) {
  std::string id = asked();
  Value choices = offered(now(id));
  ASSERT_EQ(choices.as_array()->size(), 3u);
  EXPECT_EQ(text(choices.as_array()->at(1)["label"]), "Other terms");
  EXPECT_EQ(fault_of(chosen(id, R"({"choice":"burn"})")), -32602);
  EXPECT_EQ(fault_of(chosen(id, R"({"choice":"change"})")), -32602) << "its form is empty";
  result_of(chosen(id, deal_reply));
  EXPECT_EQ(text(deal_state()["told"]), deal_told);
}

TEST_F(A2aChoices, AboutAnEffectAreHappenedAndRedo) {
  std::string id = asked_about_effect();
  EXPECT_EQ(to_json(offered(now(id))),
            R"([{"label":"it happened","name":"happened"},{"label":"do it again","name":"redo"}])");
  Value ended = result_of(said(id, words("happened")))["task"];
  EXPECT_EQ(A2aFixture::state(ended), "TASK_STATE_COMPLETED");
  EXPECT_EQ(posted, 1);
  EXPECT_EQ(text(deal_state()["receipt"]), "sent ");
}

TEST_F(A2aChoices, ToRedoAnEffectCallItAgain) {
  std::string id = asked_about_effect();
  Value ended = result_of(chosen(id, R"({"choice":"redo"})"))["task"];
  EXPECT_EQ(A2aFixture::state(ended), "TASK_STATE_COMPLETED");
  EXPECT_EQ(posted, 2);
  EXPECT_EQ(text(deal_state()["receipt"]), "sent receipt 2");
}

TEST_F(A2aChoices, AboutAnEffectAreNotApproveOrReject) {
  std::string id = asked_about_effect();
  Value before = deal_state(), task = now(id);
  auto expect_refused = [&](const Answered& refused, const char* what) {
    EXPECT_EQ(fault_of(refused), -32602) << what;
    EXPECT_THAT(to_json(refused.body), AllOf(HasSubstr("happened"), HasSubstr("redo")));
  };
  for (const char* word : {"approve", "reject"}) expect_refused(said(id, words(word)), word);
  for (const char* data :
       {R"({"approved":true})", R"({"approved":false})", R"({"choice":"approve"})"}) {
    expect_refused(chosen(id, data), data);
  }
  EXPECT_EQ(to_json(now(id)["status"]["message"]), to_json(task["status"]["message"]));
  EXPECT_EQ(deal_state(), before);
  EXPECT_EQ(posted, 1);
  result_of(said(id, words("redo")));
  EXPECT_EQ(A2aFixture::state(now(id)), "TASK_STATE_COMPLETED");
}

}  // namespace
}  // namespace belay::a2a
