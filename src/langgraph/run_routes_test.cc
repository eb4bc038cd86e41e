// Runs of the Agent Server API that exist: lists, cancellation, deletion, and who can reach them.

#include "tests/support/agent_server_run_fixture.h"

namespace belay::langgraph {
namespace {

using server::text;

struct AgentServerRunRoutes : RunFixture {};

TEST_F(AgentServerRunRoutes, ListAPageNewestFirst) {
  std::vector<std::string> begun;
  for (const char* topic : {"a", "b", "c"}) {
    begun.push_back(begin(about(topic)));
    joined(begun.back());
  }
  auto page = get(runs("?limit=2&select=run_id"));
  EXPECT_EQ(to_json(page.body),
            R"([{"run_id":")" + begun[2] + R"("},{"run_id":")" + begun[1] + R"("}])");
  EXPECT_EQ(page.header("X-Pagination-Total"), "3");
  auto rest = get(runs("?limit=2&offset=2"));
  ASSERT_EQ(size_of(rest.body), 1u);
  EXPECT_EQ(text(rest.body.as_array()->front()["run_id"]), begun[0]);
  EXPECT_EQ(size_of(get(runs("?status=success")).body), 3u);
  EXPECT_EQ(size_of(get(runs("?status=running")).body), 0u);
  for (const char* query : {"?status=perhaps", "?limit=-1", "?limit=x", "?offset=-1"}) {
    EXPECT_EQ(get(runs(query)).status, 422) << query;
  }
}

TEST_F(AgentServerRunRoutes, ShowRunsOfOtherDoors) {
  begin_urgent("letters");
  auto listed = get("/threads/letters/runs");
  ASSERT_EQ(size_of(listed.body), 1u) << to_json(listed.body);
  const Value& run = listed.body.as_array()->front();
  EXPECT_EQ(text(run["status"]), "success");
  Value asked = streamed(get("/threads/letters/runs/" + text(run["run_id"]) + "/join"));
  EXPECT_EQ(size_of(asked["__interrupt__"]), 1u) << to_json(asked);
}

TEST_F(AgentServerRunRoutes, CancelARun) {
  std::string run = begin(sleeper());
  EXPECT_EQ(post(runs("/" + run + "/cancel?action=perhaps")).status, 422);
  EXPECT_EQ(status_of_run(run), "running");
  EXPECT_EQ(post(runs("/" + run + "/cancel")).status, 202);
  EXPECT_EQ(status_of_run(run), "interrupted");
  EXPECT_EQ(post(runs("/" + run + "/cancel?wait=1")).status, 204) << "it has ended";
  EXPECT_EQ(text(get(std::string("/threads/") + kThreadA).body["status"]), "idle");
  Events events = rejoined(runs("/" + run + "/stream"), "-1");
  ASSERT_FALSE(events.empty());
  EXPECT_TRUE(named(events, "error").empty()) << lines_of(events);
}

TEST_F(AgentServerRunRoutes, RollBackTheOnlyRunOfAThread) {
  std::string run = begin(sleeper());
  EXPECT_EQ(post(runs("/" + run + "/cancel?wait=1&action=rollback")).status, 204);
  EXPECT_EQ(get(runs("/" + run)).status, 404);
  auto thread = get(std::string("/threads/") + kThreadA);
  EXPECT_EQ(thread.status, 200) << "the thread stays";
  EXPECT_EQ(text(thread.body["status"]), "idle");
  joined(begin(about("a")));
  std::string second = begin(sleeper());
  EXPECT_EQ(post(runs("/" + second + "/cancel?action=rollback")).status, 409);
  EXPECT_EQ(status_of_run(second), "running") << "nothing was changed";
}

TEST_F(AgentServerRunRoutes, CancelSeveralRuns) {
  std::string run = begin(sleeper());
  std::string named = std::string(R"({"thread_id":")") + kThreadA + R"(","run_ids":[")";
  EXPECT_EQ(post("/runs/cancel", named + run + "\",\"" + kThreadB + "\"]}").status, 404);
  EXPECT_EQ(status_of_run(run), "running") << "nothing was changed";
  EXPECT_EQ(post("/runs/cancel", named + run + "\"]}").status, 204);
  EXPECT_EQ(status_of_run(run), "interrupted");
  std::string other = begin(sleeper());
  EXPECT_EQ(post("/runs/cancel", R"({"status":"pending"})").status, 204);
  EXPECT_EQ(status_of_run(other), "running");
  EXPECT_EQ(post("/runs/cancel", R"({"status":"all"})").status, 204);
  EXPECT_EQ(status_of_run(other), "interrupted");
  for (const char* body : {"{}", R"({"status":"perhaps"})", R"({"run_ids":[]})",
                           R"({"thread_id":"x","run_ids":[1]})"}) {
    EXPECT_EQ(post("/runs/cancel", body).status, 422) << body;
  }
}

TEST_F(AgentServerRunRoutes, RollBackAllRunsInAStatusAlthoughOneIsOneOfSeveral) {
  const std::string thread = std::string("/threads/") + kThreadB;
  post("/threads", std::string(R"({"thread_id":")") + kThreadB + "\"}");
  joined(begin(about("a")));
  std::string only = begin(sleeper(), thread + "/runs");
  std::string second = begin(sleeper());
  clock.move(std::chrono::seconds(1));
  std::string stateless = text(post("/runs", sleeper()).body["thread_id"]);
  EXPECT_EQ(post("/runs/cancel?action=rollback", R"({"status":"all"})").status, 409);
  EXPECT_EQ(status_of_run(second), "interrupted");
  EXPECT_EQ(get(thread + "/runs/" + only).status, 404);
  EXPECT_EQ(get(thread).status, 200) << "the thread stays";
  EXPECT_EQ(get("/threads/" + stateless).status, 404) << "that of a stateless run does not";
  EXPECT_EQ(post("/runs/cancel?action=rollback", R"({"status":"all"})").status, 204);
  EXPECT_EQ(size_of(get(runs()).body), 2u);
  std::string third = begin(sleeper());
  std::string named = std::string(R"({"thread_id":")") + kThreadA + R"(","run_ids":[")" + third;
  EXPECT_EQ(post("/runs/cancel?action=rollback", named + "\"]}").status, 409);
  EXPECT_EQ(status_of_run(third), "running") << "nothing was changed";
}

TEST_F(AgentServerRunRoutes, CancelRunsThatWaitForATimerWithTheRunningOnes) {
  std::string run = begin(R"({"assistant_id":"stop"})");
  loop.run_until(clock.now() + std::chrono::seconds(1));
  ASSERT_EQ(status_of_run(run), "running");
  EXPECT_EQ(post("/runs/cancel", R"({"status":"pending"})").status, 204);
  EXPECT_EQ(status_of_run(run), "running");
  EXPECT_EQ(post("/runs/cancel", R"({"status":"running"})").status, 204);
  EXPECT_EQ(status_of_run(run), "interrupted");
  const std::string thread = std::string("/threads/") + kThreadB;
  post("/threads", std::string(R"({"thread_id":")") + kThreadB + "\"}");
  begin(about("urgent"), thread + "/runs");
  loop.run_until(clock.now() + std::chrono::seconds(1));
  EXPECT_EQ(post("/runs/cancel", R"({"status":"all"})").status, 204);
  EXPECT_EQ(text(get(thread).body["status"]), "interrupted") << "it waits for a person";
}

TEST_F(AgentServerRunRoutes, DeleteARunThatHasEnded) {
  std::string run = begin(sleeper());
  EXPECT_EQ(call("DELETE", runs("/" + run)).status, 409);
  joined(run);
  EXPECT_EQ(call("DELETE", runs("/" + run)).status, 204);
  EXPECT_EQ(get(runs("/" + run)).status, 404);
  EXPECT_EQ(size_of(get(runs()).body), 0u);
  joined(begin(about("a")));
  std::string second = begin(about("b"));
  joined(second);
  EXPECT_EQ(call("DELETE", runs("/" + second)).status, 409) << "one of two";
}

TEST_F(AgentServerRunRoutes, UnknownOnesAreNotFound) {
  std::string run = begin(about("a"));
  joined(run);
  std::string elsewhere = std::string("/threads/") + kThreadB + "/runs/" + run;
  for (const std::string& path :
       {runs(std::string("/") + kThreadB), runs("/x"), elsewhere, elsewhere + "/join",
        elsewhere + "/stream", runs("/x/join"), runs("/x/stream"), std::string("/runs/x/stream"),
        std::string("/threads/") + kThreadB + "/runs"}) {
    EXPECT_EQ(get(path).status, 404) << path;
  }
  EXPECT_EQ(post(elsewhere + "/cancel").status, 404);
  EXPECT_EQ(call("DELETE", elsewhere).status, 404);
  EXPECT_EQ(call("DELETE", runs("/x")).status, 404);
}

TEST_F(AgentServerRunRoutes, ThoseOfOneUserDoNotExistForAnother) {
  add_key("ada", Permission::run);
  add_key("bob", Permission::run);
  add_key("eve", Permission::read);
  add_key("dan", Permission::decide);
  std::string thread = std::string("/threads/") + kThreadB;
  std::string new_thread = std::string(R"({"thread_id":")") + kThreadB + "\"}";
  ASSERT_EQ(as("ada", "POST", "/threads", new_thread).status, 200);
  auto begun = as("ada", "POST", thread + "/runs", about("urgent"));
  ASSERT_EQ(begun.status, 200) << to_json(begun.body);
  loop.run_until(clock.now() + std::chrono::seconds(5));
  std::string id = text(begun.body["run_id"]), run = thread + "/runs/" + id;
  EXPECT_EQ(as("ada", "GET", run).status, 200);
  for (const std::string& path :
       {run, run + "/join", run + "/stream", "/runs/" + id + "/stream", thread + "/runs"}) {
    EXPECT_EQ(as("bob", "GET", path).status, 404) << path;
  }
  for (const char* path : {"/runs", "/runs/wait", "/runs/stream"}) {
    EXPECT_EQ(as("bob", "POST", thread + path, about("x")).status, 404) << path;
    EXPECT_EQ(as("eve", "POST", thread + path, about("x")).status, 403) << path;
  }
  EXPECT_EQ(as("bob", "POST", run + "/cancel", "{}").status, 404);
  EXPECT_EQ(as("bob", "DELETE", run).status, 404);
  EXPECT_EQ(as("eve", "POST", "/runs/cancel", R"({"status":"all"})").status, 403);
  EXPECT_EQ(as("bob", "POST", "/runs/cancel", R"({"status":"all"})").status, 204);
  EXPECT_EQ(as("ada", "POST", thread + "/runs", resume("true")).status, 403)
      << "a decision requires the permission decide";
  EXPECT_EQ(as("dan", "POST", thread + "/runs", resume("true")).status, 404);
  EXPECT_EQ(text(as("ada", "GET", thread).body["status"]), "interrupted");
}

TEST_F(AgentServerRunRoutes, ARepeatedStartFindsItsRunWhateverTheLimit) {
  options.starts.per_minute = 1;
  serve();
  auto begun = [this](const char* key) {
    auto sent = request("POST", runs(), about("x"));
    sent.headers.push_back({"Idempotency-Key", key});
    return send(std::move(sent));
  };
  Answered first = begun("k");
  ASSERT_EQ(first.status, 200) << to_json(first.body);
  joined(text(first.body["run_id"]));
  clock.move(std::chrono::milliseconds(1));
  EXPECT_EQ(begun("other").status, 429);
  Answered again = begun("k");
  EXPECT_EQ(again.status, 200) << to_json(again.body);
  EXPECT_EQ(text(again.body["run_id"]), text(first.body["run_id"]));
  EXPECT_EQ(size_of(get(runs()).body), 1u);
}

}  // namespace
}  // namespace belay::langgraph
