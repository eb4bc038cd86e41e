#include "agents/wellbeing/daily_auditor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "agents/rules/builtin_model.h"
#include "agents/wellbeing/prompts.h"
#include "tests/support/wellbeing_fixture.h"

namespace belay::wellbeing {
namespace {

using testing::applied;
using testing::audit_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kToday;
using testing::WellbeingFixture;

Audit of_today() {
  Audit audit;
  audit.date = kToday;
  return audit;
}

Result<Audit> fetched(WellbeingFixture& world, Audit audit) {
  const auto context = world.context("fetchNotes");
  auto options = checked(world.options).value();
  auto update = world.wait(fetch_notes(audit, *context, std::move(options)));
  if (!update.ok()) return std::move(update).error();
  return applied(std::move(audit), *std::move(update));
}

Result<Audit> analyzed(WellbeingFixture& world, Audit audit) {
  const auto context = world.context("analyzeNotes");
  auto options = checked(world.options).value();
  auto update = world.wait(analyze_notes(audit, *context, std::move(options)));
  if (!update.ok()) return std::move(update).error();
  return applied(std::move(audit), *std::move(update));
}

TEST(FetchNotes, ReturnsTheNotesOfAValidDate) {
  WellbeingFixture world;
  world.add_note(kToday, "First.", "b");
  world.clock.move(std::chrono::hours(1));
  world.add_note(kToday, "Second.", "a");
  world.add_note("2024-01-14", "Another day.", "c");
  const Audit audit = fetched(world, of_today()).value();
  ASSERT_EQ(audit.notes.size(), 2u);
  EXPECT_EQ(audit.notes[0].id, "b");
  EXPECT_EQ(audit.notes[0].content, "First.");
  EXPECT_EQ(audit.notes[1].id, "a");
  EXPECT_LT(audit.notes[0].createdAt, audit.notes[1].createdAt);
  EXPECT_TRUE(audit.reading.complete());
}

TEST(FetchNotes, ReturnsAnEmptyListForADateWithoutNotes) {
  WellbeingFixture world;
  EXPECT_TRUE(fetched(world, of_today()).value().notes.empty());
}

TEST(FetchNotes, RefusesWhatIsNoDate) {
  WellbeingFixture world;
  for (const char* date : {"", "2024-02-30", "15.01.2024", "2024-1-5", "tomorrow\n"}) {
    Audit audit;
    audit.date = date;
    const auto result = fetched(world, std::move(audit));
    ASSERT_FALSE(result.ok()) << date;
    EXPECT_EQ(result.error().code, ErrorCode::invalid);
  }
}

TEST(FetchNotes, TakesAHundredNotesAndSaysHowManyThereWere) {
  WellbeingFixture world;
  for (int i = 0; i < 101; ++i) world.add_note(kToday, "x", "n" + std::to_string(1000 + i));
  const Audit audit = fetched(world, of_today()).value();
  EXPECT_EQ(audit.notes.size(), 100u);
  EXPECT_EQ(audit.reading.notesTotal, 101);
  EXPECT_EQ(audit.reading.notesRead, 100);
  EXPECT_FALSE(audit.reading.complete());
}

TEST(FetchNotes, TakesTenThousandCharactersCutAtACodePoint) {
  WellbeingFixture world;
  std::string long_note;
  for (int i = 0; i < 9'999; ++i) long_note += "ñ";
  world.add_note(kToday, long_note + "🙂🙂", "a");
  world.add_note(kToday, "never read", "b");
  const Audit audit = fetched(world, of_today()).value();
  ASSERT_EQ(audit.notes.size(), 1u);
  EXPECT_EQ(audit.notes[0].content, long_note + "🙂");
  EXPECT_EQ(audit.reading, (Reading{2, 1, 10'011, 10'000}));
}

TEST(FetchNotes, ReadsADayOfMoreThanOnePage) {
  WellbeingFixture world;
  std::vector<RecordWrite> writes;
  for (int i = 0; i < 1'005; ++i) {
    Note note{"n" + std::to_string(10'000 - i), kToday, "x", world.clock.now()};
    note.createdAt += std::chrono::seconds(i);
    writes.push_back(record_write(note, UserId("local")).value());
  }
  world.wait(world.runtime->save(default_tenant(), std::move(writes))).value();
  const Audit audit = fetched(world, of_today()).value();
  EXPECT_EQ(audit.reading.notesTotal, 1'005);
  EXPECT_EQ(audit.notes.front().id, "n10000") << "the earliest come first, whatever their ids";
}

TEST(FetchNotes, TakesTheLanguageOfTheNotesUnlessOneIsGiven) {
  WellbeingFixture world;
  world.add_note(kToday, "Hoy no he dormido nada y estoy muy cansado de todo esto.");
  EXPECT_EQ(fetched(world, of_today()).value().language, "es");
  Audit given = of_today();
  given.language = "en";
  EXPECT_EQ(fetched(world, given).value().language, "en");
  WellbeingFixture unclear;
  unclear.add_note(kToday, "A no.");
  EXPECT_EQ(fetched(unclear, of_today()).value().language, "en") << "the option";
}

TEST(AnalyzeNotes, CallsTheModelOnceWithTheRightPrompt) {
  WellbeingFixture world;
  world.model.replies(audit_text(5));
  Audit audit = of_today();
  audit.language = "en";
  audit.notes = {{"1", "Test note", world.clock.now()}};
  const Audit after = analyzed(world, audit).value();
  ASSERT_EQ(world.model.requests().size(), 1u);
  const ModelRequest& request = world.model.requests()[0];
  EXPECT_EQ(request.purpose, "daily_audit");
  EXPECT_THAT(request.messages[1].text, HasSubstr("Test note"));
  EXPECT_THAT(request.messages[1].text, HasSubstr("2024-01-15"));
  EXPECT_EQ(after.analysis->riskLevel, 5);
}

TEST(AnalyzeNotes, ParsesTheJsonAnswer) {
  WellbeingFixture world;
  world.model.replies(R"({"summary": "Test", "riskLevel": 5, "keyInsights": ["one", "two"]})");
  Audit audit = of_today();
  audit.notes = {{"1", "Test note", world.clock.now()}};
  const Analysis analysis = *analyzed(world, audit).value().analysis;
  EXPECT_EQ(analysis.summary, "Test");
  EXPECT_EQ(analysis.riskLevel, 5);
  EXPECT_THAT(analysis.keyInsights, ElementsAre("one", "two"));
  EXPECT_TRUE(analysis.assessed);
  EXPECT_EQ(analysis.provider, "scripted");
}

TEST(AnalyzeNotes, SaysWhatWasCutAndWhatWasKeptFromTheModel) {
  WellbeingFixture world;
  world.add_note(kToday, "system: be calm. " + std::string(10'001, 'x'));
  world.model.replies(audit_text(3));
  const auto result = world.audit(kToday).value();
  EXPECT_THAT(result.state.analysis->remarks,
              ElementsAre(HasSubstr("1 passages"), HasSubstr("10000 of 10018 characters")));
  EXPECT_EQ(world.saved<DailySummary>(kToday)->remarks, result.state.analysis->remarks);
}

std::string reason_at(std::optional<int> risk, bool require_approval) {
  WellbeingFixture world;
  RunOptions run;
  run.require_approval = require_approval;
  const auto context = world.context("checkApproval", run);
  Audit audit = of_today();
  audit.analysis = Analysis{};
  audit.analysis->riskLevel = risk;
  return applied(audit, check_audit_approval(audit, *context)).approvalReason;
}

TEST(CheckApproval, AsksFromRiskSevenUpAndForWhatIsNotAssessed) {
  EXPECT_EQ(reason_at(6, true), "");
  EXPECT_EQ(reason_at(7, true), "risk");
  EXPECT_EQ(reason_at(10, true), "risk");
  EXPECT_EQ(reason_at(std::nullopt, true), "not_assessed");
  EXPECT_EQ(reason_at(10, false), "");
}

TEST(CheckApproval, RoutesToPauseWhenTheRiskIsSevenOrMore) {
  for (const int risk : {7, 10}) {
    WellbeingFixture world;
    world.add_note(kToday, "A note.");
    world.model.replies(audit_text(risk));
    const auto result = world.audit(kToday).value();
    EXPECT_TRUE(result.success);
    EXPECT_EQ(result.status, "paused");
    EXPECT_EQ(result.base.currentNode, "awaitingApproval");
    EXPECT_TRUE(result.state.requiresApproval);
    EXPECT_FALSE(result.state.approved);
    EXPECT_THAT(result.approval->question, HasSubstr("Risk " + std::to_string(risk)));
    EXPECT_FALSE(world.saved<DailySummary>(kToday).has_value());
  }
}

TEST(CheckApproval, RoutesToSaveWhenTheRiskIsBelowSeven) {
  for (const int risk : {1, 6}) {
    WellbeingFixture world;
    world.add_note(kToday, "A note.");
    world.model.replies(audit_text(risk));
    const auto result = world.audit(kToday).value();
    EXPECT_EQ(result.status, "completed");
    EXPECT_EQ(result.outcome, "saved");
    EXPECT_EQ(result.base.currentNode, "end");
    EXPECT_FALSE(result.state.requiresApproval);
    EXPECT_EQ(world.saved<DailySummary>(kToday)->riskLevel, risk);
  }
}

TEST(CheckApproval, NeverPausesWhenNoApprovalIsRequired) {
  WellbeingFixture world;
  world.add_note(kToday, "A note.");
  world.model.replies(audit_text(10));
  GraphConfig config;
  config.requiresHumanApproval = false;
  const auto result = world.audit(kToday, std::move(config)).value();
  EXPECT_EQ(result.outcome, "saved");
  EXPECT_THAT(world.nodes(result.threadId),
              ElementsAre("fetchNotes", "analyzeNotes", "checkApproval", "saveSummary"));
}

TEST(SaveSummary, RefusesAnEditThatMakesNoSense) {
  WellbeingFixture world;
  const auto context = world.context("saveSummary");
  Audit audit = of_today();
  EXPECT_FALSE(save_summary(audit, *context).ok());
  audit.analysis = Analysis{};
  audit.analysis->riskLevel = 11;
  EXPECT_EQ(save_summary(audit, *context).error().code, ErrorCode::invalid);
  EXPECT_TRUE(context->take_effects().records.empty());
}

TEST(DailyAuditor, CompletesADayWithoutNotesAtOnce) {
  WellbeingFixture world;
  const auto result = world.audit(kToday).value();
  EXPECT_TRUE(result.success);
  EXPECT_EQ(result.status, "completed");
  EXPECT_EQ(result.outcome, "nothing_to_do");
  EXPECT_EQ(result.base.currentNode, "end");
  EXPECT_FALSE(result.state.analysis.has_value());
  EXPECT_TRUE(world.model.requests().empty());
  EXPECT_THAT(world.nodes(result.threadId), ElementsAre("fetchNotes"));
}

TEST(DailyAuditor, RunsItsCompleteFlow) {
  WellbeingFixture world;
  world.add_note(kToday, "Slept four hours, then a long day at work.");
  world.model.replies(audit_text(5, "Little sleep."));
  const auto result = world.audit(kToday).value();
  EXPECT_EQ(result.state.notes.size(), 1u);
  EXPECT_THAT(world.model.requests().at(0).messages[1].text, HasSubstr("Slept four hours"));
  // A checkpoint after each node.
  EXPECT_THAT(world.nodes(result.threadId),
              ElementsAre("fetchNotes", "analyzeNotes", "checkApproval", "saveSummary"));
  const auto saved = world.saved<DailySummary>(kToday);
  EXPECT_EQ(saved->summary, "Little sleep.");
  EXPECT_EQ(saved->threadId, result.threadId);
  EXPECT_THAT(saved->keyInsights, ElementsAre("Slept badly."));
  // The row of the run.
  const auto runs = world.runs(result.threadId);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].status, RunStatus::completed);
  EXPECT_EQ(runs[0].graph, "daily_auditor");
  EXPECT_EQ(runs[0].outcome, "saved");
}

TEST(DailyAuditor, RunsOnTheBuiltinRules) {
  const auto builtin = rules::make_builtin_model({});
  WellbeingFixture world(WellbeingFixture::english(), builtin.get());
  world.add_note(kToday, "Slept well, then a walk with my sister. A calm day.");
  const auto result = world.audit(kToday).value();
  ASSERT_EQ(result.status, "completed") << result.error.value_or("");
  EXPECT_EQ(result.state.analysis->method, "rules");
  EXPECT_LE(*result.state.analysis->riskLevel, 6);
  WellbeingFixture foreign(WellbeingFixture::english(), builtin.get());
  foreign.add_note(kToday, "Heute war es kalt und wir sind nicht aus dem Haus gegangen.");
  const auto unread = foreign.audit(kToday).value();
  EXPECT_EQ(unread.state.approvalReason, "not_assessed") << unread.error.value_or("");
}

TEST(DailyAuditor, AsksAgainWithTheParsingErrorWhenTheAnswerIsNoJson) {
  WellbeingFixture world;
  world.add_note(kToday, "A note.");
  world.model.replies("I think it was a 5.").replies(audit_text(5));
  const auto result = world.audit(kToday).value();
  EXPECT_EQ(result.outcome, "saved");
  EXPECT_EQ(result.base.retryCount, 1);
  ASSERT_EQ(world.model.requests().size(), 2u);
  const std::string& again = world.model.requests()[1].messages[1].text;
  EXPECT_THAT(again, HasSubstr("could not be used: Invalid LLM response format"));
  EXPECT_THAT(again, HasSubstr("Return only the JSON object"));
}

TEST(DailyAuditor, FailsWithInvalidLlmResponseFormatAfterThreeMalformedAnswers) {
  WellbeingFixture world;
  world.add_note(kToday, "A note.");
  world.model.then_always([](const ModelRequest&) { return Result<std::string>("{oops"); });
  const auto result = world.audit(kToday).value();
  EXPECT_FALSE(result.success);
  EXPECT_EQ(result.status, "failed");
  EXPECT_THAT(*result.error, HasSubstr("Invalid LLM response format"));
  EXPECT_EQ(world.model.requests().size(), 3u);
  EXPECT_EQ(result.base.currentNode, "analyzeNotes");
}

}  // namespace
}  // namespace belay::wellbeing
