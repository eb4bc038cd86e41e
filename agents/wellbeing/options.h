#pragma once
// wellbeing/options.h - what can be set about the wellbeing agents.

#include <chrono>
#include <memory>
#include <string>

#include "agents/wellbeing/care.h"
#include "belay/clock.h"

namespace belay::wellbeing {

struct WellbeingOptions {
  // "en" or "es": for a run that names no language and whose notes show none.
  std::string language = "es";
  bool language_named = false;  // explicitly: it overrides the language of the notes
  TimeZone time_zone = {};      // for a run that names none; dates are days of this zone
  CareOptions care = {};
  // For one call of the model. A small local model needs a minute for an answer.
  std::chrono::milliseconds model_timeout{120'000};
  std::chrono::milliseconds approval_expires{std::chrono::hours(24)};
};

// The nodes of a graph keep one copy.
using SharedOptions = std::shared_ptr<const WellbeingOptions>;

// The options to keep; `invalid` for a language that the messages lack or a time of zero.
Result<SharedOptions> checked(const WellbeingOptions& options);

// Checks that a run's input names a day, and that its language and time zone are empty or known.
Result<Done> check_input(const std::string& date, const std::string& language,
                         const std::string& time_zone);

// True if it is a calendar day or a word for one.
bool names_a_day(std::string_view date);
// Returns the day in the form YYYY-MM-DD. REQUIRES: names_a_day(date).
std::string day_named(const std::string& date, const TimeZone& zone, Instant now);
// Returns the zone of a run; that of the options if the name is empty or no longer known.
TimeZone zone_of(const std::string& name, const WellbeingOptions& options);

}  // namespace belay::wellbeing
