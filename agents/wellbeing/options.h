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
  bool language_named = false;  // by a person: it counts more than the notes' own
  TimeZone time_zone = {};      // for a run that names none; a date is a day of it
  CareOptions care = {};
  // For one call of the model. A small local model needs a minute for an answer.
  std::chrono::milliseconds model_timeout{120'000};
  std::chrono::milliseconds approval_expires{std::chrono::hours(24)};
};

// The nodes of a graph keep one copy.
using SharedOptions = std::shared_ptr<const WellbeingOptions>;

// The options to keep; `invalid` for a language that the messages lack or a time of zero.
Result<SharedOptions> checked(const WellbeingOptions& options);

// Whether a run's input names a day, and no language and time zone or known ones.
Result<Done> check_input(const std::string& date, const std::string& language,
                         const std::string& time_zone);

// Whether it is a day of the calendar, or a word for one.
bool names_a_day(std::string_view date);
// The day, written YYYY-MM-DD. REQUIRES: names_a_day(date).
std::string day_named(const std::string& date, const TimeZone& zone, Instant now);
// The zone of a run; the options' for an empty name, and for one that is no longer known.
TimeZone zone_of(const std::string& name, const WellbeingOptions& options);

}  // namespace belay::wellbeing
