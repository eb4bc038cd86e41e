// Requests that are repeated while the requested operation is in progress.

#include "tests/support/api_fixture.h"

namespace belay::server {
namespace {

using namespace std::chrono_literals;

// Two servers with the same store.
struct ApiSentAgain : ApiFixture {
  std::unique_ptr<Runtime> other_runtime = process();
  std::unique_ptr<Service> other_service = make_local_service(LocalServiceParts{
      *store, *store, *other_runtime, loop, clock, random, {graph.definition()}, {}, {}});
  std::unique_ptr<Api> other =
      std::make_unique<Api>(ApiParts{*other_service, loop, clock, random}, options, nullptr);

  struct Pending {
    std::optional<http::Response> response;
    Spawned task;

    int status() const { return response ? response->status : 0; }
    Value body() const { return response ? parse_json(response->body).value_or(Value()) : Value(); }
  };
  using Header = std::pair<std::string, std::string>;

  std::unique_ptr<Pending> begin(Api& by, http::Request sent, std::vector<Header> headers = {}) {
    for (auto& [name, value] : headers) sent.headers.push_back({name, value});
    auto pending = std::make_unique<Pending>();
    pending->task = spawn<http::Response>(
        loop, by.answer(std::move(sent)),
        [at = pending.get()](http::Response response) { at->response = std::move(response); });
    return pending;
  }
  std::unique_ptr<Pending> begin_start(Api& by, std::vector<Header> headers, std::string topic,
                                       std::string more = {}) {
    auto sent = request("POST", "/api/agents/mail/runs",
                        R"({"input":{"topic":")" + topic + "\"}" + more + "}");
    return begin(by, std::move(sent), std::move(headers));
  }
  void pass(std::chrono::milliseconds time) { loop.run_until(clock.now() + time); }
};

TEST_F(ApiSentAgain, AStartWaitsForItsRunThatIsAtWorkHereOrElsewhere) {
  model.takes(10s);
  auto first = begin_start(*api, {{"Idempotency-Key", "k"}}, "calm");
  pass(2s);
  auto here = begin_start(*api, {{"Idempotency-Key", "k"}}, "calm");
  auto elsewhere = begin_start(*other, {{"Idempotency-Key", "k"}}, "calm");
  auto short_one = begin_start(*other, {{"Idempotency-Key", "k"}, {"Prefer", "wait=1"}}, "calm");
  auto async = begin_start(*api, {{"Idempotency-Key", "k"}, {"Prefer", "respond-async"}}, "calm");
  auto wrong = begin_start(*other, {{"Idempotency-Key", "k"}}, "another");
  pass(3s);
  EXPECT_EQ(short_one->status(), 202);
  EXPECT_EQ(text(short_one->body()["status"]), "running");
  EXPECT_EQ(async->status(), 202);
  EXPECT_EQ(wrong->status(), 422);
  EXPECT_EQ(here->status() + elsewhere->status(), 0) << "both wait";
  pass(10s);
  for (auto* each : {first.get(), here.get(), elsewhere.get()}) {
    EXPECT_EQ(each->status(), 200);
    EXPECT_EQ(text(each->body()["status"]), "completed");
    EXPECT_EQ(each->body()["runId"], first->body()["runId"]);
  }
  EXPECT_EQ(model.requests().size(), 1u);
  EXPECT_EQ(all_runs().size(), 1u);
}

TEST_F(ApiSentAgain, OfManyStartsAtTheSameInstantAllGetTheRun) {
  model.takes(10s);
  std::vector<std::unique_ptr<Pending>> all;
  for (int i = 0; i < 20; ++i) {
    Api& by = i % 2 == 0 ? *api : *other;
    all.push_back(begin_start(by, {}, "calm", R"(,"threadId":"t")"));
  }
  loop.run_until(clock.now() + 30s);
  for (const auto& each : all) {
    EXPECT_EQ(each->status(), 200) << to_json(each->body());
    EXPECT_EQ(each->body()["runId"], all[0]->body()["runId"]);
  }
  EXPECT_EQ(model.requests().size(), 1u);
}

// The start has not read its thread yet when the time has passed.
TEST_F(ApiSentAgain, AStartThatIsRefusedIsAnsweredSoEvenIfItDoesNotWait) {
  begin_urgent("t");
  pass(1s);
  auto wrong = begin_start(*other, {{"Prefer", "wait=0"}}, "another", R"(,"threadId":"t")");
  auto right = begin_start(*other, {{"Prefer", "wait=0"}}, "urgent", R"(,"threadId":"t")");
  pass(1s);
  EXPECT_EQ(wrong->status(), 422) << to_json(wrong->body());
  EXPECT_EQ(right->status(), 202) << to_json(right->body());
}

TEST_F(ApiSentAgain, AStartIsAnsweredThoughItsFirstCommitIsStillOnItsWay) {
  auto at_once = begin_start(*api, {{"Prefer", "wait=0"}}, "calm");
  pass(1s);
  EXPECT_TRUE(at_once->status() == 202 || at_once->status() == 200) << at_once->status();
}

TEST_F(ApiSentAgain, AStartWithAKeyFindsItsRunWhateverTheLimitOfRunningRuns) {
  GraphBuilder<Mail> builder{"mail"};
  builder.node("write", write_mail);
  builder.edge(start, "write").edge("write", end);
  graph = std::move(builder).build().value();
  runtime->add(graph);
  service = make_service();
  options.starts.at_work = 1;
  api = make_api();
  model.takes(10s);
  const std::string thread = R"(,"threadId":"t")";
  auto first = begin_start(*api, {{"Idempotency-Key", "k"}}, "calm", thread);
  pass(1s);
  auto again = begin_start(*api, {{"Idempotency-Key", "k"}}, "calm", thread);
  auto other_key = begin_start(*api, {{"Idempotency-Key", "l"}}, "calm", thread);
  auto without_key = begin_start(*api, {}, "calm", thread);
  pass(20s);
  EXPECT_EQ(again->status(), 200) << to_json(again->body());
  EXPECT_EQ(again->body()["runId"], first->body()["runId"]);
  EXPECT_EQ(other_key->status(), 429);
  EXPECT_EQ(without_key->status(), 429);
  EXPECT_EQ(all_runs().size(), 1u);
}

TEST_F(ApiSentAgain, AForkUnderAKeyIsOneForkAndAnotherUnderItIsRefused) {
  begin_urgent("origin");
  auto fork = [&](Api& by, std::string body) {
    return begin(by, request("POST", "/api/threads/origin/fork", std::move(body)),
                 {{"Idempotency-Key", "f"}});
  };
  auto first = fork(*api, "{}");
  auto second = fork(*other, "{}");
  pass(5s);
  auto later = fork(*api, "{}");
  auto wrong = fork(*api, R"({"copy":true})");
  auto as_start = begin_start(*api, {{"Idempotency-Key", "f"}}, "calm");
  pass(5s);
  for (auto* each : {first.get(), second.get(), later.get()}) {
    EXPECT_EQ(each->status(), 202) << to_json(each->body());
    EXPECT_EQ(each->body()["runId"], first->body()["runId"]);
  }
  EXPECT_EQ(wrong->status(), 422);
  EXPECT_EQ(as_start->status(), 422) << "another request under the same key";
  EXPECT_EQ(all_runs().size(), 2u);
}

TEST_F(ApiSentAgain, AForkThatDoesNotWaitIsPutIntoTheQueue) {
  begin_urgent("origin");
  auto forked =
      begin(*api, request("POST", "/api/threads/origin/fork", "{}"), {{"Prefer", "respond-async"}});
  pass(1s);
  EXPECT_EQ(forked->status(), 202);
  EXPECT_EQ(text(forked->body()["status"]), "queued");
}

TEST_F(ApiSentAgain, EqualDecisionsAtTheSameInstantAllGetTheFinalAnswer) {
  GraphBuilder<Mail> builder{"mail"};
  builder.approval("review", &Mail::topic, {.question = "Send?"}).approved("send").rejected(end);
  builder.node("send", [](const Mail&, Context&) -> Task<Update<Mail>> {
    co_await sleep_for(10s);
    co_return set(&Mail::draft, "sent");
  });
  builder.edge(start, "review").edge("send", end);
  graph = std::move(builder).build().value();
  for (Runtime* each : {runtime.get(), other_runtime.get()}) each->add(graph);
  service = make_service();
  api = make_api();
  begin_urgent("t");
  auto decide = [&](Api& by, std::vector<Header> headers = {}, std::string verdict = "true") {
    return begin(by, request("POST", "/api/approvals/t/decision", "{\"approved\":" + verdict + "}"),
                 std::move(headers));
  };
  std::vector<std::unique_ptr<Pending>> equal;
  for (int i = 0; i < 6; ++i) equal.push_back(decide(i % 2 == 0 ? *api : *other));
  pass(2s);
  equal.push_back(decide(*api));
  auto short_one = decide(*api, {{"Prefer", "wait=1"}});
  auto late = decide(*other, {}, "false");
  pass(2s);
  EXPECT_EQ(short_one->status(), 200);
  EXPECT_EQ(text(short_one->body()["run"]["status"]), "running");
  EXPECT_EQ(late->status(), 409) << "another decision need not wait";
  for (const auto& each : equal) EXPECT_EQ(each->status(), 0);
  pass(20s);
  for (const auto& each : equal) {
    EXPECT_EQ(each->status(), 200);
    EXPECT_EQ(text(each->body()["run"]["status"]), "completed");
    EXPECT_EQ(each->body()["run"]["state"]["draft"], Value("sent"));
  }
}

TEST_F(ApiSentAgain, AResumeWaitsForWhoGoesOnWithTheRunAlready) {
  model.takes(10s);
  auto first = begin_start(*api, {}, "calm", R"(,"threadId":"t")");
  pass(2s);
  auto here = begin(*api, request("POST", "/api/threads/t/resume"));
  auto elsewhere = begin(*other, request("POST", "/api/threads/t/resume"));
  pass(20s);
  for (auto* each : {here.get(), elsewhere.get()}) {
    EXPECT_EQ(each->status(), 200) << to_json(each->body());
    EXPECT_EQ(text(each->body()["status"]), "completed");
  }
}

TEST_F(ApiSentAgain, WhatDoesNotAskCantBeDecidedAndTheAnswerNamesItsStatus) {
  model.takes(10s);
  auto running = begin_start(*api, {}, "calm", R"(,"threadId":"running")");
  auto queued = begin_start(*api, {{"Prefer", "respond-async"}}, "calm", R"(,"threadId":"queued")");
  pass(1s);
  for (std::string thread : {"running", "queued"}) {
    auto refused = post("/api/approvals/" + thread + "/decision", R"({"approved":true})");
    EXPECT_EQ(refused.status, 409);
    EXPECT_NE(text(refused.body["detail"]).find("is " + thread), std::string::npos)
        << to_json(refused.body);
  }
  EXPECT_EQ(post("/api/approvals/none/decision", R"({"approved":true})").status, 404);
}

TEST_F(ApiSentAgain, AThreadOfAKeyCantBeOccupiedByWhoGuessesTheKey) {
  auto mine = begin_start(*api, {{"Idempotency-Key", "guessed"}}, "calm", R"(,"userId":"ana")");
  pass(1s);
  std::string thread = text(mine->body()["threadId"]);
  ASSERT_EQ(thread.substr(0, 8), "request-");
  // Another user names the thread of ana's key before ana sends her request.
  std::string free = thread;
  free.back() = free.back() == '0' ? '1' : '0';
  auto occupied = begin_start(*api, {}, "calm", R"(,"userId":"eve","threadId":")" + free + "\"");
  begin_urgent("origin");
  auto forked = post("/api/threads/origin/fork", R"({"threadId":")" + free + "\"}");
  pass(1s);
  EXPECT_EQ(occupied->status(), 422) << to_json(occupied->body());
  EXPECT_EQ(forked.status, 422);
  EXPECT_EQ(get("/api/threads/" + free).status, 404);
  // Without a key, her thread is found by its name.
  auto found = begin_start(*api, {}, "calm", R"(,"userId":"ana","threadId":")" + thread + "\"");
  pass(1s);
  EXPECT_EQ(found->body()["runId"], mine->body()["runId"]);
}

}  // namespace
}  // namespace belay::server
