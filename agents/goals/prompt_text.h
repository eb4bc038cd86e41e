#pragma once
// goals/prompt_text.h - the compiled-in texts of prompts/*.md, with {name} for each value.

#include <string_view>

namespace belay::goals {

extern const std::string_view kSystemPrompt;
extern const std::string_view kFirstStepPrompt;
extern const std::string_view kNextStepPrompt;
extern const std::string_view kSummaryPrompt;
extern const std::string_view kMessagesPrompt;

}  // namespace belay::goals
