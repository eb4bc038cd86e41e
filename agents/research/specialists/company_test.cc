#include "agents/research/specialists/company.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "agents/research/filings/facts_fixture.h"
#include "agents/research/specialists/trends.h"

namespace belay::research {
namespace {

const Date kAsOf = date_of("2024-06-30");

Company company_of(const FactsBuilder& facts, const MarketData& market) {
  return Company("X", facts.facts(), kAsOf, market, Constants());
}

// Revenue of 2022 and 2023.
FactsBuilder two_years() {
  FactsBuilder facts;
  for (int year : {2022, 2023}) facts.year("Revenues", year, 1000);
  return facts;
}

TEST(BeneishDepreciation, AValueThatIsNotThereComesBeforeOneThatIsNotPositive) {
  MarketData market;
  FactsBuilder facts = two_years();
  facts.year("Depreciation", 2022, -5).year("Depreciation", 2023, 5);
  facts.year_end("PropertyPlantAndEquipmentNet", 2022, 50);
  EXPECT_EQ(company_of(facts, market).value("beneish_depi", 1).reason(), "missing_input: ppe");
  EXPECT_EQ(company_of(facts, market).value("beneish_depi", 0).code(), Missing::too_little_history);

  facts.year_end("PropertyPlantAndEquipmentNet", 2023, 60);
  Quantity index = company_of(facts, market).value("beneish_depi", 1);
  EXPECT_FALSE(index.is_available());
  EXPECT_EQ(index.code(), Missing::non_positive);
}

TEST(RealGrowth, RevenueThatFallsToZeroHasFallenByAll) {
  MarketData market;
  FactsBuilder facts = two_years();
  for (auto& fact : facts.facts().facts["us-gaap:Revenues"]["USD"]) {
    if (fact.end == date_of("2023-12-31")) fact.value = 0;
  }
  for (const char* day : {"2022-12-01", "2023-12-01"}) {
    market.merge(kConsumerPriceSeries, {{Month::of(date_of(day)), date_of(day), 300}});
  }
  const Results results = measure_real_growth(company_of(facts, market));
  const auto one_year =
      std::find_if(results.figures.begin(), results.figures.end(),
                   [](const Figure& figure) { return figure.metric == "real_revenue_cagr_1y"; });
  ASSERT_NE(one_year, results.figures.end());
  EXPECT_TRUE(one_year->quantity.is_available()) << one_year->quantity.reason();
  EXPECT_EQ(one_year->quantity.value(), -1);
}

}  // namespace
}  // namespace belay::research
