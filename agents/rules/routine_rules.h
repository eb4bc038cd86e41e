#pragma once
// rules/routine_rules.h - makes a day's routine from what the day before showed, by rules.
//
// A small constraint solver: fixed events keep their time; sleep, meals and breaks and what the
// recommendations call for are placed around them, the important first, each as near as it can be
// to its usual time and inside its window; what finds no place is reported. Ties go to the earlier
// time. The result is chronological, its times are unique, and it has at least three activities.
//
// From level 8 on, the first activity is contact with a person, whatever else the day holds.
//
// Recommendations are read for what they are about (exhaustion, illness, ...), in both languages,
// and a validator's feedback among them is obeyed where it can be: "at least 8 activities", "at
// most 6 activities", "nothing before 07:00", "nothing after 22:00".
//
// Threading: pure functions. The same request gives the same routine, on every machine.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/rules/language.h"

namespace belay::rules {

struct FixedEvent {
  std::string time;  // "HH:MM"
  std::string activity;
  int minutes = 60;  // how long it takes, 5 to 960
};

struct RoutineRequest {
  std::string date;    // YYYY-MM-DD; kept for the record: the rules are the same every day
  int risk_level = 1;  // 0 (not assessed) to 10
  std::vector<std::string> recommendations;
  std::vector<FixedEvent> fixed_events;
  Language language = Language::en;  // of the texts; unknown counts as English
  // Shown with the first activity from level 8 on: the operator's own help line, if any.
  std::string help_line;
};

struct RoutineActivity {
  std::string time;  // "HH:MM"
  std::string activity;
  std::string expected_benefit;
  friend bool operator==(const RoutineActivity&, const RoutineActivity&) = default;
};

struct Unplaced {
  std::string activity;
  std::string reason;
  friend bool operator==(const Unplaced&, const Unplaced&) = default;
};

struct Routine {
  std::vector<RoutineActivity> activities;
  std::vector<Unplaced> unplaced;
  friend bool operator==(const Routine&, const Routine&) = default;
};

Routine make_routine(const RoutineRequest& request);

// Minutes after midnight of "HH:MM" (two digits each, 00:00 to 23:59), or nothing.
std::optional<int> minutes_of(std::string_view time);

}  // namespace belay::rules
