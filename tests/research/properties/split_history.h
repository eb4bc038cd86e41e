#pragma once
// tests/research/properties/split_history.h - splits inserted into the facts of a random company.

#include <rapidcheck.h>

#include <iosfwd>
#include <vector>

#include "agents/research/filings/company_facts.h"
#include "tests/research/properties/random_company.h"

namespace belay::research {

// The first annual report after a split.
struct SplitPlan {
  int report = 1;     // from 1: the reports before it are on the old basis
  double factor = 2;  // new shares for an old one
};
std::ostream& operator<<(std::ostream& out, const SplitPlan& split);

// A company with numbers of shares in each report, repeated by the next one: its splits are
// visible.
rc::Gen<CompanyPlan> any_plan_with_shares();
// Whether its facts show splits: a plan that was shrunk may have no numbers of shares.
bool shows_splits(const CompanyPlan& plan);
// A split of one of these factors, or of their reciprocals.
rc::Gen<SplitPlan> any_split(const CompanyPlan& plan, std::vector<double> factors);

// The facts of a company that had these splits: numbers of shares and amounts per share of earlier
// reports as they were filed then.
CompanyFacts with_splits(CompanyFacts facts, const CompanyPlan& plan,
                         const std::vector<SplitPlan>& splits);

}  // namespace belay::research
