// The short texts from users and stores: ids, times, days, event ids, numbers, durations.

#include "agents/rules/routine_rules.h"
#include "agents/wellbeing/validate_schedule.h"
#include "belay/event.h"
#include "belay/ids.h"
#include "cli/settings.h"
#include "tests/fuzz/target.h"

namespace belay::fuzz {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

void ids(std::string_view input) {
  if (auto id = uuid_from(input)) require(id->text() == lower(input), "an id has one text");
  if (auto id = event_id_from(input)) {
    require(event_id_from(id->text()) == id, "an event's id comes back from its text");
  }
  if (auto code = error_code_named(input)) require(name_of(*code) == input, "a code has one name");
  if (auto kind = event_kind_named(input)) require(name_of(*kind) == input, "so has a kind");
  auto named = check_name("name", input);
  if (!named.ok()) return require_sound(named.error());
  require(!input.empty() && input.size() <= limits::identifier_bytes_max, "a name is bounded");
  require(!first_invalid_utf8(input), "a name is UTF-8");
}

void times(std::string_view input) {
  if (auto instant = instant_from(input)) {
    std::string text = to_text(*instant);
    require(instant_from(text) == instant, "a time comes back from its text");
    require(text.starts_with(input.substr(0, 19)), "a time's text begins as it was given");
  }
  if (is_date(input)) {
    if (input != "0001-01-01") require(day_after(day_before(input)) == input, "days have an order");
    if (input != "9999-12-31") require(day_before(day_after(input)) == input, "days have an order");
  }
  auto minutes = wellbeing::minutes_of_day(input);
  require(minutes == rules::minutes_of(input), "both readers of a time of day agree");
  if (minutes) require(wellbeing::time_of_day(*minutes) == input, "a time of day has one text");
}

void settings(std::string_view input) {
  auto number = whole_number("The number", input, -5, 1'000);
  if (number.ok()) {
    require(*number >= -5 && *number <= 1'000, "a number is within its bounds");
  } else {
    require_sound(number.error());
  }
  auto duration = cli::duration_from("The time", input);
  if (duration.ok()) {
    require(duration->count() > 0 && *duration <= std::chrono::hours(24 * 30), "so is a time");
  } else {
    require_sound(duration.error());
  }
  auto truth = cli::truth_from("The switch", input);
  if (!truth.ok()) require_sound(truth.error());
  auto language = cli::language_from(input);
  if (language) require(input == "en" || input == "es", "there are two languages");
}

}  // namespace
}  // namespace belay::fuzz

BELAY_FUZZ_TARGET(Texts, "texts") {
  belay::fuzz::ids(input);
  belay::fuzz::times(input);
  belay::fuzz::settings(input);
}
