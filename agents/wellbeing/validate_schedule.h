#pragma once
// wellbeing/validate_schedule.h - validates a model's schedule by four rules.
//
// Stops at the first fault. The feedback is written for the model: it states the remedy.

#include <optional>
#include <string>
#include <string_view>

#include "belay/value.h"

namespace belay::wellbeing {

inline constexpr std::size_t kActivitiesMin = 3;
inline constexpr std::size_t kDescriptionMin = 3;  // characters, without white space around them

struct Validation {
  bool is_valid = false;
  std::string feedback;  // empty if valid
  friend bool operator==(const Validation&, const Validation&) = default;
};

// Accepts any value. Rules, in order: it has a list of activities; each has a time HH:MM, a
// description and an expected benefit; times do not decrease; there are at least three activities.
Validation validate_schedule(const Value& schedule);

// Converts "HH:MM" (00:00 to 23:59, two digits each) to minutes after midnight, and back.
std::optional<int> minutes_of_day(std::string_view time);
std::string time_of_day(int minutes);

}  // namespace belay::wellbeing
