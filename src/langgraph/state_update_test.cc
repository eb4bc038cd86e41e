// Tests changes of the state of a thread by its client.

#include <gtest/gtest.h>

#include "tests/support/agent_server_run_fixture.h"

namespace belay::langgraph {
namespace {

using server::text;

struct StateUpdates : RunFixture {
  const std::string state = std::string("/threads/") + kThreadA + "/state";

  // A creation whose updates set the topics; one of them is refused if its topic is "-".
  static std::string creation(const char* thread, const std::vector<std::string>& topics) {
    std::string supersteps;
    for (const std::string& topic : topics) {
      supersteps += supersteps.empty() ? "" : ",";
      supersteps += R"({"updates":[{"as_node":"__start__","values":{")";
      supersteps += topic == "-" ? "nothing" : "topic";
      supersteps += R"(":")" + topic + "\"}}]}";
    }
    return R"({"if_exists":"do_nothing","metadata":{"graph_id":"poet"},"thread_id":")" +
           std::string(thread) + R"(","supersteps":[)" + supersteps + "]}";
  }
  Answered update(const std::string& body) {
    clock.move(std::chrono::seconds(1));
    return post(state, body);
  }
};

TEST_F(StateUpdates, OfAnEndedThreadAreItsNewestCheckpoint) {
  joined(begin(about("a")));
  Value before = get(state).body;
  auto changed = update(R"({"values":{"verse":"mine","log":[]}})");
  ASSERT_EQ(changed.status, 200) << to_json(changed.body);
  Value after = get(state).body;
  EXPECT_EQ(after["values"]["verse"], Value("mine"));
  EXPECT_EQ(after["values"]["topic"], Value("a"));
  EXPECT_EQ(to_json(after["values"]["log"]), "[]") << "a default value is a change as well";
  EXPECT_EQ(to_json(after["next"]), "[]");
  EXPECT_EQ(after["metadata"]["source"], Value("update"));
  EXPECT_EQ(after["checkpoint"]["checkpoint_id"], changed.body["checkpoint"]["checkpoint_id"]);
  EXPECT_EQ(after["parent_checkpoint"], before["checkpoint"]);
}

TEST_F(StateUpdates, AsANodeWaitForARunWithoutAnInput) {
  joined(begin(about("a")));
  auto changed = update(R"({"values":{"topic":"b"},"as_node":"__start__"})");
  ASSERT_EQ(changed.status, 200) << to_json(changed.body);
  EXPECT_EQ(to_json(get(state).body["next"]), R"(["write"])");
  EXPECT_EQ(get(state).body["values"]["verse"], Value("An öde to a")) << "no node is executed";
  joined(begin(R"({"assistant_id":"poet","input":null})"));
  EXPECT_EQ(get(state).body["values"]["verse"], Value("An öde to b"));
  EXPECT_EQ(update(R"({"as_node":"__end__"})").status, 200);
  EXPECT_EQ(to_json(get(state).body["next"]), "[]");
}

TEST_F(StateUpdates, RequestAnOpenApprovalAgainWithTheChangedValues) {
  joined(begin(about("urgent a")));
  Value asked = get(state).body["interrupts"];
  ASSERT_EQ(size_of(asked), 1u);
  ASSERT_EQ(update(R"({"values":{"verse":"mine"}})").status, 200);
  Value again = get(state).body["interrupts"];
  ASSERT_EQ(size_of(again), 1u) << to_json(get(state).body);
  EXPECT_NE(to_json(again), to_json(asked));
  EXPECT_NE(to_json(again).find("mine"), std::string::npos) << to_json(again);
  std::string old_reply = "{\"" + text((*asked.as_array())[0]["id"]) + "\":true}";
  EXPECT_EQ(post(runs(), resume(old_reply)).status, 409) << "its person has not seen the change";
  joined(begin(resume("true")));
  EXPECT_EQ(to_json(get(state).body["values"]["log"]), R"(["urgent a","printed"])");
}

TEST_F(StateUpdates, NeverSkipAnApproval) {
  joined(begin(about("urgent a")));
  Value before = get(state).body;
  for (const char* node : {"review", "print"}) {
    auto refused = update(R"({"values":{"verse":"x"},"as_node":")" + std::string(node) + "\"}");
    EXPECT_EQ(refused.status, 403) << node;
  }
  EXPECT_EQ(get(state).body, before);
}

TEST_F(StateUpdates, AreRefusedForABusyThreadAndFaultyValues) {
  EXPECT_EQ(update(R"({"values":{}})").status, 400) << "no graph";
  joined(begin(about("a")));
  for (const char* body :
       {R"({"values":7})", R"({"values":{"nothing":1}})", R"({"values":{"nap":"x"}})",
        R"({"as_node":"nowhere"})", R"({"as_node":7})", R"({"checkpoint_id":"x","values":{}})"}) {
    EXPECT_EQ(update(body).status, 422) << body;
  }
  begin(sleeper());
  EXPECT_EQ(update(R"({"values":{"topic":"x"}})").status, 409);
}

TEST_F(StateUpdates, AreMadeByTheCreationOfAThread) {
  std::string made = R"({"thread_id":")" + std::string(kThreadB) +
                     R"(","metadata":{"graph_id":"poet"},"supersteps":[
      {"updates":[{"values":{"topic":"a"},"as_node":"__input__"}]},
      {"updates":[{"values":{"topic":"b","verse":"old"},"as_node":"__start__"}]}]})";
  auto created = post("/threads", made);
  ASSERT_EQ(created.status, 200) << to_json(created.body);
  std::string thread = std::string("/threads/") + kThreadB;
  Value there = get(thread + "/state").body;
  EXPECT_EQ(there["values"]["topic"], Value("b"));
  EXPECT_EQ(there["values"]["verse"], Value("old"));
  EXPECT_EQ(to_json(there["next"]), R"(["write"])");
}

TEST_F(StateUpdates, OfACreationThatAreRefusedLeaveNoThread) {
  std::string thread = std::string("/threads/") + kThreadB;
  auto body = [](const std::string& values) {
    return R"({"thread_id":")" + std::string(kThreadB) +
           R"(","metadata":{"graph_id":"poet"},"supersteps":[{"updates":[{"values":)" + values +
           R"(,"as_node":"__start__"}]}]})";
  };
  EXPECT_EQ(post("/threads", body(R"({"nothing":1})")).status, 422);
  EXPECT_EQ(get(thread).status, 404);
  auto created = post("/threads", body(R"({"topic":"b"})"));
  ASSERT_EQ(created.status, 200) << to_json(created.body);
  EXPECT_EQ(get(thread + "/state").body["values"]["topic"], Value("b"));
}

TEST_F(StateUpdates, OfACreationAreMadeOnAnExistingThreadWithoutARun) {
  std::string made = R"({"thread_id":")" + std::string(kThreadA) +
                     R"(","if_exists":"do_nothing","metadata":{"graph_id":"poet"},"supersteps":[
      {"updates":[{"values":{"topic":"b"},"as_node":"__start__"}]}]})";
  ASSERT_EQ(post("/threads", made).status, 200);
  Value there = get(state).body;
  EXPECT_EQ(there["values"]["topic"], Value("b"));
  ASSERT_EQ(post("/threads", made).status, 200);
  EXPECT_EQ(get(state).body, there) << "it has a run now";
}

TEST_F(StateUpdates, OfCreationsAtTheSameTimeAreMadeOnce) {
  for (const char* thread : {kThreadA, kThreadB}) {
    std::string made = creation(thread, {"a", "b"});
    std::vector<int> statuses;
    std::vector<Spawned> tasks;
    for (int i = 0; i < 3; ++i) {
      tasks.push_back(spawn<http::Response>(
          loop, api->answer(request("POST", "/threads", made)),
          [&](const http::Response& response) { statuses.push_back(response.status); }));
    }
    loop.run_until(clock.now() + std::chrono::seconds(5));
    EXPECT_EQ(statuses, (std::vector<int>{200, 200, 200})) << thread;
    std::string path = std::string("/threads/") + thread;
    EXPECT_EQ(size_of(get(path + "/runs").body), 2u) << thread;
    EXPECT_EQ(get(path + "/state").body["values"]["topic"], Value("b")) << thread;
  }
}

TEST_F(StateUpdates, OfACreationAreContinuedByTheNextOne) {
  EXPECT_EQ(post("/threads", creation(kThreadA, {"a", "-"})).status, 422);
  EXPECT_EQ(get(state).body["values"]["topic"], Value("a")) << "as after a crash";
  EXPECT_EQ(post("/threads", creation(kThreadA, {"c", "d"})).status, 200);
  EXPECT_EQ(get(state).body["values"]["topic"], Value("a")) << "it is another creation";
  auto continued = post("/threads", creation(kThreadA, {"a", "b"}));
  ASSERT_EQ(continued.status, 200) << to_json(continued.body);
  Value there = get(state).body;
  EXPECT_EQ(there["values"]["topic"], Value("b"));
  EXPECT_EQ(size_of(get(runs()).body), 2u);
  for (const std::vector<std::string>& topics :
       std::vector<std::vector<std::string>>{{"a", "b"}, {"a"}, {"c", "d"}, {"a", "b", "c"}}) {
    EXPECT_EQ(post("/threads", creation(kThreadA, topics)).status, 200);
    EXPECT_EQ(get(state).body, there) << "another creation changes nothing";
  }
}

}  // namespace
}  // namespace belay::langgraph
