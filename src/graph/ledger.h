#pragma once
// graph/ledger.h - the account of one run with a budget: what was spent, and what is reserved.

#include "belay/limits.h"
#include "belay/result.h"

namespace belay {

class Ledger {
 public:
  explicit Ledger(Budget budget) : budget_(budget) {}
  const Budget& budget() const { return budget_; }
  bool is_limited() const { return budget_.is_set(); }
  // Takes `most` from what is left, or says (`exhausted`) why it can't. `what` is to cost it.
  Result<Done> reserve(const Cost& most, const std::string& what);
  // What was reserved has cost `spent`.
  void settle(const Cost& reserved, const Cost& spent);
  // What the journal says of calls that were made before.
  void remember(const Spending& known);
  const Spending& spending() const { return spending_; }

 private:
  Budget budget_;
  Spending spending_;
};

}  // namespace belay
