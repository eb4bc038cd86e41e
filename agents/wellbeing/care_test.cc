#include "agents/wellbeing/care.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "agents/rules/builtin_model.h"
#include "tests/support/wellbeing_fixture.h"

namespace belay::wellbeing {
namespace {

using testing::audit_text;
using testing::kToday;
using testing::kTomorrow;
using testing::schedule_text;
using testing::WellbeingFixture;

constexpr const char* kCrisisNote = "I can't go on. I want to die.";

DailySummary summary_with(std::optional<int> risk) {
  DailySummary summary;
  summary.date = kToday;
  summary.summary = "A day.";
  summary.riskLevel = risk;
  summary.assessed = risk.has_value();
  summary.keyInsights = {"Slept badly."};
  summary.language = "en";
  return summary;
}

TEST(Care, EveryAuditSaysThatItIsNoDiagnosisAndWhoMadeIt) {
  WellbeingFixture world;
  world.add_note(kToday, "A quiet day.");
  world.model.replies(audit_text(2));
  const auto result = world.audit(kToday).value();
  EXPECT_EQ(result.state.analysis->disclaimer, message(Text::no_diagnosis, Language::en));
  EXPECT_EQ(result.state.analysis->method, "script");
  EXPECT_NE(result.state.analysis->notice.find("not by a language model"), std::string::npos);
  EXPECT_EQ(result.state.analysis->localHelp, "");
  const auto saved = world.saved<DailySummary>(kToday);
  EXPECT_EQ(saved->disclaimer, result.state.analysis->disclaimer);
  EXPECT_EQ(saved->notice, result.state.analysis->notice);
}

TEST(Care, ANoticeSaysRulesWhereItIsRules) {
  ModelReply reply;
  reply.provider = "ollama";
  reply.model = "llama3.2";
  reply.method = "language_model";
  EXPECT_NE(notice_of(reply, Language::en).find("llama3.2"), std::string::npos);
  reply.method = "rules";
  EXPECT_EQ(notice_of(reply, Language::es), message(Text::made_by_rules, Language::es));
  reply.notice = "the provider's own words";
  EXPECT_EQ(notice_of(reply, Language::es), "the provider's own words");
}

TEST(Care, LocalHelpIsShownFromRiskEightUp) {
  for (const int risk : {7, 8, 9, 10}) {
    WellbeingFixture world;
    world.options.care.local_help = "Call the village nurse.";
    world.reopen();
    world.add_note(kToday, "A hard day.");
    world.model.replies(audit_text(risk));
    const auto result = world.audit(kToday).value();
    EXPECT_EQ(result.state.analysis->localHelp, risk >= 8 ? "Call the village nurse." : "") << risk;
  }
}

TEST(Care, TheDefaultHelpHasNoNumbersAndNamesItsSetting) {
  for (const Language language : {Language::en, Language::es}) {
    const std::string help = local_help({}, language);
    EXPECT_NE(help.find("BELAY_HELP_TEXT"), std::string::npos);
    EXPECT_EQ(help.find_first_of("0123456789"), std::string::npos);
  }
}

TEST(Care, TheCrisisFloorRaisesAnyModelsAnswerAndSaysSo) {
  WellbeingFixture world;
  world.add_note(kToday, kCrisisNote);
  world.model.replies(audit_text(2, "A calm and happy day."));
  const auto result = world.audit(kToday).value();
  EXPECT_EQ(result.status, "paused");
  const Analysis& analysis = *result.state.analysis;
  EXPECT_GE(*analysis.riskLevel, 8);
  EXPECT_EQ(analysis.modelRiskLevel, 2);
  ASSERT_FALSE(analysis.crisisWords.empty());
  EXPECT_NE(analysis.remarks.at(0).find("“" + analysis.crisisWords[0] + "”"), std::string::npos);
  EXPECT_NE(analysis.remarks.at(0).find("from 2 to"), std::string::npos);
  EXPECT_FALSE(analysis.localHelp.empty());
}

TEST(Care, TheCrisisFloorReadsWhatThePromptLeavesOut) {
  WellbeingFixture world;
  world.add_note(kToday, std::string(9'999, 'x') + " " + kCrisisNote);
  world.model.replies(audit_text(1));
  const auto result = world.audit(kToday).value();
  EXPECT_EQ(result.state.reading.charactersRead, 10'000);
  EXPECT_GE(*result.state.analysis->riskLevel, 8);
}

TEST(Care, TheCrisisFloorOnlyRaises) {
  EXPECT_TRUE(rc::check("the result is the higher of both", [] {
    const int level = *rc::gen::inRange(0, 11);
    Crisis crisis;
    if (*rc::gen::arbitrary<bool>()) crisis.minimum = *rc::gen::inRange(8, 11);
    const int result = raised(level, crisis);
    RC_ASSERT(result >= level);
    RC_ASSERT(result == (crisis.minimum ? std::max(level, *crisis.minimum) : level));
  }));
}

TEST(Care, WhateverTheModelSaysTheSavedRiskIsNotBelowTheFloor) {
  EXPECT_TRUE(rc::check("model level, notes with and without words of a crisis", [] {
    const int level = *rc::gen::inRange(1, 11);
    const bool crisis = *rc::gen::arbitrary<bool>();
    WellbeingFixture world;
    world.add_note(kToday, crisis ? kCrisisNote : "A plain day.");
    world.model.replies(audit_text(level));
    GraphConfig config;
    config.requiresHumanApproval = false;
    world.audit(kToday, std::move(config)).value();
    const int saved = *world.saved<DailySummary>(kToday)->riskLevel;
    RC_ASSERT(saved >= level);
    RC_ASSERT(saved >= (crisis ? 8 : 1));
    RC_ASSERT(crisis || saved == level);
  }));
}

TEST(Care, NotAssessedWaitsForAPersonAndIsNeverALowRisk) {
  WellbeingFixture world;
  world.add_note(kToday, "Szép nap volt.");
  world.model.replies(R"({"summary": "?", "riskLevel": 0, "keyInsights": [], "assessed": false})");
  const auto result = world.audit(kToday).value();
  EXPECT_EQ(result.status, "paused");
  EXPECT_EQ(result.state.approvalReason, "not_assessed");
  EXPECT_FALSE(result.state.analysis->assessed);
  EXPECT_FALSE(result.state.analysis->riskLevel.has_value());
  EXPECT_TRUE(result.json["state"]["analysis"]["riskLevel"].is_null());
  EXPECT_NE(result.approval->question.find("could not be assessed"), std::string::npos);
  ASSERT_TRUE(world.decide_audit(result.threadId, true).ok());
  const auto saved = world.saved<DailySummary>(kToday);
  EXPECT_FALSE(saved->assessed);
  EXPECT_FALSE(saved->riskLevel.has_value());
}

TEST(Care, NotesWithoutTextAreNotAssessedAndNoModelIsAsked) {
  WellbeingFixture world;
  world.add_note(kToday, " \n\t ");
  const auto result = world.audit(kToday).value();
  EXPECT_EQ(result.status, "paused");
  EXPECT_EQ(result.state.analysis->method, "none");
  EXPECT_FALSE(result.state.analysis->riskLevel.has_value());
  EXPECT_TRUE(world.model.requests().empty());
}

TEST(Care, WordsOfACrisisAssessWhatTheModelCouldNot) {
  WellbeingFixture world;
  world.add_note(kToday, kCrisisNote);
  world.model.replies(R"({"summary": "?", "riskLevel": 0, "keyInsights": [], "assessed": false})");
  const auto result = world.audit(kToday).value();
  EXPECT_GE(*result.state.analysis->riskLevel, 8);
  EXPECT_EQ(result.state.approvalReason, "risk");
}

TEST(Care, AFailedAuditOfACrisisDayTellsWhoeverReadsTheError) {
  WellbeingFixture world;
  world.add_note(kToday, kCrisisNote);
  world.model.then_always([](const ModelRequest&) {
    return Result<std::string>(error(ErrorCode::unavailable, "No connection."));
  });
  const auto result = world.audit(kToday).value();
  EXPECT_FALSE(result.success);
  EXPECT_TRUE(result.error->starts_with("No connection."));
  EXPECT_NE(result.error->find("want to die"), std::string::npos);
  EXPECT_TRUE(result.state.crisis.minimum.has_value());
}

TEST(Care, ARoutineAfterRiskEightBeginsWithContactWhateverTheModelSays) {
  for (const int risk : {7, 8, 10}) {
    WellbeingFixture world;
    world.save(summary_with(risk));
    world.model.replies(schedule_text());
    const auto result = world.plan(kTomorrow).value();
    const auto& activities = result.state.formattedRoutine->activities;
    EXPECT_EQ(begins_with_contact(activities, Language::en), risk >= 8) << risk;
    EXPECT_EQ(activities.size(), risk >= 8 ? 5u : 4u);
    EXPECT_EQ(activities.front().time, risk >= 8 ? "07:15" : "07:30");
    EXPECT_EQ(result.state.formattedRoutine->localHelp.empty(), risk < 8);
  }
}

TEST(Care, ContactIsNotAddedTwice) {
  std::vector<Activity> day = {{"00:05", "Up early", "Calm"}};
  day = with_contact_first(std::move(day), Language::es);
  EXPECT_EQ(day.front().time, "00:00");
  EXPECT_EQ(with_contact_first(day, Language::es), day);
}

TEST(Care, TheBuiltinRulesBeginWithTheVerySameContact) {
  const auto builtin = rules::make_builtin_model({});
  for (const char* language : {"en", "es"}) {
    WellbeingOptions options;
    options.language = language;
    WellbeingFixture world(options, builtin.get());
    auto summary = summary_with(9);
    summary.language = language;
    world.save(summary);
    const auto result = world.plan(kTomorrow).value();
    ASSERT_EQ(result.status, "paused") << result.error.value_or("");
    const auto& routine = *result.state.formattedRoutine;
    EXPECT_TRUE(begins_with_contact(routine.activities, language_named(language, Language::en)));
    EXPECT_EQ(routine.remarks.size(), 1u) << "nothing had to be added";
  }
}

TEST(Care, WordsOfACrisisCountEvenWhenTheAuditWasRejected) {
  WellbeingFixture world;
  world.add_note(kToday, kCrisisNote);
  world.model.replies(audit_text(3)).replies(schedule_text());
  const auto audit = world.audit(kToday).value();
  ASSERT_TRUE(world.decide_audit(audit.threadId, false).ok());
  ASSERT_FALSE(world.saved<DailySummary>(kToday).has_value());
  const auto result = world.plan(kTomorrow).value();
  EXPECT_TRUE(result.state.contactFirst);
  EXPECT_GE(result.state.analysisResult->riskLevel, 8);
  EXPECT_TRUE(begins_with_contact(result.state.formattedRoutine->activities, Language::en));
}

TEST(Care, AnExpiredCrisisAuditStaysVisible) {
  WellbeingFixture world;
  world.add_note(kToday, kCrisisNote);
  world.model.replies(audit_text(9));
  const auto audit = world.audit(kToday).value();
  world.clock.move(std::chrono::hours(25));
  EXPECT_EQ(world.wait(world.runtime->process_due(default_tenant())).value().total(), 1u);
  auto agent = world.auditor();
  const auto status = world.wait(agent.getStatus(audit.threadId)).value();
  EXPECT_EQ(status.status, "completed");
  EXPECT_EQ(*status.state.analysis->riskLevel, 9);
  EXPECT_FALSE(status.state.approved);
  EXPECT_FALSE(status.state.requiresApproval);
  EXPECT_EQ(world.runs(audit.threadId).front().outcome, "expired");
  EXPECT_FALSE(world.saved<DailySummary>(kToday).has_value());
}

}  // namespace
}  // namespace belay::wellbeing
