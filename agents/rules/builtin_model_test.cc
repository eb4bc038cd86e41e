#include "agents/rules/builtin_model.h"

#include <gmock/gmock.h>

#include "belay/task.h"

namespace belay::rules {
namespace {

using ::testing::HasSubstr;

Result<ModelReply> ask(std::string purpose, std::string_view input,
                       std::string_view schema = "null") {
  const auto model = make_builtin_model({});
  const auto loop = make_event_loop();
  ModelRequest request(std::move(purpose), {}, *parse_json(schema), *parse_json(input));
  return block_on(*loop, model->generate(std::move(request)));
}

Value answer_to(std::string purpose, std::string_view input, std::string_view schema = "null") {
  const auto reply = ask(std::move(purpose), input, schema);
  EXPECT_TRUE(reply.ok()) << reply.error().message;
  return reply.ok() ? *parse_json(reply->text) : Value();
}

constexpr std::string_view kTiredDay =
    R"({"date":"2026-01-05",
        "notes":[{"id":"1","content":"I slept three hours and I am exhausted."}]})";

TEST(BuiltinModel, AuditsADay) {
  const Value answer = answer_to("daily_audit", kTiredDay);
  EXPECT_EQ(answer["summary"], Value("I slept three hours and I am exhausted."));
  EXPECT_EQ(answer["assessed"], Value(true));
  EXPECT_EQ(answer["language"], Value("en"));
  EXPECT_GE(answer["riskLevel"].as_int().value_or(0), 4);
  ASSERT_NE(answer["keyInsights"].as_array(), nullptr);
  EXPECT_EQ(answer["keyInsights"].as_array()->size(), 2u);
}

TEST(BuiltinModel, SaysThatItIsRulesAndCountsNothing) {
  const auto reply = ask("daily_audit", kTiredDay);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->provider, "builtin");
  EXPECT_EQ(reply->model, "builtin-rules/2");
  EXPECT_EQ(reply->method, "rules");
  EXPECT_THAT(reply->notice, HasSubstr("not a language model, and no diagnosis"));
  EXPECT_FALSE(reply->usage.has_value());
}

TEST(BuiltinModel, SpeaksToTheReaderInTheReadersLanguage) {
  const auto spanish =
      ask("daily_audit", R"({"language":"es","notes":[{"content":"I am tired of it."}]})");
  ASSERT_TRUE(spanish.ok());
  EXPECT_THAT(spanish->notice, HasSubstr("no es un modelo de lenguaje"));
  EXPECT_THAT(spanish->text, HasSubstr("Exhaustion"));  // insights: the text's language
  const auto own = ask("daily_audit", R"({"notes":[{"content":"Estoy cansada de todo."}]})");
  ASSERT_TRUE(own.ok());
  EXPECT_THAT(own->notice, HasSubstr("no es un modelo de lenguaje"));
}

TEST(BuiltinModel, AnUnknownLanguageIsNotAssessedAndSaysSo) {
  const Value answer =
      answer_to("daily_audit",
                R"({"notes":[{"content":"Ich bin heute sehr müde und habe nicht geschlafen."}]})");
  EXPECT_EQ(answer["assessed"], Value(false));
  EXPECT_EQ(answer["riskLevel"], Value(0));
  EXPECT_THAT(*(*answer["keyInsights"].as_array())[0].as_string(), HasSubstr("Not assessed"));
}

TEST(BuiltinModel, EmptyNotesAreNotAssessedAndSaySo) {
  const Value answer = answer_to("daily_audit", R"({"language":"es","notes":[]})");
  EXPECT_EQ(answer["assessed"], Value(false));
  EXPECT_THAT(*answer["summary"].as_string(), HasSubstr("Sin evaluar"));
}

TEST(BuiltinModel, NotAssessedIsRefusedWhereTheSchemaCannotSayIt) {
  constexpr std::string_view schema =
      R"({"properties":{"summary":{},"riskLevel":{},"keyInsights":{}},
          "required":["summary","riskLevel","keyInsights"],"additionalProperties":false})";
  const auto reply = ask("daily_audit", R"({"notes":[]})", schema);
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, ErrorCode::invalid);
  const Value answer = answer_to("daily_audit", kTiredDay, schema);
  EXPECT_EQ(answer.as_object()->size(), 3u);
}

TEST(BuiltinModel, ASchemaThatItCannotFillIsRefusedWithWhatToConfigure) {
  const auto reply = ask("daily_audit", kTiredDay, R"({"required":["summary","horoscope"]})");
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, ErrorCode::invalid);
  EXPECT_THAT(reply.error().message, HasSubstr("horoscope"));
  EXPECT_THAT(reply.error().message, HasSubstr("BELAY_MODEL"));
  EXPECT_THAT(reply.error().message, HasSubstr("--model"));
  const auto nested = ask("routine_schedule", R"({"riskLevel":3,"recommendations":[]})",
                          R"({"required":["activities"],"properties":{"activities":
                              {"items":{"required":["time","calories"]}}}})");
  ASSERT_FALSE(nested.ok());
  EXPECT_THAT(nested.error().message, HasSubstr("calories"));
}

TEST(BuiltinModel, FreeTextAndUnknownPurposesAreRefused) {
  for (const char* purpose : {"", "chat", "plan_goal"}) {
    const auto reply = ask(purpose, kTiredDay);
    ASSERT_FALSE(reply.ok()) << purpose;
    EXPECT_EQ(reply.error().code, ErrorCode::invalid);
    EXPECT_THAT(reply.error().message, HasSubstr("BELAY_MODEL"));
  }
}

TEST(BuiltinModel, InputOfAnotherShapeIsInvalid) {
  for (const char* input : {"null", "{}", R"({"notes":"text"})", R"({"notes":[{"id":"1"}]})"}) {
    const auto reply = ask("daily_audit", input);
    ASSERT_FALSE(reply.ok()) << input;
    EXPECT_EQ(reply.error().code, ErrorCode::invalid);
  }
  for (const char* input :
       {"{}", R"({"riskLevel":11,"recommendations":[]})", R"({"riskLevel":3})",
        R"({"riskLevel":3,"recommendations":[1]})",
        R"({"riskLevel":3,"recommendations":[],"fixedEvents":[{"time":"10:00"}]})"}) {
    EXPECT_FALSE(ask("routine_schedule", input).ok()) << input;
  }
}

TEST(BuiltinModel, MakesARoutine) {
  const Value answer = answer_to(
      "routine_schedule",
      R"({"date":"2026-01-06","riskLevel":7,"language":"es","recommendations":["Agotamiento"],
          "fixedEvents":[{"time":"10:00","activity":"Dentista"},
                         {"time":"ten","activity":"Cita"}]})");
  ASSERT_NE(answer["activities"].as_array(), nullptr);
  EXPECT_GE(answer["activities"].as_array()->size(), 7u);
  for (const Value& activity : *answer["activities"].as_array()) {
    EXPECT_NE(activity["time"].as_string(), nullptr);
    EXPECT_NE(activity["activity"].as_string(), nullptr);
    EXPECT_NE(activity["expectedBenefit"].as_string(), nullptr);
  }
  ASSERT_NE(answer["unplaced"].as_array(), nullptr);
  EXPECT_EQ((*answer["unplaced"].as_array())[0]["activity"], Value("Cita"));
}

}  // namespace
}  // namespace belay::rules
