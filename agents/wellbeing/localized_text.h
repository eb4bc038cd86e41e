#pragma once
// wellbeing/localized_text.h - the texts around an audit, of the notes and of the demonstration, in
// English and Spanish.

#include <string_view>

#include "belay/output.h"

namespace belay::wellbeing {

struct Words {
  std::string_view risk, not_assessed, of_ten;
  std::string_view crisis;         // at approvals with risk 8 or higher
  std::string_view passed_crises;  // {n} {command}
  // Of notes: the parts of one line about an import, and others.
  std::string_view one_imported, imported, replaced, unchanged;  // {n}
  std::string_view days;                                         // {first}, {last}
  std::string_view no_notes;                                     // {command}
  std::string_view written;                                      // {time}
  // Of the demonstration: a headline for each step, and its end.
  std::string_view demo_diary, demo_kill, demo_resume, demo_decide, demo_commits;
  std::string_view demo_killed, demo_you, demo_comment, demo_completed;
  std::string_view demo_own_notes, demo_http, demo_models, demo_agent;
};

const Words& words_of(Language language);

}  // namespace belay::wellbeing
