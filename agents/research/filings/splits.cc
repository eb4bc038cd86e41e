#include "agents/research/filings/splits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

namespace belay::research {
namespace {

constexpr std::array kFactors = {1.5, 2.0,  3.0,  4.0,  5.0,  6.0,  7.0,  8.0,
                                 10., 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 100.0};
constexpr double kTolerance = 0.01;

constexpr std::array kGaapTags = {"WeightedAverageNumberOfDilutedSharesOutstanding",
                                  "WeightedAverageNumberOfSharesOutstandingBasic",
                                  "CommonStockSharesOutstanding", "CommonStockSharesIssued"};
constexpr std::array kIfrsTags = {"AdjustedWeightedAverageShares", "WeightedAverageShares",
                                  "NumberOfSharesOutstanding", "NumberOfSharesIssued"};

// A restatement from a filing of the date `before` to one of `after`.
struct Evidence {
  Date after;
  Date before;
  auto operator<=>(const Evidence&) const = default;
};

// Returns the factor of the split for a ratio, or 0.
double factor_of(double ratio) {
  for (double each : kFactors) {
    for (double factor : {each, 1 / each}) {
      if (std::abs(ratio / factor - 1) <= kTolerance) return factor;
    }
  }
  return 0;
}

void add_evidence(const std::vector<Fact>& facts,
                  std::map<double, std::vector<Evidence>>& evidence) {
  std::map<std::tuple<std::optional<Date>, Date>, std::vector<Fact>> by_period;
  for (const Fact& fact : facts) by_period[{fact.start, fact.end}].push_back(fact);
  for (const auto& [period, group] : by_period) {
    for (std::size_t i = 1; i < group.size(); ++i) {
      const Fact& before = group[i - 1];
      const Fact& after = group[i];
      if (before.value <= 0 || after.value <= 0 || before.filed >= after.filed) continue;
      double factor = factor_of(after.value / before.value);
      if (factor != 0) evidence[factor].push_back({after.filed, before.filed});
    }
  }
}

}  // namespace

std::vector<Split> splits_in(const VisibleFacts& facts) {
  std::map<double, std::vector<Evidence>> evidence;
  for (const char* tag : facts.is_ifrs() ? kIfrsTags : kGaapTags) {
    add_evidence(facts.of(tag, ItemKind::shares_at_date), evidence);
  }
  std::vector<Split> splits;
  for (auto& [factor, found] : evidence) {
    std::sort(found.begin(), found.end());
    std::optional<Date> last;
    for (const Evidence& each : found) {
      if (last && each.before < *last) continue;  // the same split, in another filing
      splits.push_back({factor, each.after});
      last = each.after;
    }
  }
  return splits;
}

double split_factor(const std::vector<Split>& splits, Date filed) {
  // Forward and reverse splits apart: products of whole numbers and 1.5 are exact, and the order of
  // the splits has no meaning.
  double forward = 1;
  double reverse = 1;
  for (const Split& split : splits) {
    if (split.date <= filed) continue;
    if (split.factor >= 1) {
      forward *= split.factor;
    } else {
      reverse *= 1 / split.factor;
    }
  }
  return forward / reverse;
}

}  // namespace belay::research
