#pragma once
// graph/ledger.h - the account of one run with a budget: spent and reserved costs.

#include "belay/limits.h"
#include "belay/result.h"

namespace belay {

class Ledger {
 public:
  explicit Ledger(Budget budget) : budget_(budget) {}
  const Budget& budget() const { return budget_; }
  bool is_limited() const { return budget_.is_set(); }
  // Reserves `most`. Fails with `exhausted` if less than that is left. `what` names the use in the
  // error.
  Result<Done> reserve(const Cost& most, const std::string& what);
  // Replaces a reservation by the real cost.
  void settle(const Cost& reserved, const Cost& spent);
  // Adds the costs of earlier calls, read from the journal.
  void remember(const Spending& known);
  const Spending& spending() const { return spending_; }

 private:
  Budget budget_;
  Spending spending_;
};

}  // namespace belay
