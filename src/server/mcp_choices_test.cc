// Decisions by choice through MCP: on terms with a form, and on an effect with an unknown outcome.

#include <gmock/gmock.h>

#include "tests/support/deal_graph.h"
#include "tests/support/mcp_fixture.h"

namespace belay::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct McpChoices : McpFixture {
  int posted = 0;
  Graph<Deal> deal = deal_graph(posted);

  McpChoices() {
    api.reset();
    runtime->add(deal);
    service = service_of(deal);
    api = make_api();
  }
  // Starts a deal; returns the id of its task.
  std::string asked() {
    Value result = result_of(
        modern("tools/call", R"({"name":"deal","arguments":{"topic":"rain"}})", with_tasks()));
    return text(result["taskId"]);
  }
  Value now(const std::string& id) { return result_of(task("tasks/get", id)); }
  // The request for input that the task waits for: its id, and its form.
  std::pair<std::string, Value> input_of(const std::string& id) {
    Value waits = now(id);
    EXPECT_EQ(text(waits["status"]), "input_required");
    const Value::Object* requests = waits["inputRequests"].as_object();
    if (!requests || requests->empty()) return {};
    auto first = *requests->begin();
    return {first.first, first.second["params"]};
  }
  Answered respond(const std::string& id, const std::string& response) {
    return task("tasks/update", id,
                R"(,"inputResponses":{")" + input_of(id).first + "\":" + response + "}");
  }
  Answered accept(const std::string& id, const std::string& content) {
    return respond(id, R"({"action":"accept","content":)" + content + "}");
  }
  std::string asked_about_effect() {
    std::string id = asked();
    result_of(accept(id, kOtherTerms));
    return id;
  }
  Value state() {
    ThreadId thread = all_runs().front().thread;
    return block_on(loop, runtime->status(default_tenant(), std::move(thread))).value().state;
  }
  // A form of MCP has no objects: the answer is JSON as a text.
  static constexpr const char* kOtherTerms =
      R"({"choice":"change","comment":"cheaper","answer":"{\"amount\":7,\"reason\":\"rain\"}"})";
};

TEST_F(McpChoices, ReachTheNextNodeWithTheirCommentAndAnswer) {
  std::string id = asked();
  Value form = input_of(id).second["requestedSchema"];
  EXPECT_EQ(to_json(form["properties"]["choice"]["enum"]), R"(["approve","change","reject"])");
  EXPECT_EQ(to_json(form["required"]), R"(["choice"])");
  EXPECT_EQ(fault_of(accept(id, R"({"choice":"burn"})")), -32602);
  EXPECT_EQ(fault_of(accept(id, R"({"choice":"change"})")), -32602) << "its form is empty";
  EXPECT_EQ(fault_of(accept(id, R"({"choice":"change","answer":"{"})")), -32602);
  result_of(accept(id, kOtherTerms));
  now(id);
  EXPECT_EQ(text(state()["told"]), deal_told);
}

TEST_F(McpChoices, AboutAnEffectAreHappenedAndRedo) {
  std::string id = asked_about_effect();
  Value form = input_of(id).second["requestedSchema"];
  EXPECT_EQ(to_json(form["properties"]["choice"]["enum"]), R"(["happened","redo"])");
  result_of(accept(id, R"({"choice":"happened"})"));
  Value ended = now(id);
  EXPECT_EQ(text(ended["status"]), "completed");
  EXPECT_EQ(text(ended["result"]["structuredContent"]["state"]["receipt"]), "sent ");
  EXPECT_EQ(posted, 1);
}

TEST_F(McpChoices, ToRedoAnEffectCallItAgain) {
  std::string id = asked_about_effect();
  result_of(accept(id, R"({"choice":"redo"})"));
  EXPECT_EQ(text(now(id)["result"]["structuredContent"]["state"]["receipt"]), "sent receipt 2");
  EXPECT_EQ(posted, 2);
}

TEST_F(McpChoices, AboutAnEffectAreNotApproveOrReject) {
  std::string id = asked_about_effect();
  std::string approval = input_of(id).first;
  Value before = state();
  for (const char* response :
       {R"({"action":"decline"})", R"({"action":"accept","content":{"confirm":true}})",
        R"({"action":"accept","content":{"confirm":false}})",
        R"({"action":"accept","content":{"choice":"approve"}})"}) {
    Answered refused = respond(id, response);
    EXPECT_EQ(fault_of(refused), -32602) << response;
    EXPECT_THAT(to_json(refused.body), AllOf(HasSubstr("happened"), HasSubstr("redo")));
  }
  EXPECT_EQ(input_of(id).first, approval) << "the same question";
  EXPECT_EQ(state(), before);
  EXPECT_EQ(posted, 1);
  result_of(accept(id, R"({"choice":"redo"})"));
  EXPECT_EQ(text(now(id)["status"]), "completed");
}

}  // namespace
}  // namespace belay::server
