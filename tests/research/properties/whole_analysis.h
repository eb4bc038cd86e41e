#pragma once
// tests/research/properties/whole_analysis.h - all figures and findings of a company, for tests.

#include <map>
#include <string>
#include <vector>

#include "agents/research/filings/company_facts.h"
#include "agents/research/finance/constants.h"
#include "agents/research/finance/market_data.h"
#include "agents/research/specialists/specialists.h"

namespace belay::research {

struct WholeAnalysis {
  std::map<std::string, Figure> figures;  // by "financial.ratio_calculation.roic 2023-12-31"
  std::vector<std::string> findings;      // sorted
  std::vector<std::string> twins;         // names of figures that occur twice
  std::vector<std::string> year_ends;     // of the reported years
  bool is_bank = false;

  const Figure* find(const std::string& name) const;
};

// Empty if the company has no fiscal year. Without a filing text.
WholeAnalysis whole_analysis(const CompanyFacts& facts, Date as_of, const std::string& ticker);

// The market data of the program, read once.
const MarketData& bundled_market();

// One line for each difference of figures and findings; empty if there is no difference.
std::vector<std::string> differences(const WholeAnalysis& a, const WholeAnalysis& b);

}  // namespace belay::research
