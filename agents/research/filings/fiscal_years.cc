#include "agents/research/filings/fiscal_years.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace belay::research {
namespace {

constexpr int kYearDaysMin = 350;
constexpr int kYearDaysMax = 380;
constexpr double kYearDays = 365.25;
constexpr double kDaysApartMax = 15;

// The facts with one end.
struct YearFacts {
  std::size_t of_annual_forms = 0;
  std::size_t all = 0;
  std::map<Date, std::size_t> starts;

  Date most_frequent_start() const {
    auto is_less = [](const auto& a, const auto& b) { return a.second < b.second; };
    return std::max_element(starts.begin(), starts.end(), is_less)->first;
  }
};
using FactsByEnd = std::map<Date, YearFacts>;

FactsByEnd annual_facts(const VisibleFacts& facts) {
  FactsByEnd by_end;
  for (const char* name : {"net_income", "revenue", "cfo"}) {
    const LineItem& item = *find_line_item(name);
    for (const std::string& tag : facts.tags(item)) {
      for (const Fact& fact : facts.of(tag, item.kind)) {
        if (!is_annual(fact) || is_proxy_form(fact.form)) continue;
        YearFacts& year = by_end[fact.end];
        ++year.all;
        year.of_annual_forms += is_annual_form(fact.form);
        ++year.starts[*fact.start];
      }
    }
  }
  return by_end;
}

// Of two neighbouring years that are too close, the one with fewer facts is dropped, the earliest
// such pair first.
void drop_overlapping(FactsByEnd& by_end) {
  auto weight = [](FactsByEnd::iterator year) {
    return std::pair(year->second.of_annual_forms, year->second.all);
  };
  auto later = by_end.begin();
  while (later != by_end.end()) {
    if (later == by_end.begin()) {
      ++later;
      continue;
    }
    auto earlier = std::prev(later);
    if (later->first - earlier->first >= kYearDaysMin) {
      ++later;
    } else if (weight(later) < weight(earlier)) {
      later = by_end.erase(later);
    } else {
      by_end.erase(earlier);  // the next comparison is with the year before it
    }
  }
}

}  // namespace

bool is_annual(const Fact& fact) {
  if (!fact.start) return false;
  int days = fact.end - *fact.start + 1;
  return days >= kYearDaysMin && days <= kYearDaysMax;
}

FiscalYears::FiscalYears(const VisibleFacts& facts) {
  FactsByEnd by_end = annual_facts(facts);
  drop_overlapping(by_end);
  for (const auto& [end, year] : by_end) years_.push_back({year.most_frequent_start(), end});
}

std::optional<std::size_t> FiscalYears::before(std::size_t year, int count) const {
  if (count == 0) return year;
  for (std::size_t i = year; i-- > 0;) {
    double days = years_[year].end - years_[i].end;
    if (std::abs(days - kYearDays * count) <= kDaysApartMax) return i;
  }
  return std::nullopt;
}

}  // namespace belay::research
