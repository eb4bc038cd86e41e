// The usage of agents with the command line: its totals, after crashes, and its bad arguments.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "belay/limits.h"
#include "tests/cli/served.h"

namespace belay::cli::tests {
namespace {

struct Ends {
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  friend bool operator==(const Ends&, const Ends&) = default;
};

void PrintTo(const Ends& ends, std::ostream* out) {
  *out << ends.completed << " completed, " << ends.failed << " failed";
}

std::int64_t number_in(const Value& entry, const char* member) {
  return entry[member].as_int().value_or(-1);
}

// Completed runs are those of `order`, failed ones those of `errand`.
class CliAnalytics : public ::testing::Test {
 protected:
  CliAnalytics() {
    world.setting.binary = BELAY_SHOP_BINARY;
    world.setting.environment["AGENT_REQUIRE_APPROVAL"] = "false";
  }

  void enqueue(const std::string& agent, const std::string& input, int count) {
    for (int i = 0; i < count; ++i) {
      Outcome queued = world.run({"enqueue", agent, "--input", input});
      ASSERT_EQ(queued.code, 0) << queued.err;
    }
  }
  void enqueue_runs(int completed, int failed) {
    enqueue("order", "item=hat", completed);
    enqueue("errand", "to=nowhere", failed);
  }
  void work() { EXPECT_EQ(world.run({"worker", "--until-idle"}).code, 0); }
  // A worker that a signal kills before or after that commit; false if it had ended before.
  bool kill_worker_at(int commit, bool after) {
    Setting paused = world.setting;
    paused.environment["BELAY_TEST_PAUSE_AT_COMMIT"] = std::to_string(commit);
    if (after) paused.environment["BELAY_TEST_PAUSE_AFTER"] = "1";
    Belay worker({"worker", "--until-idle"}, paused);
    bool is_paused = worker.waits_to_say("belay-test: paused");
    worker.send(SIGKILL);
    worker.finish();
    return is_paused;
  }

  Value usage(Words more = {}) {
    Words words{"analytics", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    Outcome shown = world.run(words);
    EXPECT_EQ(shown.code, 0) << shown.err;
    return shown.json();
  }
  // The runs of the store that have ended, from its threads.
  Ends ended() {
    Ends ends;
    Value page = world.run({"threads", "--limit", "1000", "--json"}).json();
    if (!page["threads"].as_array()) return ends;
    for (const Value& each : *page["threads"].as_array()) {
      if (each["run"]["status"] == Value("completed")) ++ends.completed;
      if (each["run"]["status"] == Value("failed")) ++ends.failed;
    }
    return ends;
  }
  // The sum of the entries of a list, each of which must be complete.
  static Ends sum_of(const Value& entries) {
    Ends ends;
    EXPECT_TRUE(entries.as_array()) << to_json(entries);
    if (!entries.as_array()) return ends;
    for (const Value& each : *entries.as_array()) {
      ends.completed += number_in(each, "successCount");
      ends.failed += number_in(each, "errorCount");
      EXPECT_EQ(number_in(each, "invocationCount"),
                number_in(each, "successCount") + number_in(each, "errorCount"))
          << to_json(each);
    }
    return ends;
  }
  void expect_totals_of_the_log() {
    Value shown = usage();
    EXPECT_EQ(sum_of(shown["summary"]), ended());
    EXPECT_EQ(sum_of(shown["usage"]), ended());
  }
  // Another rebuild changes nothing.
  void expect_the_same_after_a_rebuild() {
    Value before = usage();
    Outcome rebuilt = world.run({"analytics", "rebuild", "--json"});
    EXPECT_EQ(rebuilt.code, 0) << rebuilt.err;
    Ends ends = ended();
    EXPECT_EQ(number_in(rebuilt.json(), "runs"), ends.completed + ends.failed);
    EXPECT_EQ(number_in(rebuilt.json(), "kept"), 0);
    EXPECT_EQ(usage(), before);
  }

  World world;
};

TEST_F(CliAnalytics, ShowsTheRunsOfAllAgentsAndDays) {
  enqueue_runs(3, 2);
  work();
  Value shown = usage();
  EXPECT_TRUE(shown["agentId"].is_null());
  ASSERT_EQ(shown["usage"].as_array()->size(), 30u);
  ASSERT_EQ(shown["summary"].as_array()->size(), 2u);
  EXPECT_EQ(number_in((*shown["summary"].as_array())[0], "errorCount"), 2);
  const Value& orders = (*shown["summary"].as_array())[1];
  EXPECT_EQ(orders["agentId"], Value("order"));
  EXPECT_EQ(number_in(orders, "successCount"), 3);
  EXPECT_EQ(number_in(orders, "errorCount"), 0);
  EXPECT_GE(number_in(orders, "minLatencyMs"), 1);
  EXPECT_GE(number_in(orders, "p95LatencyMs"), number_in(orders, "p50LatencyMs"));
  expect_totals_of_the_log();
  Outcome text = world.run({"analytics"});
  EXPECT_EQ(text.code, 0) << text.err;
  for (const char* part : {"invocations a day", "5 invocations, 2 failed (40.0 %)",
                           "3 runs, 0 failed", "2 runs, 2 failed"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part << " in\n" << text.out;
  }
}

TEST_F(CliAnalytics, ShowsOneAgentForANumberOfDays) {
  enqueue_runs(2, 1);
  work();
  Value shown = usage({"errand", "--days", "7"});
  EXPECT_EQ(shown["agentId"], Value("errand"));
  EXPECT_EQ(shown["usage"].as_array()->size(), 7u);
  EXPECT_EQ(sum_of(shown["usage"]), (Ends{0, 1}));
  EXPECT_EQ(sum_of(shown["summary"]), (Ends{0, 1}));
  Value absent = usage({"nothing_of_it", "--days", "1"});
  EXPECT_EQ(absent["usage"].as_array()->size(), 1u);
  EXPECT_TRUE((*absent["usage"].as_array())[0]["p95LatencyMs"].is_null());
  EXPECT_TRUE(absent["summary"].as_array()->empty());
  EXPECT_EQ(usage({"--days", "365"})["usage"].as_array()->size(), 365u);
}

TEST_F(CliAnalytics, OfAStoreWithoutRunsIsEmpty) {
  Value shown = usage();
  EXPECT_EQ(sum_of(shown["usage"]), (Ends{0, 0}));
  EXPECT_TRUE(shown["summary"].as_array()->empty());
  EXPECT_NE(world.run({"analytics"}).out.find("no invocations"), std::string::npos);
  EXPECT_EQ(number_in(world.run({"analytics", "rebuild", "--json"}).json(), "runs"), 0);
  EXPECT_FALSE(std::filesystem::exists(world.store_path())) << "a read creates no store";
}

TEST_F(CliAnalytics, RejectsBadArguments) {
  const std::vector<Words> rejected = {{"--days", "0"},
                                       {"--days", "366"},
                                       {"--days", "-1"},
                                       {"--days", "x"},
                                       {"--days", "1.5"},
                                       {"--days", ""},
                                       {"--days"},
                                       {"--weeks", "1"},
                                       {""},
                                       {"a", "b"},
                                       {"rebuild", "--all"},
                                       {"a\nb"},
                                       {"rebuild", "daily_auditor"},
                                       {"rebuild", "--days", "9"},
                                       {"--days", "9", "rebuild"},
                                       {"\xff"},
                                       {std::string(300, 'a')},
                                       {"--days", "99999999999999999999"}};
  for (const Words& each : rejected) {
    Words words{"analytics"};
    words.insert(words.end(), each.begin(), each.end());
    Outcome refused = world.run(words);
    EXPECT_EQ(refused.code, 2) << each.front() << ": " << refused.out;
    EXPECT_FALSE(refused.err.empty()) << each.front();
    EXPECT_TRUE(refused.out.empty()) << refused.out;
  }
  EXPECT_FALSE(std::filesystem::exists(world.store_path()));
}

TEST_F(CliAnalytics, IsExactForWorkersThatAreKilledAtAnyCommit) {
  // A run whose worker was lost more often would be quarantined.
  for (int commit = 2; commit < 2 + limits::lost_claims_max; ++commit) {
    enqueue_runs(1, 1);
    EXPECT_TRUE(kill_worker_at(commit, commit % 2 == 0)) << commit;
    expect_totals_of_the_log();
  }
  work();
  EXPECT_EQ(ended(), (Ends{limits::lost_claims_max, limits::lost_claims_max}));
  expect_totals_of_the_log();
  expect_the_same_after_a_rebuild();
  EXPECT_EQ(world.run({"check"}).code, 0);
}

TEST_F(CliAnalytics, IsExactForWorkersThatAreKilledWhileTheyAddRecords) {
  for (bool after : {false, true}) {
    enqueue_runs(1, 1);
    {
      Setting rare = world.setting;
      rare.environment["METRICS_BATCH_INTERVAL_MS"] = "86400000";
      Belay worker({"worker"}, rare);
      ASSERT_TRUE(worker.waits_to_say("run.completed"));
      ASSERT_TRUE(worker.waits_to_say("run.failed"));
      worker.send(SIGKILL);
      worker.finish();
    }
    EXPECT_TRUE(kill_worker_at(1, after)) << "the only commit is that of the records";
    expect_totals_of_the_log();
    expect_the_same_after_a_rebuild();
  }
}

TEST_F(CliAnalytics, IsTheSameThroughAServer) {
  enqueue_runs(2, 1);
  work();
  Value all = usage({"--days", "5"});
  Value one = usage({"errand"});
  Served server(world.setting);
  ASSERT_TRUE(server.is_up());
  world.setting.environment.erase("BELAY_STORE");
  world.setting.environment["BELAY_SERVER"] = server.url("");
  EXPECT_EQ(usage({"--days", "5"}), all);
  EXPECT_EQ(usage({"errand"}), one);
  Outcome shown = world.run({"analytics"});
  EXPECT_NE(shown.out.find("3 invocations, 1 failed (33.3 %)"), std::string::npos) << shown.out;
  EXPECT_TRUE(usage({"nothing_of_it"})["summary"].as_array()->empty());
  Outcome refused = world.run({"analytics", "rebuild"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({"Omit --server"})) << refused.err;
  world.setting.environment["BELAY_SERVER"] = "http://127.0.0.1:1";
  EXPECT_EQ(world.run({"analytics"}).code, 6);
}

TEST_F(CliAnalytics, CountsCancelledRunsAsNeither) {
  enqueue("order", "item=hat", 1);
  work();
  Outcome queued = world.run({"enqueue", "order", "--thread", "stopped", "--input", "item=hat"});
  ASSERT_EQ(queued.code, 0) << queued.err;
  EXPECT_EQ(world.run({"cancel", "stopped"}).code, 0);
  EXPECT_EQ(sum_of(usage()["summary"]), (Ends{1, 0}));
  EXPECT_EQ(world.run({"analytics", "rebuild"}).code, 0);
  EXPECT_EQ(sum_of(usage()["summary"]), (Ends{1, 0}));
}

TEST_F(CliAnalytics, KeepsTheTotalsOfDeletedRuns) {
  enqueue_runs(2, 1);
  work();
  Value page = world.run({"threads", "--json"}).json();
  for (const Value& each : *page["threads"].as_array()) {
    EXPECT_EQ(world.run({"threads", "delete", *each["threadId"].as_string()}).code, 0);
  }
  EXPECT_EQ(ended(), (Ends{0, 0}));
  EXPECT_EQ(sum_of(usage()["summary"]), (Ends{2, 1}));
  EXPECT_EQ(world.run({"analytics", "rebuild"}).code, 0);
  EXPECT_EQ(sum_of(usage()["summary"]), (Ends{2, 1}));
}

TEST_F(CliAnalytics, IsTheSameInAnEncryptedStore) {
  std::string keys = world.write("keys", "k1:" + std::string(64, 'a') + "\n");
  ASSERT_EQ(::chmod(keys.c_str(), 0600), 0);
  world.setting.environment["BELAY_KEY_FILE"] = keys;
  enqueue_runs(2, 1);
  EXPECT_TRUE(kill_worker_at(4, true));
  work();
  expect_totals_of_the_log();
  expect_the_same_after_a_rebuild();
  EXPECT_EQ(sum_of(usage({"order"})["usage"]), (Ends{2, 0}));
  std::ifstream file(world.store_path(), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(bytes.find("latency_sketch"), bytes.npos);
  world.setting.environment.erase("BELAY_KEY_FILE");
  Outcome refused = world.run({"analytics"});
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_TRUE(refused.out.empty()) << refused.out;
}

}  // namespace
}  // namespace belay::cli::tests
