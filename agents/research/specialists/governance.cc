// The numbers of the governance specialist: when a company filed, and which values it filed again.

#include <array>
#include <cmath>
#include <tuple>

#include "agents/research/specialists/quality.h"

namespace belay::research {
namespace {

constexpr std::array kRestatable = {"revenue", "gross_profit", "operating_income", "net_income",
                                    "assets",  "liabilities",  "equity",           "cfo"};

// Returns the first annual filing of a fiscal year's income, revenue or cash flow; null: none.
const Fact* first_filing(const Statements& statements, std::size_t year) {
  const Fact* first = nullptr;
  Date end = statements.years().all()[year].end;
  for (const char* name : {"net_income", "revenue", "cfo"}) {
    const LineItem& item = *find_line_item(name);
    for (const std::string& tag : statements.facts().tags(item)) {
      for (const Fact& fact : statements.facts().of(tag, item.kind)) {
        if (fact.end != end || !is_annual(fact) || !is_annual_form(fact.form)) continue;
        bool is_first =
            !first || std::tie(fact.filed, fact.accn) < std::tie(first->filed, first->accn);
        if (is_first) first = &fact;
      }
    }
  }
  return first;
}

Quantity days_to_filing(const Company& company, std::size_t year) {
  const Fact* first = first_filing(company.statements(), year);
  if (!first) return Quantity::missing(Missing::missing_input, "annual filing");
  int days = first->filed - company.year_end(year);
  if (days > company.constants().filing_max_days) {
    return Quantity::missing(
        Missing::missing_input,
        "original filing: the first one in the file came after " + std::to_string(days) + " days");
  }
  double value = days;
  Input input{
      "filing",           {}, company.year_end(year).text(), value, first->accn, first->form,
      first->filed.text()};
  return Quantity::of(value, Inputs(std::move(input)));
}

// Returns the facts of annual reports of the first tag that has any, in the order of their filing.
std::vector<const Fact*> annual_report_facts(const Statements& statements, const LineItem& item,
                                             std::size_t year, std::string& tag) {
  for (const std::string& each : statements.facts().tags(item)) {
    std::vector<const Fact*> facts =
        statements.facts_of_year(each, item.kind, year, Forms::annual_reports);
    if (facts.empty()) continue;
    tag = each;
    return facts;
  }
  return {};
}

bool is_restated(const Fact& first, const Fact& last, double tolerance) {
  double larger = std::max(std::abs(first.value), std::abs(last.value));
  return first.accn != last.accn && std::abs(first.value - last.value) > tolerance * larger;
}

Quantity restated_items(const Company& company, std::size_t year) {
  bool has_facts = false;
  double count = 0;
  Inputs inputs;
  for (const char* name : kRestatable) {
    std::string tag;
    std::vector<const Fact*> facts =
        annual_report_facts(company.statements(), *find_line_item(name), year, tag);
    if (facts.empty()) continue;
    has_facts = true;
    const Fact& first = *facts.front();
    const Fact& last = *facts.back();
    if (!is_restated(first, last, company.constants().restatement_tolerance)) continue;
    ++count;
    inputs.add(Inputs(fact_input(tag, first)));
    inputs.add(Inputs(fact_input(tag, last)));
  }
  if (!has_facts) return Quantity::missing(Missing::missing_input, "facts of annual reports");
  return Quantity::of(count, inputs);
}

}  // namespace

Results measure_timeliness(const Company& company) {
  SubtaskResults results(company, "governance", "filing_timeliness");
  for (std::size_t year : company.reported_years()) {
    results.add("days_to_annual_filing", "days", year, days_to_filing(company, year));
  }
  return results.take();
}

Results review_restatements(const Company& company) {
  SubtaskResults results(company, "governance", "restatements");
  for (std::size_t year : company.reported_years()) {
    Quantity items = restated_items(company, year);
    results.add("restated_items", "count", year, items);
    if (items.is_available() && items.value() > 0) {
      results.find("restated", Severity::medium, year, "restated_items");
    }
  }
  results.add_latest("amended_annual_filings", "count",
                     Quantity::of(static_cast<double>(company.amended_filings().size())));
  return results.take();
}

Results describe_shares(const Company& company) {
  SubtaskResults results(company, "governance", "share_structure");
  results.add_formulas();
  for (std::size_t year : company.reported_years()) {
    results.add("split_factor_applied", "ratio", year,
                company.statements().split_factor_of_shares(year));
  }
  return results.take();
}

}  // namespace belay::research
