#pragma once
// wellbeing/options.h - options of the wellbeing agents.

#include <chrono>
#include <memory>
#include <string>

#include "agents/wellbeing/care.h"
#include "belay/clock.h"
#include "belay/value.h"

namespace belay::wellbeing {

struct WellbeingOptions {
  // "en" or "es": if neither the run's input nor its notes determine the language.
  std::string language = "es";
  bool language_named = false;  // `language` was set explicitly, and overrides that of the notes
  TimeZone time_zone = {};      // if the run's input has none; dates are days of this zone
  CareOptions care = {};
  // Timeout of one model call. A small local model needs a minute for a reply.
  std::chrono::milliseconds model_timeout{120'000};
  std::chrono::milliseconds approval_expires{std::chrono::hours(24)};
};

// The nodes of a graph share one copy.
using SharedOptions = std::shared_ptr<const WellbeingOptions>;

// Returns a copy to share. Fails with `invalid` for an unsupported language or a time of zero.
Result<SharedOptions> checked(const WellbeingOptions& options);

// Checks that a run's input has a valid day, and a language and time zone that are empty or known.
Result<Done> check_input(const std::string& date, const std::string& language,
                         const std::string& time_zone);

// The member of a run's configuration with the language of a caller that did not name one for this
// run. Returns it; empty if it is missing or unknown.
inline constexpr const char* kLanguageSetting = "language";
std::string configured_language(const Value& configuration);

// Returns whether `date` is a calendar day or a word for one, such as "today".
bool names_a_day(std::string_view date);
// Returns the day as YYYY-MM-DD. Requires names_a_day(date).
std::string day_named(const std::string& date, const TimeZone& zone, Instant now);
// Returns the zone named `name`, or that of the options if the name is empty or no longer known.
TimeZone zone_of(const std::string& name, const WellbeingOptions& options);

}  // namespace belay::wellbeing
