// Requests of A2A that read, start and cancel tasks.

#include <gmock/gmock.h>

#include "tests/a2a/a2a_fixture.h"

namespace belay::a2a {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

using A2aCalls = A2aFixture;

TEST_F(A2aCalls, AMessageStartsARunAndReturnsItsResult) {
  Value task = task_of_message(about("m1", "calm"));
  EXPECT_EQ(state(task), "TASK_STATE_COMPLETED");
  RunRow run = all_runs().at(0);
  EXPECT_EQ(text(task["id"]), run.run.text());
  EXPECT_EQ(text(task["contextId"]), run.thread.text);
  EXPECT_TRUE(instant_from(text(task["status"]["timestamp"])));
  EXPECT_EQ(text(task["metadata"]["belay/outcome"]), "sent");
  const Value& artifact = task["artifacts"].as_array()->at(0);
  EXPECT_EQ(text(artifact["artifactId"]), "result");
  const Value& part = artifact["parts"].as_array()->back();
  EXPECT_EQ(text(part["data"]["draft"]), "Dear calm");
  EXPECT_EQ(text(part["mediaType"]), "application/json");
  EXPECT_FALSE(task.find("kind") || part.find("kind"));
  EXPECT_EQ(to_json(task_now(text(task["id"]))), to_json(task));
}

TEST_F(A2aCalls, ReturnImmediatelyReturnsATaskInProgress) {
  model.takes(10s);
  Value task = task_of_message(about("m1", "calm"), at_once());
  EXPECT_EQ(state(task), "TASK_STATE_WORKING");
  EXPECT_TRUE(task["artifacts"].as_array()->empty());
  loop.run_until(clock.now() + 20s);
  EXPECT_EQ(state(task_now(text(task["id"]))), "TASK_STATE_COMPLETED");
}

TEST_F(A2aCalls, AWaitThatIsTooLongReturnsTheTaskAsItIs) {
  a2a.answer_within = 1s;
  serve();
  model.takes(10s);
  Value task = task_of_message(about("m1", "calm"));
  EXPECT_EQ(state(task), "TASK_STATE_WORKING");
  loop.run_until(clock.now() + 20s);
  EXPECT_EQ(state(task_now(text(task["id"]))), "TASK_STATE_COMPLETED");
}

TEST_F(A2aCalls, TheSameMessageTwiceCountsAsOneStart) {
  options.starts.per_minute = 1;
  serve();
  Value first = task_of_message(about("m1", "calm"));
  clock.move(1ms);
  EXPECT_EQ(call("SendMessage", sent(about("m2", "calm"))).status, 429);
  EXPECT_EQ(text(task_of_message(about("m1", "calm"))["id"]), text(first["id"]));
  EXPECT_EQ(all_runs().size(), 1u);
}

TEST_F(A2aCalls, TheSameMessageTwiceStartsOneRun) {
  model.takes(10s);
  Value first = task_of_message(about("m1", "calm"), at_once());
  serve();
  Value again = task_of_message(about("m1", "calm"));
  EXPECT_EQ(text(again["id"]), text(first["id"]));
  EXPECT_EQ(state(again), "TASK_STATE_COMPLETED");
  EXPECT_EQ(all_runs().size(), 1u);
  Answered other = call("SendMessage", sent(about("m1", "another")));
  EXPECT_EQ(fault_of(other), -32602) << "the id of a message with another content";
  EXPECT_NE(text(task_of_message(about("m2", "calm"))["id"]), text(first["id"]));
  EXPECT_EQ(all_runs().size(), 2u);
}

TEST_F(A2aCalls, EqualMessagesAtTheSameTimeStartOneRun) {
  model.takes(10s);
  std::string body = to_json(server::McpFixture::message("SendMessage", sent(about("m1", "calm"))));
  std::vector<http::Response> responses;
  std::function<void(http::Response)> keep = [&responses](http::Response response) {
    responses.push_back(std::move(response));
  };
  Spawned one = spawn<http::Response>(loop, api->answer(http_call(body)), keep);
  Spawned two = spawn<http::Response>(loop, api->answer(http_call(body)), keep);
  loop.run_until(clock.now() + 1min);
  ASSERT_EQ(responses.size(), 2u);
  EXPECT_EQ(responses[0].body, responses[1].body);
  EXPECT_THAT(responses[0].body, HasSubstr("TASK_STATE_COMPLETED"));
  EXPECT_EQ(all_runs().size(), 1u);
}

// An agent whose threads have several runs.
Graph<Mail> letters() {
  GraphBuilder<Mail> builder{"letters"};
  builder.node("write", write_mail);
  builder.edge(start, "write").edge("write", end);
  return std::move(builder).build().value();
}

struct A2aAgents : A2aFixture {
  Graph<Mail> other = letters();
  std::size_t queued = 0;

  A2aAgents() {
    runtime->add(other);
    service = make_local_service(LocalServiceParts{*store,
                                                   *store,
                                                   *runtime,
                                                   loop,
                                                   clock,
                                                   random,
                                                   {graph.definition(), other.definition()},
                                                   {},
                                                   {}});
    serve();
  }
  void queue_letters(std::size_t count) {
    for (std::size_t end_count = queued + count; queued < end_count; ++queued) {
      StartRun wanted;
      wanted.agent = "letters";
      wanted.input = Value(Value::Object());
      wanted.user = options.user;
      wanted.thread = ThreadId("letter " + std::to_string(queued));
      wanted.queued = true;
      Principal program;
      ASSERT_TRUE(block_on(loop, service->start(program, std::move(wanted))).ok());
    }
  }
};

TEST_F(A2aAgents, TheSameMessageFindsItsTaskWhateverTheLimitOfRunningRuns) {
  options.starts.at_work = 1;
  serve();
  model.takes(10s);
  auto send_to = [this](const std::string& id) {
    Value named = about(id, "calm");
    named.as_object()->emplace("contextId", "trip");
    return call("SendMessage", sent(std::move(named), at_once()), "letters");
  };
  Value first = result_of(send_to("m1"))["task"];
  EXPECT_EQ(state(first), "TASK_STATE_WORKING");
  Value again = result_of(send_to("m1"))["task"];
  EXPECT_EQ(again["id"], first["id"]);
  EXPECT_EQ(send_to("m2").status, 429);
  EXPECT_EQ(all_runs().size(), 1u);
}

TEST_F(A2aAgents, ListTasksFindsTheTasksOfAnAgentBehindThousandRunsOfAnotherOne) {
  std::string id = text(task_of_message(about("m1", "calm"))["id"]);
  queue_letters(limits::list_rows_max + 1);
  Value page = result_of(call("ListTasks", object("{}")));
  ASSERT_EQ(page["tasks"].as_array()->size(), 1u);
  EXPECT_EQ(text(page["tasks"].as_array()->at(0)["id"]), id);
  EXPECT_EQ(page["totalSize"], Value(1));
  EXPECT_EQ(text(page["nextPageToken"]), "");
  Value all = result_of(call("ListTasks", object("{}"), "letters"));
  EXPECT_EQ(all["totalSize"], Value(static_cast<std::int64_t>(limits::list_rows_max + 1)));
}

TEST_F(A2aAgents, AListOverTooManyRunsIsRefusedAndCanBeNarrowed) {
  a2a.listed_max = 3;
  serve();
  Value named = about("m1", "calm");
  named.as_object()->emplace("contextId", "trip");
  task_of_message(std::move(named));
  queue_letters(2);
  EXPECT_EQ(result_of(call("ListTasks", object("{}")))["totalSize"], Value(1));
  queue_letters(1);
  task_of_message(about("m2", "calm"));
  Answered refused = call("ListTasks", object("{}"));
  EXPECT_EQ(fault_of(refused), -32602);
  EXPECT_THAT(text(refused.body["error"]["message"]), HasSubstr("more than 3 runs"));
  for (const char* narrow : {R"({"contextId":"trip"})", R"({"status":"TASK_STATE_COMPLETED"})"}) {
    EXPECT_FALSE(result_of(call("ListTasks", object(narrow)))["tasks"].as_array()->empty());
  }
}

TEST_F(A2aCalls, AContextIsAThread) {
  Value named = about("m1", "calm");
  named.as_object()->emplace("contextId", "trip");
  Value task = task_of_message(named);
  EXPECT_EQ(text(task["contextId"]), "trip");
  EXPECT_EQ(all_runs().at(0).thread.text, "trip");
  named.as_object()->insert_or_assign("contextId", "a\nb");
  EXPECT_EQ(fault_of(call("SendMessage", sent(named))), -32602);
}

TEST_F(A2aCalls, HistoryLengthLimitsTheMessages) {
  std::string id = text(task_of_message(about("m1", "calm"))["id"]);
  Value all = task_now(id);
  ASSERT_TRUE(all["history"].as_array());
  EXPECT_EQ(all["history"].as_array()->size(), 1u);
  EXPECT_EQ(text(all["history"].as_array()->at(0)["role"]), "ROLE_AGENT");
  Value params = task_id(id);
  params.as_object()->emplace("historyLength", 0);
  EXPECT_FALSE(result_of(call("GetTask", params)).find("history"));
  params.as_object()->insert_or_assign("historyLength", -1);
  EXPECT_EQ(fault_of(call("GetTask", params)), -32602);
}

TEST_F(A2aCalls, ATaskIsCancelledAndThenNoLongerCancelable) {
  Value task = task_of_message(about("m1", "urgent"));
  std::string id = text(task["id"]);
  Value cancelled = result_of(call("CancelTask", task_id(id)));
  EXPECT_EQ(state(cancelled), "TASK_STATE_CANCELED");
  Answered again = call("CancelTask", task_id(id));
  EXPECT_EQ(fault_of(again), -32002);
  EXPECT_EQ(reason_of(again), "TASK_NOT_CANCELABLE");
  EXPECT_EQ(fault_of(call("SendMessage", sent(reply("m2", id, words("approve"))))), -32004);
  std::string done = text(task_of_message(about("m3", "calm"))["id"]);
  EXPECT_EQ(fault_of(call("CancelTask", task_id(done))), -32002);
}

TEST_F(A2aCalls, ARunThatFailsIsAFailedTaskWithTheReason) {
  model.then_always([](const ModelRequest&) -> Result<std::string> {
    return error(ErrorCode::invalid, "No such model.");
  });
  Value task = task_of_message(about("m1", "calm"));
  EXPECT_EQ(state(task), "TASK_STATE_FAILED");
  const Value& said = task["status"]["message"];
  EXPECT_EQ(text(said["role"]), "ROLE_AGENT");
  EXPECT_THAT(text(said["parts"].as_array()->at(0)["text"]), HasSubstr("has failed"));
  EXPECT_TRUE(task["artifacts"].as_array()->empty());
}

TEST_F(A2aCalls, ListTasksHasPagesInTheOrderOfTheLastChange) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    loop.run_until(clock.now() + 1s);
    ids.push_back(text(task_of_message(about("m" + std::to_string(i), "urgent"))["id"]));
  }
  loop.run_until(clock.now() + 1s);
  task_of_message(reply("r", ids[1], words("approve")));
  std::vector<std::string> expected{ids[1], ids[4], ids[3], ids[2], ids[0]};
  std::vector<std::string> found;
  std::string place;
  do {
    Value params = Value::object({{"pageSize", 2}, {"pageToken", place}});
    Value page = result_of(call("ListTasks", params));
    EXPECT_EQ(page["totalSize"], Value(5));
    EXPECT_EQ(page["pageSize"], Value(2));
    for (const Value& task : *page["tasks"].as_array()) {
      EXPECT_FALSE(task.find("artifacts"));
      found.push_back(text(task["id"]));
    }
    place = text(page["nextPageToken"]);
  } while (!place.empty());
  EXPECT_EQ(found, expected);
  Value waiting = Value::object({{"status", "TASK_STATE_INPUT_REQUIRED"}});
  EXPECT_EQ(result_of(call("ListTasks", waiting))["totalSize"], Value(4));
  Value rejected = Value::object({{"status", "TASK_STATE_REJECTED"}});
  EXPECT_EQ(result_of(call("ListTasks", rejected))["totalSize"], Value(0));
  Value recent = Value::object({{"statusTimestampAfter", to_text(clock.now())}});
  EXPECT_EQ(result_of(call("ListTasks", recent))["totalSize"], Value(1));
  for (const char* at : {"2026-11-21T12:00:00.123456789Z", "2026-11-21T13:00:00+01:00"}) {
    Value since = Value::object({{"statusTimestampAfter", at}});
    EXPECT_EQ(result_of(call("ListTasks", since))["totalSize"], Value(5)) << at;
  }
}

TEST_F(A2aCalls, MethodsThatAreNotSupportedHaveTheErrorsOfTheProtocol) {
  for (const char* method :
       {"CreateTaskPushNotificationConfig", "GetTaskPushNotificationConfig",
        "ListTaskPushNotificationConfigs", "DeleteTaskPushNotificationConfig"}) {
    Answered refused = call(method, task_id("x"));
    EXPECT_EQ(fault_of(refused), -32003) << method;
    EXPECT_EQ(reason_of(refused), "PUSH_NOTIFICATION_NOT_SUPPORTED");
  }
  Value configuration = object(R"({"taskPushNotificationConfig":{"url":"https://a.example"}})");
  EXPECT_EQ(fault_of(call("SendMessage", sent(about("m1", "calm"), configuration))), -32003);
  EXPECT_TRUE(all_runs().empty());
  EXPECT_EQ(fault_of(call("GetExtendedAgentCard", object("{}"))), -32004);
  EXPECT_EQ(fault_of(call("message/send", sent(about("m1", "calm")))), -32601);
  EXPECT_EQ(fault_of(call("tasks/get", task_id("x"))), -32601);
}

TEST_F(A2aCalls, CardsNameTheInterfacesOfTheAgents) {
  Answered one = get("/a2a/mail/.well-known/agent-card.json");
  EXPECT_EQ(one.status, 200);
  EXPECT_EQ(text(one.body["name"]), "mail");
  const Value& at = one.body["supportedInterfaces"].as_array()->at(0);
  EXPECT_EQ(text(at["url"]), "http://127.0.0.1:8123/a2a/mail");
  EXPECT_EQ(text(at["protocolBinding"]), "JSONRPC");
  EXPECT_EQ(text(at["protocolVersion"]), "1.0");
  EXPECT_EQ(one.body["capabilities"]["streaming"], Value(true));
  EXPECT_EQ(one.body["capabilities"]["pushNotifications"], Value(false));
  EXPECT_FALSE(one.body.find("securitySchemes"));
  EXPECT_EQ(to_json(get("/.well-known/agent-card.json").body), to_json(one.body));
  EXPECT_EQ(get("/a2a/none/.well-known/agent-card.json").status, 404);
  a2a.public_url = "https://agents.example.com";
  serve();
  Answered named = get("/.well-known/agent-card.json");
  EXPECT_EQ(text(named.body["supportedInterfaces"].as_array()->at(0)["url"]),
            "https://agents.example.com/a2a/mail");
}

TEST_F(A2aCalls, CardsCanBeKeptAndAreNotSentAgainUnchanged) {
  for (const char* path :
       {"/.well-known/agent-card.json", "/a2a/mail/.well-known/agent-card.json"}) {
    Answered card = get(path);
    EXPECT_EQ(card.header("Cache-Control"), "private, max-age=60") << path;
    std::string tag = card.header("ETag");
    ASSERT_FALSE(tag.empty());
    auto asked_with = [&](const std::string& known) {
      http::Request asked = request("GET", path);
      asked.headers.push_back({"If-None-Match", known});
      return send(std::move(asked));
    };
    Answered same = asked_with("W/" + tag);
    EXPECT_EQ(same.status, 304);
    EXPECT_TRUE(same.body.is_null());
    EXPECT_EQ(same.header("ETag"), tag);
    EXPECT_EQ(asked_with("\"another\"").status, 200);
    a2a.public_url = "https://agents.example.com";
    serve();
    EXPECT_EQ(asked_with(tag).status, 200) << "the card has changed";
    a2a.public_url.clear();
    serve();
  }
}

}  // namespace
}  // namespace belay::a2a
