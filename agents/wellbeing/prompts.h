#pragma once
// wellbeing/prompts.h - builds the model requests, as text and as data.
//
// Text: the templates of prompts/*.md, with the sections [SYSTEM INSTRUCTION], [USER CONTENT] and
// [OUTPUT FORMAT]; users' text is sanitized and occurs only in the second one. Data: the request's
// input, unaltered, for models that do not read text (see rules/builtin_model.h).
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
  std::size_t altered = 0;         // passages that were withheld from the prompt
  std::size_t characters_cut = 0;  // characters that exceeded its maximum
};

// `problem`: the fault of the previous reply; null for the first request.
Prompt audit_prompt(const Audit& audit, Language language, const Error* problem);
Prompt schedule_prompt(const RoutineState& state, Language language, const Error* problem);

// Returns remarks for the reader about altered and cut text, in the reader's language.
std::vector<std::string> remarks_on(const Prompt& prompt, Language language);

using Places = std::vector<std::pair<std::string_view, std::string>>;

// Returns `text` with each {{name}} replaced, in one pass: replaced text is not scanned again.
std::string rendered(std::string_view text, const Places& places);

}  // namespace belay::wellbeing
