// Requests about one thread at two servers of the Agent Server API: each commit of the slow one
// takes a second, and the other one answers meanwhile.

#include "tests/support/agent_server_run_fixture.h"
#include "tests/support/slow_store.h"

namespace belay::langgraph {
namespace {

using namespace std::chrono_literals;
using server::text;

struct ThreadRaces : RunFixture {
  const std::string thread = std::string("/threads/") + kThreadA;
  SlowStore slow{*store};
  std::unique_ptr<Runtime> slow_runtime =
      Runtime::open(RuntimeParts{slow, loop, clock, random, model}).value();
  std::unique_ptr<Service> slow_service;
  std::unique_ptr<server::Api> slow_api;

  ThreadRaces() {
    slow_runtime->add(poet);
    LocalServiceParts parts{slow, slow, *slow_runtime, loop, clock, random, {poet.definition()},
                            {},   {}};
    slow_service = make_local_service(std::move(parts));
    std::swap(service, slow_service);
    std::swap(api, slow_api);
    serve();
    std::swap(service, slow_service);
    std::swap(api, slow_api);
    slow.commits_take = 1s;
  }

  // Sends the request to the slow server, and calls `meanwhile` when it has taken this long.
  // Returns the answer.
  http::Response slowly(http::Request sent, std::chrono::milliseconds after,
                        const std::function<void()>& meanwhile) {
    std::optional<http::Response> answer;
    Spawned task =
        spawn<http::Response>(loop, slow_api->answer(std::move(sent)),
                              [&answer](http::Response made) { answer = std::move(made); });
    loop.run_until(clock.now() + after);
    EXPECT_FALSE(answer) << "the slow server was not slow enough";
    meanwhile();
    loop.run_until(clock.now() + 1min);
    return answer ? *std::move(answer) : http::Response{};
  }
  std::function<void()> deletion() {
    return [this] { EXPECT_EQ(call("DELETE", thread).status, 204); };
  }
  void expect_deleted() {
    EXPECT_EQ(get(thread).status, 404);
    EXPECT_EQ(size_of(post("/threads/search", "{}").body), 0u);
    EXPECT_TRUE(all_runs().empty());
  }
  http::Request start(const std::string& more = {}) {
    return request("POST", runs(), about("rain", more));
  }
};

TEST_F(ThreadRaces, AFirstRunDoesNotUndoTheDeletionOfItsThread) {
  EXPECT_EQ(slowly(start(), 500ms, deletion()).status, 404);
  expect_deleted();
}

TEST_F(ThreadRaces, AFirstRunThatIsQueuedDoesNotUndoTheDeletionEither) {
  EXPECT_EQ(slowly(start(R"(,"after_seconds":5)"), 500ms, deletion()).status, 404);
  expect_deleted();
}

TEST_F(ThreadRaces, AFirstChangeOfTheStateDoesNotUndoTheDeletion) {
  ASSERT_EQ(call("PATCH", thread, R"({"metadata":{"graph_id":"poet"}})").status, 200);
  auto change = request("POST", thread + "/state", R"({"values":{"topic":"sun"}})");
  EXPECT_EQ(slowly(std::move(change), 500ms, deletion()).status, 404);
  expect_deleted();
}

TEST_F(ThreadRaces, ACreationWithUpdatesDoesNotUndoTheDeletion) {
  call("DELETE", thread);
  auto creation =
      request("POST", "/threads",
              R"({"thread_id":")" + std::string(kThreadA) +
                  R"(","metadata":{"graph_id":"poet"},"supersteps":[{"updates":[{"values":
              {"topic":"b"},"as_node":"__start__"}]}]})");
  EXPECT_EQ(slowly(std::move(creation), 1500ms, deletion()).status, 404);
  expect_deleted();
}

TEST_F(ThreadRaces, ARunThatCreatesItsThreadStartsItAgain) {
  EXPECT_EQ(slowly(start(R"(,"if_not_exists":"create")"), 500ms, deletion()).status, 200);
  EXPECT_EQ(get(thread).status, 200);
  EXPECT_EQ(all_runs().size(), 1u);
}

// Its commits: the record of the thread, the end of the run, its deletion, the new run. Before the
// second one, the thread cannot be deleted.
TEST_F(ThreadRaces, ARollbackDoesNotUndoTheDeletion) {
  begin(sleeper());
  for (auto after : {2500ms, 3500ms}) {
    auto answer = slowly(start(R"(,"multitask_strategy":"rollback")"), after, deletion());
    EXPECT_EQ(answer.status, 404) << after.count() << ": " << answer.body;
    expect_deleted();
    post("/threads", std::string(R"({"thread_id":")") + kThreadA + "\"}");
    begin(sleeper());
  }
}

TEST_F(ThreadRaces, AFirstRunStartsOnTheThreadThatWasChangedMeanwhile) {
  auto change = [this] {
    EXPECT_EQ(call("PATCH", thread, R"({"metadata":{"mood":"calm"}})").status, 200);
  };
  EXPECT_EQ(slowly(start(), 500ms, change).status, 200);
  Value there = get(thread).body;
  EXPECT_EQ(there["metadata"]["mood"], Value("calm"));
  EXPECT_EQ(there["values"]["verse"], Value("An öde to rain"));
}

TEST_F(ThreadRaces, TwoFirstRunsFollowEachOther) {
  auto other = [this] {
    EXPECT_EQ(post(runs(), about("sun", R"(,"multitask_strategy":"enqueue")")).status, 200);
  };
  EXPECT_EQ(slowly(start(R"(,"multitask_strategy":"enqueue")"), 500ms, other).status, 200);
  EXPECT_EQ(size_of(get(runs()).body), 2u);
  EXPECT_EQ(text(get(thread).body["values"]["verse"]), "An öde to rain");
}

TEST_F(ThreadRaces, AFirstRunIsRefusedIfAnotherOneWasFaster) {
  auto other = [this] { begin(sleeper()); };
  auto answer = slowly(start(R"(,"multitask_strategy":"reject")"), 500ms, other);
  EXPECT_EQ(answer.status, 409) << answer.body;
  EXPECT_EQ(size_of(get(runs()).body), 1u);
}

TEST_F(ThreadRaces, AFirstChangeOfTheStateFollowsAFasterOne) {
  ASSERT_EQ(call("PATCH", thread, R"({"metadata":{"graph_id":"poet"}})").status, 200);
  auto change = [](const char* member) {
    return request("POST", std::string("/threads/") + kThreadA + "/state",
                   std::string(R"({"values":{")") + member + R"(":"x"}})");
  };
  auto other = [&] { EXPECT_EQ(send(change("verse")).status, 200); };
  EXPECT_EQ(slowly(change("topic"), 500ms, other).status, 200);
  Value values = get(thread + "/state").body["values"];
  EXPECT_EQ(values["topic"], Value("x"));
  EXPECT_EQ(values["verse"], Value("x"));
}

TEST_F(ThreadRaces, ADeletionAlsoDeletesTheRunThatWasStartedMeanwhile) {
  auto other = [this] { joined(text(post(runs(), about("sun")).body["run_id"])); };
  auto answer = slowly(request("DELETE", thread), 500ms, other);
  EXPECT_EQ(answer.status, 204) << answer.body;
  expect_deleted();
}

TEST_F(ThreadRaces, ADeletionLeavesTheThreadThatWasCreatedAgain) {
  auto again = [this] {
    EXPECT_EQ(call("DELETE", thread).status, 204);
    clock.move(1ms);
    post("/threads", std::string(R"({"thread_id":")") + kThreadA + "\"}");
  };
  EXPECT_EQ(slowly(request("DELETE", thread), 500ms, again).status, 204);
  EXPECT_EQ(get(thread).status, 200);
}

TEST_F(ThreadRaces, ARollbackKeepsAThreadThatIsChangedMeanwhile) {
  begin(sleeper());
  for (auto after : {500ms, 1500ms, 2500ms, 3500ms}) {
    std::string mood = std::to_string(after.count());
    auto change = [&] {
      EXPECT_EQ(call("PATCH", thread, R"({"metadata":{"mood":")" + mood + R"("}})").status, 200);
    };
    auto answer = slowly(start(R"(,"multitask_strategy":"rollback")"), after, change);
    EXPECT_EQ(answer.status, 200) << mood << ": " << answer.body;
    EXPECT_EQ(text(get(thread).body["metadata"]["mood"]), mood);
    EXPECT_EQ(text(get(thread).body["values"]["verse"]), "An öde to rain") << mood;
    begin(sleeper());
  }
}

TEST_F(ThreadRaces, OfTwoRollbacksAtTheSameTimeOneFollowsTheOther) {
  begin(sleeper());
  for (auto after : {500ms, 1500ms, 2500ms, 3500ms}) {
    auto other = [&] {
      auto answer = post(runs(), about("sun", R"(,"multitask_strategy":"rollback")"));
      EXPECT_EQ(answer.status, 200) << after.count() << ": " << to_json(answer.body);
    };
    auto answer = slowly(start(R"(,"multitask_strategy":"rollback")"), after, other);
    EXPECT_EQ(answer.status, 200) << after.count() << ": " << answer.body;
    // The later one can sleep as long as the first run, whose state it then continues.
    loop.run_until(clock.now() + 2min);
    EXPECT_EQ(text(get(thread).body["status"]), "idle") << after.count();
    begin(sleeper());
  }
}

// The deletion of a run keeps its thread: first the record, then the deletion.
TEST_F(ThreadRaces, ADeletionOfARunDoesNotUndoTheDeletionOfItsThread) {
  for (auto after : {500ms, 1500ms}) {
    std::string run = begin(about("rain", R"(,"if_not_exists":"create")"));
    joined(run);
    auto answer = slowly(request("DELETE", runs("/" + run)), after, deletion());
    EXPECT_TRUE(answer.status == 404 || answer.status == 204) << answer.body;
    expect_deleted();
  }
}

TEST_F(ThreadRaces, ADeletionOfARunKeepsAThreadThatIsChangedMeanwhile) {
  for (auto after : {500ms, 1500ms}) {
    std::string run = begin(about("rain"));
    joined(run);
    auto change = [&] {
      EXPECT_EQ(call("PATCH", thread, R"({"metadata":{"mood":"calm"},"ttl":60})").status, 200);
    };
    EXPECT_EQ(slowly(request("DELETE", runs("/" + run)), after, change).status, 204);
    EXPECT_EQ(get(thread).body["metadata"]["mood"], Value("calm"));
    EXPECT_TRUE(all_runs().empty());
  }
}

TEST_F(ThreadRaces, TwoDeletionsOfARunKeepItsThread) {
  for (auto after : {500ms, 1500ms}) {
    std::string run = begin(about("rain"));
    joined(run);
    auto other = [&] { EXPECT_EQ(call("DELETE", runs("/" + run)).status, 204); };
    auto answer = slowly(request("DELETE", runs("/" + run)), after, other);
    EXPECT_TRUE(answer.status == 404 || answer.status == 204) << answer.body;
    EXPECT_EQ(get(thread).status, 200) << after.count();
  }
}

TEST_F(ThreadRaces, ADeletionOfACopyIsNotUndoneByThatOfItsRun) {
  call("DELETE", thread);
  post("/threads", std::string(R"({"thread_id":")") + kThreadA +
                       R"(","config":{"configurable":{"tone":"soft"}}})");
  joined(begin(about("rain")));
  clock.move(5s);
  std::string copied = text(post(thread + "/copy").body["thread_id"]);
  std::string copy = "/threads/" + copied;
  Value listed = get(copy + "/runs").body;
  std::string run = text(listed.as_array()->front()["run_id"]);
  auto other = [&] { EXPECT_EQ(call("DELETE", copy + "/runs/" + run).status, 204); };
  EXPECT_EQ(slowly(request("DELETE", copy), 500ms, other).status, 204);
  EXPECT_EQ(get(copy).status, 404);
}

TEST_F(ThreadRaces, ADeletionThatIsRefusedLeavesTheRecordOfTheRun) {
  std::string run;
  auto other = [&] {
    auto begun = post(runs(), sleeper(R"(,"metadata":{"number":7})"));
    run = text(begun.body["run_id"]);
  };
  EXPECT_EQ(slowly(request("DELETE", thread), 500ms, other).status, 409);
  EXPECT_EQ(get(runs("/" + run)).body["metadata"]["number"], Value(7));
}

}  // namespace
}  // namespace belay::langgraph
