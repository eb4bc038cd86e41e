#include "agents/wellbeing/conversation_form.h"

#include <gtest/gtest.h>

#include "tests/support/wellbeing_fixture.h"

namespace belay::wellbeing {
namespace {

std::vector<FormMessage> messages_in(std::string_view made, std::string_view state) {
  return conversation_form(made).messages_of(parse_json(state).value(), "asked-1");
}

TEST(WellbeingConversations, BeginWithTheOneDayThatTheTextNames) {
  for (std::string_view text :
       {"1910-02-06", " 1910-02-06\n", "Audit 1910-02-06, please.", "(1910-02-06) 1910-02-06"}) {
    auto input = conversation_form("analysis").input_of(text);
    ASSERT_TRUE(input.ok()) << text;
    EXPECT_EQ(*input, Value::object({{"date", "1910-02-06"}}));
  }
  EXPECT_EQ(conversation_form("analysis").input_of("Yesterday?").value()["date"],
            Value("yesterday"));
}

TEST(WellbeingConversations, DoNotGuessADay) {
  for (std::string_view text :
       {"", "Hello", "1910-02-30", "11910-02-06", "1910-02-06-07", "1910-02-06 and 1910-02-07",
        "today or tomorrow", "1910-02-06\xC3\xA9", "2026-1-1"}) {
    auto input = conversation_form("analysis").input_of(text);
    ASSERT_FALSE(input.ok()) << text;
    EXPECT_EQ(input.error().code, ErrorCode::invalid);
  }
}

TEST(WellbeingConversations, HaveTheDayAndTheResultOfRealRuns) {
  testing::WellbeingFixture world;
  world.model.replies(testing::audit_text(6, "Too much at work."))
      .replies(testing::schedule_text());
  world.add_note(testing::kToday, "I have too much to do.", "a");
  auto audited = world.audit(testing::kToday);
  ASSERT_TRUE(audited.ok()) << audited.error().message;
  auto messages = messages_in("analysis", encode_json(audited->state).value());
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].message.text, testing::kToday);
  EXPECT_EQ(messages[0].id, "asked-1");
  EXPECT_TRUE(
      messages[1].message.text.starts_with("Risk 6 of 10\nToo much at work.\n- Slept badly.\n"))
      << messages[1].message.text;
  auto planned = world.plan(testing::kTomorrow);
  ASSERT_TRUE(planned.ok()) << planned.error().message;
  messages = messages_in("formattedRoutine", encode_json(planned->state).value());
  ASSERT_EQ(messages.size(), 2u);
  for (const auto& activity : planned->state.formattedRoutine->activities) {
    EXPECT_NE(messages[1].message.text.find(activity.time + "  " + activity.activity),
              std::string::npos);
  }
}

TEST(WellbeingConversations, ShowAnAuditInTheLanguageOfTheState) {
  auto messages = messages_in("analysis", R"({"date":"1910-02-06","language":"es","analysis":{
      "riskLevel":9,"assessed":true,"localHelp":"Ayuda","summary":"Un día.",
      "keyInsights":["Uno","Dos"],"remarks":["Nota"],"notice":"Reglas","disclaimer":"Aviso"}})");
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].message.text, "1910-02-06");
  EXPECT_EQ(messages[1].message.text,
            "Riesgo 9 de 10\nAyuda\nUn día.\n- Uno\n- Dos\n- Nota\nReglas\nAviso");
}

TEST(WellbeingConversations, DoNotShowAnAuditWithoutAnAssessmentAsALowRisk) {
  auto messages = messages_in("analysis", R"({"date":"1910-02-06","language":"en",
      "analysis":{"riskLevel":null,"assessed":false,"summary":"Nothing."}})");
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[1].message.text, "Risk: not assessed\nNothing.");
}

TEST(WellbeingConversations, ShowTheActivitiesOfARoutine) {
  auto messages = messages_in("formattedRoutine", R"({"date":"1910-02-07","formattedRoutine":{
      "activities":[{"time":"07:30","activity":"Walk","expectedBenefit":"Air"},7],
      "notice":"Rules"}})");
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[1].message.text, "07:30  Walk\n  Air\nRules");
}

TEST(WellbeingConversations, HaveNoAnswerBeforeTheResult) {
  EXPECT_EQ(messages_in("analysis", R"({"date":"1910-02-06","analysis":null})").size(), 1u);
  EXPECT_TRUE(messages_in("analysis", R"({"date":7,"analysis":{"summary":7}})").empty());
  EXPECT_TRUE(messages_in("analysis", "null").empty());
}

}  // namespace
}  // namespace belay::wellbeing
