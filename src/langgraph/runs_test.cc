// Runs of the Agent Server API: starts, results, strategies and resumes.

#include "langgraph/assistants.h"
#include "tests/support/agent_server_run_fixture.h"

namespace belay::langgraph {
namespace {

using server::text;

struct AgentServerRuns : RunFixture {};

TEST_F(AgentServerRuns, HaveADocumentFromTheirStartOn) {
  clock.move(std::chrono::seconds(1));
  auto begun = post(runs(), sleeper(R"(,"metadata":{"a":1},"config":{"tags":["x"]})"));
  ASSERT_EQ(begun.status, 200) << to_json(begun.body);
  std::string run = text(begun.body["run_id"]);
  EXPECT_EQ(begun.header("Content-Location"), runs("/" + run));
  EXPECT_EQ(text(begun.body["thread_id"]), kThreadA);
  EXPECT_EQ(text(begun.body["assistant_id"]), system_assistant_id("poet"));
  EXPECT_EQ(text(begun.body["status"]), "running");
  EXPECT_EQ(to_json(begun.body["metadata"]), R"({"a":1})");
  EXPECT_EQ(to_json(begun.body["kwargs"]["config"]), R"({"tags":["x"]})");
  EXPECT_EQ(text(begun.body["multitask_strategy"]), "reject");
  EXPECT_EQ(get(runs("/" + run)).body, begun.body);
  EXPECT_EQ(text(get(std::string("/threads/") + kThreadA).body["metadata"]["graph_id"]), "poet");
  EXPECT_EQ(text(joined(run)["verse"]), "An öde to sleep");
  EXPECT_EQ(status_of_run(run), "success");
}

TEST_F(AgentServerRuns, AnswerWithTheValuesOfTheThread) {
  auto answered = post(runs("/wait"), about("rain"));
  EXPECT_EQ(answered.status, 200);
  EXPECT_EQ(answered.header("Content-Type"), "application/json");
  EXPECT_TRUE(answered.header("Content-Location").starts_with(runs("/")));
  Value values = streamed(answered);
  EXPECT_EQ(text(values["verse"]), "An öde to rain") << to_json(values);
  auto second = streamed(post(runs("/wait"), about("sun")));
  EXPECT_EQ(to_json(second["log"]), R"(["rain","sun"])");
}

TEST_F(AgentServerRuns, KeepTheConnectionOfAWaitAlive) {
  auto answered = post(runs("/wait"), sleeper());
  ASSERT_TRUE(answered.stream);
  std::string whole = read_all(*answered.stream);
  EXPECT_TRUE(whole.starts_with("\n\n\n")) << whole.substr(0, 20);
  EXPECT_TRUE(parse_json(whole).ok());
}

TEST_F(AgentServerRuns, AnswerAFailureWithItsError) {
  Value failed = streamed(post(runs("/wait"), about("bad")));
  EXPECT_EQ(text(failed["__error__"]["error"]), "invalid") << to_json(failed);
  EXPECT_NE(text(failed["__error__"]["message"]).find("No rhyme."), std::string::npos);
  Value of_class = streamed(post(runs("/wait"), about("worse")));
  EXPECT_EQ(text(of_class["__error__"]["error"]), "RhymeError") << to_json(of_class);
  EXPECT_EQ(text(of_class["__error__"]["message"]), "No rhyme.");
  Value limited = streamed(post("/runs/wait", about("x", R"(,"config":{"recursion_limit":1})")));
  EXPECT_EQ(text(limited["__error__"]["error"]), "GraphRecursionError") << to_json(limited);
  auto listed = get(runs("?status=error"));
  EXPECT_EQ(size_of(listed.body), 2u);
}

TEST_F(AgentServerRuns, EndAtAnInterruptAndContinueWithAResume) {
  std::string first = begin(about("urgent"));
  Value asked = joined(first);
  ASSERT_EQ(size_of(asked["__interrupt__"]), 1u) << to_json(asked);
  std::string id = text(asked["__interrupt__"].as_array()->front()["id"]);
  EXPECT_EQ(status_of_run(first), "success");
  EXPECT_EQ(text(get(std::string("/threads/") + kThreadA).body["status"]), "interrupted");
  std::string second = begin(resume(R"({")" + id + R"(":true})"));
  EXPECT_NE(second, first);
  EXPECT_EQ(to_json(joined(second)["log"]), R"(["urgent","printed"])");
  EXPECT_EQ(status_of_run(first), "success");
  EXPECT_EQ(status_of_run(second), "success");
  EXPECT_EQ(joined(first), asked) << "the first run still ends at its interrupt";
  auto listed = get(runs());
  ASSERT_EQ(size_of(listed.body), 2u) << to_json(listed.body);
  EXPECT_EQ(text(listed.body.as_array()->front()["run_id"]), second);
}

TEST_F(AgentServerRuns, AResumeThatMatchesNoInterruptChangesNothing) {
  EXPECT_EQ(post(runs(), resume("true")).status, 409);
  std::string id = urgent_interrupt();
  auto before = get(std::string("/threads/") + kThreadA).body;
  EXPECT_EQ(post(runs(), resume(R"({"11111111111111111111111111111111":true})")).status, 409);
  EXPECT_EQ(post(runs(), resume(R"("perhaps")")).status, 422);
  EXPECT_EQ(post(runs("/wait"), resume("true", R"(,"input":{"topic":"x"})")).status, 422);
  EXPECT_EQ(get(std::string("/threads/") + kThreadA).body, before);
  EXPECT_EQ(size_of(get(runs()).body), 1u);
  EXPECT_EQ(to_json(streamed(post(runs("/wait"), resume("false")))["log"]), R"(["urgent"])");
}

TEST_F(AgentServerRuns, AResumeAnswersSeveralInterrupts) {
  Value asked = streamed(post(runs("/wait"), R"({"assistant_id":"pair"})"));
  ASSERT_EQ(size_of(asked["__interrupt__"]), 2u) << to_json(asked);
  const Value::Array& interrupts = *asked["__interrupt__"].as_array();
  std::string a = text(interrupts[0]["id"]), b = text(interrupts[1]["id"]);
  std::string of_pair = R"({"assistant_id":"pair","command":{"resume":)";
  EXPECT_EQ(post(runs(), of_pair + "true}}").status, 422) << "which one?";
  Value rest = streamed(post(runs("/wait"), of_pair + R"({")" + a + R"(":true}}})"));
  ASSERT_EQ(size_of(rest["__interrupt__"]), 1u) << to_json(rest);
  EXPECT_EQ(text(rest["__interrupt__"].as_array()->front()["id"]), b);
  Value end = streamed(post(runs("/wait"), of_pair + R"({")" + b + R"(":true}}})"));
  EXPECT_TRUE(end["log"].as_array()) << to_json(end);
}

TEST_F(AgentServerRuns, AResumeOfBothInterruptsIsOneRun) {
  Value asked = streamed(post(runs("/wait"), R"({"assistant_id":"pair"})"));
  ASSERT_EQ(size_of(asked["__interrupt__"]), 2u) << to_json(asked);
  std::string replies;
  for (const Value& each : *asked["__interrupt__"].as_array()) {
    replies += (replies.empty() ? "\"" : ",\"") + text(each["id"]) + "\":true";
  }
  Value end = streamed(
      post(runs("/wait"), R"({"assistant_id":"pair","command":{"resume":{)" + replies + "}}}"));
  EXPECT_TRUE(end["log"].as_array()) << to_json(end);
}

TEST_F(AgentServerRuns, AResumeWithoutARoleDecidesNothing) {
  Value asked = streamed(post(runs("/wait"), R"({"assistant_id":"guard"})"));
  ASSERT_EQ(size_of(asked["__interrupt__"]), 2u) << to_json(asked);
  std::string replies;
  for (const Value& each : *asked["__interrupt__"].as_array()) {
    replies += (replies.empty() ? "\"" : ",\"") + text(each["id"]) + "\":true";
  }
  auto refused =
      post(runs("/wait"), R"({"assistant_id":"guard","command":{"resume":{)" + replies + "}}}");
  EXPECT_EQ(refused.status, 403) << to_json(refused.body);
  auto thread = get(std::string("/threads/") + kThreadA);
  EXPECT_EQ(thread.body["interrupts"].as_object()->size(), 2u) << "both are still open";
}

TEST_F(AgentServerRuns, RejectAStartOnABusyThread) {
  std::string first = begin(sleeper());
  clock.move(std::chrono::seconds(1));
  auto refused = post(runs(), about("x"));
  EXPECT_EQ(refused.status, 409) << to_json(refused.body);
  EXPECT_TRUE(text(refused.body["message"]).starts_with("Thread is already running a task."));
  EXPECT_EQ(size_of(get(runs()).body), 1u);
  joined(first);
  urgent_interrupt();
  clock.move(std::chrono::seconds(1));
  EXPECT_EQ(post(runs(), about("x")).status, 409) << "the interrupt is still open";
}

TEST_F(AgentServerRuns, EnqueueAStartOnABusyThread) {
  std::string first = begin(sleeper());
  std::string second = begin(about("next", R"(,"multitask_strategy":"enqueue")"));
  EXPECT_EQ(status_of_run(second), "pending");
  EXPECT_EQ(size_of(get(runs("?status=pending")).body), 1u);
  joined(first);
  EXPECT_EQ(block_on(loop, runtime->resume(default_tenant(), ThreadId(kThreadA)))->row.status,
            RunStatus::completed);
  EXPECT_EQ(to_json(joined(second)["log"]), R"(["sleep","next"])");
}

TEST_F(AgentServerRuns, InterruptTheRunOfABusyThread) {
  std::string first = begin(sleeper());
  std::string second = begin(about("next", R"(,"multitask_strategy":"interrupt")"));
  EXPECT_EQ(status_of_run(first), "interrupted");
  EXPECT_EQ(to_json(joined(second)["log"]), R"(["next"])");
}

TEST_F(AgentServerRuns, RollBackTheRunOfABusyThread) {
  std::string first = begin(sleeper());
  std::string second = begin(about("next", R"(,"multitask_strategy":"rollback")"));
  EXPECT_EQ(get(runs("/" + first)).status, 404);
  EXPECT_EQ(to_json(joined(second)["log"]), R"(["next"])");
  EXPECT_EQ(size_of(get(runs()).body), 1u);
}

TEST_F(AgentServerRuns, CreateTheirThreadOnlyIfAsked) {
  std::string path = std::string("/threads/") + kThreadB + "/runs";
  EXPECT_EQ(post(path, about("x")).status, 404);
  EXPECT_EQ(get(std::string("/threads/") + kThreadB).status, 404);
  begin(about("x", R"(,"if_not_exists":"create")"), path);
  EXPECT_EQ(get(std::string("/threads/") + kThreadB).status, 200);
  EXPECT_EQ(post("/threads/letters/runs", about("x", R"(,"if_not_exists":"create")")).status, 422);
}

TEST_F(AgentServerRuns, WithoutAThreadLeaveNothing) {
  Value values = streamed(post("/runs/wait", about("x")));
  EXPECT_EQ(text(values["verse"]), "An öde to x");
  auto begun = post("/runs", about("y"));
  ASSERT_EQ(begun.status, 200) << to_json(begun.body);
  std::string run = text(begun.body["run_id"]), thread = text(begun.body["thread_id"]);
  EXPECT_EQ(begun.header("Content-Location"), "/runs/" + run);
  loop.run_until(clock.now() + std::chrono::seconds(5));
  EXPECT_EQ(get("/threads/" + thread).status, 404);
  EXPECT_EQ(post("/threads/count").body, Value(1)) << "only the thread of the fixture";
  auto kept = post("/runs", about("z", R"(,"on_completion":"keep")"));
  loop.run_until(clock.now() + std::chrono::seconds(5));
  EXPECT_EQ(get("/threads/" + text(kept.body["thread_id"])).status, 200);
}

TEST_F(AgentServerRuns, OfABatchAreStartedTogetherOrNotAtAll) {
  auto begun = post("/runs/batch", "[" + about("a") + "," + about("b") + "]");
  ASSERT_EQ(begun.status, 200) << to_json(begun.body);
  EXPECT_EQ(size_of(begun.body), 2u);
  loop.run_until(clock.now() + std::chrono::seconds(5));
  std::size_t before = all_runs().size();
  EXPECT_EQ(post("/runs/batch", "[" + about("a") + R"(,{"assistant_id":"none"}])").status, 404);
  for (const char* body : {"[]", "{}", "[1]", R"([{"assistant_id":""}])"}) {
    EXPECT_EQ(post("/runs/batch", body).status, 422) << body;
  }
  EXPECT_EQ(all_runs().size(), before);
}

TEST_F(AgentServerRuns, StartLater) {
  std::string run = begin(about("late", R"(,"after_seconds":60)"));
  EXPECT_EQ(status_of_run(run), "pending");
  EXPECT_EQ(post(runs(), about("x", R"(,"after_seconds":-1)")).status, 422);
}

TEST_F(AgentServerRuns, WithTheSameKeyAreOne) {
  auto begun = [&] {
    auto sent = request("POST", runs(), about("x"));
    sent.headers.push_back({"Idempotency-Key", "k"});
    return text(send(std::move(sent)).body["run_id"]);
  };
  std::string run = begun();
  EXPECT_EQ(begun(), run);
  joined(run);
  EXPECT_EQ(begun(), run);
  EXPECT_EQ(size_of(get(runs()).body), 1u);
}

TEST_F(AgentServerRuns, ThatStartAtTheSameTimeHaveEachTheirOwnId) {
  begin(sleeper());
  std::vector<std::unique_ptr<http::Response>> responses;
  std::vector<Spawned> tasks;
  for (int i = 0; i < 4; ++i) {
    std::string name = std::to_string(i);
    auto sent = request(
        "POST", runs(),
        about("rain", R"(,"multitask_strategy":"enqueue","metadata":{"number":)" + name + "}"));
    if (i % 2 == 0) sent.headers.push_back({"Idempotency-Key", "key " + name});
    responses.push_back(std::make_unique<http::Response>());
    responses.back()->status = 0;
    tasks.push_back(spawn<http::Response>(
        loop, api->answer(std::move(sent)),
        [at = responses.back().get()](http::Response response) { *at = std::move(response); }));
  }
  loop.run_until(clock.now() + std::chrono::seconds(5));
  for (std::size_t i = 0; i < responses.size(); ++i) {
    ASSERT_EQ(responses[i]->status, 200);
    Value begun = parse_json(responses[i]->body).value();
    EXPECT_EQ(begun["metadata"]["number"], Value(static_cast<std::int64_t>(i)));
    Value listed = get(runs("/" + text(begun["run_id"]))).body;
    EXPECT_EQ(to_json(listed["metadata"]), to_json(begun["metadata"]));
  }
}

TEST_F(AgentServerRuns, LeaveNoRecordsIfACrashInterruptedTheirDeletion) {
  std::string run = begin(about("rain"));
  joined(run);
  auto records = [this] {
    RecordFilter all;
    all.collection = RunRecord::collection;
    all.limit = 10;
    UserId user("local");
    return block_on(loop, service->find_records(Principal(), std::move(user), std::move(all)))
        .value()
        .size();
  };
  ASSERT_EQ(records(), 1u);
  // The part of the deletion that was durable before the crash.
  block_on(loop, service->delete_thread(Principal(), ThreadId(kThreadA))).value();
  EXPECT_EQ(call("DELETE", runs("/" + run)).status, 404);
  EXPECT_EQ(records(), 0u);
}

TEST_F(AgentServerRuns, AResumeWithTheSameKeyIsOne) {
  urgent_interrupt();
  auto resumed = [&] {
    auto sent = request("POST", runs(), resume("true"));
    sent.headers.push_back({"Idempotency-Key", "k"});
    return send(std::move(sent));
  };
  auto first = resumed(), again = resumed();
  ASSERT_EQ(first.status, 200) << to_json(first.body);
  ASSERT_EQ(again.status, 200) << to_json(again.body);
  EXPECT_EQ(text(first.body["run_id"]), text(again.body["run_id"]));
  EXPECT_EQ(to_json(joined(text(first.body["run_id"]))["log"]), R"(["urgent","printed"])");
  EXPECT_EQ(size_of(get(runs()).body), 2u);
}

TEST_F(AgentServerRuns, WaitForATimerAndEndAtABreakpoint) {
  std::string first = begin(R"({"assistant_id":"stop"})");
  loop.run_until(clock.now() + std::chrono::seconds(1));
  EXPECT_EQ(status_of_run(first), "running") << "a timer continues it";
  clock.move(std::chrono::minutes(2));
  block_on(loop, runtime->process_due(default_tenant())).value();
  EXPECT_EQ(to_json(joined(first)["log"]), "[]");
  EXPECT_EQ(status_of_run(first), "success");
  EXPECT_EQ(text(get(std::string("/threads/") + kThreadA).body["status"]), "interrupted");
  EXPECT_EQ(post(runs(), R"({"assistant_id":"stop","input":{"topic":"x"}})").status, 409);
  std::string second = begin(R"({"assistant_id":"stop","input":null})");
  EXPECT_NE(second, first);
  EXPECT_EQ(to_json(joined(second)["log"]), R"(["ended"])");
  EXPECT_EQ(to_json(joined(first)["log"]), R"(["ended"])") << "the values of the thread";
}

TEST_F(AgentServerRuns, StopAtTheBreakpointsThatEachOneNames) {
  std::string first = begin(about("a", R"(,"interrupt_before":["print"])"));
  joined(first);
  std::string state = std::string("/threads/") + kThreadA + "/state";
  EXPECT_EQ(status_of_run(first), "success");
  EXPECT_EQ(to_json(get(state).body["next"]), R"(["print"])");
  std::string second = begin(R"({"assistant_id":"poet","input":null,"interrupt_before":"*"})");
  joined(second);
  EXPECT_EQ(to_json(get(state).body["next"]), "[]") << "it continued behind the breakpoint";
  std::string third = begin(about("b", R"(,"interrupt_before":"*","interrupt_after":"*")"));
  joined(third);
  EXPECT_EQ(to_json(get(state).body["next"]), R"(["write"])");
  joined(begin(R"({"assistant_id":"poet","input":null})"));
  EXPECT_EQ(to_json(get(state).body["next"]), "[]") << "the continuing run names no breakpoint";
}

TEST_F(AgentServerRuns, BeginWithAChangeOfTheState) {
  joined(begin(about("a")));
  std::string state = std::string("/threads/") + kThreadA + "/state";
  joined(begin(R"({"assistant_id":"poet","command":{"update":{"topic":"b"},"goto":"write"}})"));
  Value now = get(state).body;
  EXPECT_EQ(now["values"]["verse"], Value("An öde to b"));
  joined(begin(R"({"assistant_id":"poet","command":{"update":[["topic","c"]]}})"));
  now = get(state).body;
  EXPECT_EQ(now["values"]["topic"], Value("c"));
  EXPECT_EQ(now["values"]["verse"], Value("An öde to b")) << "no node was left";
  EXPECT_EQ(post(runs(), R"({"assistant_id":"poet","command":{"goto":"print"}})").status, 403)
      << "behind an approval";
}

TEST_F(AgentServerRuns, HostileBodiesStartNothing) {
  for (const char* body :
       {"{}",
        R"({"assistant_id":1})",
        R"({"assistant_id":"poet","input":[]})",
        R"({"assistant_id":"poet","input":{"topic":1}})",
        R"({"assistant_id":"poet","command":{"goto":"nowhere"}})",
        R"({"assistant_id":"poet","command":{"goto":7}})",
        R"({"assistant_id":"poet","command":{"update":7}})",
        R"({"assistant_id":"poet","command":{"update":[["topic"]]}})",
        R"({"assistant_id":"poet","input":{},"command":{"update":{"topic":"x"}}})",
        R"({"assistant_id":"poet","command":{"update":{"topic":"x"},"resume":true}})",
        R"({"assistant_id":"poet","command":{"resume":null}})",
        R"({"assistant_id":"poet","command":[]})",
        R"({"assistant_id":"poet","interrupt_before":"write"})",
        R"({"assistant_id":"poet","interrupt_before":["nowhere"]})",
        R"({"assistant_id":"poet","interrupt_after":{"a":1}})",
        R"({"assistant_id":"poet","webhook":"/relative"})",
        R"({"assistant_id":"poet","stream_mode":"everything"})",
        R"({"assistant_id":"poet","multitask_strategy":"perhaps"})",
        R"({"assistant_id":"poet","checkpoint_id":"x"})",
        R"({"assistant_id":"poet","config":1})",
        R"({"assistant_id":"poet","after_seconds":1e300})",
        R"({"assistant_id":"poet","config":{"recursion_limit":0}})"}) {
    EXPECT_EQ(post(runs(), body).status, 422) << body;
  }
  EXPECT_EQ(post(runs(), R"({"assistant_id":"none"})").status, 404);
  EXPECT_EQ(size_of(get(runs()).body), 0u);
}

TEST_F(AgentServerRuns, ContinueTheNewestCheckpoint) {
  joined(begin(about("a")));
  auto state = get(std::string("/threads/") + kThreadA + "/state");
  std::string newest = text(state.body["checkpoint"]["checkpoint_id"]);
  ASSERT_TRUE(uuid_from(newest)) << to_json(state.body);
  std::string run = begin(about("b", R"(,"checkpoint":{"checkpoint_id":")" + newest + "\"}"));
  EXPECT_EQ(to_json(joined(run)["log"]), R"(["a","b"])");
}

}  // namespace
}  // namespace belay::langgraph
