#include "agents/research/filings/statements.h"

#include <algorithm>

namespace belay::research {
namespace {

bool has_visible(const VisibleFacts& facts, const char* tag, ItemKind kind) {
  return !facts.of(tag, kind).empty();
}

bool is_of_a_bank(const VisibleFacts& facts) {
  if (facts.is_ifrs()) {
    return has_visible(facts, "DepositsFromCustomers", ItemKind::instant) &&
           !has_visible(facts, "CurrentAssets", ItemKind::instant);
  }
  bool is_like_a_bank = has_visible(facts, "Deposits", ItemKind::instant) ||
                        has_visible(facts, "NoninterestIncome", ItemKind::flow) ||
                        has_visible(facts, "NoninterestExpense", ItemKind::flow);
  return is_like_a_bank && !has_visible(facts, "AssetsCurrent", ItemKind::instant);
}

bool is_instant(ItemKind kind) {
  return kind == ItemKind::instant || kind == ItemKind::shares_at_date;
}

bool is_number_of_shares(ItemKind kind) {
  return kind == ItemKind::shares_of_year || kind == ItemKind::shares_at_date;
}

bool is_of(std::string_view form, Forms forms) {
  switch (forms) {
    case Forms::reports:
      return !is_proxy_form(form);
    case Forms::annual_reports:
      return is_annual_form(form);
    case Forms::proxies:
      return is_proxy_form(form);
  }
  return false;
}

bool is_of_year(const Fact& fact, ItemKind kind, const FiscalYear& year) {
  if (fact.end != year.end) return false;
  return is_instant(kind) ? !fact.start : is_annual(fact);
}

}  // namespace

Input fact_input(const std::string& tag, const Fact& fact) {
  // The tags of other taxonomies have their prefix: "dei:EntityPublicFloat".
  std::string name = tag.substr(tag.find(':') + 1);
  return {std::move(name),  fact.start ? fact.start->text() : "",
          fact.end.text(),  fact.value,
          fact.accn,        fact.form,
          fact.filed.text()};
}

Statements::Statements(const CompanyFacts& company, Date as_of)
    : facts_(company, as_of),
      years_(facts_),
      splits_(splits_in(facts_)),
      is_bank_(is_of_a_bank(facts_)) {}

std::vector<const Fact*> Statements::facts_of_year(const std::string& tag, ItemKind kind,
                                                   std::size_t year, Forms forms) const {
  const FiscalYear& fiscal_year = years_.all()[year];
  std::vector<const Fact*> found;
  bool has_start = false;
  for (const Fact& fact : facts_.of(tag, kind)) {
    if (!is_of_year(fact, kind, fiscal_year) || !is_of(fact.form, forms)) continue;
    found.push_back(&fact);
    has_start = has_start || fact.start == fiscal_year.start;
  }
  if (has_start && !is_instant(kind)) {
    std::erase_if(found, [&](const Fact* fact) { return fact->start != fiscal_year.start; });
  }
  return found;
}

const Fact* Statements::best_fact(const std::string& tag, ItemKind kind, std::size_t year,
                                  Forms forms) const {
  const Fact* best = nullptr;
  for (const Fact* fact : facts_of_year(tag, kind, year, forms)) {
    // The facts are in order: a later one is better, unless it is of a lower class.
    if (best && is_annual_form(best->form) && !is_annual_form(fact->form)) continue;
    best = fact;
  }
  return best;
}

Statements::Chosen Statements::chosen(const std::vector<std::string>& tags, ItemKind kind,
                                      std::size_t year) const {
  for (Forms forms : {Forms::reports, Forms::proxies}) {
    for (const std::string& tag : tags) {
      if (const Fact* fact = best_fact(tag, kind, year, forms)) return {fact, tag};
    }
  }
  return {};
}

Quantity Statements::quantity_of(const Chosen& chosen, ItemKind kind) const {
  double value = chosen.fact->value;
  double factor = split_factor(splits_, chosen.fact->filed);
  if (is_number_of_shares(kind)) value *= factor;
  if (kind == ItemKind::per_share) value /= factor;
  return Quantity::of(value, Inputs(fact_input(chosen.tag, *chosen.fact)));
}

Quantity Statements::tag(const std::string& tag, ItemKind kind, std::size_t year) const {
  Chosen found = chosen({tag}, kind, year);
  return found.fact ? quantity_of(found, kind) : Quantity::missing(Missing::missing_input, tag);
}

const Fact* Statements::fact_of(const LineItem& item, std::size_t year) const {
  return chosen(facts_.tags(item), item.kind, year).fact;
}

Quantity Statements::tagged(std::string_view name, std::size_t year) const {
  const LineItem& item = *find_line_item(name);
  Chosen found = chosen(facts_.tags(item), item.kind, year);
  if (found.fact) return quantity_of(found, item.kind);
  return Quantity::missing(Missing::missing_input, std::string(name));
}

Quantity Statements::item(std::string_view name, std::size_t year) const {
  Quantity value = tagged(name, year);
  if (value.is_available()) return value;
  value = calculated(name, year);
  // The reason is that of the item: the parts of a calculation are not the readers' concern.
  if (!value.is_available()) return Quantity::missing(Missing::missing_input, std::string(name));
  return value;
}

Quantity Statements::optional_item(std::string_view name, std::size_t year) const {
  Quantity value = item(name, year);
  const LineItem& line = *find_line_item(name);
  if (value.is_available() || facts_.tags(line).empty() || was_ever_non_zero(line)) return value;
  Quantity zero = Quantity::of(0);
  zero.assume_zero(std::string(name));
  return zero;
}

bool Statements::was_ever_non_zero(const LineItem& item) const {
  for (const std::string& tag : facts_.tags(item)) {
    for (const Fact& fact : facts_.of(tag, item.kind)) {
      if (fact.value != 0) return true;
    }
  }
  return false;
}

bool is_from_proxy(const Quantity& quantity) {
  const auto& inputs = quantity.inputs().all();
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const auto& input) { return is_proxy_form(input->form); });
}

const Fact* Statements::cover_page_fact(std::size_t year) const {
  constexpr int kDaysAfterMax = 120;
  Date year_end = years_.all()[year].end;
  const Fact* best = nullptr;
  for (const Fact& fact :
       facts_.of("dei:EntityCommonStockSharesOutstanding", ItemKind::shares_at_date)) {
    int days = fact.end - year_end;
    if (fact.start || !is_annual_form(fact.form) || days < 0 || days > kDaysAfterMax) continue;
    // The facts are in the order of their filing: of one date, the last one counts.
    if (!best || fact.end <= best->end) best = &fact;
  }
  return best;
}

Quantity Statements::public_float(std::optional<FiscalYear> period) const {
  const Fact* best = nullptr;
  for (const Fact& fact : facts_.of("dei:EntityPublicFloat", ItemKind::instant)) {
    bool is_within = !period || (fact.end >= period->start && fact.end <= period->end);
    if (fact.start || !is_within) continue;
    if (!best || fact.end >= best->end) best = &fact;
  }
  if (!best) return Quantity::missing(Missing::missing_input, "public_float");
  return Quantity::of(best->value, Inputs(fact_input("EntityPublicFloat", *best)));
}

Quantity Statements::shares_of_cover_page(std::size_t year) const {
  const Fact* fact = cover_page_fact(year);
  if (!fact) return Quantity::missing(Missing::missing_input, "shares_outstanding");
  return quantity_of({fact, "EntityCommonStockSharesOutstanding"}, ItemKind::shares_at_date);
}

Quantity Statements::split_factor_of_shares(std::size_t year) const {
  const LineItem& shares = *find_line_item("shares_outstanding");
  const Fact* fact = fact_of(shares, year);
  if (!fact) fact = cover_page_fact(year);
  if (!fact) return Quantity::missing(Missing::missing_input, "shares_outstanding");
  Quantity factor = Quantity::of(split_factor(splits_, fact->filed));
  factor.add_inputs(item("shares_outstanding", year).inputs());
  return factor;
}

}  // namespace belay::research
