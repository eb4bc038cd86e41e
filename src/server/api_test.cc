#include "store/forwarding_store.h"
#include "tests/support/api_fixture.h"

namespace belay::server {
namespace {

class CountingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Task<Result<Done>> read(Reader reader) override {
    ++reads;
    return ForwardingStore::read(std::move(reader));
  }
  int reads = 0;
};

using ApiRuns = ApiFixture;

TEST_F(ApiRuns, ARunThatEndsIsAnswered200) {
  auto ended = post("/api/agents/mail/runs", R"({"input":{"topic":"the outage"}})");
  EXPECT_EQ(ended.status, 200);
  EXPECT_EQ(text(ended.body["status"]), "completed");
  EXPECT_EQ(text(ended.body["outcome"]), "sent");
  EXPECT_EQ(text(ended.body["state"]["draft"]), "Dear the outage");
}

TEST_F(ApiRuns, ARunThatWaitsForAPersonIsAnswered202WithItsApproval) {
  auto waiting = post("/api/agents/mail/runs", R"({"input":{"topic":"urgent"},"threadId":"a/b"})");
  EXPECT_EQ(waiting.status, 202);
  EXPECT_EQ(waiting.header("Location"), "/api/threads/a%2Fb");
  EXPECT_EQ(text(waiting.body["approval"]["question"]), "Send this mail?");
  EXPECT_EQ(text(get("/api/threads/a%2Fb").body["status"]), "paused");
}

TEST_F(ApiRuns, TheSameThreadWithTheSameInputIsTheSameRun) {
  begin_urgent("first");
  auto again = post("/api/agents/mail/runs", R"({"input":{"topic":"urgent"},"threadId":"first"})");
  EXPECT_EQ(again.status, 202);
  EXPECT_EQ(model.requests().size(), 1u);
  auto other = post("/api/agents/mail/runs", R"({"input":{"topic":"else"},"threadId":"first"})");
  EXPECT_EQ(other.status, 422);
}

TEST_F(ApiRuns, ARequestSentAgainUnderItsKeyBeginsNothing) {
  auto send_once = [&](std::string body) {
    auto sent = request("POST", "/api/agents/mail/runs", std::move(body));
    sent.headers.push_back({"Idempotency-Key", "7"});
    return send(std::move(sent));
  };
  auto first = send_once(R"({"input":{"topic":"the outage"}})");
  auto second = send_once(R"({"input":{"topic":"the outage"}})");
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(second.body["runId"], first.body["runId"]);
  EXPECT_EQ(model.requests().size(), 1u);
  EXPECT_EQ(send_once(R"({"input":{"topic":"another"}})").status, 422);
}

TEST_F(ApiRuns, WhoDoesNotWaitIsToldThatItIsQueued) {
  auto sent = request("POST", "/api/agents/mail/runs", R"({"input":{"topic":"the outage"}})");
  sent.headers.push_back({"Prefer", "respond-async"});
  auto queued = send(std::move(sent));
  EXPECT_EQ(queued.status, 202);
  EXPECT_EQ(text(queued.body["status"]), "queued");
}

TEST_F(ApiRuns, WhoWaitsForATimeIsAnsweredByThenAndTheRunGoesOn) {
  model.takes(std::chrono::seconds(10));
  auto sent = request("POST", "/api/agents/mail/runs",
                      R"({"input":{"topic":"the outage"},"threadId":"slow"})");
  sent.headers.push_back({"Prefer", "wait=1"});
  auto running = send(std::move(sent));
  EXPECT_EQ(running.status, 202);
  EXPECT_EQ(text(running.body["status"]), "running");
  loop.run_until(clock.now() + std::chrono::seconds(20));
  EXPECT_EQ(text(get("/api/threads/slow").body["status"]), "completed");
}

TEST_F(ApiRuns, AnInputThatDoesNotFitIsRefusedNamingTheMember) {
  auto unknown = post("/api/agents/mail/runs", R"({"input":{"subject":"x"}})");
  EXPECT_EQ(unknown.status, 422);
  EXPECT_NE(text(unknown.body["detail"]).find("\"subject\""), std::string::npos);
  auto wrong = post("/api/agents/mail/runs", R"({"input":{"rounds":"many"}})");
  EXPECT_EQ(wrong.status, 422);
  EXPECT_NE(text(wrong.body["detail"]).find("rounds"), std::string::npos);
  EXPECT_TRUE(all_runs().empty());
}

TEST_F(ApiRuns, WithoutKeysARequestMaySayWhoseItIs) {
  auto hers =
      post("/api/agents/mail/runs", R"({"input":{"topic":"x"},"threadId":"t","userId":"ana"})");
  EXPECT_EQ(hers.status, 200);
  EXPECT_EQ(text(hers.body["userId"]), "ana");
  EXPECT_EQ(post("/api/agents/mail/runs", R"({"input":{"topic":"x"},"userId":""})").status, 422);
}

TEST_F(ApiRuns, RunsAreListedInPages) {
  for (int i = 0; i < 3; ++i) post("/api/agents/mail/runs", R"({"input":{"topic":"x"}})");
  auto first = get("/api/runs?limit=2");
  EXPECT_EQ(first.body["runs"].as_array()->size(), 2u);
  auto rest = get("/api/runs?limit=2&before=" + text(first.body["next"]));
  EXPECT_EQ(rest.body["runs"].as_array()->size(), 1u);
  EXPECT_TRUE(rest.body["next"].is_null());
  EXPECT_TRUE(get("/api/runs?status=failed").body["runs"].as_array()->empty());
}

using ApiApprovals = ApiFixture;

TEST_F(ApiApprovals, OfTwoDecisionsTheFirstWinsAndTheOtherIsToldWhich) {
  begin_urgent("first");
  auto won = post("/api/approvals/first/decision", R"({"approved":true,"decidedBy":"ana"})");
  EXPECT_EQ(won.status, 200);
  EXPECT_EQ(text(won.body["result"]), "accepted");
  EXPECT_EQ(text(won.body["answer"]), "won");
  EXPECT_EQ(text(won.body["run"]["status"]), "completed");
  auto same = post("/api/approvals/first/decision", R"({"approved":true,"decidedBy":"ben"})");
  EXPECT_EQ(text(same.body["result"]), "duplicate");
  EXPECT_EQ(text(same.body["answer"]), "same");
  auto lost = post("/api/approvals/first/decision", R"({"approved":false})");
  EXPECT_EQ(lost.status, 409);
  EXPECT_EQ(text(lost.body["result"]), "conflict");
  EXPECT_EQ(text(lost.body["answer"]), "lost");
  EXPECT_EQ(text(lost.body["approval"]["decidedBy"]), "ana");
  EXPECT_EQ(lost.header("Content-Type"), "application/problem+json");
}

TEST_F(ApiApprovals, AreListedInPages) {
  for (const char* thread : {"first", "second", "third"}) begin_urgent(thread);
  auto newest = get("/api/approvals?limit=2");
  ASSERT_EQ(newest.body["approvals"].as_array()->size(), 2u);
  EXPECT_EQ(text((*newest.body["approvals"].as_array())[0]["threadId"]), "third");
  auto rest = get("/api/approvals?limit=2&before=" + text(newest.body["next"]));
  ASSERT_EQ(rest.body["approvals"].as_array()->size(), 1u);
  EXPECT_EQ(text((*rest.body["approvals"].as_array())[0]["threadId"]), "first");
  EXPECT_TRUE(rest.body["next"].is_null());
  EXPECT_EQ(get("/api/approvals?before=first").status, 422);
}

TEST_F(ApiApprovals, ADecisionNeedsAVerdict) {
  begin_urgent("first");
  auto empty = post("/api/approvals/first/decision", R"({"comment":"fine"})");
  EXPECT_EQ(empty.status, 422);
  EXPECT_NE(text(empty.body["detail"]).find("\"approved\""), std::string::npos);
  EXPECT_EQ(post("/api/approvals/first/decision", R"({"approved":"yes"})").status, 422);
  EXPECT_EQ(text(get("/api/threads/first").body["status"]), "paused");
}

TEST_F(ApiApprovals, AreDecidedOnlyAsTheyWereShownWhereThatIsAskedFor) {
  begin_urgent("first");
  auto shown = get("/api/approvals/first");
  std::string tag = shown.header("ETag");
  ASSERT_FALSE(tag.empty());
  auto same = request("GET", "/api/approvals/first");
  same.headers.push_back({"If-None-Match", tag});
  EXPECT_EQ(send(std::move(same)).status, 304);
  auto stale = request("POST", "/api/approvals/first/decision", R"({"approved":true})");
  stale.headers.push_back({"If-Match", "\"another\""});
  EXPECT_EQ(send(std::move(stale)).status, 412);
  auto fresh = request("POST", "/api/approvals/first/decision", R"({"approved":true})");
  fresh.headers.push_back({"If-Match", tag});
  EXPECT_EQ(send(std::move(fresh)).status, 200);
}

TEST_F(ApiApprovals, WhatComesTooLateIsAConflict) {
  begin_urgent("first");
  clock.move(std::chrono::hours(25));
  auto late = post("/api/approvals/first/decision", R"({"approved":true})");
  EXPECT_EQ(late.status, 409);
  EXPECT_EQ(text(late.body["result"]), "expired");
  EXPECT_EQ(text(late.body["answer"]), "expired");
}

using ApiKeys = ApiFixture;

ApiKey key_of(std::string name, Permission permission, std::string_view token) {
  ApiKey key;
  key.name = std::move(name);
  key.permission = permission;
  key.token = sha256(token);
  return key;
}

TEST_F(ApiKeys, SayWhoMayDoWhat) {
  options.keys = {key_of("reader", Permission::read, "reading-token-16"),
                  key_of("ana", Permission::decide, "deciding-token-16")};
  api = make_api();
  auto with = [&](std::string method, std::string target, std::string token, std::string body) {
    auto sent = request(std::move(method), std::move(target), std::move(body));
    if (!token.empty()) sent.headers.push_back({"Authorization", "Bearer " + token});
    return send(std::move(sent));
  };
  EXPECT_EQ(with("GET", "/api/runs", "", "").status, 401);
  EXPECT_EQ(with("GET", "/api/runs", "wrong-token-000000", "").status, 401);
  EXPECT_EQ(with("GET", "/api/runs", "reading-token-16", "").status, 200);
  std::string start = R"({"input":{"topic":"urgent"},"threadId":"first"})";
  auto forbidden = with("POST", "/api/agents/mail/runs", "reading-token-16", start);
  EXPECT_EQ(forbidden.status, 403);
  EXPECT_EQ(text(forbidden.body["code"]), "forbidden");
  EXPECT_EQ(with("POST", "/api/agents/mail/runs", "deciding-token-16", start).status, 202);
  auto decided =
      with("POST", "/api/approvals/first/decision", "deciding-token-16", R"({"approved":true})");
  EXPECT_EQ(text(decided.body["approval"]["decidedBy"]), "ana");
  EXPECT_EQ(with("GET", "/api/store", "deciding-token-16", "").status, 403);
  EXPECT_EQ(with("GET", "/readyz", "", "").status, 200);
}

TEST_F(ApiKeys, WithoutAnyOnlyThisHostIsServed) {
  auto foreign = request("GET", "/api/runs");
  foreign.headers.back().value = "evil.example:8123";
  EXPECT_EQ(send(std::move(foreign)).status, 403);
}

TEST_F(ApiKeys, WithoutAnyAPageFromElsewhereCantAskForAnything) {
  begin_urgent("first");
  for (const char* origin : {"https://evil.example", "http://127.0.0.1:3000", "null"}) {
    auto sent = request("POST", "/api/threads/first/cancel");
    sent.headers.push_back({"Origin", origin});
    EXPECT_EQ(send(std::move(sent)).status, 403) << origin;
  }
  auto own = request("POST", "/api/threads/first/cancel");
  own.headers.push_back({"Origin", "http://127.0.0.1:8123"});
  EXPECT_EQ(send(std::move(own)).status, 200);
}

TEST_F(ApiKeys, StartsAreCountedAndTheOneTooManyIsToldWhenToCome) {
  options.starts.per_minute = 2;
  api = make_api();
  std::string body = R"({"input":{"topic":"x"}})";
  EXPECT_EQ(post("/api/agents/mail/runs", body).status, 200);
  EXPECT_EQ(post("/api/agents/mail/runs", body).status, 200);
  auto refused = post("/api/agents/mail/runs", body);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.header("Retry-After"), "30");
  clock.move(std::chrono::seconds(30));
  EXPECT_EQ(post("/api/agents/mail/runs", body).status, 200);
}

// A store that responds when the test permits it.
struct ApiHealth : ApiFixture {
  static Task<Result<Done>> look(Completion<Result<Done>> answer) { co_return co_await answer; }
  ApiHealth() {
    options.readiness = [this] { return look(looks.emplace_back()); };
    api = make_api();
  }
  std::vector<Completion<Result<Done>>> looks;
};

TEST_F(ApiHealth, SaysWithinASecondThatTheStoreIsAwayAndAsksItOnce) {
  for (int i = 0; i < 3; ++i) {
    auto ready = get("/readyz");
    EXPECT_EQ(ready.status, 503);
    EXPECT_NE(text(ready.body["reason"]).find("store"), std::string::npos);
    EXPECT_EQ(ready.header("Retry-After"), "1");
    EXPECT_EQ(get("/healthz").status, 200);
  }
  EXPECT_EQ(looks.size(), 1u);
  looks[0].complete(Done{});
  loop.post([this] {
    loop.call_after(std::chrono::milliseconds(1), [this] { looks.back().complete(Done{}); });
  });
  auto ready = get("/readyz");
  EXPECT_EQ(ready.status, 200);
  EXPECT_TRUE(ready.body["reason"].is_null());
  EXPECT_EQ(looks.size(), 2u);
}

TEST_F(ApiHealth, SaysWhatTheStoreSays) {
  loop.call_after(std::chrono::milliseconds(1), [this] {
    looks.back().complete(error(ErrorCode::unavailable, "It is being shut down."));
  });
  auto health = get("/api/health");
  EXPECT_EQ(health.status, 503);
  EXPECT_EQ(text(health.body["status"]), "unavailable");
  EXPECT_EQ(text(health.body["reason"]), "It is being shut down.");
}

using ApiAddresses = ApiFixture;

TEST_F(ApiAddresses, TheRootNamesTheDescription) {
  auto root = get("/");
  EXPECT_EQ(root.status, 404);
  EXPECT_NE(text(root.body["detail"]).find("/openapi.json"), std::string::npos);
  EXPECT_EQ(text(get("/none").body["detail"]), "Unknown address.");
}

using ApiThreads = ApiFixture;

TEST_F(ApiThreads, AreForkedCancelledReplayedAndKept) {
  begin_urgent("first");
  auto preview = post("/api/threads/first/fork", R"({"preview":true})");
  EXPECT_EQ(preview.status, 200);
  auto forked = post("/api/threads/first/fork", R"({"threadId":"second"})");
  EXPECT_EQ(forked.status, 202) << to_json(forked.body);
  auto cancelled = post("/api/threads/second/cancel", R"({"by":"ana"})");
  EXPECT_EQ(cancelled.status, 200);
  EXPECT_EQ(text(cancelled.body["status"]), "cancelled");
  post("/api/approvals/first/decision", R"({"approved":true})");
  auto replayed = post("/api/threads/first/replay");
  EXPECT_EQ(replayed.status, 200);
  EXPECT_TRUE(replayed.body["divergence"].is_null());
  EXPECT_EQ(send(request("PUT", "/api/threads/first/preserved")).status, 200);
  EXPECT_EQ(send(request("DELETE", "/api/threads/first/preserved")).status, 200);
  EXPECT_EQ(send(request("PUT", "/api/threads/third/preserved")).status, 404);
  EXPECT_EQ(post("/api/threads/first/resume").status, 200);
}

TEST_F(ApiThreads, AreReadOnceUntilTheStoreChanges) {
  CountingStore counted(*store);
  service = make_local_service(LocalServiceParts{
      counted, counted, *runtime, loop, clock, random, {graph.definition()}, {}, {}});
  api = make_api();
  begin_urgent("t");
  auto first = get("/api/threads/t/history");
  int reads = counted.reads;
  auto second = get("/api/threads/t/history");
  EXPECT_EQ(counted.reads, reads) << "nothing has changed";
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(second.body, first.body);
  EXPECT_EQ(second.header("Content-Type"), first.header("Content-Type"));
  EXPECT_NE(get("/api/threads/t/history?limit=1").body, first.body);
  EXPECT_EQ(get("/api/threads/u/history").status, 404);
  begin_urgent("u");
  EXPECT_EQ(get("/api/threads/u/history").status, 200);
  ASSERT_EQ(post("/api/threads/t/cancel").status, 200);
  auto third = get("/api/threads/t/history");
  EXPECT_GT(third.body["checkpoints"].as_array()->size(),
            first.body["checkpoints"].as_array()->size());
}

TEST_F(ApiThreads, StandAsTheyStoodAfterACommit) {
  begin_urgent("first");
  post("/api/approvals/first/decision", R"({"approved":true})");
  auto then = get("/api/threads/first?at=1");
  EXPECT_EQ(then.body["seq"], Value(1));
  EXPECT_EQ(text(then.body["status"]), "running");
  EXPECT_EQ(get("/api/threads/first?at=0").status, 422);
  EXPECT_EQ(get("/api/threads/first?at=1000").status, 404);
}

}  // namespace
}  // namespace belay::server
