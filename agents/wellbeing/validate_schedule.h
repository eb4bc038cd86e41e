#pragma once
// wellbeing/validate_schedule.h - whether a model's schedule is one, by four rules.
//
// Stops at the first fault and says what to write instead; the words go back to the model.

#include <optional>
#include <string>
#include <string_view>

#include "belay/value.h"

namespace belay::wellbeing {

inline constexpr std::size_t kActivitiesMin = 3;
inline constexpr std::size_t kDescriptionMin = 3;  // characters, without white space around them

struct Validation {
  bool is_valid = false;
  std::string feedback;  // empty when valid
  friend bool operator==(const Validation&, const Validation&) = default;
};

// Takes any value. In order: there is a list of activities; each has a time HH:MM, a description
// and an expected benefit; times do not go back; there are at least three.
Validation validate_schedule(const Value& schedule);

// Minutes after midnight of "HH:MM", 00:00 to 23:59, two digits each; and back.
std::optional<int> minutes_of_day(std::string_view time);
std::string time_of_day(int minutes);

}  // namespace belay::wellbeing
