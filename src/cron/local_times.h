#pragma once
// cron/local_times.h - finds and counts the local times that match an expression's fields.
//
// Local times are those of a calendar without time zones, in which each day has 24 hours; zones are
// the matter of schedule.h. Nothing here steps from second to second or from day to day: a day is
// found in a set of the month's matching days, a time of day in the fields' sets, and the search
// ends after 400 years, after which the calendar repeats.

#include <chrono>
#include <cstdint>
#include <optional>

#include "cron/fields.h"

namespace belay::cron {

using LocalTime = std::chrono::local_seconds;

// Local times before and after these do not match.
inline constexpr LocalTime first_local_time{std::chrono::local_days(std::chrono::year(0) / 1 / 1)};
inline constexpr LocalTime last_local_time{
    std::chrono::local_days(std::chrono::year(10'001) / 1 / 1) - std::chrono::seconds(1)};

// Returns the days of a month that match the two fields of days, as bits 1 to 31.
Bits matching_days(const Fields& fields, std::chrono::year_month month);

bool matches(const Fields& fields, LocalTime time);
// Returns the first match at or after `from`.
std::optional<LocalTime> next_match(const Fields& fields, LocalTime from);
// Returns the last match at or before `until`.
std::optional<LocalTime> previous_match(const Fields& fields, LocalTime until);
// Returns the number of matches from `from` to before `end`; 0 if `end` is not after `from`.
std::int64_t count_matches(const Fields& fields, LocalTime from, LocalTime end);

}  // namespace belay::cron
