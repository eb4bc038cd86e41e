// The numbers of the financial specialist, from statements and those of peers.

#include "agents/research/specialists/financial.h"

#include <algorithm>
#include <array>

namespace belay::research {
namespace {

constexpr std::array kCompared = {
    "gross_margin", "operating_margin", "net_margin",    "return_on_equity", "roic",
    "fcf_margin",   "asset_turnover",   "current_ratio", "debt_to_equity",   "revenue_growth"};

struct Flag {
  std::string_view code;  // its metric is "flag_CODE"
  Severity severity;
};
constexpr std::array kFlags = {
    Flag{"receivables_outpace_sales", Severity::medium},
    Flag{"inventory_outpace_sales", Severity::medium},
    Flag{"net_loss", Severity::high},
    Flag{"negative_operating_cash_flow", Severity::high},
    Flag{"weak_cash_backing", Severity::medium},
    Flag{"high_accruals", Severity::medium},
    Flag{"gross_margin_drop", Severity::medium},
    Flag{"operating_margin_drop", Severity::medium},
    Flag{"revenue_decline", Severity::medium},
    Flag{"negative_equity", Severity::high},
    Flag{"low_current_ratio", Severity::medium},
    Flag{"high_leverage", Severity::high},
    Flag{"low_interest_coverage", Severity::high},
    Flag{"goodwill_heavy", Severity::low},
    Flag{"sbc_heavy", Severity::medium},
    Flag{"dilution", Severity::medium},
    Flag{"unusual_tax_rate", Severity::low},
    Flag{"payout_exceeds_fcf", Severity::low},
};
constexpr std::size_t kFlaggedYears = 3;

std::string_view unit_of(ItemKind kind) {
  switch (kind) {
    case ItemKind::flow:
    case ItemKind::instant:
      return "cur";
    case ItemKind::per_share:
      return "cur/shares";
    case ItemKind::shares_of_year:
    case ItemKind::shares_at_date:
      return "shares";
  }
  return {};
}

// Returns the peers with a recent fiscal year.
std::vector<const Company*> comparable_peers(const Company& company) {
  std::vector<const Company*> found;
  for (const Company& peer : company.peers()) {
    if (!peer.has_years()) continue;
    int age = company.as_of() - peer.year_end(peer.last_year());
    if (age >= 0 && age <= company.constants().peer_max_age_days) found.push_back(&peer);
  }
  return found;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void add_comparison(SubtaskResults& results, const std::string& metric, const Quantity& median,
                    const Quantity& rank, const Quantity& percentile) {
  results.add_latest("peer_median_" + metric, "ratio", median);
  results.add_latest("peer_rank_" + metric, "count", rank);
  results.add_latest("peer_percentile_" + metric, "ratio", percentile);
}

void compare(const Company& company, const std::vector<const Company*>& peers,
             const std::string& metric, SubtaskResults& results) {
  Quantity none = Quantity::missing(Missing::no_peers, "no peer with a recent fiscal year");
  if (peers.empty()) return add_comparison(results, metric, none, none, none);
  Quantity own = company.value(metric, company.last_year());
  if (!own.is_available()) return add_comparison(results, metric, own, own, own);

  std::vector<double> values;
  Quantity sources = Quantity::of(0);
  for (const Company* peer : peers) {
    Quantity value = peer->value(metric, peer->last_year());
    if (!value.is_available()) continue;
    values.push_back(value.value());
    sources.add_sources(value);
  }
  none = Quantity::missing(Missing::no_peers, "no peer has " + metric);
  if (values.empty()) return add_comparison(results, metric, none, none, none);

  double above = 0;
  double below = 0;
  double equal = 0;
  for (double value : values) {
    above += value > own.value();
    below += value < own.value();
    equal += value == own.value();
  }
  double percentile = (below + 0.5 * equal) / static_cast<double>(values.size());
  add_comparison(results, metric, calculated_from(median(values), {&sources}),
                 calculated_from(1 + above, {&own, &sources}),
                 calculated_from(percentile, {&own, &sources}));
}

// Adds the number of flags of a year, and how many could be evaluated.
void count_flags(const Company& company, std::size_t year, SubtaskResults& results) {
  double set = 0;
  double evaluated = 0;
  for (const Flag& flag : kFlags) {
    std::string metric = "flag_" + std::string(flag.code);
    Quantity value = company.value(metric, year);
    if (!value.is_available()) continue;
    ++evaluated;
    set += value.value();
    if (value.value() == 1) results.find(flag.code, flag.severity, year, metric);
  }
  results.add("red_flag_count", "count", year, Quantity::of(set));
  results.add("red_flags_evaluated", "count", year, Quantity::of(evaluated));
}

}  // namespace

Results parse_statements(const Company& company) {
  SubtaskResults results(company, "financial", "10k_parsing");
  for (std::size_t year : company.reported_years()) {
    bool has_proxy = false;
    for (const LineItem& item : line_items()) {
      Quantity value = company.value(item.name, year);
      has_proxy = has_proxy || is_from_proxy(value);
      results.add(item.name, unit_of(item.kind), year, std::move(value));
    }
    if (has_proxy) results.find("value_from_proxy", Severity::low, year);
  }
  return results.take();
}

Results calculate_ratios(const Company& company) {
  SubtaskResults results(company, "financial", "ratio_calculation");
  results.add_formulas();
  return results.take();
}

Results compare_with_peers(const Company& company) {
  SubtaskResults results(company, "financial", "peer_comparison");
  std::vector<const Company*> peers = comparable_peers(company);
  for (const char* metric : kCompared) compare(company, peers, metric, results);
  Quantity none = Quantity::missing(Missing::no_peers, "no peer with a recent fiscal year");
  if (peers.empty()) {
    results.add_latest("peer_count", "count", none);
  } else {
    results.add_latest_for(ForBanks::no, "peer_count", "count",
                           Quantity::of(static_cast<double>(peers.size())));
  }
  return results.take();
}

Results detect_red_flags(const Company& company) {
  SubtaskResults results(company, "financial", "red_flag_detection");
  results.add_formulas();
  std::vector<std::size_t> years = company.reported_years();
  std::size_t first = years.size() - std::min(years.size(), kFlaggedYears);
  for (std::size_t i = first; i < years.size(); ++i) count_flags(company, years[i], results);
  return results.take();
}

}  // namespace belay::research
