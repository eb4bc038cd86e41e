// Rule R9: splits are recognized by the rule, and per-share numbers are those after them.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "agents/research/filings/facts_fixture.h"
#include "tests/research/properties/split_history.h"

namespace belay::research {
namespace {

constexpr std::array kShareTags = {"WeightedAverageNumberOfDilutedSharesOutstanding",
                                   "WeightedAverageNumberOfSharesOutstandingBasic",
                                   "CommonStockSharesOutstanding", "CommonStockSharesIssued",
                                   "RevenueOfNoInterest"};

struct ShareFact {
  std::size_t tag = 0;
  int period = 0;  // a year, 0 to 2
  int filed = 0;   // a month after 2021-01
  int accn = 0;
  double value = 0;
};
std::ostream& operator<<(std::ostream& out, const ShareFact& fact) {
  return out << kShareTags[fact.tag] << " of period " << fact.period << " = " << fact.value
             << ", filed in month " << fact.filed << " (" << fact.accn << ")";
}

rc::Gen<std::vector<ShareFact>> share_facts() {
  return rc::gen::container<std::vector<ShareFact>>(rc::gen::build<ShareFact>(
      rc::gen::set(&ShareFact::tag, rc::gen::inRange<std::size_t>(0, kShareTags.size())),
      rc::gen::set(&ShareFact::period, rc::gen::inRange(0, 2)),
      rc::gen::set(&ShareFact::filed, rc::gen::inRange(0, 5)),
      rc::gen::set(&ShareFact::accn, rc::gen::inRange(0, 2)),
      rc::gen::set(&ShareFact::value, rc::gen::element(100.0, 200.0, 201.9, 202.1, 400.0, 50.0,
                                                       1000.0, 150.0, 300.0, 0.0, -100.0, 1e20))));
}

Date filed_in(int month) { return date_of("2021-0" + std::to_string(month + 1) + "-15"); }

CompanyFacts facts_of(const std::vector<ShareFact>& all) {
  CompanyFacts facts;
  for (const ShareFact& each : all) {
    Fact fact;
    const std::string year = std::to_string(2018 + each.period);
    if (each.tag < 2) fact.start = date_of(year + "-01-01");
    fact.end = date_of(year + "-12-31");
    fact.value = each.value;
    fact.accn = std::to_string(each.accn);
    fact.form = each.accn == 0 ? "10-Q" : "10-K";
    fact.filed = filed_in(each.filed);
    add_fact(facts, std::string("us-gaap:") + kShareTags[each.tag], "shares", std::move(fact));
  }
  return facts;
}

double factor_by_rule(double before, double after) {
  for (double k : {1.5, 2., 3., 4., 5., 6., 7., 8., 10., 15., 20., 25., 30., 40., 50., 100.}) {
    if (std::abs(after / before / k - 1) <= 0.01) return k;
    if (std::abs(after / before / (1 / k) - 1) <= 0.01) return 1 / k;
  }
  return 0;
}

// The dates of the splits, by factor.
std::map<double, std::vector<int>> splits_by_rule(std::vector<ShareFact> all) {
  auto place = [](const ShareFact& each) {
    return std::tuple(each.tag, each.period, each.filed, each.accn, each.value);
  };
  std::sort(all.begin(), all.end(),
            [&](const ShareFact& a, const ShareFact& b) { return place(a) < place(b); });
  std::map<double, std::vector<std::pair<int, int>>> evidence;  // b.filed, a.filed
  for (std::size_t i = 1; i < all.size(); ++i) {
    const ShareFact& a = all[i - 1];
    const ShareFact& b = all[i];
    if (a.tag != b.tag || a.period != b.period || b.tag >= 4) continue;
    if (a.value <= 0 || b.value <= 0 || a.filed >= b.filed) continue;
    if (double k = factor_by_rule(a.value, b.value)) evidence[k].emplace_back(b.filed, a.filed);
  }
  std::map<double, std::vector<int>> events;
  for (auto& [k, pairs] : evidence) {
    std::sort(pairs.begin(), pairs.end());
    for (const auto& [b, a] : pairs) {
      std::vector<int>& dates = events[k];
      if (dates.empty() || a >= dates.back()) dates.push_back(b);
    }
  }
  return events;
}

RC_GTEST_PROP(SplitsProperty, SplitsAreThoseOfTheRule, ()) {
  const auto all = *share_facts();
  const std::vector<Split> found = splits_in(VisibleFacts(facts_of(all), date_of("2022-01-01")));
  std::vector<std::pair<double, Date>> expected;
  for (const auto& [k, dates] : splits_by_rule(all)) {
    for (int month : dates) expected.emplace_back(k, filed_in(month));
  }
  std::vector<std::pair<double, Date>> splits;
  for (const Split& split : found) splits.emplace_back(split.factor, split.date);
  RC_CLASSIFY(!splits.empty(), "splits");
  RC_ASSERT(splits == expected);
  for (int month = 0; month < 5; ++month) {
    double factor = 1;
    for (const auto& [k, date] : expected) {
      if (date > filed_in(month)) factor *= k;
    }
    // The order of the product is free.
    RC_ASSERT(std::abs(split_factor(found, filed_in(month)) / factor - 1) <= 1e-14);
  }
}

// Without splits, or with them: all items are on the basis of today.
RC_GTEST_PROP(SplitsProperty, AnInsertedSplitChangesNoItem, ()) {
  const CompanyPlan plan = *any_plan_with_shares();
  RC_PRE(shows_splits(plan));
  std::vector<SplitPlan> splits = {
      *any_split(plan, {1.5, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 25, 30, 40, 50, 100})};
  if (*rc::gen::arbitrary<bool>()) splits.push_back(*any_split(plan, {2, 3, 4, 10}));
  // The product of two splits between the same reports may be no factor of the rule.
  const bool are_apart = splits.size() == 1 || splits[0].report != splits[1].report;
  RC_PRE(are_apart);
  const CompanyFacts facts = facts_of(plan);
  const Statements without(facts, after_all_filings());
  const Statements with(with_splits(facts, plan, splits), after_all_filings());
  for (std::size_t year = 0; year < without.years().all().size(); ++year) {
    for (const LineItem& item : line_items()) {
      const Quantity expected = without.item(item.name, year);
      const Quantity found = with.item(item.name, year);
      RC_LOG() << item.name << " " << without.years().all()[year].end.text() << "\n";
      RC_ASSERT(found.reason() == expected.reason());
      RC_ASSERT(std::abs(found.value() - expected.value()) <= 1e-12 * std::abs(expected.value()));
    }
  }
}

// The basis is that of the as-of date: before the report that shows the split, it is unknown.
RC_GTEST_PROP(SplitsProperty, ASplitIsUnknownBeforeItIsReported, ()) {
  const CompanyPlan plan = *any_plan_with_shares();
  RC_PRE(shows_splits(plan));
  const SplitPlan split = *any_split(plan, {2, 3, 4, 10, 20});
  const CompanyFacts facts = with_splits(facts_of(plan), plan, {split});
  Date before = filing_date(periods_of(plan)[static_cast<std::size_t>(split.report)]);
  const VisibleFacts after_report(facts, before);
  RC_ASSERT(splits_in(after_report).size() == 1u);
  RC_ASSERT(splits_in(after_report)[0].factor == split.factor);
  RC_ASSERT(splits_in(after_report)[0].date == before);
  --before.days;
  RC_ASSERT(splits_in(VisibleFacts(facts, before)).empty());
}

}  // namespace
}  // namespace belay::research
