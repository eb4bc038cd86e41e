#pragma once
// agents/research/filings/statements.h - the annual statements of a company, item by item.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/filings/fiscal_years.h"
#include "agents/research/filings/splits.h"
#include "agents/research/filings/visible_facts.h"
#include "agents/research/finance/quantity.h"

namespace belay::research {

// Returns a fact as the source of a figure. `tag` may have the prefix of its taxonomy.
Input fact_input(const std::string& tag, const Fact& fact);

// Returns whether the value comes from a proxy statement, which contains rounded figures.
bool is_from_proxy(const Quantity& quantity);

// The forms that a fact may be from. Reports are all forms but proxy statements.
enum class Forms { reports, annual_reports, proxies };

// The values that were known at a date. A value is that of the latest filing that contains it, the
// annual reports before the others (R7), from the first tag of the item that has one (R8). Numbers
// per share are those after all splits (R9). Items without a tag are calculated (R12, R13).
// Immutable; concurrent reads are safe.
class Statements {
 public:
  Statements(const CompanyFacts& company, Date as_of);

  const VisibleFacts& facts() const { return facts_; }
  const std::string& currency() const { return facts_.currency(); }
  const FiscalYears& years() const { return years_; }
  // A bank has deposits, or income and expense that are not interest, and no current assets (R11).
  bool is_bank() const { return is_bank_; }

  // Returns the value of an item of line_items.h, or missing_input.
  Quantity item(std::string_view name, std::size_t year) const;
  // Returns the value, or zero if no filing has ever had a value of the item other than zero (R10).
  Quantity optional_item(std::string_view name, std::size_t year) const;

  // Returns the value of a tag that is not an item's, by the same rules.
  Quantity tag(const std::string& tag, ItemKind kind, std::size_t year) const;
  // Returns the fact behind an item that has tags, or null.
  const Fact* fact_of(const LineItem& item, std::size_t year) const;
  // Returns the facts of a tag for that year (R7), of these forms alone, in the order of
  // is_earlier().
  std::vector<const Fact*> facts_of_year(const std::string& tag, ItemKind kind, std::size_t year,
                                         Forms forms) const;
  // Returns the public float with the latest date in that period; without one, of all visible
  // facts.
  Quantity public_float(std::optional<FiscalYear> period) const;
  // Returns the factor of R9 for the fact behind the shares outstanding.
  Quantity split_factor_of_shares(std::size_t year) const;

 private:
  struct Chosen {
    const Fact* fact = nullptr;
    std::string tag;
  };

  const Fact* best_fact(const std::string& tag, ItemKind kind, std::size_t year, Forms forms) const;
  Chosen chosen(const std::vector<std::string>& tags, ItemKind kind, std::size_t year) const;
  Quantity quantity_of(const Chosen& chosen, ItemKind kind) const;
  bool was_ever_non_zero(const LineItem& item) const;

  Quantity tagged(std::string_view name, std::size_t year) const;
  Quantity calculated(std::string_view name, std::size_t year) const;
  Quantity calculated_equity(std::size_t year) const;
  Quantity calculated_equity_total(std::size_t year) const;
  Quantity depreciation_and_amortization(std::size_t year) const;
  Quantity long_term_debt_of_ifrs(std::size_t year) const;
  Quantity current_debt(std::size_t year) const;
  Quantity current_debt_of_gaap(std::size_t year) const;
  Quantity total_debt(std::size_t year) const;
  Quantity shares_of_cover_page(std::size_t year) const;
  const Fact* cover_page_fact(std::size_t year) const;
  Quantity sum_of_existing(const std::vector<std::string>& tags, std::string_view name,
                           std::size_t year) const;

  VisibleFacts facts_;
  FiscalYears years_;
  std::vector<Split> splits_;
  bool is_bank_ = false;
};

}  // namespace belay::research
