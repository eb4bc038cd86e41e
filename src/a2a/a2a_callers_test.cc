// Who may do what over A2A.

#include <gmock/gmock.h>

#include "tests/a2a/a2a_fixture.h"

namespace belay::a2a {
namespace {

struct A2aCallers : A2aFixture {
  void with_keys() {
    add_key("reader", Permission::read);
    add_key("runner", Permission::run);
    add_key("ana", Permission::decide);
    add_key("eve", Permission::decide);
    add_key("root", Permission::administer);
    serve();
  }
  std::vector<std::pair<std::string, Value>> calls_about(const std::string& id) {
    return {{"GetTask", task_id(id)},
            {"CancelTask", task_id(id)},
            {"SubscribeToTask", task_id(id)},
            {"SendMessage", sent(reply("x", id, words("approve")))},
            {"SendStreamingMessage", sent(reply("x", id, words("approve")))}};
  }
};

TEST_F(A2aCallers, EachMethodRequiresItsPermission) {
  with_keys();
  EXPECT_EQ(call("ListTasks", object("{}")).status, 401);
  act_as("reader");
  EXPECT_EQ(call("ListTasks", object("{}")).status, 200);
  for (const char* method : {"SendMessage", "SendStreamingMessage", "CancelTask"}) {
    Answered refused = call(method, sent(about("m", "calm")));
    EXPECT_EQ(refused.status, 403) << method;
    EXPECT_EQ(fault_of(refused), -32000) << method;
  }
  EXPECT_TRUE(all_runs().empty());
  act_as("runner");
  std::string id = text(task_of_message(about("m", "urgent"))["id"]);
  Answered refused = call("SendMessage", sent(reply("r", id, words("approve"))));
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(state(task_now(id)), "TASK_STATE_INPUT_REQUIRED");
  EXPECT_EQ(state(result_of(call("CancelTask", task_id(id)))), "TASK_STATE_CANCELED");
}

TEST_F(A2aCallers, ATaskOfAnotherUserIsAnsweredAsOneThatDoesNotExist) {
  with_keys();
  act_as("ana");
  std::string id = text(task_of_message(about("m", "urgent"))["id"]);
  act_as("eve");
  auto foreign = calls_about(id);
  auto absent = calls_about("01890000-0000-7000-8000-000000000000");
  auto senseless = calls_about("no id");
  for (std::size_t i = 0; i < foreign.size(); ++i) {
    const auto& [method, params] = foreign[i];
    Answered answered = call(method, params);
    EXPECT_EQ(fault_of(answered), -32001) << method;
    EXPECT_EQ(to_json(answered.body), to_json(call(method, absent[i].second).body)) << method;
    EXPECT_EQ(to_json(answered.body), to_json(call(method, senseless[i].second).body)) << method;
  }
  EXPECT_EQ(result_of(call("ListTasks", object("{}")))["totalSize"], Value(0));
  std::string context = all_runs().at(0).thread.text;
  Value of_context = Value::object({{"contextId", context}});
  EXPECT_EQ(result_of(call("ListTasks", of_context))["totalSize"], Value(0));
  act_as("root");
  EXPECT_EQ(state(task_now(id)), "TASK_STATE_INPUT_REQUIRED");
  act_as("ana");
  EXPECT_EQ(state(task_now(id)), "TASK_STATE_INPUT_REQUIRED");
}

TEST_F(A2aCallers, TheContextOfAnotherUserIsNotContinued) {
  with_keys();
  act_as("ana");
  Value named = about("m1", "calm");
  named.as_object()->emplace("contextId", "trip");
  task_of_message(named);
  act_as("eve");
  Answered refused = call("SendMessage", sent(named));
  EXPECT_EQ(fault_of(refused), -32602);
  EXPECT_EQ(text(refused.body["error"]["message"]), "This contextId cannot be used.");
  EXPECT_EQ(all_runs().size(), 1u);
}

TEST_F(A2aCallers, EqualMessageIdsOfTwoUsersAreTwoTasks) {
  with_keys();
  act_as("ana");
  std::string one = text(task_of_message(about("m1", "calm"))["id"]);
  act_as("eve");
  EXPECT_NE(text(task_of_message(about("m1", "calm"))["id"]), one);
}

TEST_F(A2aCallers, ARequestCannotChooseAnotherTenant) {
  for (const char* method : {"GetTask", "ListTasks", "SendMessage", "SubscribeToTask"}) {
    Value params = sent(about("m", "calm"));
    params.as_object()->emplace("tenant", "other");
    EXPECT_EQ(fault_of(call(method, params)), -32602) << method;
  }
  EXPECT_TRUE(all_runs().empty());
  Value own = sent(about("m", "calm"));
  own.as_object()->emplace("tenant", default_tenant().text);
  result_of(call("SendMessage", own));
}

TEST_F(A2aCallers, ATaskOfAnotherAgentIsUnknown) {
  Answered unknown = call("GetTask", task_id("x"), "none");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(fault_of(unknown), -32602);
}

TEST_F(A2aCallers, CardsNeedAKeyAndNameTheScheme) {
  with_keys();
  EXPECT_EQ(get("/.well-known/agent-card.json").status, 401);
  http::Request asked = request("GET", "/.well-known/agent-card.json");
  asked.headers.push_back({"Authorization", "Bearer token of reader"});
  Answered card = send(std::move(asked));
  EXPECT_EQ(card.status, 200);
  EXPECT_EQ(text(card.body["securitySchemes"]["bearer"]["httpAuthSecurityScheme"]["scheme"]),
            "Bearer");
}

}  // namespace
}  // namespace belay::a2a
