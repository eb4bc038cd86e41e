// Rule R6: the fiscal years of random annual facts are those of a literal reading of the rule.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "agents/research/filings/facts_fixture.h"
#include "tests/research/properties/random_company.h"

namespace belay::research {
namespace {

struct PeriodFact {
  std::string tag;
  int end = 0;     // days after 2015-12-31
  int length = 0;  // days, with the first and the last
  std::string form;
};
std::ostream& operator<<(std::ostream& out, const PeriodFact& fact) {
  return out << fact.tag << " " << fact.length << " days to " << fact.end << ", " << fact.form;
}

Date end_of(const PeriodFact& fact) { return Date{date_of("2015-12-31").days + fact.end}; }
Date start_of(const PeriodFact& fact) { return Date{end_of(fact).days - fact.length + 1}; }

// Year ends on a grid of weeks around those of a calendar year, and of trailing twelve months.
rc::Gen<std::vector<PeriodFact>> period_facts() {
  auto end =
      rc::gen::apply([](int year, int shift) { return 365 * year + shift; }, rc::gen::inRange(0, 6),
                     rc::gen::element(0, 0, 0, 0, 1, 7, 15, 16, 91, 182, 273));
  return rc::gen::container<std::vector<PeriodFact>>(rc::gen::build<PeriodFact>(
      rc::gen::set(&PeriodFact::tag,
                   rc::gen::element<std::string>(
                       "Revenues", "SalesRevenueNet", "NetIncomeLoss", "ProfitLoss",
                       "NetCashProvidedByUsedInOperatingActivities", "OperatingIncomeLoss")),
      rc::gen::set(&PeriodFact::end, std::move(end)),
      rc::gen::set(&PeriodFact::length,
                   rc::gen::element(365, 365, 366, 364, 371, 350, 380, 349, 381, 91)),
      rc::gen::set(&PeriodFact::form,
                   rc::gen::element<std::string>("10-K", "10-K", "10-K/A", "20-F", "10-KT", "40-F",
                                                 "10-Q", "8-K", "DEF 14A", "PRE 14A"))));
}

CompanyFacts facts_of(const std::vector<PeriodFact>& periods) {
  CompanyFacts facts;
  for (const PeriodFact& each : periods) {
    Fact fact{start_of(each), end_of(each), 1, "filing", each.form, date_of("2023-01-01")};
    add_fact(facts, "us-gaap:" + each.tag, "USD", std::move(fact));
  }
  return facts;
}

bool is_annual_by_rule(const PeriodFact& fact) {
  return fact.length >= 350 && fact.length <= 380 && fact.form != "DEF 14A" &&
         fact.form != "PRE 14A" && fact.tag != "OperatingIncomeLoss";
}

struct SpineYear {
  int of_annual_forms = 0;
  int all = 0;
  std::map<Date, int> starts;
};

using Spine = std::map<Date, SpineYear>;

// Drops the worse of the earliest pair that is too close. Returns whether there was one.
bool drop_one(Spine& spine) {
  for (auto later = spine.begin(); later != spine.end(); ++later) {
    if (later == spine.begin()) continue;
    auto earlier = std::prev(later);
    if (later->first - earlier->first >= 350) continue;
    const SpineYear& a = earlier->second;
    const SpineYear& b = later->second;
    bool is_later_worse = b.of_annual_forms != a.of_annual_forms
                              ? b.of_annual_forms < a.of_annual_forms
                              : b.all < a.all;
    spine.erase(is_later_worse ? later : earlier);
    return true;
  }
  return false;
}

Spine spine_by_rule(const std::vector<PeriodFact>& periods) {
  Spine spine;
  for (const PeriodFact& each : periods) {
    if (!is_annual_by_rule(each)) continue;
    SpineYear& year = spine[end_of(each)];
    year.of_annual_forms += each.form != "10-Q" && each.form != "8-K";
    ++year.all;
    ++year.starts[start_of(each)];
  }
  while (drop_one(spine)) {
  }
  return spine;
}

Date start_by_rule(const SpineYear& year) {
  Date best = year.starts.begin()->first;
  for (const auto& [start, count] : year.starts) {
    if (count > year.starts.at(best)) best = start;
  }
  return best;
}

RC_GTEST_PROP(FiscalYearsProperty, TheYearsAreThoseOfTheRule, ()) {
  const auto periods = *period_facts();
  const Statements statements(facts_of(periods), after_all_filings());
  const std::vector<FiscalYear>& years = statements.years().all();
  std::vector<std::string> found;
  for (const FiscalYear& year : years) found.push_back(year.start.text() + " " + year.end.text());
  std::vector<std::string> expected;
  // Without facts that decide on the currency there are no years.
  const bool has_currency = std::any_of(periods.begin(), periods.end(), [](const auto& each) {
    return !each.tag.starts_with("NetCash") && each.tag != "OperatingIncomeLoss";
  });
  if (has_currency) {
    for (const auto& [end, year] : spine_by_rule(periods)) {
      expected.push_back(start_by_rule(year).text() + " " + end.text());
    }
  }
  RC_CLASSIFY(years.size() >= 3, "three years and more");
  RC_ASSERT(found == expected);
}

RC_GTEST_PROP(FiscalYearsProperty, NeighbouringYearsAreAtLeast350DaysApart, ()) {
  const Statements statements(facts_of(*period_facts()), after_all_filings());
  const std::vector<FiscalYear>& years = statements.years().all();
  for (std::size_t i = 1; i < years.size(); ++i) {
    RC_ASSERT(years[i].end - years[i - 1].end >= 350);
  }
}

// The nearest earlier year within 15 days of a multiple of 365.25 days.
std::optional<std::size_t> before_by_rule(const std::vector<FiscalYear>& years, std::size_t year,
                                          int count) {
  std::optional<std::size_t> nearest;
  auto distance = [&](std::size_t i) {
    return std::abs(years[year].end - years[i].end - 365.25 * count);
  };
  for (std::size_t i = 0; i < year; ++i) {
    if (distance(i) <= 15 && (!nearest || distance(i) <= distance(*nearest))) nearest = i;
  }
  return nearest;
}

RC_GTEST_PROP(FiscalYearsProperty, TheYearBeforeIsAMultipleOfAYearEarlier, ()) {
  const Statements statements(facts_of(*period_facts()), after_all_filings());
  const FiscalYears& years = statements.years();
  for (std::size_t year = 0; year < years.all().size(); ++year) {
    RC_ASSERT(years.before(year, 0) == std::optional(year));
    for (int count = 1; count <= 10; ++count) {
      RC_ASSERT(years.before(year, count) == before_by_rule(years.all(), year, count));
    }
  }
}

RC_GTEST_PROP(FiscalYearsProperty, TheYearsOfAPlanAreItsPeriods, ()) {
  CompanyPlan plan = *any_plan_with({"us-gaap:Revenues"});
  plan.has_holes = false;
  const Statements statements(facts_of(plan), after_all_filings());
  std::vector<std::string> found;
  for (const FiscalYear& year : statements.years().all()) {
    found.push_back(year.start.text() + " " + year.end.text());
  }
  std::vector<std::string> expected;
  const std::vector<FiscalYear> periods = periods_of(plan);
  for (int i = 0; i < plan.years; ++i) {
    const FiscalYear& period = periods[static_cast<std::size_t>(i)];
    if (i != plan.absent_year) expected.push_back(period.start.text() + " " + period.end.text());
  }
  RC_ASSERT(found == (plan.tags.empty() ? std::vector<std::string>() : expected));
}

}  // namespace
}  // namespace belay::research
