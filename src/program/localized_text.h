#pragma once
// program/localized_text.h - the texts around an audit or a reply, in English and Spanish.

#include <string_view>

#include "cli/localized_text.h"

namespace belay::program {

struct Words {
  std::string_view risk, not_assessed, of_ten;
  std::string_view crisis;         // at approvals with risk 8 or higher
  std::string_view passed_crises;  // {n} {command}
  std::string_view cut;            // below a reply truncated by the model's limit
};

const Words& words_of(cli::Language language);

}  // namespace belay::program
