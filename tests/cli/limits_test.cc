// Limits on the running runs of a server and a worker: with keys, without, and with settings.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>

#include "tests/cli/served.h"

namespace belay::cli::tests {
namespace {

class CliLimits : public ::testing::Test {
 protected:
  CliLimits() { world.setting.binary = BELAY_SHOP_BINARY; }

  Words with_keys() {
    std::string file =
        world.write("keys", "ana run token-of-ana-0001\nbob run token-of-bob-0001\n");
    ::chmod(file.c_str(), 0600);
    return {"--api-keys", file};
  }
  static Got ask(Served& served, const std::string& method, const std::string& path,
                 const std::string& who, const std::string& prefer = "", std::string body = "") {
    std::vector<net::HttpHeader> headers;
    if (!who.empty()) headers.push_back({"Authorization", "Bearer token-of-" + who + "-0001"});
    if (!prefer.empty()) headers.push_back({"Prefer", prefer});
    return served.send(method, path, body, std::move(headers));
  }
  // A run that is running for longer than the test.
  static Got start(Served& served, const std::string& who, const std::string& prefer = "wait=0") {
    return ask(served, "POST", "/api/agents/journey/runs", who, prefer,
               R"({"input":{"seconds":600}})");
  }
  void enqueue(int runs) {
    for (int i = 0; i < runs; ++i) {
      Outcome queued = world.run(
          {"enqueue", "journey", "--thread", "t" + std::to_string(i), "--input", "seconds=600"});
      ASSERT_EQ(queued.code, 0) << queued.err;
    }
  }
  // Waits until this many of the queue's runs are running, and a moment more for an excess run.
  Value queue_with_running(int runs) {
    Value queue;
    for (int looks = 0; looks < 300; ++looks) {
      queue = world.run({"queue", "list", "--json"}).json()["queues"].as_array()->front();
      if (queue["running"].as_int().value_or(0) >= runs) break;
    }
    EXPECT_EQ(queue["running"], Value(runs)) << to_json(queue);
    return world.run({"queue", "list", "--json"}).json()["queues"].as_array()->front();
  }

  World world;
};

TEST_F(CliLimits, WithKeysAUserHasFiveRunsAtWorkAndBeginsTenAMinute) {
  Served served(world.setting, with_keys());
  ASSERT_TRUE(served.is_up());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(start(served, "ana").status, 202);
  Got sixth = start(served, "ana");
  EXPECT_EQ(sixth.status, 429) << sixth.body;
  EXPECT_EQ(sixth.retry_after, "1");
  EXPECT_NE(text(sixth.json()["detail"]).find("limit reached: 5 runs"), std::string::npos)
      << sixth.body;
  Got queued = start(served, "ana", "respond-async");
  EXPECT_EQ(queued.status, 202) << queued.body;
  EXPECT_EQ(text(queued.json()["heldBy"]), "user limit 5");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(start(served, "ana", "respond-async").status, 202);
  Got eleventh = start(served, "ana", "respond-async");
  EXPECT_EQ(eleventh.status, 429);
  EXPECT_NE(text(eleventh.json()["detail"]).find("10 starts per minute"), std::string::npos)
      << eleventh.body;
  EXPECT_FALSE(eleventh.retry_after.empty());
  // A request is not limited if it starts no run.
  std::string thread = text(queued.json()["threadId"]);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(ask(served, "GET", "/api/runs", "ana").status, 200);
    EXPECT_EQ(ask(served, "POST", "/api/threads/" + thread + "/cancel", "ana", "", "{}").status,
              200);
  }
}

TEST_F(CliLimits, WhatCountsAsAStartIsInTheDescription) {
  world.setting.binary.clear();
  Value description = parse_json(world.run({"api"}).out).value_or(Value());
  std::set<std::string> begin_runs;
  for (const auto& [path, methods] : *description["paths"].as_object()) {
    for (const auto& [method, operation] : *methods.as_object()) {
      if (operation["x-begins-run"] != Value(true)) continue;
      const Value* served_by = operation.find("x-served-by");
      begin_runs.insert(text(served_by ? *served_by : operation["operationId"]));
    }
  }
  EXPECT_EQ(
      begin_runs,
      (std::set<std::string>{
          "agentServerCopyThread", "agentServerCreateRun", "agentServerCreateRunBatch",
          "agentServerCreateStatelessRun", "agentServerStreamRun", "agentServerStreamStatelessRun",
          "agentServerUpdateState", "agentServerWaitForNewRun", "agentServerWaitForNewStatelessRun",
          "backfillSchedule", "createAnalysis", "createAnalysisBatch", "forkThread",
          "generateRoutine", "runSchedule", "startDailyAudit", "startRun", "triggerGoal"}));
}

TEST_F(CliLimits, WithoutKeysNothingIsLimitedUnlessItIsSet) {
  {
    Served served(world.setting);
    ASSERT_TRUE(served.is_up());
    for (int i = 0; i < 12; ++i) EXPECT_EQ(start(served, "").status, 202);
    EXPECT_EQ(served.get("/api/runs?status=running").json()["runs"].as_array()->size(), 12u);
  }
  World other;
  other.setting.binary = BELAY_SHOP_BINARY;
  other.setting.environment["BELAY_RUNS_PER_USER"] = "2";
  Served limited(other.setting);
  ASSERT_TRUE(limited.is_up());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(start(limited, "").status, 202);
  EXPECT_EQ(start(limited, "").status, 429);
  World third;
  third.setting.binary = BELAY_SHOP_BINARY;
  Served bounded(third.setting, {"--starts-at-work", "3"});
  ASSERT_TRUE(bounded.is_up());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(start(bounded, "").status, 202);
  EXPECT_EQ(start(bounded, "").status, 429);
}

TEST_F(CliLimits, AWorkerHasAsManyRunsAtWorkAsItIsToldTo) {
  enqueue(12);
  Belay worker({"worker", "--max-runs", "16"}, world.setting);
  Value queue = queue_with_running(12);
  EXPECT_TRUE(queue["heldBy"].as_array()->empty()) << to_json(queue);
  EXPECT_NE(world.run({"worker", "--help"}).out.find("running runs per user; 0: unlimited [0]"),
            std::string::npos);
}

TEST_F(CliLimits, WhatHoldsRunsOfAWorkerBackIsNamed) {
  enqueue(4);
  EXPECT_NE(world.run({"state", "t0"}).out.find("held by:  no worker"), std::string::npos);
  world.setting.environment["BELAY_RUNS_PER_USER"] = "3";
  Belay worker({"worker", "--max-runs", "16"}, world.setting);
  Value queue = queue_with_running(3);
  EXPECT_EQ(to_json(queue["heldBy"]), R"([{"reason":"user limit 3","runs":1}])");
  EXPECT_NE(world.run({"queue"}).out.find("held by: user limit 3 (1)"), std::string::npos);
  EXPECT_EQ(world.run({"state", "t3", "--json"}).json()["heldBy"], Value("user limit 3"));
}

TEST_F(CliLimits, AnAddressThatTriesWrongKeysIsRefused) {
  Served served(world.setting, with_keys());
  ASSERT_TRUE(served.is_up());
  EXPECT_EQ(ask(served, "GET", "/api/runs", "ana").status, 200);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(ask(served, "GET", "/api/runs", "eve").status, 401);
  Got refused = ask(served, "GET", "/api/runs", "eve");
  EXPECT_EQ(refused.status, 429) << refused.body;
  EXPECT_FALSE(refused.retry_after.empty());
  EXPECT_EQ(ask(served, "GET", "/api/runs", "bob").status, 429);
  EXPECT_EQ(ask(served, "GET", "/api/runs", "ana").status, 200);
}

}  // namespace
}  // namespace belay::cli::tests
