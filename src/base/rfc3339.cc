#include "base/rfc3339.h"

#include <algorithm>
#include <string>

namespace belay {
namespace {

constexpr std::size_t kSecondsEnd = 19;      // of "2026-12-31T00:00:00"
constexpr std::size_t kFractionMax = 10;     // ".123456789"
constexpr std::size_t kFractionCounted = 7;  // ".123456"
constexpr std::size_t kOffsetSize = 6;       // "+01:00"

// Returns the distance of a local time from UTC.
std::optional<Instant::duration> utc_offset_from(std::string_view text) {
  if (text == "Z") return Instant::duration(0);
  bool has_sign = text.starts_with('+') || text.starts_with('-');
  if (!has_sign || text.size() != kOffsetSize) return std::nullopt;
  // The hours and minutes have the form and the limits of a time of day.
  auto time = instant_from("1970-01-01T" + std::string(text.substr(1)) + ":00Z");
  if (!time) return std::nullopt;
  Instant::duration distance = time->time_since_epoch();
  return text.front() == '-' ? -distance : distance;
}

}  // namespace

std::optional<Instant> instant_from_rfc3339(std::string_view text) {
  std::string local(text.substr(0, kSecondsEnd));
  std::string_view rest = text.substr(local.size());
  if (rest.starts_with('.')) {
    std::size_t end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    if (end > kFractionMax) return std::nullopt;
    local += rest.substr(0, std::min(end, kFractionCounted));
    rest.remove_prefix(end);
  }
  auto shown = instant_from(local + "Z");
  auto offset = utc_offset_from(rest);
  if (!shown || !offset) return std::nullopt;
  // Refuses what is outside of the years 1 to 9999 in UTC.
  return instant_from(to_text(*shown - *offset));
}

}  // namespace belay
