// Rules R10 to R13: zero or unknown, banks, and the items that no tag has.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "agents/research/filings/facts_fixture.h"
#include "tests/research/properties/random_company.h"

namespace belay::research {
namespace {

// A number or its absence, with the arithmetic of the rules.
using Maybe = std::optional<double>;
Maybe plus(Maybe a, Maybe b) { return a && b ? Maybe(*a + *b) : std::nullopt; }
Maybe minus(Maybe a, Maybe b) { return a && b ? Maybe(*a - *b) : std::nullopt; }
Maybe either(Maybe a, Maybe b) { return a ? a : b; }

// Values in millions of one fiscal year, by tag.
using Values = std::map<std::string, int>;

rc::Gen<Values> values_of(const std::vector<std::string>& tags) {
  using Pairs = std::vector<std::pair<std::string, int>>;
  auto pair = rc::gen::pair(rc::gen::elementOf(tags), rc::gen::inRange(-2, 9));
  // Most tags, or few of them, also in the first cases of a property.
  return rc::gen::map(
      rc::gen::resize(rc::kNominalSize / 2, rc::gen::container<Pairs>(std::move(pair))),
      [](const Pairs& pairs) { return Values(pairs.begin(), pairs.end()); });
}

const std::vector<std::string>& gaap_parts() {
  static const std::vector<std::string> tags = {
      "Revenues",
      "CostOfRevenue",
      "CostOfGoodsSold",
      "GrossProfit",
      "SellingGeneralAndAdministrativeExpense",
      "SellingAndMarketingExpense",
      "GeneralAndAdministrativeExpense",
      "Assets",
      "Liabilities",
      "StockholdersEquity",
      "StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest",
      "MinorityInterest",
      "DepreciationAmortizationAndAccretionNet",
      "DepreciationAndAmortization",
      "DepreciationDepletionAndAmortization",
      "Depreciation",
      "AmortizationOfIntangibleAssets",
      "LongTermDebtNoncurrent",
      "LongTermDebtAndCapitalLeaseObligations",
      "LongTermDebt",
      "LongTermDebtAndCapitalLeaseObligationsCurrent",
      "DebtCurrent",
      "LongTermDebtCurrent",
      "ShortTermBorrowings",
      "CommercialPaper"};
  return tags;
}

const std::vector<std::string>& ifrs_parts() {
  static const std::vector<std::string> tags = {
      "Revenue",
      "CostOfSales",
      "GrossProfit",
      "SellingGeneralAndAdministrativeExpense",
      "SellingExpense",
      "GeneralAndAdministrativeExpense",
      "Assets",
      "Liabilities",
      "EquityAttributableToOwnersOfParent",
      "Equity",
      "NoncontrollingInterests",
      "DepreciationAndAmortisationExpense",
      "DepreciationExpense",
      "AmortisationExpense",
      "LongtermBorrowings",
      "NoncurrentPortionOfNoncurrentBondsIssued",
      "ShorttermBorrowings",
      "CurrentPortionOfLongtermBorrowings",
      "CurrentBondsIssuedAndCurrentPortionOfNoncurrentBondsIssued"};
  return tags;
}

// Reports of the year 2023. Another year has one fact, so that the spine never depends on `values`.
class YearOfParts {
 public:
  YearOfParts(Values values, bool is_ifrs, bool had_minorities)
      : values_(std::move(values)), is_ifrs_(is_ifrs), had_minorities_(had_minorities) {}

  Statements statements() const {
    const std::string prefix = is_ifrs_ ? "ifrs-full:" : "us-gaap:";
    FactsBuilder facts;
    facts.year_end(prefix + "Assets", 2021, 1);
    facts.year(prefix + (is_ifrs_ ? "ProfitLoss" : "NetIncomeLoss"), 2023, 1);
    if (had_minorities_) {
      facts.year_end(prefix + (is_ifrs_ ? "NoncontrollingInterests" : "MinorityInterest"), 2021, 1);
    }
    for (const auto& [tag, millions] : values_) {
      const bool is_flow = kind_of_tag(prefix + tag) == ItemKind::flow;
      if (is_flow) facts.year(prefix + tag, 2023, millions * 1e6);
      if (!is_flow) facts.year_end(prefix + tag, 2023, millions * 1e6);
    }
    return Statements(facts.facts(), after_all_filings());
  }

  Maybe tag(const char* name) const {
    auto found = values_.find(name);
    return found == values_.end() ? std::nullopt : Maybe(found->second * 1e6);
  }
  // Whether minority interests have ever been other than zero.
  bool has_minorities(const char* name) const {
    return had_minorities_ || tag(name).value_or(0) != 0;
  }

 private:
  Values values_;
  bool is_ifrs_;
  bool had_minorities_;
};

// R12. `equity` and `equity_total` from the tags of the parent, of the total, and of minorities.
void add_expected_equity(std::map<std::string, Maybe>& items, Maybe parent, Maybe total,
                         Maybe minorities, bool has_minorities) {
  Maybe from_total = minorities ? minus(total, minorities) : has_minorities ? std::nullopt : total;
  items["equity"] = either(parent, from_total);
  Maybe from_parent = minorities ? plus(parent, minorities) : parent;
  items["equity_total"] = either(total, from_parent);
}

void add_expected_income(std::map<std::string, Maybe>& items, Maybe revenue, Maybe cost,
                         Maybe gross) {
  items["gross_profit"] = either(gross, minus(revenue, cost));
  items["cost_of_revenue"] = either(cost, minus(revenue, gross));
}

Maybe largest(std::initializer_list<Maybe> all) {
  Maybe best;
  for (Maybe each : all) {
    if (each && (!best || *each > *best)) best = each;
  }
  return best;
}

Maybe total_debt_by_rule(Maybe long_term, Maybe current) {
  return long_term ? Maybe(*long_term + current.value_or(0)) : std::nullopt;
}

Maybe current_debt_by_rule(const YearOfParts& year) {
  const bool is_with_leases =
      !year.tag("LongTermDebtNoncurrent") && year.tag("LongTermDebtAndCapitalLeaseObligations");
  Maybe m =
      is_with_leases ? year.tag("LongTermDebtAndCapitalLeaseObligationsCurrent") : std::nullopt;
  if (!m && year.tag("DebtCurrent")) return year.tag("DebtCurrent");
  if (!m) m = year.tag("LongTermDebtCurrent");
  const Maybe s = either(year.tag("ShortTermBorrowings"), year.tag("CommercialPaper"));
  if (m && s) return *m == *s ? m : plus(m, s);
  return either(m, s);
}

std::map<std::string, Maybe> gaap_items_by_rule(const YearOfParts& year) {
  std::map<std::string, Maybe> items;
  add_expected_income(items, year.tag("Revenues"),
                      either(year.tag("CostOfRevenue"), year.tag("CostOfGoodsSold")),
                      year.tag("GrossProfit"));
  items["sga"] = either(
      year.tag("SellingGeneralAndAdministrativeExpense"),
      plus(year.tag("SellingAndMarketingExpense"), year.tag("GeneralAndAdministrativeExpense")));
  add_expected_equity(
      items, year.tag("StockholdersEquity"),
      year.tag("StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest"),
      year.tag("MinorityInterest"), year.has_minorities("MinorityInterest"));
  items["liabilities"] =
      either(year.tag("Liabilities"), minus(year.tag("Assets"), items["equity_total"]));
  items["d_and_a"] = largest(
      {year.tag("DepreciationAmortizationAndAccretionNet"), year.tag("DepreciationAndAmortization"),
       year.tag("DepreciationDepletionAndAmortization"),
       plus(year.tag("Depreciation"), year.tag("AmortizationOfIntangibleAssets")),
       year.tag("Depreciation")});
  items["current_debt"] = current_debt_by_rule(year);
  items["long_term_debt"] =
      either(year.tag("LongTermDebtNoncurrent"),
             either(year.tag("LongTermDebtAndCapitalLeaseObligations"), year.tag("LongTermDebt")));
  items["total_debt"] = total_debt_by_rule(items["long_term_debt"], items["current_debt"]);
  return items;
}

// The sum of those that exist.
Maybe sum_by_rule(std::initializer_list<Maybe> all) {
  Maybe sum;
  for (Maybe each : all) {
    if (each) sum = sum.value_or(0) + *each;
  }
  return sum;
}

std::map<std::string, Maybe> ifrs_items_by_rule(const YearOfParts& year) {
  std::map<std::string, Maybe> items;
  add_expected_income(items, year.tag("Revenue"), year.tag("CostOfSales"), year.tag("GrossProfit"));
  items["sga"] =
      either(year.tag("SellingGeneralAndAdministrativeExpense"),
             plus(year.tag("SellingExpense"), year.tag("GeneralAndAdministrativeExpense")));
  add_expected_equity(items, year.tag("EquityAttributableToOwnersOfParent"), year.tag("Equity"),
                      year.tag("NoncontrollingInterests"),
                      year.has_minorities("NoncontrollingInterests"));
  items["liabilities"] =
      either(year.tag("Liabilities"), minus(year.tag("Assets"), items["equity_total"]));
  items["d_and_a"] =
      largest({year.tag("DepreciationAndAmortisationExpense"),
               plus(year.tag("DepreciationExpense"), year.tag("AmortisationExpense")),
               year.tag("DepreciationExpense")});
  items["current_debt"] =
      sum_by_rule({year.tag("ShorttermBorrowings"), year.tag("CurrentPortionOfLongtermBorrowings"),
                   year.tag("CurrentBondsIssuedAndCurrentPortionOfNoncurrentBondsIssued")});
  items["long_term_debt"] = sum_by_rule(
      {year.tag("LongtermBorrowings"), year.tag("NoncurrentPortionOfNoncurrentBondsIssued")});
  items["total_debt"] = total_debt_by_rule(items["long_term_debt"], items["current_debt"]);
  return items;
}

void check_items(const YearOfParts& year, const std::map<std::string, Maybe>& expected) {
  const Statements statements = year.statements();
  RC_ASSERT(statements.years().all().size() == 1u);
  for (const auto& [name, value] : expected) {
    const Quantity found = statements.item(name, 0);
    RC_LOG() << name << "\n";
    RC_ASSERT((found.is_available() ? Maybe(found.value()) : std::nullopt) == value);
    if (!value) RC_ASSERT(found.reason() == "missing_input: " + name);
  }
}

RC_GTEST_PROP(CalculatedItemsProperty, AnItemOfUsGaapFollowsTheRules, ()) {
  Values values = *values_of(gaap_parts());
  const bool had_minorities = *rc::gen::arbitrary<bool>();
  const YearOfParts year(std::move(values), false, had_minorities);
  check_items(year, gaap_items_by_rule(year));
}

RC_GTEST_PROP(CalculatedItemsProperty, AnItemOfIfrsFollowsTheRules, ()) {
  Values values = *values_of(ifrs_parts());
  const bool had_minorities = *rc::gen::arbitrary<bool>();
  const YearOfParts year(std::move(values), true, had_minorities);
  check_items(year, ifrs_items_by_rule(year));
}

// Debt alone, with values that are often equal.
RC_GTEST_PROP(CalculatedItemsProperty, DebtOfUsGaapCountsEachLineOnce, ()) {
  Values values;
  for (const char* tag : {"LongTermDebtNoncurrent", "LongTermDebtAndCapitalLeaseObligations",
                          "LongTermDebtAndCapitalLeaseObligationsCurrent", "LongTermDebtCurrent",
                          "ShortTermBorrowings", "CommercialPaper"}) {
    if (const int millions = *rc::gen::element(0, 1, 2, 3)) values[tag] = millions;
  }
  if (*rc::gen::element(0, 0, 0, 1) == 1) values["DebtCurrent"] = 5;
  const YearOfParts year(std::move(values), false, false);
  check_items(year, gaap_items_by_rule(year));
}

// An item that was taken as zero is named, and only then.
RC_GTEST_PROP(CalculatedItemsProperty, AnAssumptionIsNamed, ()) {
  Values values = *values_of(gaap_parts());
  const YearOfParts year(std::move(values), false, false);
  const Statements statements = year.statements();
  auto assumes = [&](const char* item, const char* zero) {
    return statements.item(item, 0).assumed_zero().contains(zero);
  };
  const bool has_debt = statements.item("long_term_debt", 0).is_available();
  const bool has_current = statements.item("current_debt", 0).is_available();
  RC_ASSERT(assumes("total_debt", "current_debt") == (has_debt && !has_current));
  const bool has_parent = year.tag("StockholdersEquity").has_value();
  const bool has_total =
      year.tag("StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest")
          .has_value();
  const bool has_minority = year.tag("MinorityInterest").has_value();
  RC_ASSERT(assumes("equity_total", "minority_interest") ==
            (has_parent && !has_total && !has_minority));
  RC_ASSERT(assumes("equity", "minority_interest") == (!has_parent && has_total && !has_minority));
}

// R10, for an item with two tags. -1: the year has no fact of the tag.
RC_GTEST_PROP(CalculatedItemsProperty, ALineIsZeroOnlyIfItNeverWasAnythingElse, ()) {
  const char* const tags[] = {"MarketableSecuritiesCurrent", "ShortTermInvestments"};
  const auto values = *rc::gen::container<std::vector<int>>(6, rc::gen::element(-1, -1, 0, 5));
  FactsBuilder facts;
  bool was_non_zero = false;
  for (int year : {2021, 2022, 2023}) facts.year("Revenues", year, 100);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int year = 2021 + static_cast<int>(i % 3);
    if (values[i] >= 0) facts.year_end(tags[i / 3], year, values[i]);
    was_non_zero = was_non_zero || values[i] > 0;
  }
  // Facts in another unit do not exist for the item.
  facts.at(tags[0], "2021-12-31", 7, "2022-02-01", "10-K", "EUR");
  const Statements statements(facts.facts(), after_all_filings());
  for (std::size_t year = 0; year < 3; ++year) {
    const int first = values[year] >= 0 ? values[year] : values[year + 3];
    const Quantity item = statements.item("short_term_investments", year);
    const Quantity optional = statements.optional_item("short_term_investments", year);
    RC_ASSERT(item.is_available() == (first >= 0));
    RC_ASSERT(optional.is_available() == (first >= 0 || !was_non_zero));
    RC_ASSERT(optional.value() == std::max(first, 0));
    RC_ASSERT(optional.assumed_zero().contains("short_term_investments") ==
              (first < 0 && !was_non_zero));
  }
}

// R11.
RC_GTEST_PROP(CalculatedItemsProperty, ABankHasDepositsAndNoCurrentAssets, ()) {
  const bool is_ifrs = *rc::gen::arbitrary<bool>();
  const std::vector<std::string> all =
      is_ifrs ? std::vector<std::string>{"DepositsFromCustomers", "CurrentAssets", "Inventories"}
              : std::vector<std::string>{"Deposits", "NoninterestIncome", "NoninterestExpense",
                                         "AssetsCurrent"};
  const auto units = *rc::gen::container<std::vector<std::string>>(
      all.size(), rc::gen::element<std::string>("", "USD", "EUR"));
  std::map<std::string, std::string> tags;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!units[i].empty()) tags[all[i]] = units[i];
  }
  const std::string prefix = is_ifrs ? "ifrs-full:" : "us-gaap:";
  FactsBuilder facts;
  for (int year : {2022, 2023}) facts.year_end(prefix + "Assets", year, 1);
  for (const auto& [tag, unit] : tags) {
    // A quarter counts, too.
    const bool is_flow = tag.starts_with("Noninterest");
    if (is_flow)
      facts.flow(prefix + tag, "2023-01-01", "2023-03-31", 0, "2023-05-01", "10-Q", unit);
    if (!is_flow) facts.at(prefix + tag, "2023-03-31", 0, "2023-05-01", "10-Q", unit);
  }
  auto has = [&](const char* tag) {
    auto found = tags.find(tag);
    return found != tags.end() && found->second == "USD";
  };
  const bool is_like_a_bank =
      is_ifrs ? has("DepositsFromCustomers")
              : has("Deposits") || has("NoninterestIncome") || has("NoninterestExpense");
  const bool is_bank = is_like_a_bank && !has(is_ifrs ? "CurrentAssets" : "AssetsCurrent");
  RC_ASSERT(Statements(facts.facts(), after_all_filings()).is_bank() == is_bank);
  RC_ASSERT(!Statements(facts.facts(), date_of("2023-04-30")).is_bank());
}

// A tag wins over a calculation.
RC_GTEST_PROP(CalculatedItemsProperty, ATaggedItemIsNotCalculated, ()) {
  const CompanyPlan plan = *any_plan();
  const Statements statements(facts_of(plan), after_all_filings());
  for (std::size_t year = 0; year < statements.years().all().size(); ++year) {
    for (const LineItem& item : line_items()) {
      const Fact* fact = statements.fact_of(item, year);
      if (!fact) continue;
      const Quantity value = statements.item(item.name, year);
      RC_LOG() << item.name << "\n";
      RC_ASSERT(value.inputs().all().size() == 1u);
      RC_ASSERT(value.inputs().all()[0]->value == fact->value);
      RC_ASSERT(value.value() == fact->value);
    }
  }
}

}  // namespace
}  // namespace belay::research
