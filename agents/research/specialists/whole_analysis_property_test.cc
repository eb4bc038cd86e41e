// An analysis has every metric for each of its periods, with a finite value or a reason, and what
// is added to a file changes none of its figures and findings.

#include "tests/research/properties/whole_analysis.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/research/properties/disturbances.h"
#include "tests/research/properties/expected_metrics.h"
#include "tests/research/properties/random_company.h"

namespace belay::research {
namespace {

using NoDifferences = std::vector<std::string>;

// The periods of the industry's and the market's figures are months.
bool has_period_of_market(const ExpectedMetric& metric) {
  return metric.subtask == "industry_macro.macro_context" ||
         metric.subtask == "industry_macro.market_sensitivity" ||
         metric.name.find("tsr_") != std::string::npos;
}

bool is_known_reason(const std::string& reason) {
  for (const char* code : {"missing_input", "too_little_history", "non_positive", "not_applicable",
                           "currency_mismatch", "no_market_data", "no_peers", "no_text"}) {
    const std::string start = std::string(code) + ": ";
    if (reason.starts_with(start) && reason.size() > start.size()) return true;
  }
  return false;
}

void check_figure(const Figure& figure) {
  const Quantity& quantity = figure.quantity;
  RC_LOG() << figure.metric << " " << figure.period_end << "\n";
  RC_ASSERT(!figure.unit.empty());
  if (!quantity.is_available()) {
    RC_ASSERT(is_known_reason(quantity.reason()));
    return;
  }
  RC_ASSERT(quantity.reason() == "");
  RC_ASSERT(std::isfinite(quantity.value()));
  if (figure.unit == "count") RC_ASSERT(quantity.value() >= 0);
}

// The figures of a metric: for each of its years, and for no other period.
void check_periods(const WholeAnalysis& analysis, const ExpectedMetric& metric) {
  const std::string start = metric.subtask + "." + metric.name + " ";
  std::vector<std::string> found;
  for (auto place = analysis.figures.lower_bound(start);
       place != analysis.figures.end() && place->first.starts_with(start); ++place) {
    found.push_back(place->second.period_end);
  }
  RC_LOG() << start << "\n";
  if (has_period_of_market(metric)) {
    RC_ASSERT(found.size() == 1u);
    return;
  }
  const auto& ends = analysis.year_ends;
  const std::size_t count = std::min(ends.size(), static_cast<std::size_t>(metric.years));
  RC_ASSERT(found == std::vector<std::string>(ends.end() - static_cast<long>(count), ends.end()));
}

void check_completeness(const WholeAnalysis& analysis) {
  std::size_t count = 0;
  for (const ExpectedMetric& metric : expected_metrics()) {
    check_periods(analysis, metric);
    const std::size_t years =
        std::min(analysis.year_ends.size(), static_cast<std::size_t>(metric.years));
    count += has_period_of_market(metric) ? 1 : years;
  }
  RC_ASSERT(analysis.figures.size() == count);
  RC_ASSERT(analysis.twins == std::vector<std::string>());
  for (const auto& [name, figure] : analysis.figures) check_figure(figure);
}

TEST(WholeAnalysisProperty, ThereAre476Metrics) { EXPECT_EQ(expected_metrics().size(), 476u); }

RC_GTEST_PROP(WholeAnalysisProperty, EveryMetricHasAFigureForEachOfItsPeriods, ()) {
  const CompanyPlan plan = *any_plan();
  const auto analysis = whole_analysis(facts_of(plan), after_all_filings(), "AAPL");
  RC_PRE(!analysis.year_ends.empty());
  RC_CLASSIFY(analysis.is_bank, "a bank");
  check_completeness(analysis);
}

RC_GTEST_PROP(WholeAnalysisProperty, ExtremeValuesGiveNumbersOrReasons, ()) {
  CompanyPlan plan = *any_plan();
  plan.is_extreme = true;
  const auto analysis = whole_analysis(facts_of(plan), after_all_filings(), "AAPL");
  RC_PRE(!analysis.year_ends.empty());
  check_completeness(analysis);
}

RC_GTEST_PROP(WholeAnalysisProperty, WhatIsAddedToAFileChangesNothing, ()) {
  const CompanyPlan plan = *any_plan();
  const auto disturbances = *any_disturbances();
  const CompanyFacts facts = facts_of(plan);
  const Date as_of = after_all_filings();
  const CompanyFacts disturbed = Disturber(facts, as_of).disturbed(disturbances);
  RC_ASSERT(differences(whole_analysis(facts, as_of, "AAPL"),
                        whole_analysis(disturbed, as_of, "AAPL")) == NoDifferences());
}

RC_GTEST_PROP(WholeAnalysisProperty, AnEarlierDateGivesTheAnalysisOfThen, ()) {
  const CompanyPlan plan = *any_plan();
  CompanyFacts facts = facts_of(plan);
  const int days = *rc::gen::inRange(0, 365 * plan.years + 400);
  const Date as_of{after_all_filings().days - days};
  const auto then = whole_analysis(facts, as_of, "AAPL");
  for (auto& [tag, by_unit] : facts.facts) {
    for (auto& [unit, all] : by_unit) {
      std::erase_if(all, [&](const Fact& fact) { return fact.filed > as_of; });
    }
  }
  std::erase_if(facts.amended, [&](const auto& each) { return each.second.filed > as_of; });
  RC_ASSERT(differences(then, whole_analysis(facts, as_of, "AAPL")) == NoDifferences());
}

}  // namespace
}  // namespace belay::research
