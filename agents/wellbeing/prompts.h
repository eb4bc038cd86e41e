#pragma once
// wellbeing/prompts.h - what the model is asked, in words and as data.
//
// Words: the templates of prompts/*.md, in the sections [SYSTEM INSTRUCTION], [USER CONTENT] and
// [OUTPUT FORMAT]; whatever people wrote is sanitized and stands in the second one only. Data: the
// request's input, for models that read no prose (see rules/builtin_model.h), unaltered.
//
// Threading: pure functions.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/wellbeing/daily_auditor.h"
#include "agents/wellbeing/messages.h"
#include "agents/wellbeing/routine_generator.h"
#include "belay/model.h"

namespace belay::wellbeing {

inline constexpr std::string_view kAuditPurpose = "daily_audit";
inline constexpr std::string_view kRoutinePurpose = "routine_schedule";

struct Prompt {
  ModelRequest request;
  std::size_t altered = 0;         // passages that were kept from the prompt
  std::size_t characters_cut = 0;  // that had no room in it
};

// `problem` is what was wrong with the answer before; null for the first.
Prompt audit_prompt(const Audit& audit, Language language, const Error* problem);
Prompt schedule_prompt(const RoutineState& state, Language language, const Error* problem);

// What to tell the reader of that, in their language.
std::vector<std::string> remarks_on(const Prompt& prompt, Language language);

using Places = std::vector<std::pair<std::string_view, std::string>>;

// `text` with each {{name}} replaced, in one pass: what is filled in is not looked at again.
std::string rendered(std::string_view text, const Places& places);

}  // namespace belay::wellbeing
