// The real program while its PostgreSQL is away, or says nothing: what a load balancer is told, and
// that a worker which is to end does so soon. The store's patience is far longer than any of it.

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

// A tenth of the store's patience: the program did not wait for that, on however busy a machine.
constexpr auto kSoonEnough = 60s;
constexpr const char* kPatient = "pool=2&patience=600000";

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

TEST_F(ProgramWithoutItsServer, AWorkerThatIsToEndDoesNotWaitForIt) {
  Belay worker({"worker"}, world_.setting);
  ASSERT_TRUE(worker.waits_to_say("Working on what waits"));
  server_.stop(Stop::immediate);
  nap(1s);  // its next look finds nobody
  expect_ends_soon(worker);
}

TEST_F(ProgramWithoutItsServer, AWorkerThatIsToEndDoesNotWaitForItsSilence) {
  use_proxy();
  Belay worker({"worker"}, world_.setting);
  ASSERT_TRUE(worker.waits_to_say("Working on what waits"));
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

// Its run has not failed: the next worker takes it up where it stood.
TEST_F(ProgramWithoutItsServer, AWorkerThatIsToEndLeavesARunWhoseCommitsDoNotArrive) {
  use(server_.url("postgres", "pool=2"));
  ASSERT_EQ(world_.run({"enqueue", "order", "--thread", "a", "--input", "item=hat"}).code, 0);
  use(server_.url_at(proxy_.port(), "postgres", std::string(kPatient) + "&session_expiry=1000"));
  proxy_.set({.cut_at = CutAt::before_end, .marker = "checkpoints"});
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
