// Threads of the Agent Server API that are deleted through another door.

#include "langgraph/records.h"
#include "tests/support/agent_server_run_fixture.h"

namespace belay::langgraph {
namespace {

using server::text;

struct AgentServerDeletions : RunFixture {
  const std::string thread = std::string("/threads/") + kThreadA;

  void delete_elsewhere() {
    EXPECT_EQ(call("DELETE", "/api" + thread).status, 200);
    clock.move(std::chrono::seconds(1));
  }
  Value count() { return post("/threads/count", "{}").body; }
  std::size_t thread_records() {
    RecordFilter all;
    all.collection = ThreadRecord::collection;
    all.limit = 10;
    UserId user("local");
    return block_on(loop, service->find_records(Principal(), std::move(user), std::move(all)))
        .value()
        .size();
  }
  Answered keyed(const std::string& key, const std::string& body) {
    auto sent = request("POST", runs(), body);
    sent.headers.push_back({"Idempotency-Key", key});
    return send(std::move(sent));
  }
  Answered make_thread(const std::string& more = {}) {
    return post("/threads", std::string(R"({"thread_id":")") + kThreadA + "\"" + more + "}");
  }
};

TEST_F(AgentServerDeletions, LeaveNoThreadThatHadARun) {
  joined(begin(about("rain")));
  EXPECT_EQ(get(thread).status, 200);
  delete_elsewhere();
  EXPECT_EQ(get(thread).status, 404);
  EXPECT_EQ(get(runs()).status, 404);
  EXPECT_EQ(post(runs(), about("rain")).status, 404);
  EXPECT_EQ(thread_records(), 0u);
  EXPECT_EQ(make_thread().status, 200) << "the name is free";
  EXPECT_EQ(count(), Value(1));
}

TEST_F(AgentServerDeletions, AreNotFoundBySearches) {
  joined(begin(about("rain")));
  EXPECT_EQ(count(), Value(1));
  delete_elsewhere();
  EXPECT_EQ(count(), Value(0));
  EXPECT_EQ(size_of(post("/threads/search", "{}").body), 0u);
  EXPECT_EQ(thread_records(), 0u);
}

TEST_F(AgentServerDeletions, ByRetentionLeaveNoThreadEither) {
  auto changed = call("PATCH", thread, R"({"ttl":1,"metadata":{"a":1}})");
  ASSERT_EQ(changed.status, 200) << to_json(changed.body);
  joined(begin(about("rain")));
  clock.move(std::chrono::minutes(2));
  block_on(loop, service->prune(Principal(), RetentionPolicy())).value();
  EXPECT_EQ(count(), Value(0));
  EXPECT_EQ(get(thread).status, 404);
}

TEST_F(AgentServerDeletions, OfARunKeepTheExpiryOfItsThread) {
  ASSERT_EQ(call("PATCH", thread, R"({"ttl":60})").status, 200);
  std::string run = begin(about("rain"));
  joined(run);
  auto expiry = [this] {
    Value listed = get("/api/threads").body["threads"];
    return text(listed.as_array()->front()["expiresAt"]);
  };
  std::string before = expiry();
  ASSERT_NE(before, "null");
  EXPECT_EQ(call("DELETE", runs("/" + run)).status, 204);
  joined(begin(about("sun")));
  EXPECT_EQ(expiry(), before);
}

TEST_F(AgentServerDeletions, LeaveTheThreadWhoseRunWasDeletedBefore) {
  std::string run = begin(about("rain"));
  joined(run);
  EXPECT_EQ(call("DELETE", runs("/" + run)).status, 204);
  EXPECT_EQ(get(thread).status, 200) << "it exists without a run";
  EXPECT_EQ(count(), Value(1));
  joined(begin(about("sun")));
  delete_elsewhere();
  EXPECT_EQ(get(thread).status, 404);
}

TEST_F(AgentServerDeletions, AreNotTheRollbackOfTheOnlyRun) {
  begin(sleeper());
  std::string second = begin(about("next", R"(,"multitask_strategy":"rollback")"));
  EXPECT_EQ(text(joined(second)["verse"]), "An öde to next");
  EXPECT_EQ(get(thread).status, 200);
  delete_elsewhere();
  EXPECT_EQ(get(thread).status, 404);
}

TEST_F(AgentServerDeletions, LeaveNothingToALaterThreadOfTheName) {
  EXPECT_EQ(call("DELETE", thread).status, 204);
  EXPECT_EQ(make_thread(R"(,"config":{"configurable":{"tone":"old"}})").status, 200);
  joined(begin(about("rain")));
  Value before = get(thread).body;
  EXPECT_EQ(text(before["config"]["configurable"]["tone"]), "old");
  delete_elsewhere();
  std::string run = begin(about("settings", R"(,"if_not_exists":"create")"));
  EXPECT_EQ(text(joined(run)["verse"]).find("tone"), std::string::npos);
  Value after = get(thread).body;
  EXPECT_EQ(to_json(after["config"]), "{}");
  EXPECT_NE(after["created_at"], before["created_at"]);
}

TEST_F(AgentServerDeletions, LeaveNoRunToTheNextOneOfItsKey) {
  auto started = [&](const char* number) {
    std::string more = std::string(R"(,"if_not_exists":"create","metadata":{"number":)") + number;
    return keyed("start", about("rain", more + "}"));
  };
  Answered first = started("1");
  ASSERT_EQ(first.status, 200) << to_json(first.body);
  joined(text(first.body["run_id"]));
  delete_elsewhere();
  Answered second = started("2");
  ASSERT_EQ(second.status, 200) << to_json(second.body);
  EXPECT_EQ(second.body["run_id"], first.body["run_id"]);
  EXPECT_EQ(second.body["metadata"]["number"], Value(2));
  EXPECT_NE(second.body["created_at"], first.body["created_at"]);
  joined(text(second.body["run_id"]));
  EXPECT_EQ(started("3").body["metadata"]["number"], Value(2)) << "the same request";
  Value states = get(thread + "/history").body;
  ASSERT_GE(size_of(states), 1u) << to_json(states);
  EXPECT_EQ(states.as_array()->front()["metadata"]["number"], Value(2));
}

TEST_F(AgentServerDeletions, LeaveNoResumesToTheNextRunOfTheKey) {
  const std::string urgent = about("urgent", R"(,"if_not_exists":"create")");
  joined(text(keyed("start", urgent).body["run_id"]));
  Answered old = keyed("answer", resume("true"));
  ASSERT_EQ(old.status, 200) << to_json(old.body);
  joined(text(old.body["run_id"]));
  EXPECT_EQ(size_of(get(runs()).body), 2u);
  delete_elsewhere();
  joined(text(keyed("start", urgent).body["run_id"]));
  EXPECT_EQ(get(runs("/" + text(old.body["run_id"]))).status, 404);
  Answered other = keyed("other", resume("true"));
  ASSERT_EQ(other.status, 200) << to_json(other.body);
  EXPECT_EQ(to_json(joined(text(other.body["run_id"]))["log"]), R"(["urgent","printed"])");
  EXPECT_EQ(get(runs("/" + text(old.body["run_id"]))).status, 404);
  EXPECT_EQ(size_of(get(runs()).body), 2u) << "the run and its resume";
}

TEST_F(AgentServerDeletions, LeaveTheKeyOfAResumeFree) {
  std::string first = begin(about("urgent"));
  joined(first);
  joined(text(keyed("answer", resume("true")).body["run_id"]));
  delete_elsewhere();
  std::string second = begin(about("urgent", R"(,"if_not_exists":"create")"));
  joined(second);
  Answered again = keyed("answer", resume("true"));
  ASSERT_EQ(again.status, 200) << to_json(again.body);
  EXPECT_EQ(to_json(joined(text(again.body["run_id"]))["log"]), R"(["urgent","printed"])");
  EXPECT_EQ(keyed("answer", resume("true")).body["run_id"], again.body["run_id"]);
  EXPECT_EQ(size_of(get(runs()).body), 2u);
}

}  // namespace
}  // namespace belay::langgraph
