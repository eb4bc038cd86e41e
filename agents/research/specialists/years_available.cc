#include "agents/research/specialists/years_available.h"

#include <algorithm>

namespace belay::research {

std::vector<YearValue> years_available(const Company& company,
                                       const std::function<Quantity(std::size_t year)>& value,
                                       int first, int count) {
  std::vector<YearValue> values;
  for (int ago = first; ago < first + count; ++ago) {
    std::optional<std::size_t> year = company.before(company.last_year(), ago);
    if (!year) continue;
    Quantity quantity = value(*year);
    if (quantity.is_available()) values.push_back({ago, std::move(quantity)});
  }
  return values;
}

std::vector<YearValue> years_available(const Company& company, std::string_view name, int first,
                                       int count) {
  return years_available(
      company, [&](std::size_t year) { return company.value(name, year); }, first, count);
}

namespace {

Quantity too_few(std::string_view name, std::size_t at_least) {
  return Quantity::missing(Missing::too_little_history,
                           std::string(name) + " of " + std::to_string(at_least) + " years");
}

Quantity with_sources(double value, const std::vector<YearValue>& values) {
  Quantity result = Quantity::of(value);
  if (!result.is_available()) return result;
  for (const YearValue& each : values) result.add_sources(each.quantity);
  return result;
}

}  // namespace

Quantity sum_of_available(const std::vector<YearValue>& values, std::size_t at_least,
                          std::string_view name) {
  if (values.size() < at_least) return too_few(name, at_least);
  double sum = 0;
  for (const YearValue& each : values) sum += each.quantity.value();
  return with_sources(sum, values);
}

Quantity share_of_years(const std::vector<YearValue>& values, std::size_t at_least,
                        std::string_view name, const std::function<bool(double)>& condition) {
  if (values.size() < at_least) return too_few(name, at_least);
  auto holds = [&](const YearValue& each) { return condition(each.quantity.value()); };
  auto count = std::count_if(values.begin(), values.end(), holds);
  return with_sources(static_cast<double>(count) / static_cast<double>(values.size()), values);
}

}  // namespace belay::research
