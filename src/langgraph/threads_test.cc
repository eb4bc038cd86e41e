#include "langgraph/threads.h"

#include "langgraph/assistants.h"
#include "tests/support/agent_server_fixture.h"

namespace belay::langgraph {
namespace {

using server::text;

struct Threads : AgentServerFixture {
  static std::string path(const char* id) { return std::string("/threads/") + id; }
  static std::string with_id(const char* id, const std::string& more = {}) {
    return std::string(R"({"thread_id":")") + id + "\"" + more + "}";
  }
};

TEST_F(Threads, OneExistsBeforeItsFirstRun) {
  auto made = post("/threads", with_id(kThreadA, R"(,"metadata":{"graph_id":"mail"})"));
  ASSERT_EQ(made.status, 200) << to_json(made.body);
  EXPECT_EQ(text(made.body["thread_id"]), kThreadA);
  EXPECT_EQ(text(made.body["status"]), "idle");
  EXPECT_TRUE(made.body["values"].is_null());
  EXPECT_EQ(to_json(made.body["interrupts"]), "{}");
  EXPECT_EQ(get(path(kThreadA)).body, made.body);
  EXPECT_EQ(post("/threads", with_id(kThreadA)).status, 409);
  EXPECT_EQ(post("/threads", with_id(kThreadA, R"(,"if_exists":"do_nothing")")).body, made.body);
  EXPECT_TRUE(uuid_from(text(post("/threads", "{}").body["thread_id"])));
}

TEST_F(Threads, AThreadOfAnotherDoorIsShownWithItsStateAndItsInterrupts) {
  begin_urgent("letters");
  auto thread = get("/threads/letters");
  ASSERT_EQ(thread.status, 200) << to_json(thread.body);
  EXPECT_EQ(text(thread.body["status"]), "interrupted");
  EXPECT_EQ(text(thread.body["metadata"]["graph_id"]), "mail");
  EXPECT_EQ(text(thread.body["metadata"]["assistant_id"]), system_assistant_id("mail"));
  EXPECT_EQ(text(thread.body["values"]["topic"]), "urgent");
  ASSERT_EQ(thread.body["interrupts"].as_object()->size(), 1u);
  const Value& interrupt = thread.body["interrupts"].as_object()->begin()->second;
  EXPECT_EQ(text(interrupt.as_array()->front()["id"]).size(), 32u);
  EXPECT_EQ(text(interrupt.as_array()->front()["value"]["question"]), "Send this mail?");
  auto found =
      post("/threads/search", R"({"status":"interrupted","metadata":{"graph_id":"mail"}})");
  ASSERT_EQ(size_of(found.body), 1u);
  EXPECT_EQ(found.body.as_array()->front(), thread.body);
  EXPECT_EQ(call("DELETE", "/threads/letters").status, 409) << "its run has not ended";
}

TEST_F(Threads, MetadataMovesToTheThreadWithTheFirstRun) {
  post("/threads", with_id(kThreadA, R"(,"metadata":{"owner":"x","drop":1})"));
  begin_urgent(kThreadA);
  auto thread = get(path(kThreadA));
  EXPECT_EQ(text(thread.body["metadata"]["owner"]), "x");
  auto changed = call("PATCH", path(kThreadA), R"({"metadata":{"owner":"y","drop":null}})");
  ASSERT_EQ(changed.status, 200) << to_json(changed.body);
  EXPECT_EQ(text(changed.body["metadata"]["owner"]), "y");
  EXPECT_EQ(changed.body["metadata"].find("drop"), nullptr);
  EXPECT_EQ(get(std::string("/api/threads/") + kThreadA).body["thread"]["metadata"]["owner"],
            Value("y"));
}

TEST_F(Threads, ChangesAreMergedBeforeTheFirstRunAsWell) {
  post("/threads", with_id(kThreadA, R"(,"metadata":{"a":1})"));
  auto sent = request("PATCH", path(kThreadA), R"({"metadata":{"b":2}})");
  sent.headers.push_back({"Prefer", "return=minimal"});
  EXPECT_EQ(send(std::move(sent)).status, 204);
  EXPECT_EQ(to_json(get(path(kThreadA)).body["metadata"]), R"({"a":1,"b":2})");
  EXPECT_EQ(call("PATCH", path(kThreadB), "{}").status, 404);
}

TEST_F(Threads, AThreadWithoutARunExpires) {
  post("/threads", with_id(kThreadA, R"(,"ttl":{"ttl":1,"strategy":"delete"})"));
  EXPECT_EQ(get(path(kThreadA)).status, 200);
  clock.move(std::chrono::minutes(2));
  EXPECT_EQ(get(path(kThreadA)).status, 404);
}

TEST_F(Threads, HostileBodiesCreateNothing) {
  for (const char* body :
       {R"({"thread_id":"not-a-uuid"})", R"({"metadata":[]})", R"({"ttl":0})", R"({"ttl":"x"})",
        R"({"ttl":{"ttl":5,"strategy":"keep_latest"}})", R"({"supersteps":[{"updates":[]}]})",
        R"({"supersteps":{}})", R"({"supersteps":[{"updates":[{"values":{}}]}]})",
        R"({"if_exists":"perhaps"})", "[]"}) {
    EXPECT_EQ(post("/threads", body).status, 422) << body;
  }
  std::string large = R"({"metadata":{"x":")" + std::string(70'000, 'x') + "\"}}";
  EXPECT_EQ(post("/threads", large).status, 422);
  EXPECT_EQ(post("/threads/count", "{}").body, Value(0));
}

TEST_F(Threads, SearchesPageOverBothKinds) {
  post("/threads", with_id(kThreadA));
  clock.move(std::chrono::seconds(1));
  begin_urgent("letters");
  clock.move(std::chrono::seconds(1));
  post("/threads", with_id(kThreadB));
  auto first = post("/threads/search", R"({"limit":2,"select":["thread_id"]})");
  EXPECT_EQ(to_json(first.body),
            std::string(R"([{"thread_id":")") + kThreadB + R"("},{"thread_id":"letters"}])");
  EXPECT_EQ(first.header("X-Pagination-Total"), "3");
  EXPECT_EQ(first.header("X-Pagination-Next"), "2");
  EXPECT_EQ(size_of(post("/threads/search", R"({"limit":2,"offset":2})").body), 1u);
  EXPECT_EQ(size_of(post("/threads/search", R"({"values":{"topic":"urgent"}})").body), 1u);
  EXPECT_EQ(size_of(post("/threads/search", R"({"ids":["letters"]})").body), 1u);
  EXPECT_EQ(post("/threads/count", R"({"status":"idle"})").body, Value(2));
  EXPECT_EQ(post("/threads/search", R"({"status":"x"})").status, 422);
}

TEST_F(Threads, SearchesExtractValues) {
  post("/threads", with_id(kThreadA, R"(,"metadata":{"tags":["a",{"b":"c"}]})"));
  clock.move(std::chrono::seconds(1));
  begin_urgent("letters");
  auto found =
      post("/threads/search", R"({"select":["thread_id"],"extract":{"topic":"values.topic",)"
                              R"("last":"metadata.tags[-1].b","first":"metadata.tags[0]",)"
                              R"("before":"metadata.tags[-3]","behind":"metadata.tags[2]"}})");
  ASSERT_EQ(found.status, 200) << to_json(found.body);
  ASSERT_EQ(size_of(found.body), 2u);
  EXPECT_EQ(to_json((*found.body.as_array())[0]),
            R"({"extracted":{"before":null,"behind":null,"first":null,"last":null,)"
            R"("topic":"urgent"},"thread_id":"letters"})");
  EXPECT_EQ(to_json((*found.body.as_array())[1]),
            R"({"extracted":{"before":null,"behind":null,"first":"a","last":"c",)"
            R"("topic":null},"thread_id":")" +
                std::string(kThreadA) + "\"}");
  auto whole = post("/threads/search", R"({"ids":["letters"],"extract":{"a":"thread_id"}})");
  EXPECT_EQ(text((*whole.body.as_array())[0]["extracted"]["a"]), "letters");
  EXPECT_EQ(text((*whole.body.as_array())[0]["status"]), "interrupted");
  for (const char* path : {"", ".", "a.", ".a", "a..b", "[0]", "a[", "a[]", "a[x]", "a[0", "a]",
                           "a[0]b", "a[1.5]", "a[99999999999999999999]"}) {
    EXPECT_EQ(post("/threads/search", R"({"extract":{"a":")" + std::string(path) + "\"}}").status,
              422)
        << path;
  }
  EXPECT_EQ(post("/threads/search", R"({"extract":{"a":7}})").status, 422);
  EXPECT_EQ(post("/threads/search", R"({"extract":["a"]})").status, 422);
  std::string many;
  for (char c = 'a'; c < 'a' + 11; ++c)
    many += std::string(many.empty() ? "" : ",") + "\"" + c + "\":\"a\"";
  EXPECT_EQ(post("/threads/search", R"({"extract":{)" + many + "}}").status, 422);
}

TEST_F(Threads, ACopyIsAnotherThread) {
  post("/threads", with_id(kThreadA, R"(,"metadata":{"a":1})"));
  auto copied = post(path(kThreadA) + "/copy");
  ASSERT_EQ(copied.status, 200) << to_json(copied.body);
  EXPECT_NE(text(copied.body["thread_id"]), kThreadA);
  EXPECT_EQ(to_json(copied.body["metadata"]), R"({"a":1})");
  begin_urgent("letters");
  auto of_run = post("/threads/letters/copy");
  ASSERT_EQ(of_run.status, 200) << to_json(of_run.body);
  EXPECT_EQ(text(of_run.body["status"]), "interrupted");
  EXPECT_EQ(of_run.body["values"]["topic"], Value("urgent"));
  EXPECT_EQ(post(path(kThreadB) + "/copy").status, 409);
}

TEST_F(Threads, ACopyHasTheConfigurationAndTheExpiryOfItsThread) {
  const std::string config = R"({"configurable":{"a":1}})";
  post("/threads", with_id(kThreadA, R"(,"ttl":5,"config":)" + config));
  auto before_run = post(path(kThreadA) + "/copy");
  EXPECT_EQ(to_json(before_run.body["config"]), config);
  begin_urgent(kThreadA);
  for (int i = 0; i < 2; ++i) {
    auto sent = request("POST", path(kThreadA) + "/copy", "{}");
    sent.headers.push_back({"Idempotency-Key", "k"});
    auto copied = send(std::move(sent));
    ASSERT_EQ(copied.status, 200) << to_json(copied.body);
    EXPECT_EQ(text(copied.body["status"]), "interrupted");
    EXPECT_EQ(to_json(copied.body["config"]), config);
    Value there = get("/api/threads/" + text(copied.body["thread_id"])).body["thread"];
    EXPECT_TRUE(there["expiresAt"].as_string()) << to_json(there);
  }
  clock.move(std::chrono::minutes(6));
  EXPECT_EQ(get("/threads/" + text(before_run.body["thread_id"])).status, 404);
}

TEST_F(Threads, ACopyThatIsRequestedTwiceWithOneKeyIsOne) {
  post("/threads", with_id(kThreadA));
  begin_urgent("letters");
  for (const std::string& thread : {std::string(kThreadA), std::string("letters")}) {
    auto copied = [&] {
      auto sent = request("POST", "/threads/" + thread + "/copy", "{}");
      sent.headers.push_back({"Idempotency-Key", "copy-of-" + thread});
      return send(std::move(sent));
    };
    auto first = copied(), again = copied();
    ASSERT_EQ(first.status, 200) << to_json(first.body);
    EXPECT_EQ(first.body["thread_id"], again.body["thread_id"]);
    EXPECT_EQ(first.body["metadata"], again.body["metadata"]);
    EXPECT_NE(text(first.body["thread_id"]), thread);
  }
}

TEST_F(Threads, DeletedOnesAreGone) {
  post("/threads", with_id(kThreadA));
  EXPECT_EQ(call("DELETE", path(kThreadA)).status, 204);
  EXPECT_EQ(call("DELETE", path(kThreadA)).status, 404);
  post("/threads", with_id(kThreadB));
  auto pruned = post("/threads/prune",
                     std::string(R"({"thread_ids":[")") + kThreadA + "\",\"" + kThreadB + "\"]}");
  EXPECT_EQ(to_json(pruned.body), R"({"pruned_count":1})");
  EXPECT_EQ(post("/threads/prune", "{}").status, 422);
  EXPECT_EQ(post("/threads/prune", R"({"thread_ids":[],"strategy":"x"})").status, 422);
}

TEST_F(Threads, ThoseOfOneUserDoNotExistForAnother) {
  add_key("ada", Permission::run);
  add_key("bob", Permission::run);
  add_key("eve", Permission::read);
  ASSERT_EQ(as("ada", "POST", "/threads", with_id(kThreadA)).status, 200);
  EXPECT_EQ(as("ada", "GET", path(kThreadA)).status, 200);
  for (const char* method : {"GET", "DELETE"}) {
    EXPECT_EQ(as("bob", method, path(kThreadA)).status, 404) << method;
  }
  EXPECT_EQ(as("bob", "PATCH", path(kThreadA), "{}").status, 404);
  EXPECT_EQ(as("bob", "POST", "/threads/count", "{}").body, Value(0));
  auto pruned =
      as("bob", "POST", "/threads/prune", std::string(R"({"thread_ids":[")") + kThreadA + "\"]}");
  EXPECT_EQ(to_json(pruned.body), R"({"pruned_count":0})");
  EXPECT_EQ(as("eve", "POST", "/threads", "{}").status, 403);
  EXPECT_EQ(as("eve", "POST", "/threads/search", "{}").status, 200);
  EXPECT_EQ(as("ada", "GET", path(kThreadA)).status, 200);
}

}  // namespace
}  // namespace belay::langgraph
