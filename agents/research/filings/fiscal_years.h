#pragma once
// agents/research/filings/fiscal_years.h - the fiscal years that the facts of a company have.

#include <optional>
#include <vector>

#include "agents/research/filings/visible_facts.h"

namespace belay::research {

// A period of 350 to 380 days, which includes years of 52 and 53 weeks.
bool is_annual(const Fact& fact);

struct FiscalYear {
  Date start;
  Date end;
};

// The fiscal years, oldest first (rule R6): the periods of the annual facts of net income, revenue
// and operating cash flow, without the trailing twelve months that some filings report. Years that
// the file does not have are gaps.
class FiscalYears {
 public:
  explicit FiscalYears(const VisibleFacts& facts);

  const std::vector<FiscalYear>& all() const { return years_; }
  // Returns the index of the year `count` years before; empty if the file does not have it.
  std::optional<std::size_t> before(std::size_t year, int count) const;

 private:
  std::vector<FiscalYear> years_;
};

}  // namespace belay::research
