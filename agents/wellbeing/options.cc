#include "agents/wellbeing/options.h"

#include "belay/clock.h"

namespace belay::wellbeing {
namespace {

bool is_language(const std::string& name) { return name == "en" || name == "es"; }

// Quotes input for a message: at most 40 bytes, without control characters and line ends.
std::string shown(const std::string& text) {
  std::string out = "\"";
  for (const char c : text.substr(0, 40)) out += c >= ' ' && c < 0x7F ? c : '?';
  return out + (text.size() > 40 ? "…\"" : "\"");
}

}  // namespace

Result<SharedOptions> checked(const WellbeingOptions& options) {
  if (!is_language(options.language)) {
    return error(ErrorCode::invalid,
                 "The language " + shown(options.language) +
                     " is not supported by the wellbeing agents. Use en or es.");
  }
  if (options.model_timeout.count() <= 0 || options.approval_expires.count() <= 0) {
    return error(ErrorCode::invalid,
                 "The timeout of a model call and the expiry of an approval must be above zero.");
  }
  return std::make_shared<const WellbeingOptions>(options);
}

std::string configured_language(const Value& configuration) {
  const std::string* name = configuration[kLanguageSetting].as_string();
  return name && is_language(*name) ? *name : std::string();
}

bool names_a_day(std::string_view date) {
  return is_date(date) || date == "today" || date == "yesterday" || date == "tomorrow";
}

std::string day_named(const std::string& date, const TimeZone& zone, Instant now) {
  std::string today = zone.day_of(now);
  if (date == "today") return today;
  if (date == "yesterday") return day_before(today);
  if (date == "tomorrow") return day_after(today);
  return date;
}

TimeZone zone_of(const std::string& name, const WellbeingOptions& options) {
  return TimeZone::named(name).value_or(options.time_zone);
}

Result<Done> check_input(const std::string& date, const std::string& language,
                         const std::string& time_zone) {
  if (!names_a_day(date)) {
    return error(ErrorCode::invalid,
                 "The date " + shown(date) +
                     " is invalid: expected YYYY-MM-DD, today, yesterday or tomorrow.");
  }
  if (!time_zone.empty() && !TimeZone::named(time_zone)) {
    return error(ErrorCode::invalid,
                 "The time zone " + shown(time_zone) +
                     " is unknown. Use one of the IANA database, such as Europe/Madrid or UTC.");
  }
  if (!language.empty() && !is_language(language)) {
    return error(ErrorCode::invalid,
                 "The language " + shown(language) + " is unknown. Use en or es.");
  }
  return Done{};
}

}  // namespace belay::wellbeing
