// Files of company facts: any bytes yield an error or figures, each with a finite value or a
// reason, and a file that arrives in parts yields the same.

#include <algorithm>
#include <cmath>
#include <string>

#include "agents/research/filings/company_facts.h"
#include "agents/research/filings/line_items.h"
#include "agents/research/specialists/specialists.h"
#include "tests/fuzz/target.h"

namespace belay::fuzz {
namespace {

using research::CompanyFactsRead;
using research::CompanyFactsReader;

CompanyFactsRead read_in_parts(std::string_view bytes, std::size_t part) {
  CompanyFactsReader reader(research::is_used_tag);
  for (std::size_t at = 0; at < bytes.size() && reader.read(bytes.substr(at, part)); at += part) {
  }
  return reader.finish();
}

void require_figures(const research::Company& company) {
  research::TextContext text;
  text.fiscal_year_end = company.year_end(company.last_year()).text();
  research::SubtaskInput input{company, text};
  for (const research::Specialist& specialist : research::specialists()) {
    for (const research::Subtask& subtask : specialist.subtasks) {
      for (const research::Figure& figure : subtask.calculate(input).figures) {
        const research::Quantity& quantity = figure.quantity;
        require(std::isfinite(quantity.value()), "a value is finite");
        require(quantity.is_available() == quantity.reason().empty(), "a figure has one of both");
      }
    }
  }
}

}  // namespace
}  // namespace belay::fuzz

BELAY_FUZZ_TARGET(CompanyFacts, "company_facts") {
  using namespace belay;
  research::CompanyFactsRead whole =
      fuzz::read_in_parts(input, std::max<std::size_t>(input.size(), 1));
  research::CompanyFactsRead parts = fuzz::read_in_parts(input, 7);
  fuzz::require(whole.error.empty() == parts.error.empty(), "parts yield the same result");
  fuzz::require(whole.facts.facts.size() == parts.facts.facts.size(), "and the same facts");
  if (!whole.error.empty() || !whole.facts.last_filed) return;
  research::MarketData market;
  research::Company company("X", whole.facts, *whole.facts.last_filed, market,
                            research::Constants());
  if (company.has_years()) fuzz::require_figures(company);
}
