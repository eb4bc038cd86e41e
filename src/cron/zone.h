#pragma once
// cron/zone.h - a time zone: the offset from UTC at each instant.
//
// A zone consists of periods, each with one offset. The explicit ones are those of a file of the
// system's time zone database (zone_file.h). After the last of them the rule at the end of the file
// applies, without end: a zone has daylight saving time in the year 2400 as it has today.
//
// Threading: immutable, and therefore usable from any thread. Cheap to copy.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cron/local_times.h"
#include "cron/zone_rule.h"

namespace belay::cron {

using std::chrono::sys_seconds;

// The supported instants: from the first second of the year 1 to the last one of 9999.
inline constexpr sys_seconds first_instant{std::chrono::sys_days(std::chrono::year(1) / 1 / 1)};
inline constexpr sys_seconds last_instant{std::chrono::sys_days(std::chrono::year(10'000) / 1 / 1) -
                                          std::chrono::seconds(1)};

// Each offset is smaller than this, before and after UTC.
inline constexpr std::chrono::hours zone_offset_max{26};
// An instant that is earlier than another one by this has an earlier local time, whatever the
// offsets of the two are.
inline constexpr std::chrono::hours zone_offsets_apart = 2 * zone_offset_max;

// The instants from `begin` to before `end`, in which a zone has one offset. Adjacent periods can
// have the same offset.
struct Period {
  sys_seconds begin;
  sys_seconds end;
  std::chrono::seconds offset;  // local time minus UTC

  LocalTime local(sys_seconds at) const { return LocalTime((at + offset).time_since_epoch()); }
  LocalTime local_begin() const { return local(begin); }
  LocalTime local_end() const { return local(end); }
  sys_seconds instant(LocalTime local) const {
    return sys_seconds(local.time_since_epoch()) - offset;
  }
};

class Zone {
 public:
  // The offset from an instant on.
  struct Transition {
    sys_seconds at;
    std::chrono::seconds offset;
  };
  // `transitions` in ascending order; without a rule, the last offset applies without end.
  struct Periods {
    std::chrono::seconds first_offset{0};
    std::vector<Transition> transitions;
    std::optional<ZoneRule> rule;
  };

  Zone();  // UTC
  Zone(std::string name, Periods periods);

  const std::string& name() const { return name_; }
  // Returns the period that contains `at`. An instant outside of the supported ones is treated as
  // the nearest of them; periods end at their bounds.
  Period period_at(sys_seconds at) const;
  LocalTime local(sys_seconds at) const { return period_at(at).local(at); }

  // Returns the latest time that the zone's clock shows up to and including `at`. It is after
  // local(at) in a repeated hour.
  LocalTime latest_local(sys_seconds at) const;
  // Returns the first instant at which the zone's clock shows `local` or a later time: the first of
  // two instants if the time is repeated, and the end of the gap if it is skipped.
  sys_seconds first_instant_of(LocalTime local) const;

  friend bool operator==(const Zone& one, const Zone& other) { return one.name_ == other.name_; }

 private:
  std::string name_;
  std::shared_ptr<const Periods> periods_;  // null: UTC
};

}  // namespace belay::cron
