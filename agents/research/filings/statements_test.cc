#include "agents/research/filings/statements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/research/filings/facts_fixture.h"

namespace belay::research {
namespace {

using ::testing::ElementsAre;

const Date kLater = date_of("2030-01-01");

// Three years of revenue, without which there are no fiscal years.
FactsBuilder three_years() {
  FactsBuilder facts;
  for (int year : {2021, 2022, 2023}) facts.year("Revenues", year, 100 + year);
  return facts;
}

Statements statements_of(const FactsBuilder& facts, Date as_of = kLater) {
  return Statements(facts.facts(), as_of);
}

std::vector<std::string> year_ends(const Statements& statements) {
  std::vector<std::string> ends;
  for (const FiscalYear& year : statements.years().all()) ends.push_back(year.end.text());
  return ends;
}

TEST(Statements, OnlyFactsFiledUntilTheDateExist) {
  FactsBuilder facts = three_years();
  EXPECT_THAT(year_ends(statements_of(facts, date_of("2023-02-01"))),
              ElementsAre("2021-12-31", "2022-12-31"));
  EXPECT_TRUE(year_ends(statements_of(facts, date_of("2022-01-31"))).empty());
}

TEST(Statements, AYearIsAPeriodOf350To380Days) {
  FactsBuilder facts;
  facts.flow("Revenues", "2022-01-01", "2022-12-16", 1, "2023-02-01");  // 350 days
  facts.flow("Revenues", "2023-01-01", "2023-06-30", 2, "2024-02-01");  // half a year
  facts.flow("Revenues", "2024-01-01", "2025-01-15", 3, "2025-02-01");  // 381 days
  EXPECT_THAT(year_ends(statements_of(facts)), ElementsAre("2022-12-16"));
}

TEST(Statements, TrailingTwelveMonthsAreNoFiscalYear) {
  FactsBuilder facts = three_years();
  facts.flow("Revenues", "2022-04-01", "2023-03-31", 1, "2023-05-01", "10-Q");
  facts.flow("Revenues", "2022-07-01", "2023-06-30", 1, "2023-08-01", "10-Q");
  EXPECT_THAT(year_ends(statements_of(facts)),
              ElementsAre("2021-12-31", "2022-12-31", "2023-12-31"));
}

TEST(Statements, YearsThatTheFileDoesNotHaveAreGaps) {
  FactsBuilder facts;
  facts.year("Revenues", 2020, 1).year("Revenues", 2022, 2);
  Statements statements = statements_of(facts);
  EXPECT_EQ(statements.years().before(1, 1), std::nullopt);
  EXPECT_EQ(statements.years().before(1, 2), std::optional<std::size_t>(0));
}

TEST(Statements, TheLatestAnnualReportCounts) {
  FactsBuilder facts = three_years();
  facts.year_end("Assets", 2022, 10);
  facts.at("Assets", "2022-12-31", 11, "2024-02-01");          // restated
  facts.at("Assets", "2022-12-31", 12, "2024-05-01", "10-Q");  // another form, later
  facts.at("Assets", "2023-12-31", 13, "2024-05-01", "8-K");   // nothing else
  Statements statements = statements_of(facts);
  EXPECT_EQ(statements.item("assets", 1).value(), 11);
  EXPECT_EQ(statements.item("assets", 2).value(), 13);
  EXPECT_EQ(statements.item("assets", 0).reason(), "missing_input: assets");
}

TEST(Statements, AProxyStatementIsTheLastSource) {
  FactsBuilder facts = three_years();
  facts.flow("NetIncomeLoss", "2023-01-01", "2023-12-31", 50, "2024-04-01", "DEF 14A");
  EXPECT_EQ(statements_of(facts).item("net_income", 2).value(), 50);
  EXPECT_TRUE(is_from_proxy(statements_of(facts).item("net_income", 2)));
  facts.year("ProfitLoss", 2023, 49);
  EXPECT_EQ(statements_of(facts).item("net_income", 2).value(), 49) << "a later tag of a report";
  EXPECT_FALSE(is_from_proxy(statements_of(facts).item("net_income", 2)));
}

TEST(Statements, APeriodOfAProxyStatementDoesNotHideThatOfAReport) {
  FactsBuilder facts = three_years();
  facts.flow("CostOfRevenue", "2022-01-03", "2022-12-31", 5, "2023-02-01");
  facts.flow("CostOfRevenue", "2022-01-01", "2022-12-31", 7, "2023-04-01", "DEF 14A");
  EXPECT_EQ(statements_of(facts).item("cost_of_revenue", 1).value(), 5);
}

TEST(Statements, APeriodOfAnotherFormDoesNotHideThatOfAnAnnualReport) {
  FactsBuilder facts = three_years();
  facts.flow("CostOfRevenue", "2022-01-03", "2022-12-31", 5, "2023-02-01");
  facts.flow("CostOfRevenue", "2022-01-01", "2022-12-31", 7, "2023-04-01", "8-K");
  Statements statements = statements_of(facts);
  auto found = [&](Forms forms) {
    std::vector<double> values;
    for (const Fact* fact : statements.facts_of_year("CostOfRevenue", ItemKind::flow, 1, forms)) {
      values.push_back(fact->value);
    }
    return values;
  };
  EXPECT_THAT(found(Forms::annual_reports), ElementsAre(5));
  EXPECT_THAT(found(Forms::reports), ElementsAre(7)) << "it has the first day of the year";
  EXPECT_THAT(found(Forms::proxies), ElementsAre());
}

TEST(Statements, TheCurrencyIsThatOfMostFacts) {
  FactsBuilder facts;
  for (int year : {2021, 2022, 2023}) {
    std::string name = std::to_string(year);
    facts.flow("ifrs-full:Revenue", name + "-01-01", name + "-12-31", 10,
               std::to_string(year + 1) + "-03-01", "20-F", "TWD");
  }
  facts.at("ifrs-full:Assets", "2023-12-31", 7, "2024-03-01", "20-F", "TWD");
  facts.flow("ifrs-full:Revenue", "2023-01-01", "2023-12-31", 0.3, "2024-03-01", "20-F", "USD");
  Statements statements = statements_of(facts);
  EXPECT_TRUE(statements.facts().is_ifrs());
  EXPECT_EQ(statements.currency(), "TWD");
  EXPECT_EQ(statements.item("revenue", 2).value(), 10) << "the translation is never mixed in";
}

TEST(Statements, SharesAreOnTheBasisAfterAllSplits) {
  FactsBuilder facts = three_years();
  const char* shares = "WeightedAverageNumberOfDilutedSharesOutstanding";
  auto add = [&](int year, double value, const std::string& filed) {
    std::string name = std::to_string(year);
    facts.flow(shares, name + "-01-01", name + "-12-31", value, filed, "10-K", "shares");
  };
  add(2021, 100, "2022-02-01");
  add(2022, 110, "2023-02-01");
  add(2022, 440, "2024-02-01");  // 4:1, seen in the comparatives of the next report
  add(2023, 480, "2024-02-01");
  facts.flow("EarningsPerShareDiluted", "2021-01-01", "2021-12-31", 8, "2022-02-01", "10-K",
             "USD/shares");
  Statements statements = statements_of(facts);
  EXPECT_EQ(statements.item("shares_diluted", 0).value(), 400);
  EXPECT_EQ(statements.item("shares_diluted", 1).value(), 440);
  EXPECT_EQ(statements.item("shares_diluted", 2).value(), 480);
  EXPECT_EQ(statements.item("eps_diluted", 0).value(), 2);
  EXPECT_EQ(statements.item("shares_diluted", 0).inputs().all()[0]->value, 100) << "as filed";
}

TEST(Splits, OfBothDirectionsLeaveTheCountAsItWas) {
  const Date day = date_of("2022-01-01");
  for (double factor : {1.5, 3.0, 6.0, 7.0, 10.0, 15.0, 30.0, 100.0}) {
    const std::vector<Split> splits = {{1 / factor, day}, {7, day}, {1.0 / 7, day}, {factor, day}};
    EXPECT_EQ(split_factor(splits, date_of("2021-12-31")), 1) << factor;
    EXPECT_EQ(split_factor(splits, day), 1) << "filed on the day of the splits";
    EXPECT_EQ(split_factor({{1 / factor, day}}, date_of("2021-12-31")), 1 / factor);
  }
  EXPECT_EQ(split_factor({{1.0 / 3, day}, {1.0 / 10, day}}, date_of("2021-12-31")), 1.0 / 30);
}

TEST(Statements, ARestatementOfSeveralPeriodsIsOneSplit) {
  FactsBuilder facts = three_years();
  for (const char* tag : {"CommonStockSharesOutstanding", "CommonStockSharesIssued"}) {
    facts.at(tag, "2021-12-31", 100, "2022-02-01", "10-K", "shares");
    facts.at(tag, "2021-12-31", 200, "2023-02-01", "10-K", "shares");
    facts.at(tag, "2022-03-31", 50, "2022-05-01", "10-Q", "shares");
    facts.at(tag, "2022-03-31", 100, "2023-05-01", "10-Q", "shares");
  }
  Statements statements = statements_of(facts);
  EXPECT_EQ(splits_in(statements.facts()).size(), 1u);
  EXPECT_EQ(statements.item("shares_outstanding", 0).value(), 200);
}

TEST(Statements, AnItemThatNeverExistedCountsAsZeroOnlyIfItMay) {
  FactsBuilder facts = three_years();
  facts.year_end("InventoryNet", 2021, 0);
  Statements statements = statements_of(facts);
  EXPECT_FALSE(statements.item("inventory", 2).is_available());
  EXPECT_EQ(statements.optional_item("inventory", 2).value(), 0);
  EXPECT_TRUE(statements.optional_item("inventory", 2).assumed_zero().contains("inventory"));
  facts.year_end("InventoryNet", 2022, 5);
  EXPECT_FALSE(statements_of(facts).optional_item("inventory", 2).is_available())
      << "a line that existed once is unknown, not zero";
}

TEST(Statements, AnItemIsCalculatedIfNoTagHasIt) {
  FactsBuilder facts = three_years();
  facts.year("CostOfRevenue", 2023, 40);
  facts.year("SellingAndMarketingExpense", 2023, 3)
      .year("GeneralAndAdministrativeExpense", 2023, 4);
  facts.year_end("Assets", 2023, 100).year_end("StockholdersEquity", 2023, 60);
  facts.year_end("MinorityInterest", 2023, 5);
  Statements statements = statements_of(facts);
  EXPECT_EQ(statements.item("gross_profit", 2).value(), 2123 - 40);
  EXPECT_EQ(statements.item("sga", 2).value(), 7);
  EXPECT_EQ(statements.item("equity_total", 2).value(), 65);
  EXPECT_EQ(statements.item("liabilities", 2).value(), 35);
}

TEST(Statements, EquityOfTheParentIsTheTotalWithoutMinorities) {
  const char* total = "StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest";
  FactsBuilder facts = three_years();
  facts.year_end(total, 2022, 50).year_end(total, 2023, 60);
  Quantity alone = statements_of(facts).item("equity", 2);
  EXPECT_EQ(alone.value(), 60);
  EXPECT_TRUE(alone.assumed_zero().contains("minority_interest"));
  facts.year_end("MinorityInterest", 2022, 5);
  EXPECT_EQ(statements_of(facts).item("equity", 1).value(), 45);
  EXPECT_FALSE(statements_of(facts).item("equity", 2).is_available())
      << "the minority of that year is unknown";
}

TEST(Statements, DepreciationIsTheLargestOfItsForms) {
  FactsBuilder facts = three_years();
  facts.year("Depreciation", 2023, 30).year("AmortizationOfIntangibleAssets", 2023, 12);
  facts.year("DepreciationAndAmortization", 2023, 40);
  EXPECT_EQ(statements_of(facts).item("d_and_a", 2).value(), 42);
}

TEST(Statements, DebtCountsEachLineOnce) {
  FactsBuilder facts = three_years();
  facts.year_end("LongTermDebtNoncurrent", 2023, 100).year_end("LongTermDebtCurrent", 2023, 10);
  facts.year_end("ShortTermBorrowings", 2023, 7);
  EXPECT_EQ(statements_of(facts).item("current_debt", 2).value(), 17);
  EXPECT_EQ(statements_of(facts).item("total_debt", 2).value(), 117);
  facts.at("ShortTermBorrowings", "2023-12-31", 10, "2024-03-01", "10-K/A");
  EXPECT_EQ(statements_of(facts).item("current_debt", 2).value(), 10) << "one line, two tags";
  facts.year_end("DebtCurrent", 2023, 12);
  EXPECT_EQ(statements_of(facts).item("current_debt", 2).value(), 12);
  Quantity before = statements_of(facts).item("total_debt", 1);
  EXPECT_EQ(before.reason(), "missing_input: total_debt");
}

TEST(Statements, TheSharesOfTheCoverPageReplaceThoseOfTheBalanceSheet) {
  const char* cover = "dei:EntityCommonStockSharesOutstanding";
  FactsBuilder facts = three_years();
  facts.at(cover, "2024-01-20", 500, "2024-02-01", "10-K", "shares");
  facts.at(cover, "2024-04-20", 600, "2024-05-01", "10-Q", "shares");
  facts.at(cover, "2024-05-20", 700, "2024-06-01", "10-K/A", "shares");  // 141 days
  Quantity shares = statements_of(facts).item("shares_outstanding", 2);
  EXPECT_EQ(shares.value(), 500);
  EXPECT_EQ(shares.inputs().all()[0]->concept_name, "EntityCommonStockSharesOutstanding");
}

TEST(Statements, ThePublicFloatIsTheLastOneOfTheYear) {
  FactsBuilder facts = three_years();
  facts.at("dei:EntityPublicFloat", "2023-06-30", 900, "2024-02-01");
  facts.at("dei:EntityPublicFloat", "2024-06-30", 990, "2025-02-01");
  Statements statements = statements_of(facts);
  EXPECT_EQ(statements.item("public_float", 2).value(), 900);
  EXPECT_EQ(statements.public_float(std::nullopt).value(), 990);
  EXPECT_FALSE(statements.item("public_float", 1).is_available());
}

TEST(Statements, ABankHasDepositsAndNoCurrentAssets) {
  FactsBuilder facts = three_years();
  facts.year_end("Deposits", 2021, 1);
  EXPECT_TRUE(statements_of(facts).is_bank());
  EXPECT_FALSE(statements_of(facts, date_of("2022-01-01")).is_bank());
  facts.year_end("AssetsCurrent", 2021, 1);
  EXPECT_FALSE(statements_of(facts).is_bank());
}

TEST(Statements, TheOrderOfTheFileHasNoMeaning) {
  FactsBuilder facts = three_years();
  facts.year_end("Assets", 2023, 10);
  facts.at("Assets", "2023-12-31", 11, "2024-02-01");  // of the same filing
  facts.flow("Revenues", "2023-01-02", "2023-12-31", 9, "2025-02-01");
  Statements statements = statements_of(facts);
  double assets = statements.item("assets", 2).value();
  double revenue = statements.item("revenue", 2).value();
  for (auto& [tag, by_unit] : facts.facts().facts) {
    for (auto& [unit, all] : by_unit) std::reverse(all.begin(), all.end());
  }
  EXPECT_EQ(statements_of(facts).item("assets", 2).value(), assets);
  EXPECT_EQ(statements_of(facts).item("revenue", 2).value(), revenue);
}

}  // namespace
}  // namespace belay::research
