#include "cron/value_runs.h"

namespace belay::cron {

Bits Progression::values() const {
  Bits set = 0;
  for (unsigned value = first; value <= last; value += step) set |= bit(value);
  return set;
}

std::vector<Progression> runs_of(Bits set) {
  std::vector<Progression> runs;
  while (set != 0) {
    unsigned first = lowest_of(set);
    unsigned last = first;
    while (last < 63 && has(set, last + 1)) ++last;
    runs.push_back({first, last, 1});
    set &= ~bits_from(first, last);
  }
  return runs;
}

Progression longest_progression(Bits set) {
  Progression longest{lowest_of(set), lowest_of(set), 1};
  const unsigned highest = highest_of(set);
  for (unsigned first = lowest_of(set); first < highest; ++first) {
    if (!has(set, first)) continue;
    for (unsigned step = 1; first + step <= highest; ++step) {
      unsigned last = first;
      while (last + step <= highest && has(set, last + step)) last += step;
      Progression found{first, last, step};
      if (found.size() > longest.size()) longest = found;
    }
  }
  return longest;
}

std::optional<Progression> complete_progression(Bits set) {
  Progression longest = longest_progression(set);
  if (longest.step == 1 || longest.size() < 3 || longest.values() != set) return std::nullopt;
  return longest;
}

Bits from_monday(Bits weekdays) {
  return has(weekdays, 0) ? (weekdays & ~bit(0)) | bit(7) : weekdays;
}

}  // namespace belay::cron
