#include "langgraph/cron_time.h"

#include "base/rfc3339.h"
#include "cron/zone_database.h"

namespace belay::langgraph {
namespace {

Result<Instant> instant_in_zone(Instant shown, const std::string& name) {
  const cron::ZoneDatabase zones;
  BELAY_TRY(cron::Zone zone, zones.find(name));
  auto seconds = std::chrono::floor<std::chrono::seconds>(shown.time_since_epoch());
  return zone.first_instant_of(cron::LocalTime(seconds)) + (shown.time_since_epoch() - seconds);
}

}  // namespace

Result<Instant> time_in(std::string_view member, std::string_view text, const std::string& zone) {
  auto refused = [&member] {
    return error(ErrorCode::invalid, "\"" + std::string(member) +
                                         "\" must be a time: 2026-12-31T00:00:00Z, or "
                                         "2026-12-31T00:00:00+02:00.");
  };
  if (auto at = instant_from_rfc3339(text)) return *at;
  // Without an offset, the text is one of UTC if a `Z` is added.
  auto shown = instant_from_rfc3339(std::string(text) + "Z");
  if (!shown) return refused();
  BELAY_TRY(Instant at, instant_in_zone(*shown, zone));
  // Outside of the years 1 to 9999.
  if (!instant_from(to_text(at))) return refused();
  return at;
}

}  // namespace belay::langgraph
