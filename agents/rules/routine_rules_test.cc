#include "agents/rules/routine_rules.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include <algorithm>

#include "agents/rules/routine_text.h"
#include "agents/rules/words.h"
#include "belay/value.h"

namespace belay::rules {
namespace {

using ::testing::HasSubstr;

// Returns the first fault of a routine, or "": structure, fields, order and coverage.
std::string problem_in(const Routine& routine) {
  if (routine.activities.empty()) return "Activities array is empty";
  int before = -1;
  for (const RoutineActivity& activity : routine.activities) {
    const auto time = minutes_of(activity.time);
    if (!time) return "Invalid time format. Use HH:MM";
    if (activity.activity.size() < 3) return "Activity description too short";
    if (activity.expected_benefit.empty()) return "Activity missing 'expectedBenefit' field";
    if (*time <= before) return "Activities must be in chronological order";
    before = *time;
  }
  if (routine.activities.size() < 3) return "Schedule should have at least 3 activities";
  return "";
}

RoutineRequest request_for(int risk_level, std::vector<std::string> recommendations = {}) {
  RoutineRequest request;
  request.date = "1914-02-20";
  request.risk_level = risk_level;
  request.recommendations = std::move(recommendations);
  return request;
}

bool mentions(const Routine& routine, std::string_view words) {
  return std::any_of(routine.activities.begin(), routine.activities.end(),
                     [&](const RoutineActivity& activity) {
                       return activity.activity.find(words) != std::string::npos;
                     });
}

TEST(RoutineRules, AnOrdinaryDayHasSevenToTenActivities) {
  for (int level = 0; level <= 10; ++level) {
    const Routine routine = make_routine(request_for(level));
    EXPECT_EQ(problem_in(routine), "");
    EXPECT_GE(routine.activities.size(), 7u) << level;
    EXPECT_LE(routine.activities.size(), 10u) << level;
    EXPECT_THAT(routine.unplaced, testing::IsEmpty()) << level;
  }
}

TEST(RoutineRules, FromLevelEightContactWithAPersonComesFirst) {
  for (int level = 8; level <= 10; ++level) {
    RoutineRequest request = request_for(level);
    request.fixed_events = {{"06:00", "Early shift", 120}, {"20:00", "Choir", 60}};
    request.help_line = "Our line: ask at the desk";
    const Routine routine = make_routine(request);
    EXPECT_THAT(routine.activities[0].activity, HasSubstr("talk to a person"));
    EXPECT_THAT(routine.activities[0].expected_benefit, HasSubstr("ask at the desk"));
    EXPECT_TRUE(mentions(routine, "Early shift"));
  }
  EXPECT_FALSE(mentions(make_routine(request_for(7)), "Before anything else"));
}

TEST(RoutineRules, ContactComesFirstEvenBeforeAnEventAtMidnight) {
  RoutineRequest request = request_for(9);
  request.fixed_events = {{"00:00", "Night shift", 480}};
  const Routine routine = make_routine(request);
  EXPECT_EQ(problem_in(routine), "");
  EXPECT_THAT(routine.activities[0].activity, HasSubstr("talk to a person"));
  EXPECT_EQ(routine.activities[0].time, "00:00") << "as early as there is";
  ASSERT_EQ(routine.unplaced.size(), 1u);
  EXPECT_EQ(routine.unplaced[0].activity, "Night shift");
}

TEST(RoutineRules, ExhaustionBringsRestAndAnEarlyNight) {
  const Routine routine = make_routine(request_for(5, {"Exhaustion, 2 mentions: “worn out”."}));
  EXPECT_TRUE(mentions(routine, "half an hour"));
  EXPECT_TRUE(mentions(routine, "To bed early"));
  EXPECT_EQ(routine.activities.back().time, "21:45");
}

TEST(RoutineRules, IsolationBringsACallAndIllnessADoctorWhenItLasts) {
  EXPECT_TRUE(
      mentions(make_routine(request_for(4, {"Isolation, 1 mention: “alone”."})), "Call or meet"));
  EXPECT_TRUE(mentions(make_routine(request_for(4, {"Illness or pain, 1 mention: “fever”."})),
                       "call a doctor or ask a pharmacist"));
}

TEST(RoutineRules, SpeaksSpanishWhenAsked) {
  RoutineRequest request = request_for(8, {"Agotamiento, 1 mención: «agotada».", "Aislamiento"});
  request.language = Language::es;
  const Routine routine = make_routine(request);
  EXPECT_THAT(routine.activities[0].activity, HasSubstr("hablar con una persona"));
  EXPECT_TRUE(mentions(routine, "A la cama temprano"));
}

TEST(RoutineRules, FixedEventsKeepTheirTimeAndNothingOverlapsThem) {
  RoutineRequest request = request_for(3);
  request.fixed_events = {{"12:30", "Dentist", 90}, {"08:00", "School run", 30}};
  const Routine routine = make_routine(request);
  EXPECT_EQ(problem_in(routine), "");
  for (const RoutineActivity& activity : routine.activities) {
    const int time = *minutes_of(activity.time);
    if (activity.activity == "Dentist") {
      EXPECT_EQ(activity.time, "12:30");
    } else {
      EXPECT_FALSE(time >= 12 * 60 + 30 && time < 14 * 60) << activity.time;
    }
  }
}

TEST(RoutineRules, WhatCannotBePlacedIsReported) {
  RoutineRequest request = request_for(3);
  request.fixed_events = {{"9am", "Call"}, {"10:00", "One"}, {"10:00", "Two"}};
  const Routine routine = make_routine(request);
  ASSERT_EQ(routine.unplaced.size(), 2u);
  EXPECT_EQ(routine.unplaced[0], (Unplaced{"Call", "the time is not written as HH:MM"}));
  EXPECT_EQ(routine.unplaced[1], (Unplaced{"Two", "something else is at that time"}));
}

TEST(RoutineRules, ObeysTheValidatorsFeedback) {
  EXPECT_GE(make_routine(request_for(3, {"Schedule should have at least 12 activities"}))
                .activities.size(),
            12u);
  EXPECT_LE(make_routine(request_for(3, {"At most 5 activities, please"})).activities.size(), 5u);
  for (const RoutineActivity& each :
       make_routine(request_for(3, {"Nothing before 09:30", "No activities after 21:30"}))
           .activities) {
    EXPECT_GE(each.time, "09:30");
    EXPECT_LE(each.time, "21:30");
  }
  EXPECT_GE(make_routine(request_for(3, {"Debe tener al menos 11 actividades"})).activities.size(),
            11u);
}

TEST(RoutineRules, ADayFullOfEventsStillGetsThreeActivities) {
  RoutineRequest request = request_for(3);
  request.fixed_events = {{"00:00", "Duty", 960}, {"16:00", "More duty", 480}};
  EXPECT_EQ(problem_in(make_routine(request)), "");
}

TEST(RoutineRules, EveryRoutineIsValidAndTheSameTwice) {
  EXPECT_TRUE(rc::check([] {
    RoutineRequest request = request_for(*rc::gen::inRange(0, 11));
    request.language = *rc::gen::element(Language::en, Language::es, Language::unknown);
    request.recommendations =
        *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
            "Exhaustion", "illness", "Isolation", "anxiety", "conflict", "low mood", "alcohol",
            "sleep", "walk", "agotamiento", "Activities must be in chronological order",
            "Schedule should have at least 3 activities", "at least 14 activities",
            "at most 4 activities", "nothing before 11:00", "no after 18:00",
            "Invalid time format. Use HH:MM", "Activity description too short"));
    const auto events = *rc::gen::container<std::vector<std::pair<int, int>>>(
        rc::gen::pair(rc::gen::inRange(0, 24 * 60), rc::gen::inRange(0, 1000)));
    for (const auto& [start, minutes] : events) {
      const std::string hours = (start / 60 < 10 ? "0" : "") + std::to_string(start / 60);
      const std::string rest = (start % 60 < 10 ? "0" : "") + std::to_string(start % 60);
      request.fixed_events.push_back({hours + ":" + rest, "x", minutes});
    }
    const Routine routine = make_routine(request);
    RC_ASSERT(problem_in(routine) == "");
    RC_ASSERT(routine == make_routine(request));
    if (request.risk_level >= 8) {
      const std::string first = routine.activities[0].activity;
      RC_ASSERT(first.find("person") != std::string::npos);
    }
  }));
}

TEST(RoutineRules, AnyBytesInEventsAndRecommendationsAreTaken) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) {
    RoutineRequest request = request_for(4, {bytes});
    request.fixed_events = {{bytes, bytes}, {"10:00", bytes}};
    const Routine routine = make_routine(request);
    RC_ASSERT(problem_in(routine) == "");
    for (const RoutineActivity& each : routine.activities) {
      RC_ASSERT(!first_invalid_utf8(each.activity).has_value());
    }
    for (const Unplaced& each : routine.unplaced) {
      RC_ASSERT(!first_invalid_utf8(each.activity).has_value());
    }
  }));
}

TEST(RoutineTopics, AreReadByTheBeginningsOfWords) {
  EXPECT_THAT(topics_of("Illness or pain"), testing::ElementsAre(Topic::illness));
  EXPECT_THAT(topics_of("An illustrated restaurant"), testing::IsEmpty());
  EXPECT_THAT(topics_of("Mal sueño, cansancio"),
              testing::ElementsAre(Topic::exhaustion, Topic::sleep));
}

}  // namespace
}  // namespace belay::rules
