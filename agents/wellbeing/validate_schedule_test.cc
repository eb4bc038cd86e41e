#include "agents/wellbeing/validate_schedule.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <optional>

#include "tests/support/wellbeing_fixture.h"

namespace belay::wellbeing {
namespace {

using testing::schedule_value;

Value activity(std::string time, std::string text = "A walk", std::string benefit = "Calm") {
  return Value::object({{"time", std::move(time)},
                        {"activity", std::move(text)},
                        {"expectedBenefit", std::move(benefit)}});
}

Value schedule(Value::Array activities) {
  return Value::object({{"activities", std::move(activities)}});
}

Value without(Value whole, std::string_view member) {
  whole.as_object()->erase(whole.as_object()->find(member));
  return whole;
}

Value with(Value whole, std::string member, Value value) {
  (*whole.as_object())[std::move(member)] = std::move(value);
  return whole;
}

std::string feedback_on(const Value& value) {
  const Validation validation = validate_schedule(value);
  EXPECT_EQ(validation.is_valid, validation.feedback.empty());
  return validation.feedback;
}

std::string feedback_on_first(Value first) {
  return feedback_on(schedule({std::move(first), activity("09:00"), activity("10:00")}));
}

TEST(ScheduleValidator, AcceptsAValidSchedule) {
  EXPECT_EQ(validate_schedule(schedule_value()), (Validation{true, ""}));
}

TEST(ScheduleValidator, WantsAListOfActivities) {
  EXPECT_EQ(feedback_on(Value()), "Missing 'activities' array");
  EXPECT_EQ(feedback_on(Value("text")), "Missing 'activities' array");
  EXPECT_EQ(feedback_on(Value::Array{}), "Missing 'activities' array");
  EXPECT_EQ(feedback_on(Value::object({{"plan", 1}})), "Missing 'activities' array");
  EXPECT_EQ(feedback_on(Value::object({{"activities", nullptr}})), "'activities' must be an array");
  EXPECT_EQ(feedback_on(Value::object({{"activities", Value::object({{"a", 1}})}})),
            "'activities' must be an array");
  EXPECT_EQ(feedback_on(schedule({})), "Activities array is empty");
}

TEST(ScheduleValidator, DetectsMissingFields) {
  const Value whole = activity("08:00");
  EXPECT_EQ(feedback_on_first(without(whole, "time")), "Activity missing 'time' field");
  EXPECT_EQ(feedback_on_first(without(whole, "activity")), "Activity missing 'activity' field");
  EXPECT_EQ(feedback_on_first(without(whole, "expectedBenefit")),
            "Activity missing 'expectedBenefit' field");
  EXPECT_EQ(feedback_on_first(Value("a walk")), "Activity missing 'time' field");
  EXPECT_EQ(feedback_on_first(Value()), "Activity missing 'time' field");
}

TEST(ScheduleValidator, DetectsAnInvalidTimeFormat) {
  for (const char* time : {"8:00", "24:00", "12:60", "08.00", "08:00 ", "", "0800", "8am",
                           "０８:00", "-1:00", "08:0x"}) {
    EXPECT_EQ(feedback_on_first(activity(time)), "Invalid time format. Use HH:MM") << time;
  }
  EXPECT_EQ(feedback_on_first(with(activity("08:00"), "time", 8)),
            "Invalid time format. Use HH:MM");
  EXPECT_EQ(feedback_on_first(activity("00:00")), "");
}

TEST(ScheduleValidator, WantsDescriptionsOfThreeCharacters) {
  EXPECT_EQ(feedback_on_first(activity("08:00", "Té")), "Activity description too short");
  EXPECT_EQ(feedback_on_first(activity("08:00", "      ")), "Activity description too short");
  EXPECT_EQ(feedback_on_first(with(activity("08:00"), "activity", 7)),
            "Activity description too short");
  EXPECT_EQ(feedback_on_first(activity("08:00", "Tés")), "");
}

TEST(ScheduleValidator, WantsTimesInOrder) {
  EXPECT_EQ(feedback_on(schedule({activity("09:00"), activity("08:59"), activity("10:00")})),
            "Activities must be in chronological order");
  EXPECT_EQ(feedback_on(schedule({activity("09:00"), activity("09:00"), activity("10:00")})), "");
}

TEST(ScheduleValidator, WantsThreeActivities) {
  EXPECT_EQ(feedback_on(schedule({activity("08:00"), activity("09:00")})),
            "Schedule should have at least 3 activities");
}

TEST(ScheduleValidator, StopsAtTheFirstFault) {
  // Faults of activities are reported before their order, and the order before their number.
  EXPECT_EQ(feedback_on(schedule({activity("09:00"), activity("8:00")})),
            "Invalid time format. Use HH:MM");
  EXPECT_EQ(feedback_on(schedule({activity("09:00"), activity("08:00")})),
            "Activities must be in chronological order");
}

TEST(ScheduleValidator, ReadsTheTimesThatItWrites) {
  for (int minutes = 0; minutes < 24 * 60; ++minutes) {
    EXPECT_EQ(minutes_of_day(time_of_day(minutes)), minutes);
  }
}

// A generated member of an activity, and whether it is valid: the oracle uses the way in which the
// value was generated, not the way in which it is checked.
struct Piece {
  std::optional<Value> value;
  bool sound = false;
};

Piece generated_time(int& clock) {
  switch (*rc::gen::weightedElement<int>({{20, 0}, {1, 1}, {1, 2}, {1, 3}, {2, 4}})) {
    case 1:
      return {std::nullopt, false};
    case 2:
      return {Value(*rc::gen::inRange(0, 2400)), false};
    case 3:
      return {Value(std::to_string(*rc::gen::inRange(0, 100'000))), false};
    case 4:
      clock = *rc::gen::inRange(0, 1440);
      break;
    default:
      clock = std::min(1439, clock + *rc::gen::inRange(0, 120));
  }
  const int hours = clock / 60;
  const int minutes = clock % 60;
  const std::string text{static_cast<char>('0' + hours / 10), static_cast<char>('0' + hours % 10),
                         ':', static_cast<char>('0' + minutes / 10),
                         static_cast<char>('0' + minutes % 10)};
  return {Value(text), true};
}

Piece generated_text(std::size_t least) {
  switch (*rc::gen::weightedElement<int>({{20, 0}, {1, 1}, {1, 2}, {1, 3}})) {
    case 1:
      return {std::nullopt, false};
    case 2:
      return {Value(*rc::gen::arbitrary<int>()), false};
    case 3:
      return {Value("ñ"), least <= 1};
    default:
      return {Value(std::string(*rc::gen::inRange<std::size_t>(3, 12), 'w')), true};
  }
}

TEST(ScheduleValidator, AcceptsExactlyWhatObeysAllRules) {
  EXPECT_TRUE(rc::check("valid if and only if every rule holds", [] {
    Value::Array activities;
    bool all_sound = true;
    int clock = 0;
    int latest = -1;
    const auto count = *rc::gen::inRange<std::size_t>(0, 7);
    for (std::size_t i = 0; i < count; ++i) {
      Value::Object members;
      const auto put = [&](const char* name, Piece piece) {
        all_sound = all_sound && piece.sound;
        if (piece.value) members.emplace(name, *std::move(piece.value));
      };
      put("time", generated_time(clock));
      put("activity", generated_text(3));
      put("expectedBenefit", generated_text(0));
      if (clock < latest) all_sound = false;
      latest = clock;
      activities.emplace_back(std::move(members));
    }
    const bool expected = all_sound && count >= 3;
    RC_TAG(expected ? "valid" : "invalid");
    RC_ASSERT(validate_schedule(schedule(std::move(activities))).is_valid == expected);
  }));
}

}  // namespace
}  // namespace belay::wellbeing
