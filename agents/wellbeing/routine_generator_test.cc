#include "agents/wellbeing/routine_generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "agents/rules/builtin_model.h"
#include "agents/wellbeing/validate_schedule.h"
#include "tests/support/wellbeing_fixture.h"

namespace belay::wellbeing {
namespace {

using testing::applied;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kToday;
using testing::kTomorrow;
using testing::schedule_text;
using testing::schedule_value;
using ::testing::StartsWith;
using testing::WellbeingFixture;

DailySummary summary_of_today() {
  DailySummary summary;
  summary.date = kToday;
  summary.summary = "A long day.";
  summary.riskLevel = 6;
  summary.assessed = true;
  summary.keyInsights = {"Slept badly.", "Worked late."};
  summary.language = "en";
  return summary;
}

RoutineState of_tomorrow() {
  RoutineState state;
  state.date = kTomorrow;
  state.language = "en";
  state.analysisResult = AnalysisResult{6, {"Rest"}};
  return state;
}

RoutineState validated(WellbeingFixture& world, RoutineState state) {
  const auto context = world.context("validator");
  auto update = check_schedule(state, *context).value();
  return applied(std::move(state), std::move(update));
}

GraphConfig without_approval() {
  GraphConfig config;
  config.requiresHumanApproval = false;
  return config;
}

TEST(Analyzer, TakesYesterdaysSummary) {
  WellbeingFixture world;
  world.save(summary_of_today());
  world.model.replies(schedule_text());
  const auto state = world.plan(kTomorrow).value().state;
  EXPECT_THAT(state.yesterdayContext, HasSubstr("A long day."));
  EXPECT_THAT(state.yesterdayContext, HasSubstr("2024-01-15"));
  EXPECT_EQ(*state.analysisResult, (AnalysisResult{6, {"Slept badly.", "Worked late."}}));
}

TEST(Analyzer, StartsFromABasicRoutineWithoutASummary) {
  WellbeingFixture spanish{WellbeingOptions()};
  spanish.model.replies(schedule_text());
  const auto state = spanish.plan(kTomorrow).value().state;
  EXPECT_EQ(state.yesterdayContext, "No hay datos previos.");
  EXPECT_EQ(*state.analysisResult, (AnalysisResult{5, {"Establecer rutina básica de bienestar"}}));
  WellbeingFixture english;
  english.model.replies(schedule_text());
  const auto other = english.plan(kTomorrow).value().state;
  EXPECT_EQ(other.yesterdayContext, "No previous data.");
  EXPECT_EQ(*other.analysisResult, (AnalysisResult{5, {"Establish a basic wellbeing routine"}}));
}

TEST(Analyzer, DoesNotTakeWhatWasNotAssessedForALowRisk) {
  WellbeingFixture world;
  DailySummary summary = summary_of_today();
  summary.riskLevel.reset();
  world.save(summary);
  world.model.replies(schedule_text());
  const auto state = world.plan(kTomorrow).value().state;
  EXPECT_EQ(state.analysisResult->riskLevel, 5);
  EXPECT_THAT(state.yesterdayContext, HasSubstr("not assessed"));
}

TEST(Scheduler, GeneratesAScheduleWithTheRequiredFields) {
  WellbeingFixture world;
  world.model.replies(schedule_text());
  const auto context = world.context("scheduler");
  const RoutineState before = of_tomorrow();
  auto update = world.wait(make_schedule(before, *context)).value();
  const RoutineState state = applied(before, std::move(update));
  EXPECT_EQ(state.rawSchedule, schedule_value());
  for (const Value& activity : *state.rawSchedule["activities"].as_array()) {
    EXPECT_TRUE(activity["time"].as_string() && activity["activity"].as_string() &&
                activity["expectedBenefit"].as_string());
  }
  EXPECT_EQ(world.model.requests().at(0).purpose, "routine_schedule");
}

TEST(Scheduler, FailsAfterMaxRetriesAndSaysWhy) {
  WellbeingFixture world;
  world.model.then_always([](const ModelRequest&) { return Result<std::string>("no JSON"); });
  const auto result = world.plan(kTomorrow).value();
  EXPECT_EQ(result.status, "failed");
  EXPECT_THAT(*result.error, StartsWith("Scheduler failed after max retries: "));
  EXPECT_THAT(*result.error, HasSubstr("Invalid LLM response format"));
  EXPECT_EQ(world.model.requests().size(), 3u);
}

TEST(Scheduler, AsksAgainWhenTheAnswerRepeatsTheInstructions) {
  WellbeingFixture world;
  world.model.replies(R"({"activities": "[SYSTEM INSTRUCTION]"})").replies(schedule_text());
  const auto result = world.plan(kTomorrow, without_approval()).value();
  EXPECT_EQ(result.outcome, "saved");
  EXPECT_EQ(result.base.retryCount, 1);
}

TEST(Validator, RoutesBackToTheSchedulerWithFeedback) {
  WellbeingFixture world;
  RoutineState state = of_tomorrow();
  state.rawSchedule = Value::object({{"activities", Value::Array{}}});
  state = validated(world, state);
  EXPECT_EQ(state.validationAttempts, 1);
  EXPECT_EQ(state.validationFeedback, "Activities array is empty");
  EXPECT_THAT(state.analysisResult->recommendations,
              ElementsAre("Rest", "Activities array is empty"));
  EXPECT_TRUE(state.validatedSchedule.is_null());
}

TEST(Validator, RoutesToTheFormatterWhenTheScheduleIsValid) {
  WellbeingFixture world;
  RoutineState state = of_tomorrow();
  state.rawSchedule = schedule_value();
  state = validated(world, state);
  EXPECT_EQ(state.validationAttempts, 1);
  EXPECT_EQ(state.validationFeedback, "");
  EXPECT_EQ(state.validatedSchedule, schedule_value());
  EXPECT_THAT(state.analysisResult->recommendations, ElementsAre("Rest"));
}

TEST(RoutineGenerator, RetriesAfterAFailedValidationWithTheFeedback) {
  WellbeingFixture world;
  world.model.replies(R"({"activities": [{"time": "8am"}]})").replies(schedule_text());
  const auto result = world.plan(kTomorrow, without_approval()).value();
  EXPECT_EQ(result.outcome, "saved");
  EXPECT_EQ(result.state.validationAttempts, 2);
  EXPECT_THAT(world.nodes(result.threadId),
              ElementsAre("analyzer", "scheduler", "validator", "scheduler", "validator",
                          "formatter", "checkApproval", "saveRoutine"));
  ASSERT_EQ(world.model.requests().size(), 2u);
  EXPECT_THAT(world.model.requests()[1].messages[1].text,
              HasSubstr("Invalid time format. Use HH:MM"));
  EXPECT_EQ(result.base.retryCount, 0) << "a failed validation is no failed attempt of a node";
}

TEST(RoutineGenerator, FailsAfterThreeFailedValidations) {
  WellbeingFixture world;
  world.model.then_always([](const ModelRequest&) { return Result<std::string>("{}"); });
  const auto result = world.plan(kTomorrow, without_approval()).value();
  EXPECT_FALSE(result.success);
  EXPECT_THAT(*result.error, StartsWith("Schedule validation failed after 3 attempts"));
  EXPECT_THAT(*result.error, HasSubstr("Missing 'activities' array"));
  EXPECT_EQ(world.runs(result.threadId).front().error_code, "exhausted");
  EXPECT_EQ(result.state.validationAttempts, 3);
  EXPECT_EQ(result.base.currentNode, "validator");
  EXPECT_EQ(result.state.analysisResult->recommendations.size(), 4u);
  EXPECT_FALSE(world.saved<Routine>(kTomorrow).has_value());
}

TEST(RoutineGenerator, SavesTheRoutineOfItsDay) {
  WellbeingFixture world;
  world.model.replies(schedule_text());
  const auto result = world.plan(kTomorrow, without_approval()).value();
  const auto saved = world.saved<Routine>(kTomorrow);
  ASSERT_TRUE(saved.has_value());
  EXPECT_EQ(saved->activities, result.state.formattedRoutine->activities);
  EXPECT_EQ(saved->activities.size(), 4u);
  EXPECT_EQ(saved->threadId, result.threadId);
  EXPECT_EQ(saved->disclaimer, message(Text::no_diagnosis, Language::en));
  EXPECT_EQ(saved->method, "script");
}

TEST(RoutineGenerator, TidiesTheActivitiesUp) {
  WellbeingFixture world;
  Value schedule = schedule_value();
  Value::Object& first =
      *schedule.as_object()->find("activities")->second.as_array()->at(0).as_object();
  first["activity"] = "  Breakfast\n  by the   window ";
  first["mood"] = "sunny";
  world.model.replies(to_json(schedule));
  const auto result = world.plan(kTomorrow, without_approval()).value();
  EXPECT_EQ(result.state.formattedRoutine->activities[0].activity, "Breakfast by the window");
}

TEST(RoutineGenerator, KeepsTheFixedEventsOfTheDay) {
  WellbeingFixture world;
  world.save(FixedEvent{"e1", kTomorrow, "10:00", "Dentist", 30});
  world.save(FixedEvent{"e2", kTomorrow, "16:00", "School meeting", 60});
  world.save(FixedEvent{"e3", kTomorrow, "soon", "Call the bank", 10});
  world.save(FixedEvent{"e4", kToday, "09:00", "Another day", 10});
  world.model.replies(schedule_text());
  const auto result = world.plan(kTomorrow, without_approval()).value();
  const auto& routine = *result.state.formattedRoutine;
  EXPECT_EQ(result.state.fixedEvents.size(), 3u);
  // The model had an activity at 10:00; the one at 16:00 was missing.
  std::vector<std::string> times;
  for (const Activity& each : routine.activities) times.push_back(each.time);
  EXPECT_THAT(times, ElementsAre("07:30", "10:00", "13:00", "16:00", "21:30"));
  EXPECT_THAT(routine.remarks,
              ElementsAre(HasSubstr("School meeting"), HasSubstr("Call the bank")));
}

TEST(RoutineGenerator, SaysWhatTheProviderFoundNoPlaceFor) {
  WellbeingFixture world;
  Value schedule = schedule_value();
  (*schedule.as_object())["unplaced"] =
      Value::Array{Value::object({{"activity", "Run"}, {"reason", "no time"}}), Value(3)};
  world.model.replies(to_json(schedule));
  const auto result = world.plan(kTomorrow, without_approval()).value();
  EXPECT_THAT(result.state.formattedRoutine->remarks, ElementsAre("Not placed: Run (no time)."));
}

TEST(RoutineGenerator, RunsOnTheBuiltinRules) {
  const auto builtin = rules::make_builtin_model({});
  WellbeingFixture world(WellbeingFixture::english(), builtin.get());
  world.save(summary_of_today());
  world.save(FixedEvent{"e1", kTomorrow, "10:00", "Dentist", 30});
  const auto result = world.plan(kTomorrow, without_approval()).value();
  ASSERT_EQ(result.outcome, "saved") << result.error.value_or("");
  EXPECT_EQ(result.state.validationAttempts, 1);
  EXPECT_EQ(result.state.method, "rules");
  EXPECT_THAT(result.state.formattedRoutine->notice, HasSubstr("not a language model"));
}

// Returns a random schedule: valid, or with a fault.
std::string any_schedule() {
  return *rc::gen::element<std::string>(
      schedule_text(), "{}", "[]", R"({"activities": 1})", R"({"activities": []})",
      R"({"activities": [{"time": "08:00", "activity": "Walk", "expectedBenefit": "x"}]})");
}

TEST(RoutineGenerator, NeverTriesMoreThanThreeTimesAndLearnsFromEachFailure) {
  EXPECT_TRUE(rc::check("attempts, recommendations and the end agree", [] {
    WellbeingFixture world;
    std::size_t failures = 0;
    bool valid = false;
    for (int i = 0; i < 3; ++i) {
      const std::string text = any_schedule();
      world.model.replies(text);
      if (valid || failures == 3) continue;
      valid = validate_schedule(parse_json(text).value()).is_valid;
      if (!valid) ++failures;
    }
    const auto result = world.plan(kTomorrow, without_approval()).value();
    const RoutineState& state = result.state;
    RC_ASSERT(state.validationAttempts <= 3);
    RC_ASSERT(state.validationAttempts == static_cast<int>(failures + (valid ? 1 : 0)));
    RC_ASSERT(state.analysisResult->recommendations.size() == 1 + failures);
    RC_ASSERT(result.success == valid);
    RC_ASSERT(world.saved<Routine>(kTomorrow).has_value() == valid);
    RC_ASSERT(world.violations() == "");
  }));
}

}  // namespace
}  // namespace belay::wellbeing
