#pragma once
// agents/research/filings/splits.h - share splits, recognized by restated numbers of shares.

#include <vector>

#include "agents/research/filings/visible_facts.h"

namespace belay::research {

struct Split {
  double factor = 1;  // new shares for an old one: 4, or 0.1
  Date date;          // the filing that first restates
};

// Returns the splits that the numbers of shares show: neighbouring filings with a number for the
// same period whose ratio is that of a split (rule R9). Ordered by factor, then date.
std::vector<Split> splits_in(const VisibleFacts& facts);

// Returns the product of the splits after the filing of a fact. Numbers of shares are multiplied
// by it, amounts per share divided.
double split_factor(const std::vector<Split>& splits, Date filed);

}  // namespace belay::research
