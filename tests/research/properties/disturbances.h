#pragma once
// tests/research/properties/disturbances.h - changes of a file that must change no annual value.

#include <rapidcheck.h>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "agents/research/filings/statements.h"

namespace belay::research {

struct Disturbance {
  enum Kind {
    shuffle,         // another order of all facts (R7)
    duplicate,       // a fact of a fiscal year twice (R7)
    later_filing,    // any fact filed after the as-of date (R1)
    other_taxonomy,  // a fact of the taxonomy that does not count (R2)
    other_currency,  // a translation of a fact (R3)
    quarter,         // three months, or a balance within a year (R4)
    other_form,      // another value, of another form, where an annual report has the period (R5)
  };
  int kind = shuffle;
  std::uint32_t pick = 0;  // selects the fact and the change
};
std::ostream& operator<<(std::ostream& out, const Disturbance& disturbance);

// The kinds are equally frequent.
rc::Gen<std::vector<Disturbance>> any_disturbances();
rc::Gen<std::vector<Disturbance>> disturbances_of(Disturbance::Kind kind);

// Disturbs copies of a file, which must outlive the object.
class Disturber {
 public:
  Disturber(const CompanyFacts& facts, Date as_of);

  // Writes a line for each added fact to the log of the property.
  CompanyFacts disturbed(const std::vector<Disturbance>& disturbances) const;

 private:
  struct Place {
    std::string tag;
    std::string unit;
    const Fact* fact;
  };

  std::vector<Place> places() const;
  bool is_of_a_spine_year(const Place& place) const;
  void apply(const Disturbance& disturbance, CompanyFacts& facts, std::size_t& translations) const;
  void add_twin(std::uint32_t pick, CompanyFacts& facts) const;
  void add_later_filing(std::uint32_t pick, CompanyFacts& facts) const;
  void add_of_other_taxonomy(std::uint32_t pick, CompanyFacts& facts) const;
  void add_translation(std::uint32_t pick, CompanyFacts& facts, std::size_t& translations) const;
  void add_quarter(std::uint32_t pick, CompanyFacts& facts) const;
  void add_of_other_form(std::uint32_t pick, CompanyFacts& facts) const;

  const CompanyFacts& facts_;
  const Date as_of_;
  const Statements statements_;
  std::vector<Place> all_;          // visible, in the currency of the statements or in shares
  std::vector<Place> spine_;        // of these, those of a fiscal year
  std::vector<Place> replaceable_;  // of these, those that another form can have, too
  std::vector<Place> amounts_;      // of all, those for which quarters can be added
  std::size_t counted_ = 0;         // facts that decide on the currency
};

// All facts in another order.
void shuffle_facts(CompanyFacts& facts, std::uint32_t seed);

}  // namespace belay::research
