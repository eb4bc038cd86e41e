// Values of real companies, which docs/research.md derives from their filings by hand.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "agents/research/filings/data_folders.h"
#include "agents/research/specialists/specialists.h"

namespace belay::research {
namespace {

// A company of the bundled data with its figures.
class GoldenCompany {
 public:
  explicit GoldenCompany(const std::string& ticker) {
    DataFolders folders({BELAY_SOURCE_DIR "/agents/research/data"});
    FileRead<CompanyFacts> facts = folders.company_facts(bundled_cik(ticker));
    EXPECT_EQ(facts.error, "");
    market_ = folders.market_data({ticker}).data;
    company_.emplace(ticker, *facts.content, *facts.content->last_filed, market_, constants_);
    TextContext text;
    text.fiscal_year_end = company_->year_end(company_->last_year()).text();
    SubtaskInput input{*company_, text};
    for (const Specialist& specialist : specialists()) {
      for (const Subtask& subtask : specialist.subtasks) {
        for (Figure& figure : subtask.calculate(input).figures) {
          figures_.emplace(figure.metric + " " + figure.period_end, figure.quantity);
        }
      }
    }
  }

  const Quantity& figure(const std::string& name) const {
    static const Quantity none = Quantity::missing(Missing::missing_input, "no such figure");
    auto found = figures_.find(name);
    return found == figures_.end() ? none : found->second;
  }

 private:
  Constants constants_;
  MarketData market_;
  std::optional<Company> company_;
  std::map<std::string, Quantity> figures_;
};

const GoldenCompany& golden(const std::string& ticker) {
  static std::map<std::string, GoldenCompany> companies;
  return companies.try_emplace(ticker, ticker).first->second;
}

struct GoldenValue {
  const char* ticker;
  const char* figure;
  double value;
};

constexpr GoldenValue kGoldenValues[] = {
    {"AAPL", "revenue 2024-09-28", 391035000000},
    {"AAPL", "net_income 2024-09-28", 93736000000},
    {"NVDA", "revenue 2025-01-26", 130497000000},
    {"NVDA", "revenue 2019-01-27", 11716000000},
    {"GOOGL", "revenue 2022-12-31", 282836000000},
    {"AAPL", "eps_diluted 2017-09-30", 2.3025},
    {"NVDA", "shares_diluted 2020-01-26", 24720000000},
    {"GOOGL", "shares_outstanding 2020-12-31", 13504440000},
    {"TSLA", "eps_diluted 2021-12-31", 1.6333333333333333},
    {"CAT", "cost_of_revenue 2024-12-31", 40199000000},
    {"CAT", "net_income 2023-12-31", 10332000000},
    {"AAPL", "total_debt 2024-09-28", 106629000000},
    {"TSLA", "total_debt 2021-12-31", 5342000000},
    {"AAPL", "gross_margin 2025-09-27", 0.4690516410716045},
    {"AAPL", "roic 2025-09-27", 0.8314270092598283},
    {"NVDA", "beneish_m_score 2025-01-26", -0.9608358173358142},
    {"GOOGL", "altman_z_1968 2024-12-31", 12.148749758213372},
    {"MSFT", "piotroski_f_score 2025-06-30", 6},
    {"AAPL", "beta_raw 2022-12-28", 1.4585285252293487},
    {"AAPL", "wacc 2025-09-27", 0.1048210394957704},
    {"AAPL", "enterprise_value 2025-09-27", 1853214578969.585},
};

TEST(GoldenValues, OfRealCompaniesAreMet) {
  for (const GoldenValue& expected : kGoldenValues) {
    const Quantity& figure = golden(expected.ticker).figure(expected.figure);
    EXPECT_TRUE(figure.is_available())
        << expected.ticker << " " << expected.figure << ": " << figure.reason();
    EXPECT_NEAR(figure.value() / expected.value, 1, 1e-9)
        << expected.ticker << " " << expected.figure;
  }
}

struct GoldenReason {
  const char* ticker;
  const char* figure;
  Missing code;
};

constexpr GoldenReason kGoldenReasons[] = {
    {"MSFT", "revenue_growth 2017-06-30", Missing::too_little_history},
    {"JPM", "current_ratio 2025-12-31", Missing::not_applicable},
    {"NVDA", "equity_value 2026-01-25", Missing::missing_input},
    {"TSLA", "interest_coverage 2019-12-31", Missing::non_positive},
    {"GOOGL", "beta_raw 2025-12-31", Missing::no_market_data},
};

TEST(GoldenValues, AFigureThatCannotBeKnownHasAReason) {
  for (const GoldenReason& expected : kGoldenReasons) {
    const Quantity& figure = golden(expected.ticker).figure(expected.figure);
    EXPECT_FALSE(figure.is_available()) << expected.ticker << " " << expected.figure;
    EXPECT_STREQ(missing_code(figure.code()), missing_code(expected.code))
        << expected.ticker << " " << expected.figure << ": " << figure.reason();
  }
}

}  // namespace
}  // namespace belay::research
