#include "agents/wellbeing/model_answer.h"

#include <utility>

#include "agents/wellbeing/care.h"
#include "agents/wellbeing/code_points.h"
#include "agents/wellbeing/sanitize.h"

namespace belay::wellbeing {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view white = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(white);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(white) - begin + 1);
}

// Returns the text inside a code fence, which many models add to JSON even if instructed not to.
std::string_view without_fence(std::string_view text) {
  text = trimmed(text);
  if (!text.starts_with("```") || !text.ends_with("```") || text.size() < 6) return text;
  const std::size_t line = text.find('\n');
  if (line == text.npos || line + 3 > text.size() - 3) return text;
  return trimmed(text.substr(line, text.size() - 3 - line));
}

Result<Value> json_in(std::string_view text) {
  auto value = parse_json(without_fence(text));
  if (!value.ok()) return invalid_answer(value.error().message);
  return value;
}

// Returns one text of the reply, as one line.
Result<std::string> text_in(const Value& value, std::string_view name, std::size_t characters_max) {
  const std::string* text = value.as_string();
  if (text == nullptr) return invalid_answer(std::string(name) + " is no text.");
  std::string line = one_line(*text);
  if (line.empty()) return invalid_answer(std::string(name) + " is empty.");
  if (count_code_points(line) > characters_max) {
    return invalid_answer(std::string(name) + " has more than " + std::to_string(characters_max) +
                          " characters.");
  }
  if (repeats_delimiters(line)) {
    return invalid_answer(std::string(name) + " repeats the instructions.");
  }
  return line;
}

Result<int> risk_in(const Value& answer, bool assessed) {
  if (!assessed) return 0;
  const auto level = answer["riskLevel"].as_int();
  if (!level || *level < kRiskMin || *level > kRiskMax) {
    return invalid_answer("riskLevel must be a whole number from 1 to 10.");
  }
  return static_cast<int>(*level);
}

Value text_list(std::string_view about) {
  return Value::object(
      {{"type", "array"}, {"items", Value::object({{"type", "string"}})}, {"description", about}});
}

}  // namespace

Error invalid_answer(std::string_view what) {
  return error(ErrorCode::unavailable, std::string(kInvalidAnswer) + ": " + std::string(what));
}

Result<AuditAnswer> audit_answer_from(std::string_view text) {
  BELAY_TRY(const Value value, json_in(text));
  if (value.as_object() == nullptr) return invalid_answer("the answer is no JSON object.");
  AuditAnswer answer;
  const Value& assessed = value["assessed"];
  if (!assessed.is_null() && assessed.as_bool() == nullptr) {
    return invalid_answer("assessed must be true or false.");
  }
  answer.assessed = assessed.is_null() || *assessed.as_bool();
  BELAY_TRY(answer.risk_level, risk_in(value, answer.assessed));
  BELAY_TRY(answer.summary, text_in(value["summary"], "summary", kSummaryCharactersMax));
  const Value::Array* insights = value["keyInsights"].as_array();
  if (insights == nullptr) return invalid_answer("keyInsights must be a list of texts.");
  if (insights->size() > kInsightsMax) {
    return invalid_answer("keyInsights has more than " + std::to_string(kInsightsMax) + " texts.");
  }
  for (const Value& insight : *insights) {
    BELAY_TRY(std::string line, text_in(insight, "one of keyInsights", kInsightCharactersMax));
    answer.key_insights.push_back(std::move(line));
  }
  return answer;
}

Result<Value> schedule_answer_from(std::string_view text) {
  if (text.size() > kScheduleBytesMax) {
    return invalid_answer("the answer has more than " + std::to_string(kScheduleBytesMax) +
                          " bytes.");
  }
  return json_in(text);
}

Value audit_answer_schema() {
  const Value level =
      Value::object({{"type", "integer"},
                     {"minimum", 0},
                     {"maximum", kRiskMax},
                     {"description", "1 to 10; 0 only together with assessed: false"}});
  const Value properties =
      Value::object({{"summary", Value::object({{"type", "string"}, {"minLength", 1}})},
                     {"riskLevel", level},
                     {"keyInsights", text_list("what the notes say, a sentence each")},
                     {"assessed", Value::object({{"type", "boolean"}})},
                     {"language", Value::object({{"type", "string"}})}});
  return Value::object({{"type", "object"},
                        {"properties", properties},
                        {"required", Value::Array{"summary", "riskLevel", "keyInsights"}},
                        {"additionalProperties", false}});
}

Value schedule_answer_schema() {
  const Value text = Value::object({{"type", "string"}});
  const Value activity = Value::object(
      {{"type", "object"},
       {"properties",
        Value::object({{"time", Value::object({{"type", "string"},
                                               {"pattern", "^([01][0-9]|2[0-3]):[0-5][0-9]$"}})},
                       {"activity", text},
                       {"expectedBenefit", text}})},
       {"required", Value::Array{"time", "activity", "expectedBenefit"}},
       {"additionalProperties", false}});
  const Value unplaced =
      Value::object({{"type", "object"},
                     {"properties", Value::object({{"activity", text}, {"reason", text}})},
                     {"required", Value::Array{"activity", "reason"}},
                     {"additionalProperties", false}});
  return Value::object(
      {{"type", "object"},
       {"properties",
        Value::object({{"activities", Value::object({{"type", "array"}, {"items", activity}})},
                       {"unplaced", Value::object({{"type", "array"}, {"items", unplaced}})}})},
       {"required", Value::Array{"activities"}},
       {"additionalProperties", false}});
}

}  // namespace belay::wellbeing
