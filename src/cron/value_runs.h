#pragma once
// cron/value_runs.h - splits a set of values into the parts of a text: runs such as 9-17, and
// progressions such as */15.

#include <optional>
#include <vector>

#include "cron/fields.h"

namespace belay::cron {

// The values first, first + step, ..., last.
struct Progression {
  unsigned first = 0;
  unsigned last = 0;
  unsigned step = 1;

  unsigned size() const { return (last - first) / step + 1; }
  Bits values() const;
  friend bool operator==(const Progression&, const Progression&) = default;
};

// Returns the runs of adjacent values, in ascending order.
std::vector<Progression> runs_of(Bits set);

// Returns the longest progression in the set; of several, the one with the lowest first value, then
// with the smallest step. REQUIRES: the set is not empty.
Progression longest_progression(Bits set);

// Returns the progression that is the complete set, if there is one with 3 or more values that are
// not adjacent.
std::optional<Progression> complete_progression(Bits set);

// Returns the set in which Sunday is 7 instead of 0, so that a week begins on Monday.
Bits from_monday(Bits weekdays);

}  // namespace belay::cron
