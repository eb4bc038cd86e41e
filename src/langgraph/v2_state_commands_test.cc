// The commands of the streaming protocol about states: reads of subgraphs, forks, their errors.

#include "tests/support/agent_server_checkpoint_fixture.h"

namespace belay::langgraph {
namespace {

using server::text;

struct V2States : CheckpointFixture {
  Value command(const std::string& method, const std::string& params, const std::string& key = {}) {
    clock.move(std::chrono::seconds(1));
    std::string body = R"({"id":1,"method":")" + method + R"(","params":)" + params + "}";
    auto made = request("POST", thread + "/commands", body);
    if (!key.empty()) made.headers.push_back({"Idempotency-Key", key});
    auto answered = send(std::move(made));
    EXPECT_EQ(answered.status, 200) << to_json(answered.body);
    return answered.body;
  }
  std::string code_of(const std::string& method, const std::string& params) {
    return text(command(method, params)["error"]);
  }
  // Forks at the checkpoint, waits, and returns the id of the run.
  std::string fork(const std::string& checkpoint, const std::string& more = {}) {
    Value forked = command("state.fork", R"({"checkpoint_id":")" + checkpoint + "\"" + more + "}");
    EXPECT_EQ(text(forked["type"]), "success") << to_json(forked);
    EXPECT_EQ(text(forked["result"]["thread_id"]), kThreadA);
    std::string run = text(forked["result"]["run_id"]);
    joined(run);
    return run;
  }
  std::string newest() { return text(state()["checkpoint"]["checkpoint_id"]); }
  static std::string topic(const std::string& words) {
    return R"(,"input":{"topic":")" + words + "\"}";
  }
};

TEST_F(V2States, ForkWithAnInputFromAnOlderCheckpoint) {
  run_of(about("a"));
  std::string first = newest();
  run_of(about("b"));
  std::string run = fork(first, topic("c"));
  EXPECT_EQ(to_json(state()["values"]["log"]), R"(["a","c"])");
  EXPECT_EQ(status_of_run(run), "success");
}

TEST_F(V2States, ForkWithoutAnInputStartsTheNodesOfTheCheckpointAgain) {
  run_of(about("a"));
  run_of(about("b"));
  fork(checkpoint_before("write"));
  EXPECT_EQ(to_json(state()["values"]["log"]), R"(["a"])");
}

TEST_F(V2States, ForkAtTheNewestCheckpointWithTheConfigurationOfTheFork) {
  run_of(about("a"));
  fork(newest(), topic("settings") + R"(,"config":{"configurable":{"style":"ode"}})");
  EXPECT_NE(text(state()["values"]["verse"]).find(R"("style":"ode")"), std::string::npos);
  EXPECT_EQ(to_json(state()["values"]["log"]), R"(["a"])");
}

TEST_F(V2States, ForkAtAnInterruptReplacesTheRunThatWaitsThere) {
  std::string waiting = run_of(about("urgent"));
  std::string asked = newest();
  fork(asked, topic("calm"));
  EXPECT_EQ(text(state()["values"]["topic"]), "calm") << "it is not a reply";
  EXPECT_EQ(to_json(state()["next"]), "[]");
  EXPECT_EQ(size_of(get("/api/approvals").body["approvals"]), 0u);
  EXPECT_EQ(status_of_run(waiting), "interrupted");
}

TEST_F(V2States, ForkOnceWithOneKey) {
  run_of(about("a"));
  std::string first = newest();
  run_of(about("b"));
  std::string params = R"({"checkpoint_id":")" + first + "\"" + topic("c") + "}";
  Value once = command("state.fork", params, "k");
  joined(text(once["result"]["run_id"]));
  Value again = command("state.fork", params, "k");
  EXPECT_EQ(to_json(again), to_json(once));
  EXPECT_EQ(size_of(get(runs("?limit=100")).body), 3u);
}

TEST_F(V2States, ForkAgainWithOneKeyWhateverTheLimit) {
  run_of(about("a"));
  std::string first = newest();
  run_of(about("b"));
  options.starts.per_minute = 1;
  serve();
  std::string params = R"({"checkpoint_id":")" + first + "\"" + topic("c") + "}";
  Value forked = command("state.fork", params, "k");
  ASSERT_EQ(text(forked["type"]), "success") << to_json(forked);
  joined(text(forked["result"]["run_id"]));
  std::string other = R"({"id":1,"method":"state.fork","params":)" + params + "}";
  EXPECT_EQ(post(thread + "/commands", other).status, 429);
  Value again = command("state.fork", params, "k");
  EXPECT_EQ(to_json(again["result"]), to_json(forked["result"])) << to_json(again);
}

TEST_F(V2States, NameTheErrorsOfAForkAndWriteNothing) {
  std::string unknown = R"({"checkpoint_id":"1ef00000-0000-6000-8000-000000000000")";
  EXPECT_EQ(code_of("state.fork", unknown + "}"), "no_such_checkpoint") << "no run";
  run_of(about("a"));
  EXPECT_EQ(code_of("state.fork", unknown + "}"), "no_such_checkpoint");
  EXPECT_EQ(code_of("state.fork", "{}"), "invalid_argument");
  EXPECT_EQ(code_of("state.fork", R"({"checkpoint_id":"x"})"), "invalid_argument");
  EXPECT_EQ(code_of("state.fork", R"({"checkpoint_id":7})"), "invalid_argument");
  std::string at_start = R"({"assistant_id":"poet","input":{"topic":"b"},"config":)"
                         R"({"configurable":{"checkpoint_id":)"
                         R"("1ef00000-0000-6000-8000-000000000000"}}})";
  EXPECT_EQ(code_of("run.start", at_start), "no_such_checkpoint");
  EXPECT_EQ(code_of("state.get", R"({"namespace":["a:b"]})"), "no_such_namespace");
  EXPECT_EQ(code_of("state.get", R"({"namespace":"a"})"), "invalid_argument");
  EXPECT_EQ(code_of("state.listCheckpoints", R"({"namespace":["a:b"]})"), "not_supported");
  EXPECT_EQ(size_of(get(runs("?limit=100")).body), 1u);
}

TEST_F(V2States, RefuseAForkWhileARunIsInProgress) {
  run_of(about("a"));
  std::string first = newest();
  begin(sleeper());
  Value refused = command("state.fork", R"({"checkpoint_id":")" + first + "\"" + topic("c") + "}");
  EXPECT_EQ(text(refused["type"]), "error") << to_json(refused);
  EXPECT_EQ(size_of(get(runs("?limit=100")).body), 2u);
}

TEST_F(V2States, OfOtherUsersCannotBeForked) {
  run_of(about("a"));
  std::string body = R"({"id":1,"method":"state.fork","params":{"checkpoint_id":")" + newest() +
                     "\"" + topic("c") + "}}";
  add_key("ada", Permission::run);
  add_key("reader", Permission::read);
  EXPECT_EQ(text(as("ada", "POST", thread + "/commands", body).body["error"]),
            "no_such_checkpoint");
  EXPECT_EQ(text(as("reader", "POST", thread + "/commands", body).body["error"]),
            "permission_denied");
}

TEST_F(V2States, ShowTheStateOfASubgraphInProgress) {
  begin(R"({"assistant_id":"shell","input":{"topic":"rain","nap":60000}})");
  Value whole;
  std::string space;
  for (int turns = 0; turns < 50 && space.empty(); ++turns) {
    loop.run_until(clock.now() + std::chrono::milliseconds(20));
    whole = get(thread + "/state?subgraphs=true").body;
    const Value::Array* tasks = whole["tasks"].as_array();
    if (!tasks || tasks->empty()) continue;
    space = text(tasks->front()["state"]["checkpoint"]["checkpoint_ns"]);
  }
  ASSERT_FALSE(space.empty()) << to_json(whole);
  Value inside =
      command("state.get", R"({"namespace":[")" + space + R"("],"keys":["topic","nap"]})");
  EXPECT_EQ(to_json(inside["result"]["values"]), R"({"nap":60000,"topic":"rain"})");
  EXPECT_EQ(text(inside["result"]["checkpoint"]["ns"]), space);
}

TEST_F(V2States, NameTheNodesOfCheckpoints) {
  run_of(about("a"));
  Value list = command("state.listCheckpoints", "{}")["result"]["checkpoints"];
  std::set<std::string> nodes;
  for (const Value& each : *list.as_array()) nodes.insert(text(each["node_name"]));
  EXPECT_TRUE(nodes.contains("write")) << to_json(list);
}

}  // namespace
}  // namespace belay::langgraph
