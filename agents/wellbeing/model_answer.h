#pragma once
// wellbeing/model_answer.h - reads what a model answered, and believes nothing that makes no sense.
//
// Errors are `unavailable`, so that the node asks again, and begin with "Invalid LLM response
// format"; the rest of the sentence goes into the next prompt.

#include <string>
#include <string_view>
#include <vector>

#include "belay/value.h"

namespace belay::wellbeing {

struct AuditAnswer {
  std::string summary;
  int risk_level = 0;  // 1 to 10; 0 when not assessed
  std::vector<std::string> key_insights;
  bool assessed = true;
};

inline constexpr std::string_view kInvalidAnswer = "Invalid LLM response format";
inline constexpr std::size_t kSummaryCharactersMax = 4'000;
inline constexpr std::size_t kInsightCharactersMax = 1'000;
inline constexpr std::size_t kInsightsMax = 20;
inline constexpr std::size_t kScheduleBytesMax = 200'000;

// A summary with text, a whole riskLevel of 1 to 10 (0, null or none with "assessed": false), a
// list of texts as keyInsights; none of them repeats a prompt's delimiters.
Result<AuditAnswer> audit_answer_from(std::string_view text);

// Any JSON value: whether it is a schedule is for the validator to say.
Result<Value> schedule_answer_from(std::string_view text);

// The error of an answer that can't be used; `what` ends with a full stop.
Error invalid_answer(std::string_view what);

// JSON Schemas of the two answers.
Value audit_answer_schema();
Value schedule_answer_schema();

}  // namespace belay::wellbeing
