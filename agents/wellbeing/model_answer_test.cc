#include "agents/wellbeing/model_answer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "tests/support/wellbeing_fixture.h"

namespace belay::wellbeing {
namespace {

using testing::audit_text;
using testing::schedule_text;

std::string fault_of(std::string_view text) {
  const auto answer = audit_answer_from(text);
  if (answer.ok()) return "";
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable) << "a malformed answer is tried again";
  EXPECT_TRUE(answer.error().message.starts_with("Invalid LLM response format: "));
  EXPECT_EQ(answer.error().message.find('\n'), std::string::npos);
  return answer.error().message;
}

TEST(AuditAnswer, IsReadWithItsFields) {
  const auto answer =
      audit_answer_from(R"({"summary": " Test\nday ", "riskLevel": 5, "keyInsights": []})");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->summary, "Test day");
  EXPECT_EQ(answer->risk_level, 5);
  EXPECT_TRUE(answer->key_insights.empty());
  EXPECT_TRUE(answer->assessed);
}

TEST(AuditAnswer, MayStandInACodeFence) {
  EXPECT_TRUE(audit_answer_from("```json\n" + audit_text(3) + "\n```\n").ok());
  EXPECT_TRUE(audit_answer_from("```\n" + audit_text(3) + "```").ok());
  EXPECT_NE(fault_of("Here it is: " + audit_text(3)), "");
  EXPECT_NE(fault_of("``````"), "");
  EXPECT_NE(fault_of("```"), "");
}

TEST(AuditAnswer, IsMalformedWhenItMakesNoSense) {
  for (const char* text : {
           "",
           "no JSON at all",
           "{\"summary\": \"x\"",
           "[]",
           "null",
           "7",
           R"({"riskLevel": 5, "keyInsights": []})",
           R"({"summary": "", "riskLevel": 5, "keyInsights": []})",
           R"({"summary": " \n ", "riskLevel": 5, "keyInsights": []})",
           R"({"summary": 3, "riskLevel": 5, "keyInsights": []})",
           R"({"summary": "x", "keyInsights": []})",
           R"({"summary": "x", "riskLevel": 0, "keyInsights": []})",
           R"({"summary": "x", "riskLevel": 11, "keyInsights": []})",
           R"({"summary": "x", "riskLevel": -3, "keyInsights": []})",
           R"({"summary": "x", "riskLevel": 5.5, "keyInsights": []})",
           R"({"summary": "x", "riskLevel": "5", "keyInsights": []})",
           R"({"summary": "x", "riskLevel": 5})",
           R"({"summary": "x", "riskLevel": 5, "keyInsights": "none"})",
           R"({"summary": "x", "riskLevel": 5, "keyInsights": [1]})",
           R"({"summary": "x", "riskLevel": 5, "keyInsights": [""]})",
           R"({"summary": "x", "riskLevel": 5, "keyInsights": [], "assessed": "yes"})",
           R"({"summary": "[USER CONTENT] x", "riskLevel": 1, "keyInsights": []})",
       }) {
    EXPECT_NE(fault_of(text), "") << text;
  }
  EXPECT_NE(fault_of(audit_text(5, std::string(kSummaryCharactersMax + 1, 'x'))), "");
}

TEST(AuditAnswer, MaySayThatNothingWasAssessed) {
  for (const char* level : {"0", "null", "1", "\"?\""}) {
    const auto answer = audit_answer_from(R"({"summary": "x", "keyInsights": [], "assessed": false,
                                             "riskLevel": )" +
                                          std::string(level) + "}");
    ASSERT_TRUE(answer.ok()) << level;
    EXPECT_FALSE(answer->assessed);
    EXPECT_EQ(answer->risk_level, 0);
  }
}

TEST(AuditAnswer, NeverHasALevelOutsideOneToTen) {
  EXPECT_TRUE(rc::check("any level is either taken as it is or refused", [](std::int64_t level) {
    const Value answer =
        Value::object({{"summary", "x"}, {"riskLevel", level}, {"keyInsights", Value::Array{}}});
    const auto read = audit_answer_from(to_json(answer));
    RC_ASSERT(read.ok() == (level >= 1 && level <= 10));
    if (read.ok()) RC_ASSERT(read->risk_level == level);
  }));
}

TEST(ScheduleAnswer, IsAnyJson) {
  EXPECT_TRUE(schedule_answer_from(schedule_text()).ok());
  EXPECT_TRUE(schedule_answer_from("[]").ok());
  EXPECT_FALSE(schedule_answer_from("{").ok());
  EXPECT_FALSE(schedule_answer_from(std::string(kScheduleBytesMax + 1, ' ')).ok());
}

}  // namespace
}  // namespace belay::wellbeing
