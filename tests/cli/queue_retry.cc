#include "tests/cli/queue_retry.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "belay/limits.h"

namespace belay::cli::tests {
namespace {

constexpr int kKillsMax = 20;

Value run_in(World& world, const std::string& thread) {
  return world.run({"state", thread, "--json"}).json();
}

// Lets a worker claim the run and kills it before its next commit. Returns false if there is no run
// to claim.
bool loses_a_worker(World& world) {
  Setting paused = world.setting;
  paused.environment["BELAY_TEST_PAUSE_AT_COMMIT"] = "2";
  Belay worker({"worker", "--json"}, paused);
  bool is_at_work = worker.waits_to_say("belay-test: paused");
  worker.send(SIGKILL);
  worker.finish();
  return is_at_work;
}

}  // namespace

void expect_a_failed_run_goes_again(World& world) {
  ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-01-01", hard_day())).code, 0);
  world.setting.environment["BELAY_TEST_MODEL_FAILS"] = "100";
  Outcome failed = world.run({"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"});
  world.setting.environment.erase("BELAY_TEST_MODEL_FAILS");
  ASSERT_EQ(failed.code, 1) << failed.err;
  Value before = run_in(world, "t");
  EXPECT_EQ(before["status"], Value("failed"));
  Outcome again = world.run({"queue", "retry", "t", "--thread", "u", "--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.json()["threadId"], Value("u"));
  EXPECT_EQ(again.json()["status"], Value("queued"));
  EXPECT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  EXPECT_EQ(run_in(world, "u")["status"], Value("paused")) << "the model is back";
  EXPECT_EQ(run_in(world, "t"), before) << "the run that failed stays as it was";
  Outcome twice = world.run({"queue", "retry", "t", "--thread", "u", "--json"});
  EXPECT_EQ(twice.code, 0) << twice.err;
  EXPECT_EQ(twice.json()["runId"], again.json()["runId"]) << "the same again is the same run";
  Outcome taken = world.run({"queue", "retry", "t", "--thread", "t"});
  EXPECT_EQ(taken.code, 2) << taken.err;
  EXPECT_EQ(world.run({"check"}).code, 0);
}

void expect_a_quarantined_run_goes_again(World& world) {
  ASSERT_EQ(world.run({"enqueue", "order", "--thread", "a", "--input", "item=hat"}).code, 0);
  for (int kills = 0; kills < limits::lost_claims_max + 1; ++kills) {
    ASSERT_TRUE(loses_a_worker(world)) << kills;
  }
  for (int looks = 0; looks < kKillsMax; ++looks) {
    if (run_in(world, "a")["status"] == Value("quarantined")) break;
    EXPECT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  }
  Outcome listed = world.run({"queue", "quarantined"});
  EXPECT_NE(listed.out.find("lost 6 processes"), std::string::npos) << listed.out << listed.err;
  Outcome again = world.run({"queue", "retry", "a", "--thread", "b", "--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.json()["status"], Value("queued"));
  EXPECT_EQ(run_in(world, "a")["status"], Value("cancelled"));
  EXPECT_EQ(world.run({"queue", "quarantined"}).out, "No quarantined runs.\n");
  EXPECT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  EXPECT_EQ(run_in(world, "b")["status"], Value("paused"));
  EXPECT_EQ(world.run({"check"}).code, 0);
}

}  // namespace belay::cli::tests
