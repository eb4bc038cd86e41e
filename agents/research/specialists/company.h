#pragma once
// agents/research/specialists/company.h - a company as of a date: the input of all subtasks.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/research/filings/statements.h"
#include "agents/research/finance/constants.h"
#include "agents/research/finance/figure.h"
#include "agents/research/finance/formula.h"
#include "agents/research/finance/market_view.h"
#include "agents/research/specialists/metric_catalogue.h"

namespace belay::research {

// Calculates metrics from the statements. Immutable after its construction, except for
// add_peer(); concurrent reads are safe.
class Company final : public FormulaSource {
 public:
  // `facts` of the company known at `as_of`; `market` must outlive the object.
  Company(std::string ticker, const CompanyFacts& facts, Date as_of, const MarketData& market,
          const Constants& constants);

  const std::string& ticker() const { return ticker_; }
  Date as_of() const { return statements_.facts().as_of(); }
  const Statements& statements() const { return statements_; }
  const std::string& currency() const { return statements_.currency(); }
  bool is_bank() const { return statements_.is_bank(); }
  // The market data as of the date. The company must outlive the result, and have years.
  MarketView market() const {
    return {*market_, constants_, as_of(), ticker_, year_end(last_year())};
  }
  const Constants& constants() const { return constants_; }
  // The amended annual filings that were known at the date.
  const std::vector<Filing>& amended_filings() const { return amended_; }

  // False if no fiscal year can be reported; then only the functions above may be called.
  bool has_years() const { return !statements_.years().all().empty(); }
  // The reported years, the oldest first; and the last one.
  std::vector<std::size_t> reported_years() const;
  std::size_t last_year() const { return statements_.years().all().size() - 1; }
  Date year_end(std::size_t year) const { return statements_.years().all()[year].end; }

  // A line item, a metric of the catalogue, or one of: tax_rate_model, beneish_depi. A metric that
  // is not defined for this kind of company is not_applicable.
  Quantity value(std::string_view name, std::size_t year) const override;
  Quantity optional_value(std::string_view name, std::size_t year) const override;
  std::optional<std::size_t> before(std::size_t year, int count) const override;

  // Evaluates a formula (finance/formula.h), which must be valid.
  Quantity evaluate(std::string_view formula, std::size_t year) const;

  // Empty, or the quantity not_applicable for a metric with this mark.
  std::optional<Quantity> not_applicable(ForBanks banks) const;
  // Returns the unit of a figure: "cur" is the currency.
  std::string unit(std::string_view unit) const;

  // Other companies, as of the same date.
  void add_peer(Company peer) { peers_.push_back(std::move(peer)); }
  const std::vector<Company>& peers() const { return peers_; }

 private:
  Quantity tax_rate_model(std::size_t year) const;
  Quantity depreciation_index(std::size_t year) const;

  std::string ticker_;
  Statements statements_;
  const MarketData* market_;
  Constants constants_;
  std::vector<Filing> amended_;
  std::vector<Company> peers_;
};

// Returns a constant with its source.
Quantity constant(const Constants& constants, std::string_view name);

}  // namespace belay::research
