#pragma once
// tests/crash/play_fleet.h - runs a fleet in its own folder, and reports its faults to GoogleTest

#include <gtest/gtest.h>

#include <string>

#include "tests/crash/fleet.h"
#include "tests/crash/store_files.h"

namespace belay::crash {

// The folder is kept if a fault was found.
inline FleetReport play_fleet(const FleetPlan& plan) {
  std::string parent = new_folder();
  FleetReport report = run_fleet(plan, parent + "/fleet");
  for (const std::string& fault : report.faults) {
    ADD_FAILURE() << "BELAY_CRASH_SEED=" << plan.seed << ", receivers in " << parent << ": "
                  << fault;
  }
  if (report.faults.empty()) remove_folder(parent);
  return report;
}

// Returns the plan of two workers whose runs are those of an agent with tools. Without zombies: a
// call of a stopped process, which happens when it continues, would count as a repetition.
inline FleetPlan agent_plan(std::uint64_t seed, std::string defect = {}) {
  FleetPlan plan;
  plan.seed = seed;
  plan.zombie_every = 0;
  // Workers execute calls most of the time, so that many kills occur between a call and its commit.
  plan.site.environment["FLEET_PACE"] = "8";
  plan.work = agent_work(std::move(defect));
  return plan;
}

// Returns the same for goals. Between two kills, commands send a message and list the runs: their
// runs take longer.
inline FleetPlan goal_plan(std::uint64_t seed) {
  FleetPlan plan = agent_plan(seed);
  plan.site.environment["FLEET_PACE"] = "20";
  plan.work = goal_work();
  return plan;
}

}  // namespace belay::crash
