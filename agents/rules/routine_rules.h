#pragma once
// rules/routine_rules.h - plans a day's routine by rules, from an assessment of the previous day.
//
// A small constraint solver: fixed events keep their time. Sleep, meals, breaks and the tasks for
// the recommendations are placed around them in order of priority, each as near as possible to its
// usual time and within its window. Tasks that do not fit are reported. Of two equally near times
// the earlier one is used. The result is chronological, its times are unique, and it has at least
// three activities.
//
// From level 8 on, the first activity is contact with a person.
//
// The topics of the recommendations are detected (exhaustion, illness, ...), in both languages. A
// validator's feedback among them is applied if possible: "at least 8 activities", "at most 6
// activities", "nothing before 07:00", "nothing after 22:00".
//
// Threading: pure functions. Equal requests have equal routines, on every machine.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/rules/language.h"

namespace belay::rules {

struct FixedEvent {
  std::string time;  // "HH:MM"
  std::string activity;
  int minutes = 60;  // duration, 5 to 960
};

struct RoutineRequest {
  std::string date;    // YYYY-MM-DD; not used by the rules, which are the same every day
  int risk_level = 1;  // 0 (not assessed) to 10
  std::vector<std::string> recommendations;
  std::vector<FixedEvent> fixed_events;
  Language language = Language::en;  // of the texts; unknown counts as English
  // The operator's help line, shown with the first activity from level 8 on; empty: none.
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

// Returns the minutes after midnight of "HH:MM" (two digits each, 00:00 to 23:59); nullopt for any
// other text.
std::optional<int> minutes_of(std::string_view time);

}  // namespace belay::rules
