#pragma once
// tests/research/properties/random_company.h - random company facts, for the tests of properties.
//
// A plan is data, from which the facts follow: a failing case can be printed, shrunk and repeated.

#include <rapidcheck.h>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/filings/company_facts.h"
#include "agents/research/filings/statements.h"

namespace belay::research {

// Facts of annual reports. A value follows from the seed, the tag and the year.
struct CompanyPlan {
  enum Calendar { december, june, last_saturday_of_september, last_sunday_of_january };

  int years = 3;  // the last one ends in 2023
  int calendar = december;
  bool is_ifrs = false;
  std::string currency = "USD";
  std::vector<std::string> tags;  // "us-gaap:Assets"
  // 0: 100 for the first tag, 110 for the second, and 1 more each year.
  std::uint32_t seed = 0;
  int comparatives = 0;       // earlier years that a report repeats
  bool is_restating = false;  // a report changes the amounts of the years that it repeats
  bool has_holes = false;     // some tags lack some years
  int absent_year = -1;       // a year without facts
  bool is_extreme = false;    // values such as 0, 1e20 and 5e-324
};
std::ostream& operator<<(std::ostream& out, const CompanyPlan& plan);

// All tags that a rule or a figure reads, of one taxonomy and of the cover pages.
std::vector<std::string> all_tags(bool is_ifrs);
ItemKind kind_of_tag(const std::string& tag);

// Plans with most tags. They shrink to fewer tags and years, and to simple values.
rc::Gen<CompanyPlan> any_plan();
rc::Gen<CompanyPlan> any_plan_of_gaap();
rc::Gen<CompanyPlan> any_plan_with(std::vector<std::string> tags);

// The periods of a plan, the oldest first, with those of absent years.
std::vector<FiscalYear> periods_of(const CompanyPlan& plan);
// The date of a year's annual report.
Date filing_date(const FiscalYear& period);
CompanyFacts facts_of(const CompanyPlan& plan);
// Later than all filings of a plan.
Date after_all_filings();

void add_fact(CompanyFacts& facts, const std::string& tag, const std::string& unit, Fact fact);
std::string unit_of_kind(ItemKind kind, const std::string& currency);
std::string fact_line(const std::string& tag, const std::string& unit, const Fact& fact);

// A hash: the same arguments give the same number.
std::uint32_t mixed_bits(std::uint32_t seed, std::string_view text, int number);

// One line for each difference of the items, years, currency and kind of company; empty if there is
// no difference. Inputs count only with `with_inputs`.
std::vector<std::string> differences(const Statements& a, const Statements& b,
                                     bool with_inputs = true);
// The same for one value; empty if there is no difference.
std::string difference(const Quantity& a, const Quantity& b, bool with_inputs = true);

}  // namespace belay::research
