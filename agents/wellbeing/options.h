#pragma once
// wellbeing/options.h - what can be set about the wellbeing agents.

#include <chrono>
#include <memory>
#include <string>

#include "agents/wellbeing/care.h"

namespace belay::wellbeing {

struct WellbeingOptions {
  // "en" or "es": for a run that names no language and whose notes show none.
  std::string language = "es";
  CareOptions care = {};
  // For one call of the model. A small local model needs a minute for an answer.
  std::chrono::milliseconds model_timeout{120'000};
  std::chrono::milliseconds approval_expires{std::chrono::hours(24)};
};

// The nodes of a graph keep one copy.
using SharedOptions = std::shared_ptr<const WellbeingOptions>;

// The options to keep; `invalid` for a language that the messages lack or a time of zero.
Result<SharedOptions> checked(const WellbeingOptions& options);

// Whether a run's input names a day, and no language or one that the messages have.
Result<Done> check_input(const std::string& date, const std::string& language);

}  // namespace belay::wellbeing
