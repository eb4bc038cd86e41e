// Rules R1 to R5 and R7: what is added to a file, or the order of its facts, changes no annual
// value.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "agents/research/filings/facts_fixture.h"
#include "tests/research/properties/disturbances.h"
#include "tests/research/properties/random_company.h"

namespace belay::research {
namespace {

using NoDifferences = std::vector<std::string>;

void stays_equal(Disturbance::Kind kind) {
  const CompanyPlan plan = *any_plan();
  const auto disturbances = *disturbances_of(kind);
  const CompanyFacts facts = facts_of(plan);
  const Date as_of = after_all_filings();
  const CompanyFacts disturbed = Disturber(facts, as_of).disturbed(disturbances);
  RC_ASSERT(differences(Statements(facts, as_of), Statements(disturbed, as_of)) == NoDifferences());
}

RC_GTEST_PROP(VisibleFactsProperty, FactsFiledAfterTheDateChangeNothing, ()) {
  stays_equal(Disturbance::later_filing);
}
RC_GTEST_PROP(VisibleFactsProperty, FactsOfAnotherTaxonomyChangeNothing, ()) {
  stays_equal(Disturbance::other_taxonomy);
}
RC_GTEST_PROP(VisibleFactsProperty, ATranslationChangesNothing, ()) {
  stays_equal(Disturbance::other_currency);
}
RC_GTEST_PROP(VisibleFactsProperty, QuartersChangeNoYear, ()) { stays_equal(Disturbance::quarter); }
RC_GTEST_PROP(VisibleFactsProperty, OtherFormsChangeNoValueOfAnAnnualReport, ()) {
  stays_equal(Disturbance::other_form);
}
RC_GTEST_PROP(VisibleFactsProperty, TheOrderOfTheFileHasNoMeaning, ()) {
  stays_equal(Disturbance::shuffle);
}
RC_GTEST_PROP(VisibleFactsProperty, AFactThatOccursTwiceCountsOnce, ()) {
  stays_equal(Disturbance::duplicate);
}

CompanyFacts filed_by(const CompanyFacts& facts, Date last) {
  CompanyFacts cut;
  for (const auto& [tag, by_unit] : facts.facts) {
    for (const auto& [unit, all] : by_unit) {
      for (const Fact& fact : all) {
        if (fact.filed <= last) add_fact(cut, tag, unit, fact);
      }
    }
  }
  return cut;
}

RC_GTEST_PROP(VisibleFactsProperty, AnEarlierDateSeesTheFileThatExistedThen, ()) {
  const CompanyPlan plan = *any_plan();
  const CompanyFacts facts = facts_of(plan);
  const int days_before = *rc::gen::inRange(0, 365 * plan.years + 400);
  const Date as_of{after_all_filings().days - days_before};
  const CompanyFacts cut = filed_by(facts, as_of);
  const Statements then(facts, as_of);
  RC_ASSERT(differences(then, Statements(cut, as_of)) == NoDifferences());
  RC_ASSERT(differences(then, Statements(cut, after_all_filings())) == NoDifferences());
}

// Facts of few tags and units, most of which do not fit together.
struct LooseFact {
  std::string tag;
  std::string unit;
  int year = 0;
  int filed_after = 0;  // days
};
std::ostream& operator<<(std::ostream& out, const LooseFact& fact) {
  return out << fact.tag << " " << fact.unit << " " << fact.year << " filed after "
             << fact.filed_after;
}

// Few facts, and few units: equal counts are frequent.
rc::Gen<std::vector<LooseFact>> loose_facts() {
  auto fact = rc::gen::build<LooseFact>(
      rc::gen::set(&LooseFact::tag,
                   rc::gen::element<std::string>("us-gaap:Assets", "us-gaap:Revenues",
                                                 "us-gaap:NetIncomeLoss", "us-gaap:InventoryNet",
                                                 "ifrs-full:Assets", "ifrs-full:Revenue",
                                                 "ifrs-full:ProfitLoss")),
      rc::gen::set(&LooseFact::unit,
                   rc::gen::element<std::string>("USD", "EUR", "CHF", "USD", "EUR", "CHF", "eur",
                                                 "USDX", "USD/shares", "U1D")),
      rc::gen::set(&LooseFact::year, rc::gen::element(2020, 2021, 2022, 2023)),
      rc::gen::set(&LooseFact::filed_after, rc::gen::element(30, 30, 400)));
  return rc::gen::mapcat(rc::gen::element<std::size_t>(1, 3, 5, 8), [fact](std::size_t count) {
    return rc::gen::container<std::vector<LooseFact>>(count, fact);
  });
}

CompanyFacts facts_of(const std::vector<LooseFact>& loose) {
  CompanyFacts facts;
  for (const LooseFact& each : loose) {
    const std::string year = std::to_string(each.year);
    Fact fact;
    if (!each.tag.ends_with(":Assets")) fact.start = date_of(year + "-01-01");
    fact.end = date_of(year + "-12-31");
    fact.value = 1;
    fact.filed = Date{fact.end.days + each.filed_after};
    fact.accn = "filing-" + fact.filed.text();
    fact.form = "10-K";
    add_fact(facts, each.tag, each.unit, std::move(fact));
  }
  return facts;
}

bool is_visible(const LooseFact& fact, Date as_of) {
  return date_of(std::to_string(fact.year) + "-12-31").days + fact.filed_after <= as_of.days;
}

// R2.
bool is_ifrs_by_rule(const std::vector<LooseFact>& loose, Date as_of) {
  bool has_gaap = false;
  bool has_ifrs = false;
  for (const LooseFact& each : loose) {
    if (!is_visible(each, as_of)) continue;
    has_gaap = has_gaap || each.tag == "us-gaap:Assets";
    has_ifrs = has_ifrs || each.tag == "ifrs-full:Assets";
  }
  return !has_gaap && has_ifrs;
}

// R3: most facts, then the earliest end, then the alphabet.
std::string currency_by_rule(const std::vector<LooseFact>& loose, Date as_of) {
  const std::string prefix = is_ifrs_by_rule(loose, as_of) ? "ifrs-full:" : "us-gaap:";
  std::map<std::string, std::pair<int, int>> counts;  // less facts, the first year
  for (const LooseFact& each : loose) {
    const bool is_currency = each.unit == "USD" || each.unit == "EUR" || each.unit == "CHF";
    const bool is_counted = each.tag.starts_with(prefix) && each.tag != "us-gaap:InventoryNet";
    if (!is_currency || !is_counted || !is_visible(each, as_of)) continue;
    auto [place, is_new] = counts.try_emplace(each.unit, 0, each.year);
    --place->second.first;
    place->second.second = std::min(place->second.second, each.year);
  }
  std::string best;
  for (const auto& [unit, rank] : counts) {
    if (best.empty() || rank < counts.at(best)) best = unit;
  }
  return best;
}

RC_GTEST_PROP(VisibleFactsProperty, TaxonomyAndCurrencyFollowTheRules, ()) {
  const auto loose = *loose_facts();
  const Date as_of = date_of(std::to_string(*rc::gen::element(2022, 2024, 2025)) + "-06-30");
  const VisibleFacts visible(facts_of(loose), as_of);
  RC_CLASSIFY(!visible.currency().empty(), "a currency");
  RC_CLASSIFY(visible.is_ifrs(), "ifrs-full");
  RC_ASSERT(visible.is_ifrs() == is_ifrs_by_rule(loose, as_of));
  RC_ASSERT(visible.currency() == currency_by_rule(loose, as_of));
}

RC_GTEST_PROP(VisibleFactsProperty, WithoutACurrencyThereAreNoFiscalYears, ()) {
  CompanyPlan plan = *any_plan();
  plan.currency = *rc::gen::element<std::string>("shares", "usd", "pure", "USDT", "U.S", " ");
  const Statements statements(facts_of(plan), after_all_filings());
  RC_ASSERT(statements.currency() == "");
  RC_ASSERT(statements.years().all().empty());
}

TEST(VisibleFactsProperty, AnEmptyUnitIsNotACurrency) {
  CompanyPlan plan;
  plan.currency = "";
  plan.tags = {"us-gaap:Revenues"};
  EXPECT_TRUE(Statements(facts_of(plan), after_all_filings()).years().all().empty());
}

}  // namespace
}  // namespace belay::research
