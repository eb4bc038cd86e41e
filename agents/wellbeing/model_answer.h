#pragma once
// wellbeing/model_answer.h - parses and validates the replies of a model.
//
// Errors are `unavailable`, so that the node is retried, and begin with "Invalid LLM response
// format"; the rest of the sentence is part of the next prompt.

#include <string>
#include <string_view>
#include <vector>

#include "belay/value.h"

namespace belay::wellbeing {

struct AuditAnswer {
  std::string summary;
  int risk_level = 0;  // 1 to 10; 0 if not assessed
  std::vector<std::string> key_insights;
  bool assessed = true;
};

inline constexpr std::string_view kInvalidAnswer = "Invalid LLM response format";
inline constexpr std::size_t kSummaryCharactersMax = 4'000;
inline constexpr std::size_t kInsightCharactersMax = 1'000;
inline constexpr std::size_t kInsightsMax = 20;
inline constexpr std::size_t kScheduleBytesMax = 200'000;

// Requires a summary that is not empty, an integer riskLevel of 1 to 10 (0, null or absent with
// "assessed": false), and a list of strings as keyInsights; none of them repeats a prompt's
// delimiters.
Result<AuditAnswer> audit_answer_from(std::string_view text);

// Accepts any JSON value: the validator checks whether it is a schedule.
Result<Value> schedule_answer_from(std::string_view text);

// Returns the error for an invalid reply; `what` ends with a full stop.
Error invalid_answer(std::string_view what);

// Return the JSON Schemas of the two kinds of replies.
Value audit_answer_schema();
Value schedule_answer_schema();

}  // namespace belay::wellbeing
