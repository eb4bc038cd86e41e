// Complete documents and prompts of the agents: a missing member or line is a difference.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/wellbeing/prompts.h"
#include "tests/support/wellbeing_fixture.h"

namespace belay::wellbeing {
namespace {

using testing::audit_text;
using testing::kToday;
using testing::kTomorrow;
using testing::WellbeingFixture;

// Removes the agents' localized texts and the id of the thread.
Value document_of(Value saved, const std::vector<std::string>& left_out) {
  for (const std::string& name : left_out) {
    EXPECT_TRUE(saved[name].as_string() && !saved[name].as_string()->empty()) << name;
    saved.as_object()->erase(name);
  }
  return saved;
}

template <Record R>
std::string saved_as(WellbeingFixture& world, const char* key,
                     const std::vector<std::string>& left_out) {
  auto saved = world.saved<R>(key);
  if (!saved) return "nothing";
  return to_pretty_json(document_of(*parse_json(encode_json(*saved).value()), left_out));
}

TEST(SavedSummary, IsThisOne) {
  WellbeingFixture world;
  world.model.replies(audit_text(6, "Too much at work."));
  world.add_note(kToday, "I have too much to do.", "a");
  auto audited = world.audit(kToday);
  ASSERT_TRUE(audited.ok()) << audited.error().message;
  EXPECT_EQ(saved_as<DailySummary>(world, kToday, {"threadId", "disclaimer", "createdAt"}),
            R"({
  "assessed": true,
  "crisisWords": [],
  "date": "2024-01-15",
  "keyInsights": [
    "Slept badly."
  ],
  "language": "en",
  "localHelp": "",
  "method": "script",
  "model": "script",
  "modelRiskLevel": null,
  "notice": "Made by scripted (script), not by a language model.",
  "provider": "scripted",
  "remarks": [],
  "riskLevel": 6,
  "summary": "Too much at work."
})");
}

TEST(SavedRoutine, IsThisOne) {
  WellbeingFixture world;
  world.model.replies(audit_text(4));
  world.add_note(kToday, "A quiet day.", "a");
  ASSERT_TRUE(world.audit(kToday).ok());
  world.model.replies(testing::schedule_text());
  auto planned = world.plan(kTomorrow);
  ASSERT_TRUE(planned.ok()) << planned.error().message;
  ASSERT_TRUE(world.decide_plan(planned->threadId, true).ok());
  Value given = *parse_json(testing::schedule_text());
  Value saved =
      *parse_json(saved_as<Routine>(world, kTomorrow, {"threadId", "disclaimer", "createdAt"}));
  EXPECT_EQ(saved["activities"], given["activities"]);
  saved.as_object()->erase("activities");
  EXPECT_EQ(to_pretty_json(saved), R"({
  "date": "2024-01-16",
  "language": "en",
  "localHelp": "",
  "method": "script",
  "model": "script",
  "notice": "Made by scripted (script), not by a language model.",
  "provider": "scripted",
  "remarks": []
})");
}

// Returns the text between [USER CONTENT] and [OUTPUT FORMAT].
std::string golden_content(const Prompt& prompt) {
  const std::string& text = prompt.request.messages.at(1).text;
  const std::size_t begin = text.find("[USER CONTENT]") + 14;
  return text.substr(begin, text.find("[OUTPUT FORMAT]") - begin);
}

TEST(Prompts, AskAboutADayInTheseWords) {
  Audit audit;
  audit.date = kToday;
  audit.notes.push_back({"a", "Up early.", *instant_from("2024-01-15T08:05:00Z")});
  audit.notes.push_back({"b", "Too much to do.", *instant_from("2024-01-15T19:30:00Z")});
  EXPECT_EQ(golden_content(audit_prompt(audit, Language::en, nullptr)),
            "\nDay: 2024-01-15\n\nNote 1, 08:05 UTC:\nUp early.\n\n"
            "Note 2, 19:30 UTC:\nToo much to do.\n\n");
}

TEST(Prompts, AskForARoutineInTheseWords) {
  RoutineState state;
  state.date = kTomorrow;
  state.yesterdayContext = "A hard day.";
  state.analysisResult = AnalysisResult{6, {"Rest", "Call a friend"}};
  state.fixedEvents.push_back({"e", kTomorrow, "10:00", "Dentist", 30});
  EXPECT_EQ(golden_content(schedule_prompt(state, Language::en, nullptr)),
            "\nDay to plan: 2024-01-16\nRisk level of the day before, 1 to 10: 6\n"
            "The day before: A hard day.\n\n"
            "What to bear in mind, and what was wrong with an earlier plan:\n- Rest\n"
            "- Call a friend\n\nFixed events of the day:\n- 10:00 Dentist (30 minutes)\n\n");
}

}  // namespace
}  // namespace belay::wellbeing
