#pragma once
// cron/zoned_ticks.h - the ticks of an expression's fields in a zone, for both kinds of expressions
// (schedule.h). All instants are from first_instant to last_instant.

#include <cstdint>
#include <optional>

#include "cron/fields.h"
#include "cron/zone.h"

namespace belay::cron {

// The ticks of fixed times: the first instant of each matching local time (Zone::first_instant_of).
// Later local times have later or equal first instants; therefore the ticks after an instant are
// those of the local times after the latest one that the zone's clock has shown until then.
class FixedTicks {
 public:
  FixedTicks(const Fields& fields, const Zone& zone) : fields_(fields), zone_(zone) {}

  // Returns the first tick at or after `from`.
  std::optional<sys_seconds> first(sys_seconds from) const;
  // Returns the last tick at or before `until`.
  std::optional<sys_seconds> last(sys_seconds until) const;
  // Returns the number of ticks from `from` to `until`, both included.
  std::int64_t count(sys_seconds from, sys_seconds until) const;

 private:
  std::int64_t surplus_at(sys_seconds change) const;

  const Fields& fields_;
  const Zone& zone_;
};

// The ticks of repeating expressions: the instants whose local time matches.
class RepeatingTicks {
 public:
  RepeatingTicks(const Fields& fields, const Zone& zone) : fields_(fields), zone_(zone) {}

  std::optional<sys_seconds> first(sys_seconds from) const;
  std::optional<sys_seconds> last(sys_seconds until) const;
  std::int64_t count(sys_seconds from, sys_seconds until) const;

 private:
  const Fields& fields_;
  const Zone& zone_;
};

}  // namespace belay::cron
