// The items of Statements that are calculated from other items and tags: rules R12 and R13.

#include <algorithm>

#include "agents/research/filings/statements.h"

namespace belay::research {
namespace {

Quantity missing_item(std::string_view name) {
  return Quantity::missing(Missing::missing_input, std::string(name));
}

Quantity sum(const Quantity& a, const Quantity& b) {
  return calculated_from(a.value() + b.value(), {&a, &b});
}

Quantity difference(const Quantity& a, const Quantity& b) {
  return calculated_from(a.value() - b.value(), {&a, &b});
}

}  // namespace

Quantity Statements::calculated(std::string_view name, std::size_t year) const {
  if (name == "gross_profit") {
    return difference(tagged("revenue", year), tagged("cost_of_revenue", year));
  }
  if (name == "cost_of_revenue") {
    return difference(tagged("revenue", year), tagged("gross_profit", year));
  }
  if (name == "sga") {
    const char* selling = facts_.is_ifrs() ? "SellingExpense" : "SellingAndMarketingExpense";
    return sum(tag(selling, ItemKind::flow, year),
               tag("GeneralAndAdministrativeExpense", ItemKind::flow, year));
  }
  if (name == "liabilities") {
    return difference(tagged("assets", year), item("equity_total", year));
  }
  if (name == "equity") return calculated_equity(year);
  if (name == "equity_total") return calculated_equity_total(year);
  if (name == "d_and_a") return depreciation_and_amortization(year);
  if (name == "long_term_debt" && facts_.is_ifrs()) return long_term_debt_of_ifrs(year);
  if (name == "current_debt") return current_debt(year);
  if (name == "total_debt") return total_debt(year);
  if (name == "public_float") return public_float(years_.all()[year]);
  if (name == "shares_outstanding") return shares_of_cover_page(year);
  return missing_item(name);
}

Quantity Statements::calculated_equity(std::size_t year) const {
  Quantity total = tagged("equity_total", year);
  if (!total.is_available()) return total;
  Quantity minority = tagged("minority_interest", year);
  if (minority.is_available()) return difference(total, minority);
  if (was_ever_non_zero(*find_line_item("minority_interest"))) return minority;
  total.assume_zero("minority_interest");
  return total;
}

Quantity Statements::calculated_equity_total(std::size_t year) const {
  Quantity parent = tagged("equity", year);
  if (!parent.is_available()) return parent;
  Quantity minority = tagged("minority_interest", year);
  if (minority.is_available()) return sum(parent, minority);
  parent.assume_zero("minority_interest");
  return parent;
}

// A total contains its parts, and companies use the same tag for both: the largest one counts.
Quantity Statements::depreciation_and_amortization(std::size_t year) const {
  auto value = [&](const char* name) { return tag(name, ItemKind::flow, year); };
  std::vector<Quantity> all;
  if (facts_.is_ifrs()) {
    Quantity depreciation = value("DepreciationExpense");
    all = {value("DepreciationAndAmortisationExpense"),
           sum(depreciation, value("AmortisationExpense")), depreciation};
  } else {
    Quantity depreciation = value("Depreciation");
    all = {value("DepreciationAmortizationAndAccretionNet"), value("DepreciationAndAmortization"),
           value("DepreciationDepletionAndAmortization"),
           sum(depreciation, value("AmortizationOfIntangibleAssets")), depreciation};
  }
  Quantity largest = missing_item("d_and_a");
  for (const Quantity& each : all) {
    if (!each.is_available()) continue;
    if (!largest.is_available() || each.value() > largest.value()) largest = each;
  }
  return largest;
}

Quantity Statements::sum_of_existing(const std::vector<std::string>& tags, std::string_view name,
                                     std::size_t year) const {
  Quantity total = missing_item(name);
  for (const std::string& each : tags) {
    Quantity value = tag(each, ItemKind::instant, year);
    if (!value.is_available()) continue;
    total = total.is_available() ? sum(total, value) : value;
  }
  return total;
}

Quantity Statements::long_term_debt_of_ifrs(std::size_t year) const {
  return sum_of_existing({"LongtermBorrowings", "NoncurrentPortionOfNoncurrentBondsIssued"},
                         "long_term_debt", year);
}

Quantity Statements::current_debt(std::size_t year) const {
  if (!facts_.is_ifrs()) return current_debt_of_gaap(year);
  return sum_of_existing({"ShorttermBorrowings", "CurrentPortionOfLongtermBorrowings",
                          "CurrentBondsIssuedAndCurrentPortionOfNoncurrentBondsIssued"},
                         "current_debt", year);
}

Quantity Statements::current_debt_of_gaap(std::size_t year) const {
  auto value = [&](const char* name) { return tag(name, ItemKind::instant, year); };
  const LineItem& long_term = *find_line_item("long_term_debt");
  bool is_with_leases = chosen(facts_.tags(long_term), long_term.kind, year).tag ==
                        "LongTermDebtAndCapitalLeaseObligations";
  Quantity maturing = missing_item("current_debt");
  if (is_with_leases) maturing = value("LongTermDebtAndCapitalLeaseObligationsCurrent");
  if (!maturing.is_available()) {
    Quantity all = value("DebtCurrent");
    if (all.is_available()) return all;
    maturing = value("LongTermDebtCurrent");
  }
  Quantity short_term = value("ShortTermBorrowings");
  if (!short_term.is_available()) short_term = value("CommercialPaper");
  if (!maturing.is_available()) return short_term;
  // Equal values are one line of the balance sheet under two tags.
  if (!short_term.is_available() || short_term.value() == maturing.value()) return maturing;
  return sum(maturing, short_term);
}

Quantity Statements::total_debt(std::size_t year) const {
  Quantity long_term = item("long_term_debt", year);
  if (!long_term.is_available()) return long_term;
  Quantity current = item("current_debt", year);
  if (current.is_available()) return sum(long_term, current);
  long_term.assume_zero("current_debt");
  return long_term;
}

}  // namespace belay::research
