// Webhooks of runs, and the deletion of the threads of runs without one.

#include "langgraph/run_endings.h"
#include "tests/support/agent_server_run_fixture.h"
#include "tests/support/http_inbox.h"

namespace belay::langgraph {
namespace {

using server::text;
using namespace std::chrono_literals;

constexpr const char* kHook = R"(,"webhook":"https://hooks.example.com/a?b=c")";

struct AgentServerWebhooks : RunFixture {
  std::shared_ptr<testing::HttpInbox> inbox = std::make_shared<testing::HttpInbox>();

  AgentServerWebhooks() {
    agent_server.http = inbox;
    serve();
  }
  void pass(std::chrono::seconds time) { loop.run_until(clock.now() + time); }
  std::size_t endings() {
    RecordFilter filter;
    filter.collection = RunEnding::collection;
    filter.is_of_tenant = true;
    filter.limit = 100;
    Principal who;
    return block_on(loop, service->find_records(who, UserId(), std::move(filter))).value().size();
  }
  int status_of_thread(const std::string& thread) { return get("/threads/" + thread).status; }
};

TEST_F(AgentServerWebhooks, ReceiveTheRunAndItsValuesAfterItsEnd) {
  std::string run = begin(about("rain", kHook));
  pass(10s);
  ASSERT_EQ(inbox->calls.size(), 1u);
  EXPECT_EQ(inbox->calls[0].url, "https://hooks.example.com/a?b=c");
  EXPECT_EQ(inbox->calls[0].method, "POST");
  EXPECT_EQ(inbox->header(0, "Idempotency-Key"), run);
  Value sent_run = inbox->result(0);
  EXPECT_EQ(text(sent_run["run_id"]), run);
  EXPECT_EQ(text(sent_run["thread_id"]), kThreadA);
  EXPECT_EQ(text(sent_run["status"]), "success");
  EXPECT_EQ(text(sent_run["values"]["verse"]), "An öde to rain") << to_json(sent_run);
  EXPECT_TRUE(sent_run["error"].is_null());
  EXPECT_LT(text(sent_run["run_started_at"]), text(sent_run["run_ended_at"]));
  EXPECT_LT(text(sent_run["run_ended_at"]), text(sent_run["webhook_sent_at"]));
  EXPECT_EQ(text(get(runs("/" + run)).body["webhook"]["status"]), "delivered");
  pass(1h);
  EXPECT_EQ(inbox->calls.size(), 1u);
}

TEST_F(AgentServerWebhooks, BelongToEveryFormOfStart) {
  streamed(post(runs("/wait"), about("a", kHook)));
  stream_run(about("b", kHook));
  post("/runs", about("c", kHook));
  streamed(post("/runs/wait", about("d", kHook)));
  stream_run(about("e", kHook), "/runs/stream");
  post("/runs/batch", "[" + about("f", kHook) + "," + about("g", kHook) + "]");
  pass(20s);
  std::multiset<std::string> topics;
  for (std::size_t i = 0; i < inbox->calls.size(); ++i) {
    topics.insert(text(inbox->result(i)["values"]["topic"]));
  }
  EXPECT_EQ(topics, (std::multiset<std::string>{"a", "b", "c", "d", "e", "f", "g"}));
  EXPECT_EQ(size_of(post("/threads/search", "{}").body), 1u) << "the others were deleted";
}

TEST_F(AgentServerWebhooks, HaveTheNameOfAFailure) {
  begin(about("worse", kHook));
  pass(10s);
  ASSERT_EQ(inbox->calls.size(), 1u);
  Value sent_run = inbox->result(0);
  EXPECT_EQ(text(sent_run["status"]), "error");
  EXPECT_EQ(text(sent_run["error"]["error"]), "RhymeError") << to_json(sent_run);
  EXPECT_EQ(text(sent_run["error"]["message"]), "No rhyme.");
}

TEST_F(AgentServerWebhooks, EndWithAnInterruptAndAgainWithTheResume) {
  std::string first = begin(about("urgent", kHook));
  pass(10s);
  ASSERT_EQ(inbox->calls.size(), 1u);
  EXPECT_EQ(size_of(inbox->result(0)["values"]["__interrupt__"]), 1u);
  std::string second = begin(resume("true", kHook));
  pass(10s);
  ASSERT_EQ(inbox->calls.size(), 2u);
  EXPECT_EQ(inbox->header(0, "Idempotency-Key"), first);
  EXPECT_EQ(inbox->header(1, "Idempotency-Key"), second);
  EXPECT_EQ(to_json(inbox->result(1)["values"]["log"]), R"(["urgent","printed"])");
}

TEST_F(AgentServerWebhooks, HaveTheValuesAtTheInterruptAlsoAfterTheResume) {
  inbox->statuses.assign(4, 500);
  std::string run = begin(about("urgent", kHook));
  joined(run);
  joined(begin(resume("true")));
  pass(1min);
  ASSERT_EQ(inbox->calls.size(), 5u);
  Value values = inbox->result(4)["values"];
  EXPECT_EQ(to_json(values["log"]), R"(["urgent"])");
  EXPECT_EQ(size_of(values["__interrupt__"]), 1u);
}

TEST_F(AgentServerWebhooks, OfAResumeWithoutARecordDescribeTheResume) {
  joined(begin(about("urgent")));
  std::string resumed = begin(resume("true", kHook));
  ASSERT_EQ(inbox->calls.size(), 0u);
  // The contents of the store after a crash between the decision and the record of the run.
  std::vector<RecordWrite> writes;
  writes.push_back(record_erasure(RunRecord::collection, UserId("local"), resumed));
  Principal who;
  ASSERT_TRUE(block_on(loop, service->save_records(who, std::move(writes))).ok());
  pass(10s);
  ASSERT_EQ(inbox->calls.size(), 1u);
  EXPECT_EQ(text(inbox->result(0)["run_id"]), resumed);
  EXPECT_EQ(to_json(inbox->result(0)["values"]["log"]), R"(["urgent","printed"])");
}

TEST_F(AgentServerWebhooks, AreRepeatedUntilTheyAreAccepted) {
  inbox->statuses = {500, 404, 503, 200};
  std::string run = begin(about("rain", kHook));
  pass(5s);
  EXPECT_EQ(text(get(runs("/" + run)).body["webhook"]["status"]), "pending");
  EXPECT_EQ(status_of_run(run), "success") << "the run does not wait for its webhook";
  pass(3min);
  EXPECT_EQ(inbox->keys(), (std::multiset<std::string>{run, run, run, run}));
  Value webhook = get(runs("/" + run)).body["webhook"];
  EXPECT_EQ(webhook["failures"], Value(0));
  EXPECT_TRUE(webhook["last_error"].is_null());
}

TEST_F(AgentServerWebhooks, ThatAlwaysFailAreGivenUpVisibly) {
  inbox->statuses.assign(100, 500);
  std::string run = begin(about("rain", kHook));
  pass(24h);
  EXPECT_EQ(inbox->calls.size(), 12u);
  Value webhook = get(runs("/" + run)).body["webhook"];
  EXPECT_EQ(text(webhook["status"]), "failed");
  EXPECT_EQ(webhook["failures"], Value(12));
  EXPECT_NE(text(webhook["last_error"]).find("500"), std::string::npos);
}

TEST_F(AgentServerWebhooks, ThatAreGivenUpDoNotKeepTheThreadOfARunWithoutOne) {
  inbox->statuses.assign(12, 500);
  auto begun = post("/runs", about("rain", kHook));
  std::string thread = text(begun.body["thread_id"]);
  pass(1min);
  EXPECT_EQ(status_of_thread(thread), 200) << "the request is repeated";
  pass(24h);
  EXPECT_EQ(inbox->calls.size(), 12u);
  EXPECT_EQ(status_of_thread(thread), 404);
}

TEST_F(AgentServerWebhooks, ToAnAddressThatThePolicyForbidsAreNotRepeated) {
  inbox->statuses = {0};
  std::string run = begin(about("rain", kHook));
  pass(1h);
  EXPECT_EQ(inbox->calls.size(), 1u);
  EXPECT_EQ(text(get(runs("/" + run)).body["webhook"]["status"]), "failed");
}

TEST_F(AgentServerWebhooks, OfAServerThatEndsAreSentByAnother) {
  inbox->delay = 5s;
  std::string run = begin(sleeper(kHook));
  for (int i = 0; i < 10; ++i) {
    pass(17s);
    serve();
  }
  pass(2min);
  EXPECT_GE(inbox->calls.size(), 1u);
  std::multiset<std::string> keys = inbox->keys();
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()), (std::set<std::string>{run}));
  EXPECT_EQ(text(get(runs("/" + run)).body["webhook"]["status"]), "delivered");
}

TEST_F(AgentServerWebhooks, OfARepeatedRequestAreSentOnce) {
  for (int i = 0; i < 2; ++i) {
    auto sent = request("POST", runs(), about("rain", kHook));
    sent.headers.push_back({"Idempotency-Key", "k"});
    EXPECT_EQ(send(std::move(sent)).status, 200);
    pass(10s);
  }
  auto other = request("POST", runs(), about("sun", kHook));
  other.headers.push_back({"Idempotency-Key", "k"});
  EXPECT_EQ(send(std::move(other)).status, 422);
  pass(10s);
  EXPECT_EQ(inbox->calls.size(), 1u);
  EXPECT_EQ(endings(), 1u);
}

TEST_F(AgentServerWebhooks, OfAnAgentWithOneRunPerThreadHaveItsRun) {
  auto begun = post(
      "/runs", R"({"assistant_id":"mail","input":{"topic":"calm"})" + std::string(kHook) + "}");
  pass(10s);
  ASSERT_EQ(inbox->calls.size(), 1u);
  EXPECT_EQ(inbox->result(0)["run_id"], begun.body["run_id"]);
}

TEST_F(AgentServerWebhooks, OfAStartThatIsRefusedLeaveNothing) {
  begin(sleeper());
  EXPECT_EQ(post(runs(), about("x", kHook)).status, 409);
  EXPECT_EQ(endings(), 0u);
  for (const char* bad : {R"("/relative")", R"("ftp://a.example/")", R"("https://u:p@a.example/")",
                          R"("hooks.example.com")", R"(7)", R"(["https://a.example/"])",
                          R"("https://a.example/\r\nX: y")"}) {
    auto refused = post("/runs", about("x", std::string(R"(,"webhook":)") + bad));
    EXPECT_EQ(refused.status, 422) << bad;
  }
  agent_server.http = nullptr;
  serve();
  EXPECT_EQ(post("/runs", about("x", kHook)).status, 422);
  pass(5min);
  EXPECT_EQ(inbox->calls.size(), 0u);
}

TEST_F(AgentServerWebhooks, OfARunThatWasNeverStartedAreForgotten) {
  RunEnding ending;
  ending.id = ending.run = "33333333-3333-4333-8333-333333333333";
  ending.thread = "t";
  ending.user = "local";
  ending.webhook = "https://a.example/";
  ending.wake = clock.now() + kStartWindow;
  std::vector<RecordWrite> writes{record_write(ending, UserId()).value()};
  Principal who;
  ASSERT_TRUE(block_on(loop, service->save_records(who, std::move(writes))).ok());
  pass(1min);
  EXPECT_EQ(endings(), 1u);
  pass(2min);
  EXPECT_EQ(endings(), 0u);
  EXPECT_EQ(inbox->calls.size(), 0u);
}

TEST_F(AgentServerWebhooks, AThreadOfARunWithoutOneIsDeletedByAnotherServer) {
  auto begun = post("/runs", sleeper());
  std::string thread = text(begun.body["thread_id"]);
  EXPECT_EQ(status_of_thread(thread), 200);
  serve();
  pass(50s);
  EXPECT_EQ(status_of_thread(thread), 200) << "its run has not ended";
  pass(5min);
  EXPECT_EQ(status_of_thread(thread), 404);
  auto kept = post("/runs", about("rain", R"(,"on_completion":"keep")"));
  pass(5min);
  EXPECT_EQ(status_of_thread(text(kept.body["thread_id"])), 200);
}

TEST_F(AgentServerWebhooks, OfADeletedThreadAreForgotten) {
  std::string run = begin(sleeper(kHook));
  EXPECT_EQ(post(runs("/" + run + "/cancel?wait=1&action=rollback")).status, 204);
  pass(5min);
  EXPECT_EQ(endings(), 0u);
}

}  // namespace
}  // namespace belay::langgraph
