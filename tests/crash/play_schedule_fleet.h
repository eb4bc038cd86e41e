#pragma once
// tests/crash/play_schedule_fleet.h - runs a fleet with schedules, and reports its faults to
// GoogleTest

#include <gtest/gtest.h>

#include <string>

#include "tests/crash/schedule_fleet.h"
#include "tests/crash/store_files.h"

namespace belay::crash {

// The folder is kept if a fault was found.
inline ScheduleFleetReport play_schedule_fleet(const ScheduleFleetPlan& plan) {
  std::string parent = new_folder();
  ScheduleFleetReport report = run_schedule_fleet(plan, parent + "/fleet");
  for (const std::string& fault : report.faults) {
    ADD_FAILURE() << "BELAY_CRASH_SEED=" << plan.seed << ", the store in " << parent << ": "
                  << fault;
  }
  if (report.faults.empty()) remove_folder(parent);
  return report;
}

}  // namespace belay::crash
