#pragma once
// wellbeing/prompt_text.h - the compiled-in texts of prompts/*.md.

#include <string_view>

namespace belay::wellbeing {

extern const std::string_view kDailyAuditPrompt;
extern const std::string_view kRoutineSchedulePrompt;
extern const std::string_view kFirstActivityPrompt;
extern const std::string_view kRetryPrompt;

}  // namespace belay::wellbeing
