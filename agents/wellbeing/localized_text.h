#pragma once
// wellbeing/localized_text.h - the texts around an audit, in English and Spanish.

#include <string_view>

#include "belay/output.h"

namespace belay::wellbeing {

struct Words {
  std::string_view risk, not_assessed, of_ten;
  std::string_view crisis;         // at approvals with risk 8 or higher
  std::string_view passed_crises;  // {n} {command}
};

const Words& words_of(Language language);

}  // namespace belay::wellbeing
