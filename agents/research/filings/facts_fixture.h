#pragma once
// agents/research/filings/facts_fixture.h - company facts that tests write line by line.

#include <algorithm>
#include <string>

#include "agents/research/filings/company_facts.h"

namespace belay::research {

inline Date date_of(const std::string& text) { return Date::parse(text).value(); }

class FactsBuilder {
 public:
  // A value over a period.
  FactsBuilder& flow(const std::string& tag, const std::string& start, const std::string& end,
                     double value, const std::string& filed, const std::string& form = "10-K",
                     const std::string& unit = "USD") {
    return add(tag, {date_of(start), date_of(end), value, "accn-" + filed, form, date_of(filed)},
               unit);
  }
  // A value over the calendar year, filed in February after it.
  FactsBuilder& year(const std::string& tag, int year, double value) {
    std::string name = std::to_string(year);
    return flow(tag, name + "-01-01", name + "-12-31", value, std::to_string(year + 1) + "-02-01");
  }
  // A value at a date.
  FactsBuilder& at(const std::string& tag, const std::string& end, double value,
                   const std::string& filed, const std::string& form = "10-K",
                   const std::string& unit = "USD") {
    return add(tag, {std::nullopt, date_of(end), value, "accn-" + filed, form, date_of(filed)},
               unit);
  }
  // A value at the end of the calendar year, filed in February after it.
  FactsBuilder& year_end(const std::string& tag, int year, double value) {
    return at(tag, std::to_string(year) + "-12-31", value, std::to_string(year + 1) + "-02-01");
  }
  FactsBuilder& add(const std::string& tag, Fact fact, const std::string& unit) {
    std::string name = tag.find(':') == std::string::npos ? "us-gaap:" + tag : tag;
    facts_.last_filed = std::max(facts_.last_filed.value_or(fact.filed), fact.filed);
    facts_.facts[name][unit].push_back(std::move(fact));
    return *this;
  }

  const CompanyFacts& facts() const { return facts_; }
  CompanyFacts& facts() { return facts_; }

 private:
  CompanyFacts facts_;
};

}  // namespace belay::research
