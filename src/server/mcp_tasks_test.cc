// Runs as tasks of MCP, and approvals as requests for input.

#include <gmock/gmock.h>

#include "server/mcp_tasks.h"
#include "tests/support/mcp_fixture.h"

namespace belay::server {
namespace {

using McpTasks = McpFixture;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

std::string first_name(const Value& object) { return object.as_object()->begin()->first; }

TEST_F(McpTasks, ATaskIsReturnedForARunThatDoesNotEndAtOnce) {
  model.takes(10s);
  Value created = result_of(modern("tools/call", call_of("calm"), with_tasks()));
  EXPECT_EQ(text(created["resultType"]), "task");
  EXPECT_EQ(text(created["status"]), "working");
  EXPECT_TRUE(created["ttlMs"].is_null() && created.find("ttlMs"));
  EXPECT_TRUE(created["pollIntervalMs"].as_int());
  EXPECT_TRUE(instant_from(text(created["createdAt"])));
  EXPECT_FALSE(created.find("result") || created.find("requestState"));
  std::string id = text(created["taskId"]);
  Value working = result_of(task("tasks/get", id));
  EXPECT_EQ(text(working["status"]), "working");
  EXPECT_EQ(text(working["resultType"]), "complete");
  loop.run_until(clock.now() + 20s);
  Value ended = result_of(task("tasks/get", id));
  EXPECT_EQ(text(ended["status"]), "completed");
  EXPECT_EQ(text(ended["result"]["structuredContent"]["state"]["draft"]), "Dear calm");
  EXPECT_EQ(ended["result"]["content"].as_array()->size(), 1u);
}

TEST_F(McpTasks, AnApprovalIsARequestForInputAndItsResponseTheDecision) {
  std::string id = started_task("urgent");
  Value waits = result_of(task("tasks/get", id));
  EXPECT_EQ(text(waits["status"]), "input_required");
  std::string approval = first_name(waits["inputRequests"]);
  const Value& asked = waits["inputRequests"][approval];
  EXPECT_EQ(text(asked["method"]), "elicitation/create");
  EXPECT_THAT(text(asked["params"]["message"]), HasSubstr("Send this mail?"));
  EXPECT_TRUE(asked["params"]["requestedSchema"]["properties"]["edited"].as_object());
  std::string responses = R"(,"inputResponses":{")" + approval +
                          R"(":{"action":"accept","content":{"confirm":true,)"
                          R"("comment":"fine","edited":"\"Dear all\""}}})";
  Value acknowledged = result_of(task("tasks/update", id, responses));
  EXPECT_EQ(text(acknowledged["resultType"]), "complete");
  EXPECT_FALSE(acknowledged.find("status") || acknowledged.find("taskId"));
  Value ended = result_of(task("tasks/get", id));
  EXPECT_EQ(text(ended["status"]), "completed");
  EXPECT_EQ(text(ended["result"]["structuredContent"]["state"]["draft"]), "Dear all");
  EXPECT_EQ(text(ended["result"]["structuredContent"]["outcome"]), "sent");
  EXPECT_EQ(result_of(task("tasks/update", id, responses)).find("status"), nullptr)
      << "the same decision again";
  std::string other = R"(,"inputResponses":{")" + approval + R"(":{"action":"decline"}})";
  EXPECT_EQ(fault_of(task("tasks/update", id, other)), -32602) << "another decision";
}

TEST_F(McpTasks, ResponsesThatDecideNothingLeaveTheRunWaiting) {
  std::string id = started_task("urgent");
  std::string approval = first_name(result_of(task("tasks/get", id))["inputRequests"]);
  auto respond = [&](const std::string& name, const std::string& response) {
    return task("tasks/update", id, R"(,"inputResponses":{")" + name + "\":" + response + "}");
  };
  result_of(respond("unknown", R"({"action":"accept"})"));
  result_of(respond(approval, R"({"action":"cancel"})"));
  for (const char* wrong :
       {"7", "{}", R"({"action":"maybe"})", R"({"action":"accept"})",
        R"({"action":"accept","content":{"confirm":"yes"}})", R"({"action":"accept","content":{}})",
        R"({"action":"accept","content":{"comment":"fine"}})",
        R"({"action":"accept","content":{"confirm":true,"comment":1}})",
        R"({"action":"accept","content":{"confirm":true,"edited":1}})",
        R"({"action":"accept","content":{"confirm":true,"edited":"{"}})"}) {
    EXPECT_EQ(fault_of(respond(approval, wrong)), -32602) << wrong;
  }
  EXPECT_EQ(fault_of(task("tasks/update", id)), -32602);
  EXPECT_EQ(text(result_of(task("tasks/get", id))["status"]), "input_required");
  result_of(respond(approval, R"({"action":"decline"})"));
  Value ended = result_of(task("tasks/get", id));
  EXPECT_EQ(text(ended["status"]), "completed");
  EXPECT_EQ(ended["result"]["structuredContent"]["state"]["approved"], Value(false));
}

TEST_F(McpTasks, AClientWithoutTasksRepeatsTheCallWithTheDecision) {
  Value first = result_of(modern("tools/call", call_of("urgent"), with_elicitation()));
  EXPECT_EQ(text(first["resultType"]), "input_required");
  EXPECT_FALSE(first.find("taskId"));
  std::string state = text(first["requestState"]);
  std::string approval = first_name(first["inputRequests"]);
  auto again = [&](const std::string& tool, const std::string& with_state) {
    return modern("tools/call",
                  R"({"name":")" + tool + R"(","requestState":")" + with_state +
                      R"(","inputResponses":{")" + approval +
                      R"(":{"action":"accept","content":{"confirm":true}}}})",
                  with_elicitation());
  };
  EXPECT_EQ(fault_of(again("mail", "no state")), -32602);
  EXPECT_EQ(fault_of(again("another", state)), -32602);
  Value ended = result_of(again("mail", state));
  EXPECT_EQ(text(ended["resultType"]), "complete");
  EXPECT_EQ(text(ended["structuredContent"]["outcome"]), "sent");
  EXPECT_EQ(all_runs().size(), 1u);
  Value none = result_of(modern("tools/call", call_of("urgent"), Value(Value::Object())));
  EXPECT_EQ(text(none["resultType"]), "complete") << "in words";
  EXPECT_EQ(text(none["structuredContent"]["status"]), "paused");
}

TEST_F(McpTasks, ACancelledTaskIsCancelledOnce) {
  std::string id = started_task("urgent");
  for (int i = 0; i < 2; ++i) {
    Value acknowledged = result_of(task("tasks/cancel", id));
    EXPECT_EQ(text(acknowledged["resultType"]), "complete");
    EXPECT_FALSE(acknowledged.find("status"));
  }
  Value ended = result_of(task("tasks/get", id));
  EXPECT_EQ(text(ended["status"]), "cancelled");
  EXPECT_FALSE(ended.find("result") || ended.find("error"));
}

TEST_F(McpTasks, ARunThatFailsIsCompletedWithAnError) {
  model.takes(5s);
  model.then_always([](const ModelRequest&) -> Result<std::string> {
    return error(ErrorCode::invalid, "No such model.");
  });
  std::string id = started_task("calm");
  loop.run_until(clock.now() + 1min);
  Value ended = result_of(task("tasks/get", id));
  EXPECT_EQ(text(ended["status"]), "completed");
  EXPECT_EQ(ended["result"]["isError"], Value(true));
}

TEST_F(McpTasks, AQuarantinedRunIsAFailedTask) {
  RunView view;
  view.row.status = RunStatus::quarantined;
  view.row.reason = "its stored data is corrupt";
  McpMessage message;
  Value::Object task = task_of(view, message);
  add_details(view, message, task);
  EXPECT_EQ(text(task["status"]), "failed");
  EXPECT_EQ(task["error"]["code"], Value(-32603));
  EXPECT_THAT(text(task["error"]["message"]), HasSubstr("its stored data is corrupt"));
  EXPECT_FALSE(task.contains("result"));
}

TEST_F(McpTasks, AClientThatHasNotDeclaredTasksIsRefused) {
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    Answered answered = modern(method, R"({"taskId":"x","inputResponses":{}})", with_elicitation());
    EXPECT_EQ(answered.status, 400) << method;
    EXPECT_EQ(fault_of(answered), -32021) << method;
    EXPECT_TRUE(answered.body["error"]["data"]["requiredCapabilities"]["extensions"].as_object());
  }
  EXPECT_EQ(fault_of(legacy("tasks/get", R"({"taskId":"x"})")), -32601);
}

TEST_F(McpTasks, AnotherServerOnTheStoreAnswersForATask) {
  std::string id = started_task("urgent");
  auto other_runtime = process();
  auto other = make_local_service(LocalServiceParts{
      *store, *store, *other_runtime, loop, clock, random, {graph.definition()}, {}, {}});
  api = std::make_unique<Api>(ApiParts{*other, loop, clock, random}, options, nullptr);
  Value waits = result_of(task("tasks/get", id));
  EXPECT_EQ(text(waits["status"]), "input_required");
  std::string responses = R"(,"inputResponses":{")" + first_name(waits["inputRequests"]) +
                          R"(":{"action":"accept","content":{"confirm":true}}})";
  result_of(task("tasks/update", id, responses));
  EXPECT_EQ(text(result_of(task("tasks/get", id))["status"]), "completed");
  api.reset();
}

TEST_F(McpTasks, ATaskOfAnotherUserIsAnsweredAsOneThatDoesNotExist) {
  add_key("ana", Permission::decide);
  add_key("eve", Permission::decide);
  api = make_api();
  act_as("ana");
  std::string id = started_task("urgent");
  std::string approval = first_name(result_of(task("tasks/get", id))["inputRequests"]);
  act_as("eve");
  std::string responses =
      R"(,"inputResponses":{")" + approval + R"(":{"action":"accept","content":{"confirm":true}}})";
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    Answered foreign = task(method, id, responses);
    Answered absent = task(method, "01890000-0000-7000-8000-000000000000", responses);
    Answered senseless = task(method, "no id", responses);
    EXPECT_EQ(fault_of(foreign), -32602) << method;
    EXPECT_EQ(foreign.status, absent.status);
    EXPECT_EQ(to_json(foreign.body), to_json(absent.body));
    EXPECT_EQ(to_json(foreign.body), to_json(senseless.body));
  }
  act_as("ana");
  EXPECT_EQ(text(result_of(task("tasks/get", id))["status"]), "input_required");
}

TEST_F(McpTasks, EachOperationRequiresItsPermission) {
  add_key("reader", Permission::read);
  add_key("runner", Permission::run);
  api = make_api();
  EXPECT_EQ(legacy("tools/list").status, 401);
  act_as("reader");
  EXPECT_EQ(legacy("tools/list").status, 200);
  EXPECT_EQ(legacy("tools/call", call_of("calm")).status, 403);
  EXPECT_EQ(fault_of(legacy("tools/call", call_of("calm"))), -32000);
  EXPECT_EQ(task("tasks/cancel", "x").status, 403);
  act_as("runner");
  std::string id = started_task("urgent");
  Value waits = result_of(task("tasks/get", id));
  EXPECT_EQ(text(waits["status"]), "working") << "it may not decide";
  EXPECT_THAT(text(waits["statusMessage"]), HasSubstr("waits for an approval"));
  EXPECT_EQ(task("tasks/update", id, R"(,"inputResponses":{})").status, 403);
  result_of(task("tasks/cancel", id));
}

}  // namespace
}  // namespace belay::server
