// Push notifications: configs, and the delivery of the changes of tasks.

#include <gmock/gmock.h>

#include <set>

#include "a2a/push_config.h"
#include "tests/a2a/a2a_fixture.h"
#include "tests/support/http_inbox.h"
#include "tests/support/slow_store.h"

namespace belay::a2a {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

class Inbox final : public testing::HttpInbox {
 public:
  // The states in the order of their arrival.
  std::vector<std::string> states() const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      Value got = result(i);
      const Value& of = got.find("task") ? got["task"] : got["statusUpdate"];
      if (!of["status"].is_null()) all.push_back(text(of["status"]["state"]));
    }
    return all;
  }
};

struct A2aNotifications : A2aFixture {
  std::shared_ptr<Inbox> inbox = std::make_shared<Inbox>();

  A2aNotifications() {
    a2a.http = inbox;
    serve();
  }
  static Value config(const std::string& id = "c") {
    return Value::object({{"id", id}, {"url", "https://hooks.example.com/a?b=c"}});
  }
  static Value of_task(const std::string& task, Value config) {
    config.as_object()->insert_or_assign("taskId", task);
    return config;
  }
  static Value with_config(Value made = config()) {
    return Value::object({{"returnImmediately", true}, {"taskPushNotificationConfig", made}});
  }
  std::string notified(const std::string& topic, Value made = config()) {
    Value configuration = with_config(std::move(made));
    return text(task_of_message(about("m1", topic), std::move(configuration))["id"]);
  }
  Answered configure(const std::string& method, const std::string& task, Value params = config()) {
    return call(method + "TaskPushNotificationConfig", of_task(task, std::move(params)));
  }
  std::size_t configs_of(const std::string& task) {
    Value listed =
        result_of(call("ListTaskPushNotificationConfigs", of_task(task, Value(Value::Object()))));
    EXPECT_EQ(text(listed["nextPageToken"]), "");
    return listed["configs"].as_array()->size();
  }
  std::string first_config(const std::string& task) {
    Value listed =
        result_of(call("ListTaskPushNotificationConfigs", of_task(task, Value(Value::Object()))));
    return text(listed["configs"].as_array()->at(0)["id"]);
  }
  void pass(std::chrono::seconds time) { loop.run_until(clock.now() + time); }
};

TEST_F(A2aNotifications, ACardStatesThem) {
  Answered card = get("/a2a/mail/.well-known/agent-card.json");
  EXPECT_EQ(card.body["capabilities"]["pushNotifications"], Value(true));
}

TEST_F(A2aNotifications, TheChangesOfATaskArriveInTheirOrderWithTheCredentials) {
  model.takes(5s);
  Value made = config();
  made.as_object()->emplace("token", "for me");
  made.as_object()->emplace("authentication", object(R"({"scheme":"Bearer","credentials":"s3"})"));
  std::string id = notified("calm", made);
  pass(30s);
  ASSERT_GE(inbox->calls.size(), 3u) << inbox->calls[0].body;
  EXPECT_EQ(text(inbox->result(0)["task"]["id"]), id);
  std::vector<std::string> states = inbox->states();
  EXPECT_EQ(states.front(), "TASK_STATE_WORKING");
  EXPECT_EQ(states.back(), "TASK_STATE_COMPLETED");
  Value result = inbox->result(inbox->calls.size() - 2)["artifactUpdate"];
  EXPECT_EQ(to_json(result["artifact"]), to_json(task_now(id)["artifacts"].as_array()->at(0)));
  for (std::size_t i = 0; i < inbox->calls.size(); ++i) {
    EXPECT_EQ(inbox->calls[i].method, "POST");
    EXPECT_EQ(inbox->calls[i].url, "https://hooks.example.com/a?b=c");
    EXPECT_EQ(inbox->header(i, "Content-Type"), "application/a2a+json");
    EXPECT_EQ(inbox->header(i, "A2A-Version"), "1.0");
    EXPECT_EQ(inbox->header(i, "Authorization"), "Bearer s3");
    EXPECT_EQ(inbox->header(i, "X-A2A-Notification-Token"), "for me");
    EXPECT_FALSE(inbox->result(i).find("jsonrpc"));
  }
  std::size_t count = inbox->calls.size();
  pass(10min);
  EXPECT_EQ(inbox->calls.size(), count);
  auto records = records_of(*service, Principal(), UserId());
  auto kept = block_on(loop, records->where(&A2aPush::task, std::string(id), 10)).value();
  EXPECT_EQ(kept.at(0).credentials, "") << "they are no longer needed";
}

TEST_F(A2aNotifications, AConfigOfAMessageThatWaitsIsUsedFromTheStart) {
  Value configuration = Value::object({{"taskPushNotificationConfig", config()}});
  Value task = task_of_message(about("m1", "urgent"), configuration);
  EXPECT_EQ(state(task), "TASK_STATE_INPUT_REQUIRED");
  pass(5s);
  EXPECT_EQ(inbox->states().back(), "TASK_STATE_INPUT_REQUIRED");
  Value said = sent(reply("r", text(task["id"]), words("approve")), with_config(config("other")));
  result_of(call("SendMessage", said));
  pass(30s);
  EXPECT_EQ(configs_of(text(task["id"])), 2u);
  std::vector<std::string> states = inbox->states();
  EXPECT_EQ(std::count(states.begin(), states.end(), "TASK_STATE_COMPLETED"), 2);
}

TEST_F(A2aNotifications, ATaskThatHasEndedIsSentOnce) {
  std::string id = text(task_of_message(about("m1", "calm"))["id"]);
  result_of(configure("Create", id));
  pass(1min);
  ASSERT_EQ(inbox->calls.size(), 1u);
  EXPECT_EQ(text(inbox->result(0)["task"]["status"]["state"]), "TASK_STATE_COMPLETED");
}

TEST_F(A2aNotifications, AReceiverThatFailsReceivesTheSameChangeAgain) {
  inbox->statuses = {500, 404, 503, 200};
  notified("calm");
  pass(3min);
  ASSERT_GE(inbox->calls.size(), 4u);
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(inbox->header(i, "Idempotency-Key"), inbox->header(0, "Idempotency-Key"));
  }
  EXPECT_EQ(inbox->keys().count(inbox->header(0, "Idempotency-Key")), 4u);
  EXPECT_EQ(inbox->states().back(), "TASK_STATE_COMPLETED");
}

TEST_F(A2aNotifications, AReceiverThatAlwaysFailsIsGivenUp) {
  inbox->statuses.assign(100, 500);
  notified("calm");
  pass(24h);
  EXPECT_EQ(inbox->calls.size(), 12u);
}

TEST_F(A2aNotifications, AnAddressThatThePolicyForbidsIsNotTriedAgain) {
  inbox->statuses = {0};
  notified("calm");
  pass(1h);
  EXPECT_EQ(inbox->calls.size(), 1u);
}

TEST_F(A2aNotifications, AnotherServerContinuesAfterEachChange) {
  std::string id = notified("urgent");
  pass(10s);
  EXPECT_EQ(inbox->states().back(), "TASK_STATE_INPUT_REQUIRED");
  std::size_t before = inbox->calls.size();
  serve();
  pass(1min);
  EXPECT_EQ(inbox->calls.size(), before) << "all of them have arrived";
  task_of_message(reply("r", id, words("approve")));
  pass(1min);
  EXPECT_EQ(inbox->states().back(), "TASK_STATE_COMPLETED");
  std::multiset<std::string> keys = inbox->keys();
  EXPECT_EQ(keys.size(), std::set(keys.begin(), keys.end()).size());
}

TEST_F(A2aNotifications, AServerThatEndsDuringAnyRequestLosesNoChange) {
  std::string id = text(task_of_message(about("m1", "calm"))["id"]);
  result_of(configure("Create", id));
  inbox->delay = 5s;
  model.takes(5s);
  std::string other = text(task_of_message(about("m2", "calm"), with_config(config()))["id"]);
  for (int i = 0; i < 20; ++i) {
    pass(7s);
    serve();
    pass(25s);
  }
  pass(1min);
  std::vector<std::string> states = inbox->states();
  EXPECT_EQ(states.back(), "TASK_STATE_COMPLETED");
  std::multiset<std::string> keys = inbox->keys();
  std::set<std::string> received(keys.begin(), keys.end());
  // The first task has one change, and the other at least its start, its result and its end.
  EXPECT_GE(received.size(), 4u) << ::testing::PrintToString(states);
  EXPECT_GT(keys.size(), received.size()) << "no request was interrupted";
}

TEST_F(A2aNotifications, TwoServersSendEachChangeOnce) {
  SlowStore slow{*store};
  slow.reads_take = slow.commits_take = 5ms;
  service = make_local_service(
      LocalServiceParts{slow, *store, *runtime, loop, clock, random, {graph.definition()}, {}, {}});
  serve();
  inbox->delay = 2s;
  model.takes(5s);
  std::string id = notified("urgent");
  pass(1s);
  EXPECT_EQ(inbox->calls.size(), 1u);
  // Both look at the same times, and find a request that was interrupted.
  serve();
  server::ApiParts parts{*service, loop, clock, random};
  server::Api::OwnRoutes own = [this](server::ApiContext& world) { return a2a_routes(world, a2a); };
  auto second = std::make_unique<server::Api>(parts, options, own);
  inbox->calls.clear();
  pass(1min);
  task_of_message(reply("r", id, words("approve")));
  pass(2min);
  EXPECT_EQ(inbox->states().back(), "TASK_STATE_COMPLETED");
  std::multiset<std::string> keys = inbox->keys();
  EXPECT_EQ(keys.size(), std::set(keys.begin(), keys.end()).size());
  second.reset();
  api.reset();
  service.reset();
}

TEST_F(A2aNotifications, TheSlowReceiversOfAUserDoNotDelayThoseOfOthers) {
  add_key("eve", Permission::run);
  add_key("ana", Permission::run);
  serve();
  act_as("eve");
  Value slow = config();
  slow.as_object()->insert_or_assign("url", "https://slow.example.com/");
  for (int i = 0; i < 100; ++i) {
    task_of_message(about("m" + std::to_string(i), "calm"), with_config(slow));
  }
  pass(5s);
  std::size_t slow_ones = inbox->calls.size();
  EXPECT_EQ(slow_ones, 8u);
  act_as("ana");
  notified("calm");
  pass(3s);
  EXPECT_GT(inbox->calls.size(), slow_ones);
  pass(10min);
  std::vector<std::string> states = inbox->states();
  EXPECT_EQ(std::count(states.begin(), states.end(), "TASK_STATE_COMPLETED"), 101);
}

TEST_F(A2aNotifications, ADeletedConfigReceivesNothingMore) {
  std::string id = notified("urgent");
  pass(10s);
  std::size_t count = inbox->calls.size();
  EXPECT_GT(count, 0u);
  for (int i = 0; i < 2; ++i) {
    Value deleted = result_of(configure("Delete", id));
    EXPECT_EQ(to_json(deleted), "{}");
  }
  EXPECT_EQ(configs_of(id), 0u);
  task_of_message(reply("r", id, words("approve")));
  pass(1min);
  EXPECT_EQ(inbox->calls.size(), count);
}

TEST_F(A2aNotifications, TheConfigsOfADeletedTaskAreDeleted) {
  std::string id = notified("urgent");
  pass(10s);
  result_of(call("CancelTask", task_id(id)));
  std::string thread = all_runs().at(0).thread.text;
  EXPECT_EQ(send(request("DELETE", "/api/threads/" + thread)).status, 200);
  std::size_t count = inbox->calls.size();
  pass(10s);
  EXPECT_LE(inbox->calls.size(), count);
  auto records = records_of(*service, Principal(), UserId());
  auto left = block_on(loop, records->where(&A2aPush::task, std::string(id), 10));
  EXPECT_TRUE(left.value().empty());
}

TEST_F(A2aNotifications, ConfigsAreListedReadAndReplaced) {
  std::string id = text(task_of_message(about("m1", "urgent"))["id"]);
  Value secret = config();
  secret.as_object()->emplace("token", "t");
  secret.as_object()->emplace("authentication",
                              object(R"({"scheme":"Basic","credentials":"hidden"})"));
  Value created = result_of(configure("Create", id, secret));
  EXPECT_EQ(text(created["id"]), "c");
  EXPECT_EQ(text(created["taskId"]), id);
  EXPECT_EQ(text(created["token"]), "t");
  EXPECT_EQ(text(created["authentication"]["scheme"]), "Basic");
  EXPECT_THAT(to_json(created), Not(HasSubstr("hidden")));
  EXPECT_EQ(to_json(result_of(configure("Get", id))), to_json(created));
  Value other = config();
  other.as_object()->insert_or_assign("url", "https://other.example.com/");
  result_of(configure("Create", id, other));
  EXPECT_EQ(configs_of(id), 1u);
  EXPECT_EQ(text(result_of(configure("Get", id))["url"]), "https://other.example.com/");
  EXPECT_EQ(fault_of(configure("Get", id, config("absent"))), -32001);
  Value unnamed = config("");
  std::string named = text(result_of(configure("Create", id, unnamed))["id"]);
  EXPECT_FALSE(named.empty());
  EXPECT_EQ(text(result_of(configure("Create", id, unnamed))["id"]), named);
  EXPECT_EQ(configs_of(id), 2u);
}

TEST_F(A2aNotifications, RequestsWithoutARequiredNameAreRefused) {
  std::string id = text(task_of_message(about("m1", "urgent"))["id"]);
  auto expect_missing = [this](const std::string& method, const char* member, Value params) {
    Answered refused = call(method + "TaskPushNotificationConfig", std::move(params));
    EXPECT_EQ(fault_of(refused), -32602) << method;
    EXPECT_THAT(text(refused.body["error"]["message"]), HasSubstr(member)) << method;
  };
  for (const char* method : {"Create", "Get", "Delete"}) {
    expect_missing(method, "\"taskId\" is missing", config());
  }
  Value unnamed = of_task(id, Value(Value::Object()));
  for (const char* method : {"Get", "Delete"}) {
    expect_missing(method, "\"id\" is missing", unnamed);
  }
  Answered listed = call("ListTaskPushNotificationConfigs", object("{}"));
  EXPECT_EQ(fault_of(listed), -32602);
}

TEST_F(A2aNotifications, ATaskHasAtMostTenConfigsAlsoIfTheyAreCreatedAtTheSameTime) {
  std::string id = text(task_of_message(about("m1", "urgent"))["id"]);
  SlowStore slow{*store};
  slow.reads_take = slow.commits_take = 5ms;
  auto writer = Runtime::open(RuntimeParts{slow, loop, clock, random, model, {}}).value();
  writer->add(graph);
  service = make_local_service(
      LocalServiceParts{slow, *store, *writer, loop, clock, random, {graph.definition()}, {}, {}});
  serve();
  std::vector<std::string> replies;
  std::function<void(http::Response)> keep = [&replies](http::Response response) {
    replies.push_back(std::move(response.body));
  };
  std::vector<Spawned> requests;
  for (int i = 0; i < 24; ++i) {
    Value params = of_task(id, config(std::to_string(i)));
    Value request = server::McpFixture::message("CreateTaskPushNotificationConfig", params);
    requests.push_back(spawn<http::Response>(loop, api->answer(http_call(to_json(request))), keep));
  }
  pass(10s);
  ASSERT_EQ(replies.size(), 24u);
  auto is_refused = [](const std::string& body) {
    return body.find("at most 10 configs") != body.npos;
  };
  EXPECT_EQ(std::count_if(replies.begin(), replies.end(), is_refused), 14);
  EXPECT_EQ(configs_of(id), 10u);
  result_of(configure("Delete", id, config(first_config(id))));
  result_of(configure("Create", id, config("late")));
  EXPECT_EQ(configs_of(id), 10u);
  requests.clear();
  api.reset();
  service.reset();
}

TEST_F(A2aNotifications, BelongToTheTasksOfTheCaller) {
  add_key("reader", Permission::read);
  add_key("ana", Permission::run);
  add_key("eve", Permission::decide);
  serve();
  act_as("ana");
  std::string id = text(task_of_message(about("m1", "urgent"))["id"]);
  result_of(configure("Create", id));
  act_as("eve");
  for (const char* method : {"Create", "Get", "Delete"}) {
    EXPECT_EQ(fault_of(configure(method, id)), -32001) << method;
  }
  Value params = of_task(id, Value(Value::Object()));
  EXPECT_EQ(fault_of(call("ListTaskPushNotificationConfigs", params)), -32001);
  act_as("reader");
  for (const char* method : {"Create", "Delete"}) {
    EXPECT_EQ(configure(method, id).status, 403) << method;
  }
  act_as("ana");
  EXPECT_EQ(configs_of(id), 1u);
}

TEST_F(A2aNotifications, ConfigsWithFaultsAreRefusedAndStartNothing) {
  std::string id = text(task_of_message(about("m0", "urgent"))["id"]);
  for (const char* wrong :
       {R"({})", R"({"url":""})", R"({"url":7})", R"({"url":"ftp://a.example/"})",
        R"({"url":"https://"})", R"({"url":"https://u:p@a.example/"})",
        R"({"url":"https://a.example/\r\nX: y"})", R"({"url":"https://a.example/","token":7})",
        R"({"url":"https://a.example/","token":"a\r\nX: y"})",
        R"({"url":"https://a.example/","id":"a\nb"})",
        R"({"url":"https://a.example/","authentication":"Bearer"})",
        R"({"url":"https://a.example/","authentication":{}})",
        R"({"url":"https://a.example/","authentication":{"scheme":"a b"}})",
        R"({"url":"https://a.example/","authentication":{"scheme":"B","credentials":"\n"}})"}) {
    EXPECT_EQ(fault_of(configure("Create", id, object(wrong))), -32602) << wrong;
    Value configuration = with_config(object(wrong));
    EXPECT_EQ(fault_of(call("SendMessage", sent(about("m1", "calm"), configuration))), -32602)
        << wrong;
  }
  Value foreign = with_config(of_task("another", config()));
  EXPECT_EQ(fault_of(call("SendMessage", sent(about("m1", "calm"), foreign))), -32602);
  EXPECT_EQ(all_runs().size(), 1u);
  EXPECT_EQ(configs_of(id), 0u);
  for (int i = 0; i < 10; ++i) result_of(configure("Create", id, config(std::to_string(i))));
  EXPECT_EQ(fault_of(configure("Create", id, config("10"))), -32602);
  result_of(configure("Create", id, config("9")));
  EXPECT_EQ(fault_of(call("SetTaskPushNotificationConfig", of_task(id, config()))), -32601);
}

}  // namespace
}  // namespace belay::a2a
