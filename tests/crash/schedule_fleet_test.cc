// Three workers with schedules are killed at any time while the clock jumps: each tick has one
// decision, and each start one run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "tests/crash/campaign.h"
#include "tests/crash/play_schedule_fleet.h"

namespace belay::crash {
namespace {

using ::testing::HasSubstr;

TEST(ScheduleFleet, NoKillAndNoJumpOfTheClockLosesATickOrRepeatsOne) {
  ScheduleFleetPlan plan;
  plan.seed = chosen_seed();
  plan.kills = kSanitized ? 20 : 40;
  plan.jumps = kSanitized ? 1 : 4;
  ScheduleFleetReport report = play_schedule_fleet(plan);
  std::cout << report.evidence(plan.seed) << std::endl;
  EXPECT_GE(report.kills, plan.kills);
  EXPECT_GT(report.ticks.started, 0);
}

// Two ticks of a second each: the first has a run, the second was skipped.
DecidedTicks two_ticks() {
  DecidedTicks decided;
  decided.name = "each";
  decided.schedule = parse_json(R"({"createdAt":"2026-11-28T09:00:00.5Z",
      "decidedUntil":"2026-11-28T09:00:02.4Z","updatedAt":"2026-11-28T09:00:02.4Z",
      "started":1,"skipped":1,"missed":0,"failed":0})")
                         .value();
  Value ticks = parse_json(R"([
      {"at":"2026-11-28T09:00:02Z","until":"2026-11-28T09:00:02Z","count":1,
       "decision":"skipped","reason":"Busy.","decidedAt":"2026-11-28T09:00:02.1Z"},
      {"at":"2026-11-28T09:00:01Z","until":"2026-11-28T09:00:01Z","count":1,
       "decision":"started","runId":"a","decidedAt":"2026-11-28T09:00:01.1Z"}])")
                    .value();
  decided.ticks = *ticks.as_array();
  return decided;
}

std::string fault_of(const DecidedTicks& decided) {
  std::string all;
  for (const std::string& fault : judge_ticks(decided).faults) all += fault + "\n";
  return all;
}
void set_member(Value& document, const char* name, Value value) {
  document.as_object()->insert_or_assign(name, std::move(value));
}

TEST(ScheduleFleetDetection, EachKindOfFaultIsReported) {
  EXPECT_EQ(fault_of(two_ticks()), "");
  DecidedTicks lost = two_ticks();
  lost.ticks.pop_back();
  EXPECT_THAT(fault_of(lost), HasSubstr("is 2026-11-28T09:00:01"));
  DecidedTicks undecided = two_ticks();
  undecided.ticks.erase(undecided.ticks.begin());
  EXPECT_THAT(fault_of(undecided), HasSubstr("the last decision is before"));
  DecidedTicks twice = two_ticks();
  set_member(twice.ticks[0], "decision", "started");
  set_member(twice.ticks[0], "runId", "a");
  EXPECT_THAT(fault_of(twice), HasSubstr("a second tick has the run a"));
  DecidedTicks repeated = two_ticks();
  repeated.ticks.push_back(repeated.ticks[0]);
  EXPECT_THAT(fault_of(repeated), HasSubstr("is 2026-11-28T09:00:03"));
  DecidedTicks counted = two_ticks();
  set_member(counted.ticks[0], "count", 2);
  EXPECT_THAT(fault_of(counted), HasSubstr("wrong count"));
  DecidedTicks early = two_ticks();
  set_member(early.ticks[0], "decision", "missed");
  EXPECT_THAT(fault_of(early), HasSubstr("missed within its window"));
  DecidedTicks waiting = two_ticks();
  set_member(waiting.ticks[0], "decision", "buffered");
  EXPECT_THAT(fault_of(waiting), HasSubstr("no final decision"));
  DecidedTicks without = two_ticks();
  set_member(without.ticks[1], "runId", Value());
  EXPECT_THAT(fault_of(without), HasSubstr("a start without its run"));
}

}  // namespace
}  // namespace belay::crash
