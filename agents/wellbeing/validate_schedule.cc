#include "agents/wellbeing/validate_schedule.h"

#include "agents/wellbeing/code_points.h"

namespace belay::wellbeing {
namespace {

Validation fault(std::string_view feedback) { return {false, std::string(feedback)}; }

// Returns the feedback on one activity; empty if it is valid.
std::string_view activity_fault(const Value& activity) {
  const Value* time = activity.find("time");
  if (time == nullptr) return "Activity missing 'time' field";
  const std::string* clock = time->as_string();
  if (clock == nullptr || !minutes_of_day(*clock)) return "Invalid time format. Use HH:MM";
  const Value* description = activity.find("activity");
  if (description == nullptr) return "Activity missing 'activity' field";
  const std::string* words = description->as_string();
  if (words == nullptr || count_code_points(one_line(*words)) < kDescriptionMin) {
    return "Activity description too short";
  }
  const Value* benefit = activity.find("expectedBenefit");
  if (benefit == nullptr || benefit->as_string() == nullptr) {
    return "Activity missing 'expectedBenefit' field";
  }
  return "";
}

}  // namespace

Validation validate_schedule(const Value& schedule) {
  const Value* activities = schedule.find("activities");
  if (activities == nullptr) return fault("Missing 'activities' array");
  const Value::Array* items = activities->as_array();
  if (items == nullptr) return fault("'activities' must be an array");
  if (items->empty()) return fault("Activities array is empty");
  for (const Value& item : *items) {
    if (const std::string_view found = activity_fault(item); !found.empty()) return fault(found);
  }
  int before = 0;
  for (const Value& item : *items) {
    const int now = *minutes_of_day(*item["time"].as_string());
    if (now < before) return fault("Activities must be in chronological order");
    before = now;
  }
  if (items->size() < kActivitiesMin) return fault("Schedule should have at least 3 activities");
  return {true, ""};
}

std::optional<int> minutes_of_day(std::string_view time) {
  const auto digit = [&](std::size_t at) { return time[at] >= '0' && time[at] <= '9'; };
  if (time.size() != 5 || time[2] != ':' || !digit(0) || !digit(1) || !digit(3) || !digit(4)) {
    return std::nullopt;
  }
  const int hours = (time[0] - '0') * 10 + (time[1] - '0');
  const int minutes = (time[3] - '0') * 10 + (time[4] - '0');
  if (hours > 23 || minutes > 59) return std::nullopt;
  return hours * 60 + minutes;
}

std::string time_of_day(int minutes) {
  const auto two = [](int number) {
    return std::string(number < 10 ? "0" : "") + std::to_string(number);
  };
  return two(minutes / 60) + ":" + two(minutes % 60);
}

}  // namespace belay::wellbeing
