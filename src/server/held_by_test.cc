// The reason why a queued run waits is named in each view of the run and in related errors.

#include "tests/support/api_fixture.h"

namespace belay::server {
namespace {

using namespace std::chrono_literals;

struct ApiHeldBy : ApiFixture {
  ConcurrencyLimits places{.per_user = 2, .per_key = 1, .per_queue = 3};
  std::unique_ptr<Runtime> limited = limited_runtime();

  ApiHeldBy() { serve(true); }
  ~ApiHeldBy() override {
    api.reset();
    service.reset();
  }

  std::unique_ptr<Runtime> limited_runtime() {
    RuntimeParts parts{*store, loop, clock, random, model};
    parts.concurrency = places;
    parts.concurrency_limits_starts = true;
    auto opened = Runtime::open(std::move(parts)).value();
    opened->add(graph);
    return opened;
  }
  void serve(bool works) {
    LocalServiceParts parts{*store, *store, *limited, loop, clock, random, {graph.definition()},
                            {},     {}};
    parts.concurrency = places;
    parts.works = works;
    service = make_local_service(std::move(parts));
    api = make_api();
  }

  static std::string body(const std::string& thread, const std::string& more) {
    return R"({"input":{"topic":"calm"},"threadId":")" + thread + "\"" + more + "}";
  }
  Answered enqueue(const std::string& thread, const std::string& more = {}) {
    return post("/api/agents/mail/runs", body(thread, R"(,"queued":true)" + more));
  }
  // Starts the run and leaves it running.
  void leave_at_work(const std::string& thread, const std::string& more = {}) {
    auto sent = request("POST", "/api/agents/mail/runs", body(thread, more));
    sent.headers.push_back({"Prefer", "wait=1"});
    EXPECT_EQ(text(send(std::move(sent)).body["status"]), "running");
  }
  std::string held_by(const std::string& thread) {
    return text(get("/api/threads/" + thread).body["heldBy"]);
  }
};

TEST_F(ApiHeldBy, ADelayedRunNamesItsTimeUntilThatHasCome) {
  auto delayed = enqueue("t", R"(,"delayMs":60000)");
  std::string due = "due at " + to_text(clock.now() + 60s);
  EXPECT_EQ(text(delayed.body["heldBy"]), due);
  EXPECT_EQ(held_by("t"), due);
  EXPECT_EQ(held_by("t"), due);
  clock.move(60s);
  EXPECT_EQ(held_by("t"), "null") << "nothing was committed, and yet it is another answer";
}

TEST_F(ApiHeldBy, APausedQueueIsNamed) {
  post("/api/queues/mails", R"({"paused":true})");
  EXPECT_EQ(text(enqueue("t", R"(,"queue":"mails")").body["heldBy"]), "queue \"mails\" paused");
  post("/api/queues/mails", R"({"paused":false})");
  EXPECT_EQ(held_by("t"), "null");
}

TEST_F(ApiHeldBy, LimitsAreNamedInTheRunInItsQueueAndInWhatIsRefused) {
  model.takes(1h);
  leave_at_work("one", R"(,"concurrencyKey":"k")");
  EXPECT_EQ(text(enqueue("of-key", R"(,"concurrencyKey":"k")").body["heldBy"]),
            "concurrency key limit 1");
  EXPECT_EQ(text(enqueue("free").body["heldBy"]), "null");
  leave_at_work("two");
  EXPECT_EQ(held_by("free"), "user limit 2");
  auto refused = post("/api/agents/mail/runs", body("three", ""));
  EXPECT_EQ(refused.status, 429);
  EXPECT_NE(text(refused.body["detail"]).find("user limit 2"), std::string::npos)
      << to_json(refused.body);
  leave_at_work("other", R"(,"userId":"ben")");
  EXPECT_EQ(text(enqueue("of-ben", R"(,"userId":"ben")").body["heldBy"]), "queue limit 3");
  auto queues = get("/api/queues");
  EXPECT_EQ(to_json(queues.body["queues"].as_array()->front()["heldBy"]),
            R"([{"reason":"queue limit 3","runs":1},{"reason":"user limit 2","runs":2}])");
}

TEST_F(ApiHeldBy, ADecisionIsTakenAndItsRunWaitsForAPlaceInTheQueue) {
  begin_urgent("asks");
  model.takes(1h);
  leave_at_work("one");
  leave_at_work("two");
  auto decided = request("POST", "/api/approvals/asks/decision", R"({"approved":true})");
  decided.headers.push_back({"Prefer", "wait=1"});
  auto answer = send(std::move(decided));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(text(answer.body["run"]["status"]), "queued");
  EXPECT_EQ(text(answer.body["run"]["heldBy"]), "user limit 2");
}

TEST_F(ApiHeldBy, ThatNobodyWorksIsNamedWhereThatIsKnown) {
  serve(false);
  EXPECT_EQ(text(enqueue("t").body["heldBy"]), "null") << "another process lives, and may work";
  runtime.reset();
  EXPECT_EQ(held_by("t"), "no worker");
  serve(true);
  EXPECT_EQ(held_by("t"), "null");
}

}  // namespace
}  // namespace belay::server
