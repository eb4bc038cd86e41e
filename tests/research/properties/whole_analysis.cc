#include "tests/research/properties/whole_analysis.h"

#include <algorithm>

#include "agents/research/filings/data_folders.h"
#include "tests/research/properties/random_company.h"

namespace belay::research {
namespace {

void add_results(const Results& results, WholeAnalysis& analysis) {
  for (const Figure& figure : results.figures) {
    std::string name =
        figure.specialist + "." + figure.subtask + "." + figure.metric + " " + figure.period_end;
    if (!analysis.figures.emplace(name, figure).second) analysis.twins.push_back(std::move(name));
  }
  for (const Finding& finding : results.findings) {
    analysis.findings.push_back(finding.specialist + "." + finding.subtask + "." + finding.code +
                                " " + finding.period_end);
  }
}

}  // namespace

const Figure* WholeAnalysis::find(const std::string& name) const {
  auto found = figures.find(name);
  return found == figures.end() ? nullptr : &found->second;
}

const MarketData& bundled_market() {
  static const MarketData market =
      DataFolders({BELAY_SOURCE_DIR "/agents/research/data"}).market_data({"AAPL"}).data;
  return market;
}

WholeAnalysis whole_analysis(const CompanyFacts& facts, Date as_of, const std::string& ticker) {
  WholeAnalysis analysis;
  const Company company(ticker, facts, as_of, bundled_market(), Constants());
  if (!company.has_years()) return analysis;
  analysis.is_bank = company.is_bank();
  for (std::size_t year : company.reported_years()) {
    analysis.year_ends.push_back(company.year_end(year).text());
  }
  TextContext text;
  text.fiscal_year_end = analysis.year_ends.back();
  for (const Specialist& specialist : specialists()) {
    for (const Subtask& subtask : specialist.subtasks) {
      add_results(subtask.calculate({company, text}), analysis);
    }
  }
  std::sort(analysis.findings.begin(), analysis.findings.end());
  return analysis;
}

std::vector<std::string> differences(const WholeAnalysis& a, const WholeAnalysis& b) {
  std::vector<std::string> found;
  for (const auto& [name, figure] : a.figures) {
    const Figure* other = b.find(name);
    if (!other) {
      found.push_back(name + " only before");
      continue;
    }
    std::string line = difference(figure.quantity, other->quantity);
    if (figure.unit != other->unit) line += " in another unit";
    if (!line.empty()) found.push_back(name + ": " + line);
  }
  for (const auto& [name, figure] : b.figures) {
    if (!a.find(name)) found.push_back(name + " only after");
  }
  if (a.findings != b.findings) found.push_back("other findings");
  return found;
}

}  // namespace belay::research
