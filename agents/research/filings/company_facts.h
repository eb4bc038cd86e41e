#pragma once
// agents/research/filings/company_facts.h - the facts of a company, as SEC EDGAR publishes them.
//
// The format is that of EDGAR's "companyfacts" files: facts, by taxonomy, tag and unit, each with
// its period and the filing that contains it. See https://www.sec.gov/edgar/sec-api-documentation.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/finance/date.h"

namespace belay::research {

struct Fact {
  std::optional<Date> start;  // empty: the value at the date `end`
  Date end;
  double value = 0;  // at most 1e20 in absolute value
  std::string accn;  // accession number of the filing
  std::string form;
  Date filed;
};

// Orders by (filed, accn, start, value): of several facts for a period, the greatest one counts.
// The order of the file has no meaning.
bool is_earlier(const Fact& a, const Fact& b);

// The classes of forms, which rank as sources of a fact.
bool is_annual_form(std::string_view form);     // 10-K, 10-KT, 20-F, 40-F, and their amendments
bool is_amended_annual(std::string_view form);  // of these, the amendments
bool is_proxy_form(std::string_view form);      // proxy statements, which contain rounded figures

struct Filing {
  std::string accn;
  std::string form;
  Date filed;
};

// Values of one tag, by unit: "USD", "USD/shares", "shares".
using FactsByUnit = std::map<std::string, std::vector<Fact>, std::less<>>;

struct CompanyFacts {
  std::string cik;  // ten digits; empty if the file has none
  std::string entity_name;
  // By "TAXONOMY:TAG", for example "us-gaap:Assets". Only the tags that the reader was asked for.
  std::map<std::string, FactsByUnit, std::less<>> facts;
  std::optional<Date> last_filed;  // of all tags; empty: no fact
  std::map<std::string, Filing, std::less<>>
      amended;  // amended annual filings of all tags, by accn
};

struct CompanyFactsRead {
  CompanyFacts facts;
  std::string error;  // empty, or why the file cannot be used: "not valid JSON at byte 17: ..."
};

// Reads such a file. `is_wanted` selects the tags ("us-gaap:Assets") whose facts are kept. An entry
// without a number `val`, or without one of its texts and dates, does not exist; members of another
// shape are ignored. Memory is in proportion to the facts that are kept, not to the file.
class CompanyFactsReader {
 public:
  explicit CompanyFactsReader(bool (*is_wanted)(std::string_view tag));
  ~CompanyFactsReader();
  CompanyFactsReader(const CompanyFactsReader&) = delete;
  CompanyFactsReader& operator=(const CompanyFactsReader&) = delete;

  // Reads the next part of the file. Returns false after an error.
  bool read(std::string_view part);
  CompanyFactsRead finish();

 private:
  class Parser;
  const std::unique_ptr<Parser> parser_;
};

}  // namespace belay::research
