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

}  // namespace belay::crash
