#include "tests/research/properties/split_history.h"

#include <algorithm>
#include <ostream>

namespace belay::research {

std::ostream& operator<<(std::ostream& out, const SplitPlan& split) {
  return out << split.factor << ":1 before report " << split.report;
}

rc::Gen<CompanyPlan> any_plan_with_shares() {
  return rc::gen::map(any_plan(), [](CompanyPlan plan) {
    plan.years = std::max(plan.years, 2);
    plan.comparatives = std::max(plan.comparatives, 1);
    plan.has_holes = false;
    plan.absent_year = -1;
    return plan;
  });
}

bool shows_splits(const CompanyPlan& plan) {
  if (plan.years < 2 || plan.comparatives < 1) return false;
  const auto& all = plan.tags;
  const bool is_read =
      !plan.is_ifrs || std::find(all.begin(), all.end(), "ifrs-full:Assets") != all.end();
  if (!is_read) return false;
  return std::any_of(plan.tags.begin(), plan.tags.end(), [](const std::string& tag) {
    const ItemKind kind = kind_of_tag(tag);
    const bool is_count = kind == ItemKind::shares_of_year || kind == ItemKind::shares_at_date;
    return is_count && !tag.starts_with("dei:");
  });
}

rc::Gen<SplitPlan> any_split(const CompanyPlan& plan, std::vector<double> factors) {
  auto factor = rc::gen::elementOf(std::move(factors));
  return rc::gen::apply([](int report, double k,
                           bool is_reverse) { return SplitPlan{report, is_reverse ? 1 / k : k}; },
                        rc::gen::inRange(1, plan.years), std::move(factor),
                        rc::gen::arbitrary<bool>());
}

CompanyFacts with_splits(CompanyFacts facts, const CompanyPlan& plan,
                         const std::vector<SplitPlan>& splits) {
  const std::vector<FiscalYear> periods = periods_of(plan);
  auto factor_after = [&](Date filed) {
    double factor = 1;
    for (const SplitPlan& split : splits) {
      if (filed < filing_date(periods[static_cast<std::size_t>(split.report)])) {
        factor *= split.factor;
      }
    }
    return factor;
  };
  for (auto& [tag, by_unit] : facts.facts) {
    for (auto& [unit, all] : by_unit) {
      for (Fact& fact : all) {
        const double factor = factor_after(fact.filed);
        if (unit == "shares") fact.value /= factor;
        if (unit.ends_with("/shares")) fact.value *= factor;
      }
    }
  }
  return facts;
}

}  // namespace belay::research
