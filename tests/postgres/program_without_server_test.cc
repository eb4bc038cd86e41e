// The real program while its PostgreSQL is unavailable or does not respond: the responses for load
// balancers and clients, the recovery afterwards, and the quick end of a worker during shutdown.
// The store's `patience` is far longer than the test, except in tests of the responses after it.

#include <gtest/gtest.h>
#include <signal.h>

#include "tests/cli/belay_process.h"
#include "tests/cli/served.h"
#include "tests/postgres/fault_proxy.h"
#include "tests/postgres/postgres_server.h"

namespace belay::postgres_tests {
namespace {

using namespace std::chrono_literals;
using cli::tests::Belay;
using cli::tests::Got;
using cli::tests::Outcome;
using cli::tests::Served;
using std::chrono::steady_clock;

// A tenth of the store's `patience`: the program did not wait for that, even on a busy machine.
constexpr auto kSoonEnough = 60s;
constexpr const char* kPatient = "pool=2&patience=600000";
constexpr const char* kImpatient = "pool=2&patience=500&session_expiry=1000";

class ProgramWithoutItsServer : public ::testing::Test {
 protected:
  ProgramWithoutItsServer() {
    world_.setting.binary = BELAY_SHOP_BINARY;
    use(server_.url("postgres", kPatient));
  }
  void use(const std::string& url) { world_.setting.environment["BELAY_STORE"] = url; }
  void use_proxy() { use(server_.url_at(proxy_.port(), "postgres", kPatient)); }
  void expect_ends_soon(Belay& worker) {
    auto begun = steady_clock::now();
    worker.send(SIGTERM);
    Outcome ended = worker.finish();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_LT(steady_clock::now() - begun, kSoonEnough) << ended.err;
  }
  void expect_unready(Served& served) {
    auto begun = steady_clock::now();
    Got health = served.get("/readyz");
    EXPECT_EQ(health.status, 503) << health.body << health.error;
    EXPECT_LT(steady_clock::now() - begun, kSoonEnough);
    EXPECT_NE(cli::tests::text(health.json()["reason"]).find("store"), std::string::npos)
        << health.body;
    EXPECT_EQ(health.body.find(std::to_string(server_.port())), std::string::npos)
        << "anybody may ask";
    EXPECT_EQ(served.get("/healthz").status, 200) << "it is no reason to start it again";
  }
  bool becomes_ready(Served& served) {
    return wait_until(kSoonEnough, [&] { return served.get("/readyz").status == 200; });
  }

  // Starts a run in `thread`; the request can be repeated.
  static Got start(Served& served, const std::string& thread) {
    return served.post("/api/agents/order/runs",
                       R"({"input":{"item":"hat"},"threadId":")" + thread + "\"}");
  }
  static Got decide(Served& served, const std::string& approval) {
    return served.post("/api/approvals/" + approval + "/decision", R"({"approved":true})");
  }
  static Got stream(Served& served, const std::string& thread) {
    return served.send("GET", "/api/threads/" + thread + "/events", "",
                       {{"Accept", "text/event-stream"}});
  }
  static void expect_told_to_come_again(const Got& got, const char* what) {
    SCOPED_TRACE(what);
    EXPECT_EQ(got.status, 503) << got.body << got.error;
    EXPECT_EQ(got.type, "application/problem+json");
    EXPECT_EQ(got.retry_after, "1");
    std::string detail = cli::tests::text(got.json()["detail"]);
    EXPECT_EQ(detail.rfind("Database temporarily unavailable.", 0), 0u) << detail;
  }
  static std::string status(Served& served, const std::string& thread) {
    return cli::tests::text(served.get("/api/threads/" + thread).json()["status"]);
  }
  void expect_sound() {
    use(server_.url("postgres", "pool=2"));
    Outcome checked = world_.run({"check"});
    EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
    EXPECT_EQ(server_.value("SELECT count(*) FROM belay.runs WHERE status <> 'completed'"), "0");
  }

  PostgresServer server_;
  FaultProxy proxy_{server_.port()};
  cli::tests::World world_;
};

TEST_F(ProgramWithoutItsServer, AServerIsNotReadyUntilItIsBack) {
  Served served(world_.setting);
  ASSERT_TRUE(served.is_up());
  EXPECT_EQ(served.get("/readyz").status, 200);
  for (int i = 0; i < 2; ++i) {
    server_.stop(Stop::immediate);
    for (int ask = 0; ask < 5; ++ask) expect_unready(served);
    server_.start();
    EXPECT_TRUE(becomes_ready(served));
  }
}

TEST_F(ProgramWithoutItsServer, AServerIsNotReadyWhileNothingIsHeardOfIt) {
  use_proxy();
  Served served(world_.setting);
  ASSERT_TRUE(served.is_up());
  EXPECT_EQ(served.get("/readyz").status, 200);
  proxy_.set({.swallows = true});
  for (int ask = 0; ask < 3; ++ask) expect_unready(served);
  proxy_.heal();
  proxy_.cut_all();
  EXPECT_TRUE(becomes_ready(served));
}

TEST_F(ProgramWithoutItsServer, RequestsAreToldToComeAgainAndDoWhatTheyWereToOnceItIsBack) {
  use(server_.url("postgres", kImpatient));
  Served served(world_.setting);
  ASSERT_TRUE(served.is_up());
  Got begun = start(served, "a");
  ASSERT_EQ(begun.status, 202) << begun.body;
  std::string approval = cli::tests::text(begun.json()["approval"]["interruptId"]);
  cli::tests::Stream listener(served, "/api/threads/a/events");
  ASSERT_TRUE(listener.reads("event: approvals"));
  server_.stop(Stop::immediate);
  for (int i = 0; i < 2; ++i) {
    expect_told_to_come_again(start(served, "b"), "start");
    expect_told_to_come_again(served.get("/api/threads/a"), "read");
    expect_told_to_come_again(served.get("/api/approvals"), "what waits for a person");
    expect_told_to_come_again(decide(served, approval), "decision");
    expect_told_to_come_again(served.get("/api/threads/a/events"), "events");
    expect_told_to_come_again(stream(served, "a"), "stream");
    EXPECT_EQ(served.get("/healthz").status, 200);
  }
  EXPECT_FALSE(listener.reads("event: end")) << "whoever listens is to come again, too";
  server_.start();
  ASSERT_TRUE(becomes_ready(served));
  Got again = start(served, "b");
  EXPECT_EQ(again.status, 202) << again.body;
  EXPECT_EQ(status(served, "a"), "paused");
  EXPECT_EQ(decide(served, approval).status, 200);
  EXPECT_EQ(decide(served, cli::tests::text(again.json()["approval"]["interruptId"])).status, 200);
  cli::tests::Stream rest(served, "/api/threads/a/events", listener.last_id());
  EXPECT_TRUE(rest.reads("event: end")) << rest.so_far();
  EXPECT_EQ(rest.so_far().find(listener.last_id() + "\n"), std::string::npos) << "it had come";
  EXPECT_EQ(server_.value("SELECT count(*) FROM belay.runs"), "2");
  expect_ends_soon(served.process());
  expect_sound();
}

// The decision is durable, and the commit after it is not: the run backs off and continues
// automatically.
TEST_F(ProgramWithoutItsServer, ARunWhoseLastCommitDoesNotArriveGoesOnByItselfOnceItDoes) {
  use(server_.url_at(proxy_.port(), "postgres", kImpatient));
  Served served(world_.setting);
  ASSERT_TRUE(served.is_up());
  Got begun = start(served, "a");
  ASSERT_EQ(begun.status, 202) << begun.body;
  std::string approval = cli::tests::text(begun.json()["approval"]["interruptId"]);
  proxy_.set({.cut_at = CutAt::before_end, .marker = "belay.runs", .given = "bought"});
  expect_told_to_come_again(decide(served, approval), "decision");
  EXPECT_EQ(status(served, "a"), "running");
  EXPECT_GT(proxy_.counts().cuts_before_end, 1u);
  proxy_.heal();
  EXPECT_TRUE(wait_until(kSoonEnough, [&] { return status(served, "a") == "completed"; }));
  EXPECT_EQ(decide(served, approval).status, 200) << "it is the same decision";
  expect_ends_soon(served.process());
  expect_sound();
}

TEST_F(ProgramWithoutItsServer, AWorkerThatIsToEndDoesNotWaitForIt) {
  Belay worker({"worker"}, world_.setting);
  ASSERT_TRUE(worker.waits_to_say("Worker started."));
  server_.stop(Stop::immediate);
  nap(1s);  // its next poll fails
  expect_ends_soon(worker);
}

TEST_F(ProgramWithoutItsServer, AWorkerThatIsToEndDoesNotWaitForItsSilence) {
  use_proxy();
  Belay worker({"worker"}, world_.setting);
  ASSERT_TRUE(worker.waits_to_say("Worker started."));
  proxy_.set({.swallows = true});
  nap(1s);
  expect_ends_soon(worker);
}

TEST_F(ProgramWithoutItsServer, AServerThatIsToEndDoesNotWaitForIt) {
  Served served(world_.setting);
  ASSERT_TRUE(served.is_up());
  server_.stop(Stop::immediate);
  nap(1s);
  expect_ends_soon(served.process());
}

// Its run has not failed: the next worker continues it from its last commit.
TEST_F(ProgramWithoutItsServer, AWorkerThatIsToEndLeavesARunWhoseCommitsDoNotArrive) {
  use(server_.url("postgres", "pool=2"));
  ASSERT_EQ(world_.run({"enqueue", "order", "--thread", "a", "--input", "item=hat"}).code, 0);
  use(server_.url_at(proxy_.port(), "postgres", std::string(kPatient) + "&session_expiry=1000"));
  proxy_.set({.cut_at = CutAt::before_end, .marker = ".checkpoints ("});
  {
    Belay worker({"worker"}, world_.setting);
    ASSERT_TRUE(wait_until(kSoonEnough, [&] { return proxy_.counts().cuts_before_end > 2; }));
    expect_ends_soon(worker);
  }
  auto state = [&] { return world_.run({"state", "a", "--json"}).json()["status"]; };
  use(server_.url("postgres", "pool=2&session_expiry=1000"));
  EXPECT_EQ(state(), Value("queued"));
  Belay next({"worker"}, world_.setting);
  EXPECT_TRUE(wait_until(kSoonEnough, [&] { return state() == Value("paused"); }));
  expect_ends_soon(next);
}

}  // namespace
}  // namespace belay::postgres_tests
