#include "agents/research/specialists/company.h"

#include <algorithm>

namespace belay::research {
namespace {

std::vector<Filing> amended_until(const CompanyFacts& facts, Date as_of) {
  std::vector<Filing> filings;
  for (const auto& [accn, filing] : facts.amended) {
    if (filing.filed <= as_of) filings.push_back(filing);
  }
  return filings;
}

}  // namespace

Company::Company(std::string ticker, const CompanyFacts& facts, Date as_of,
                 const MarketData& market, const Constants& constants)
    : ticker_(std::move(ticker)),
      statements_(facts, as_of),
      market_(&market),
      constants_(constants),
      amended_(amended_until(facts, as_of)) {}

std::vector<std::size_t> Company::reported_years() const {
  std::size_t all = statements_.years().all().size();
  std::size_t first = all - std::min(all, static_cast<std::size_t>(constants_.figure_years));
  std::vector<std::size_t> years;
  for (std::size_t year = first; year < all; ++year) years.push_back(year);
  return years;
}

Quantity Company::value(std::string_view name, std::size_t year) const {
  if (find_line_item(name)) return statements_.item(name, year);
  if (name == "tax_rate_model") return tax_rate_model(year);
  if (name == "beneish_depi") return depreciation_index(year);
  const Metric* metric = MetricCatalogue::built_in().find(name);
  if (!metric) return Quantity::missing(Missing::missing_input, std::string(name));
  if (std::optional<Quantity> other = not_applicable(metric->banks)) return *other;
  return metric->formula.evaluate(*this, year);
}

Quantity Company::evaluate(std::string_view formula, std::size_t year) const {
  std::string error;
  return Formula::parse(formula, error).value().evaluate(*this, year);
}

Quantity Company::optional_value(std::string_view name, std::size_t year) const {
  return statements_.optional_item(name, year);
}

std::optional<std::size_t> Company::before(std::size_t year, int count) const {
  return statements_.years().before(year, count);
}

std::optional<Quantity> Company::not_applicable(ForBanks banks) const {
  if (is_bank() && banks == ForBanks::no) {
    return Quantity::missing(Missing::not_applicable, "the company is a bank");
  }
  if (!is_bank() && banks == ForBanks::only) {
    return Quantity::missing(Missing::not_applicable, "the company is not a bank");
  }
  return std::nullopt;
}

std::string Company::unit(std::string_view unit) const {
  constexpr std::string_view kCurrency = "cur";
  if (!unit.starts_with(kCurrency)) return std::string(unit);
  return currency() + std::string(unit.substr(kCurrency.size()));
}

// The effective tax rate within its bounds, or the statutory one.
Quantity Company::tax_rate_model(std::size_t year) const {
  Quantity rate = value("effective_tax_rate", year);
  if (!rate.is_available()) return constant(constants_, "statutory_tax_rate");
  Quantity low = constant(constants_, "tax_rate_min");
  Quantity high = constant(constants_, "tax_rate_max");
  double clipped = std::clamp(rate.value(), low.value(), high.value());
  return calculated_from(clipped, {&rate, &low, &high});
}

// Beneish's index of depreciation: dep / (dep + ppe) of the year before, over that of the year.
// Both years must have the same kind of `dep`.
Quantity Company::depreciation_index(std::size_t year) const {
  if (std::optional<Quantity> other = not_applicable(ForBanks::no)) return *other;
  auto evaluated = [&](std::string_view dep) {
    std::string rate = "(" + std::string(dep) + ")";
    std::string before = rate + "[-1]";
    Quantity all = evaluate(before + " + ppe[-1] + " + rate + " + ppe", year);
    if (!all.is_available()) return all;
    std::string text = "(pos(" + before + ") / pos(" + before + " + ppe[-1])) / (pos(" + rate +
                       ") / pos(" + rate + " + ppe))";
    return evaluate(text, year);
  };
  auto has_both = [&](std::string_view name) {
    std::optional<std::size_t> earlier = before(year, 1);
    return value(name, year).is_available() && earlier && value(name, *earlier).is_available();
  };
  if (has_both("depreciation")) return evaluated("depreciation");
  if (has_both("d_and_a") && has_both("amortization_intangibles")) {
    return evaluated("d_and_a - amortization_intangibles");
  }
  return evaluated("d_and_a");
}

Quantity constant(const Constants& constants, std::string_view name) {
  return Quantity::of(constants.value(name).value_or(0), constants.source(name));
}

}  // namespace belay::research
