#include "agents/research/filings/visible_facts.h"

#include <algorithm>

namespace belay::research {
namespace {

bool is_currency(std::string_view unit) {
  auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  return unit.size() == 3 && std::all_of(unit.begin(), unit.end(), is_capital);
}

std::map<std::string, FactsByUnit, std::less<>> filed_until(const CompanyFacts& company,
                                                            Date as_of) {
  std::map<std::string, FactsByUnit, std::less<>> visible;
  for (const auto& [tag, by_unit] : company.facts) {
    for (const auto& [unit, facts] : by_unit) {
      std::vector<Fact> kept;
      std::copy_if(facts.begin(), facts.end(), std::back_inserter(kept),
                   [&](const Fact& fact) { return fact.filed <= as_of; });
      if (kept.empty()) continue;
      std::sort(kept.begin(), kept.end(), is_earlier);
      visible[tag][unit] = std::move(kept);
    }
  }
  return visible;
}

}  // namespace

VisibleFacts::VisibleFacts(const CompanyFacts& facts, Date as_of)
    : as_of_(as_of), facts_(filed_until(facts, as_of)) {
  is_ifrs_ = !has_assets("us-gaap") && has_assets("ifrs-full");
  currency_ = most_frequent_currency();
}

const std::vector<Fact>& VisibleFacts::of(std::string_view tag, ItemKind kind) const {
  static const std::vector<Fact> none;
  auto by_unit = facts_.find(full_name(tag));
  if (by_unit == facts_.end()) return none;
  std::string unit = unit_of(kind);
  auto facts = by_unit->second.find(unit);
  // Without a currency, facts without a unit are no amounts.
  bool is_found = !unit.empty() && facts != by_unit->second.end();
  return is_found ? facts->second : none;
}

std::string VisibleFacts::full_name(std::string_view tag) const {
  if (tag.find(':') != std::string_view::npos) return std::string(tag);
  return (is_ifrs_ ? "ifrs-full:" : "us-gaap:") + std::string(tag);
}

std::string VisibleFacts::unit_of(ItemKind kind) const {
  switch (kind) {
    case ItemKind::flow:
    case ItemKind::instant:
      return currency_;
    case ItemKind::per_share:
      return currency_ + "/shares";
    case ItemKind::shares_of_year:
    case ItemKind::shares_at_date:
      return "shares";
  }
  return {};
}

bool VisibleFacts::has_assets(const std::string& taxonomy) const {
  return facts_.contains(taxonomy + ":Assets");
}

// With equal counts, the currency with the earliest period, then the first one in the alphabet.
std::string VisibleFacts::most_frequent_currency() const {
  struct Count {
    std::size_t facts = 0;
    Date first;
  };
  std::map<std::string, Count> counts;
  for (const char* name : {"assets", "net_income", "revenue"}) {
    for (const std::string& tag : tags(*find_line_item(name))) {
      auto by_unit = facts_.find(full_name(tag));
      if (by_unit == facts_.end()) continue;
      for (const auto& [unit, facts] : by_unit->second) {
        if (!is_currency(unit)) continue;
        for (const Fact& fact : facts) {
          Count& count = counts[unit];
          if (count.facts++ == 0 || fact.end < count.first) count.first = fact.end;
        }
      }
    }
  }
  auto is_less = [](const auto& a, const auto& b) {
    if (a.second.facts != b.second.facts) return a.second.facts < b.second.facts;
    return a.second.first > b.second.first;
  };
  auto most = std::max_element(counts.begin(), counts.end(), is_less);
  return most == counts.end() ? "" : most->first;
}

}  // namespace belay::research
