// The unit of money, a split, and a tag that is not there change the figures that depend on them,
// as they must, and no others.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "agents/research/filings/facts_fixture.h"
#include "tests/research/properties/split_history.h"
#include "tests/research/properties/whole_analysis.h"

namespace belay::research {
namespace {

using NoDifferences = std::vector<std::string>;

// Of a value that differs by more than the tolerance, or of a reason.
std::string difference_of(const Quantity& found, const Quantity& expected, double factor,
                          double tolerance) {
  if (found.reason() != expected.reason()) {
    return found.reason() + " instead of " + expected.reason();
  }
  const double value = expected.value() * factor;
  const double scale = std::max(factor, std::abs(value));
  if (std::abs(found.value() - value) <= tolerance * scale) return {};
  return rc::toString(found.value()) + " instead of " + rc::toString(value);
}

// The figures, with amounts of money multiplied by `factor`.
std::vector<std::string> scaled_differences(const WholeAnalysis& before, const WholeAnalysis& after,
                                            double factor, double tolerance) {
  std::vector<std::string> found;
  for (const auto& [name, figure] : before.figures) {
    const bool is_money = figure.unit.starts_with("USD") || figure.unit.starts_with("EUR");
    // The logarithms of other amounts have other rounding errors.
    const bool is_of_logarithms = name.find("revenue_trend_") != std::string::npos;
    std::string line =
        difference_of(after.figures.at(name).quantity, figure.quantity, is_money ? factor : 1,
                      is_of_logarithms ? std::max(tolerance, 1e-11) : tolerance);
    if (!line.empty()) found.push_back(name + ": " + line);
  }
  if (before.findings != after.findings) found.push_back("other findings");
  return found;
}

CompanyFacts in_other_money(CompanyFacts facts, double factor) {
  for (auto& [tag, by_unit] : facts.facts) {
    for (auto& [unit, all] : by_unit) {
      if (unit == "shares") continue;
      for (Fact& fact : all) fact.value *= factor;
    }
  }
  return facts;
}

void check_scale(double factor, double tolerance) {
  const CompanyPlan plan = *any_plan();
  const CompanyFacts facts = facts_of(plan);
  const auto before = whole_analysis(facts, after_all_filings(), "AAPL");
  const auto after = whole_analysis(in_other_money(facts, factor), after_all_filings(), "AAPL");
  RC_ASSERT(before.year_ends == after.year_ends);
  RC_ASSERT(scaled_differences(before, after, factor, tolerance) == NoDifferences());
}

RC_GTEST_PROP(InvarianceProperty, RatiosDoNotDependOnTheUnitOfMoney, ()) {
  // A power of two changes no digit.
  check_scale(std::ldexp(1, *rc::gen::inRange(-12, 13)), 0);
}

RC_GTEST_PROP(InvarianceProperty, RatiosInAnotherMoneyAreEqualButForRounding, ()) {
  check_scale(*rc::gen::element(3.0, 7.0, 10.0, 1000.0), 1e-11);
}

RC_GTEST_PROP(InvarianceProperty, ASplitChangesNoFigure, ()) {
  const CompanyPlan plan = *any_plan_with_shares();
  RC_PRE(shows_splits(plan));
  const bool is_exact = *rc::gen::arbitrary<bool>();
  const SplitPlan split = *any_split(
      plan, is_exact ? std::vector<double>{2, 4, 8} : std::vector<double>{1.5, 3, 7, 10, 20});
  const CompanyFacts facts = facts_of(plan);
  auto before = whole_analysis(facts, after_all_filings(), "AAPL");
  auto after = whole_analysis(with_splits(facts, plan, {split}), after_all_filings(), "AAPL");
  RC_PRE(!before.year_ends.empty());
  // The factor itself is a figure.
  for (WholeAnalysis* each : {&before, &after}) {
    std::erase_if(each->figures, [](const auto& figure) {
      return figure.second.metric == "split_factor_applied";
    });
  }
  RC_ASSERT(scaled_differences(before, after, 1, is_exact ? 0 : 1e-12) == NoDifferences());
}

// The only tags of items that decide neither on years nor on zeros.
const std::vector<std::string>& only_tags() {
  static const std::vector<std::string> tags = {
      "us-gaap:ResearchAndDevelopmentExpense",
      "us-gaap:OperatingIncomeLoss",
      "us-gaap:IncomeTaxExpenseBenefit",
      "us-gaap:NetCashProvidedByUsedInInvestingActivities",
      "us-gaap:PaymentsForRepurchaseOfCommonStock",
      "us-gaap:PaymentsToAcquireBusinessesNetOfCashAcquired",
      "us-gaap:Goodwill",
      "us-gaap:PropertyPlantAndEquipmentNet",
      "us-gaap:LiabilitiesCurrent",
      "us-gaap:AccountsPayableCurrent",
      "us-gaap:RetainedEarningsAccumulatedDeficit"};
  return tags;
}

// Another tag, or a calculation, can replace each of these.
const std::vector<std::string>& replaceable_tags() {
  static const std::vector<std::string> tags = {"us-gaap:AmortizationOfIntangibleAssets",
                                                "us-gaap:InterestExpense",
                                                "us-gaap:LongTermDebt",
                                                "us-gaap:DebtCurrent",
                                                "us-gaap:StockholdersEquity",
                                                "us-gaap:CostOfRevenue",
                                                "us-gaap:GrossProfit",
                                                "us-gaap:Liabilities",
                                                "us-gaap:AccountsReceivableNetCurrent"};
  return tags;
}

bool depends_on(const Quantity& quantity, const std::string& tag) {
  const auto& inputs = quantity.inputs().all();
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const auto& input) { return "us-gaap:" + input->concept_name == tag; });
}

// The fault of a figure after the removal of a tag. A figure that depended on the tag has another
// source or, without one, the reason that an input is missing.
std::string fault_without(const std::string& tag, bool is_replaceable, const Figure& before,
                          const Figure& after) {
  if (depends_on(after.quantity, tag)) return "depends on the tag that is not there";
  const bool is_counter =
      before.metric.starts_with("red_flag") || before.metric == "restated_items";
  if (!before.quantity.is_available() || is_counter) return {};
  if (!depends_on(before.quantity, tag)) return difference(before.quantity, after.quantity);
  const Metric* metric = MetricCatalogue::built_in().find(before.metric);
  if (after.quantity.is_available() || !metric || is_replaceable) return {};
  const bool is_over_available = metric->formula.text().find("av(") != std::string::npos;
  const bool is_right = after.quantity.code() == Missing::missing_input ||
                        (is_over_available && after.quantity.code() == Missing::too_little_history);
  return is_right ? "" : after.quantity.reason();
}

RC_GTEST_PROP(InvarianceProperty, WithoutATagOnlyItsFiguresChange, ()) {
  const CompanyPlan plan = *any_plan_of_gaap();
  const bool is_replaceable = *rc::gen::arbitrary<bool>();
  const std::string tag = *rc::gen::elementOf(is_replaceable ? replaceable_tags() : only_tags());
  CompanyFacts facts = facts_of(plan);
  const auto before = whole_analysis(facts, after_all_filings(), "AAPL");
  facts.facts.erase(tag);
  const auto after = whole_analysis(facts, after_all_filings(), "AAPL");
  RC_ASSERT(before.year_ends == after.year_ends);
  std::vector<std::string> wrong;
  bool is_used = false;
  for (const auto& [name, figure] : before.figures) {
    is_used = is_used || depends_on(figure.quantity, tag);
    std::string line = fault_without(tag, is_replaceable, figure, after.figures.at(name));
    if (!line.empty()) wrong.push_back(name + ": " + line);
  }
  RC_CLASSIFY(is_used, "a tag that figures use");
  RC_ASSERT(wrong == std::vector<std::string>());
}

// R14: amounts of different sizes, whose sum depends on the order.
RC_GTEST_PROP(InvarianceProperty, SumsOverYearsBeginWithTheNewest, ()) {
  const auto amounts = *rc::gen::container<std::vector<double>>(
      6, rc::gen::element(0.1, 1e15, 3e-3, 7.7e9, 1.0 / 3, 123456.789, 2e16));
  FactsBuilder facts;
  for (int i = 0; i < 6; ++i) {
    facts.year("Revenues", 2018 + i, 1);
    facts.year("PaymentsToAcquireBusinessesNetOfCashAcquired", 2018 + i,
               amounts[static_cast<std::size_t>(i)]);
    facts.year("NetCashProvidedByUsedInOperatingActivities", 2018 + i,
               amounts[static_cast<std::size_t>(5 - i)]);
  }
  double newest_first = 0;
  double oldest_first = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    newest_first += amounts[5 - i];
    oldest_first += amounts[i];
  }
  RC_CLASSIFY(newest_first != oldest_first, "the order matters");
  const auto analysis = whole_analysis(facts.facts(), after_all_filings(), "X");
  auto value = [&](const char* metric) {
    return analysis.figures.at(std::string("strategy.ma_review.") + metric + " 2023-12-31")
        .quantity.value();
  };
  RC_ASSERT(value("acquisitions_sum_10y") == newest_first);
  RC_ASSERT(value("acquisitions_to_cfo_10y") == newest_first / oldest_first);
}

}  // namespace
}  // namespace belay::research
