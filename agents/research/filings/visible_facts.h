#pragma once
// agents/research/filings/visible_facts.h - the facts that were known at a date, in one taxonomy
// and one currency.

#include <string>
#include <string_view>
#include <vector>

#include "agents/research/filings/company_facts.h"
#include "agents/research/filings/line_items.h"

namespace belay::research {

// The facts that were filed up to the date `as_of` (rule R1). Chooses the taxonomy (R2), and the
// currency with the most facts of assets, net income and revenue (R3).
class VisibleFacts {
 public:
  VisibleFacts(const CompanyFacts& facts, Date as_of);

  Date as_of() const { return as_of_; }
  bool is_ifrs() const { return is_ifrs_; }
  // "USD"; empty if there is no fact of these items.
  const std::string& currency() const { return currency_; }

  // Returns the tags of an item in the taxonomy.
  const std::vector<std::string>& tags(const LineItem& item) const {
    return is_ifrs_ ? item.ifrs : item.gaap;
  }
  // Returns the facts of a tag in the unit of that kind, in the order of is_earlier(). `tag` is one
  // of the taxonomy, or "dei:..." or "ecd:...".
  const std::vector<Fact>& of(std::string_view tag, ItemKind kind) const;

 private:
  std::string full_name(std::string_view tag) const;
  std::string unit_of(ItemKind kind) const;
  bool has_assets(const std::string& taxonomy) const;
  std::string most_frequent_currency() const;

  Date as_of_;
  std::map<std::string, FactsByUnit, std::less<>> facts_;
  bool is_ifrs_ = false;
  std::string currency_;
};

}  // namespace belay::research
