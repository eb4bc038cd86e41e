#pragma once
// agents/research/specialists/years_available.h - the last years that have a value.

#include <functional>
#include <string_view>
#include <vector>

#include "agents/research/specialists/company.h"

namespace belay::research {

struct YearValue {
  int years_ago = 0;
  Quantity quantity;
};

// Returns the available ones of the `count` years from `first` years ago, the newest first.
std::vector<YearValue> years_available(const Company& company,
                                       const std::function<Quantity(std::size_t year)>& value,
                                       int first, int count);
std::vector<YearValue> years_available(const Company& company, std::string_view name, int first,
                                       int count);

// Returns the sum of the values, with all sources; too_little_history with fewer than `at_least`.
Quantity sum_of_available(const std::vector<YearValue>& values, std::size_t at_least,
                          std::string_view name);

// Returns the share of the values for which the condition holds; likewise.
Quantity share_of_years(const std::vector<YearValue>& values, std::size_t at_least,
                        std::string_view name, const std::function<bool(double)>& condition);

}  // namespace belay::research
