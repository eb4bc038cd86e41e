// The properties of rules R1 to R9 on the files of real companies.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>

#include "agents/research/filings/data_folders.h"
#include "tests/research/properties/disturbances.h"
#include "tests/research/properties/random_company.h"
#include "tests/research/properties/whole_analysis.h"

namespace belay::research {
namespace {

using NoDifferences = std::vector<std::string>;

const CompanyFacts& bundled_facts(const std::string& ticker) {
  static std::map<std::string, CompanyFacts> all;
  auto [place, is_new] = all.try_emplace(ticker);
  if (is_new) {
    DataFolders folders({BELAY_SOURCE_DIR "/agents/research/data"});
    place->second = *folders.company_facts(bundled_cik(ticker)).content;
  }
  return place->second;
}

std::string any_ticker() {
  return *rc::gen::element<std::string>("AAPL", "CAT", "GOOGL", "JPM", "MSFT", "NVDA", "TSLA");
}

// The last day of the file, or up to ten years before it.
Date any_date(const CompanyFacts& facts) {
  return Date{facts.last_filed->days - *rc::gen::element(0, 1) * *rc::gen::inRange(0, 3650)};
}

RC_GTEST_PROP(BundledFilesProperty, WhatIsAddedChangesNoItem, ()) {
  const std::string ticker = any_ticker();
  const CompanyFacts& facts = bundled_facts(ticker);
  const Date as_of = any_date(facts);
  const CompanyFacts disturbed = Disturber(facts, as_of).disturbed(*any_disturbances());
  RC_ASSERT(differences(Statements(facts, as_of), Statements(disturbed, as_of)) == NoDifferences());
}

RC_GTEST_PROP(BundledFilesProperty, WhatIsAddedChangesNoFigure, ()) {
  const std::string ticker = any_ticker();
  const CompanyFacts& facts = bundled_facts(ticker);
  const Date as_of = *facts.last_filed;
  const CompanyFacts disturbed = Disturber(facts, as_of).disturbed(*any_disturbances());
  RC_ASSERT(differences(whole_analysis(facts, as_of, ticker),
                        whole_analysis(disturbed, as_of, ticker)) == NoDifferences());
}

// The shares issued at a date that the file does not have, before and after a split that follows
// all filings of the file.
CompanyFacts split_after_all(const CompanyFacts& facts, double factor) {
  CompanyFacts split = facts;
  Fact issued;
  issued.end.days = facts.last_filed->days - 1;
  issued.value = 1000;
  issued.accn = "before-the-split";
  issued.form = "10-Q";
  issued.filed = *facts.last_filed;
  add_fact(split, "us-gaap:CommonStockSharesIssued", "shares", issued);
  issued.value *= factor;
  issued.accn = "after-the-split";
  ++issued.filed.days;
  add_fact(split, "us-gaap:CommonStockSharesIssued", "shares", issued);
  return split;
}

RC_GTEST_PROP(BundledFilesProperty, ASplitAfterTheLastFilingIsTakenIntoAccount, ()) {
  const std::string ticker = any_ticker();
  const double factor = *rc::gen::element(2.0, 0.5, 4.0, 10.0, 0.1, 3.0);
  const CompanyFacts& facts = bundled_facts(ticker);
  const Statements before(facts, *facts.last_filed);
  const Statements after(split_after_all(facts, factor), Date{facts.last_filed->days + 1});
  const std::size_t last = before.years().all().size() - 1;
  for (std::size_t year = 0; year <= last; ++year) {
    for (const LineItem& item : line_items()) {
      double expected = before.item(item.name, year).value();
      const bool is_count =
          item.kind == ItemKind::shares_of_year || item.kind == ItemKind::shares_at_date;
      if (is_count) expected *= factor;
      if (item.kind == ItemKind::per_share) expected /= factor;
      const Quantity found = after.item(item.name, year);
      RC_LOG() << ticker << " " << item.name << " " << after.years().all()[year].end.text() << "\n";
      RC_ASSERT(found.reason() == before.item(item.name, year).reason());
      RC_ASSERT(std::abs(found.value() - expected) <= 1e-12 * std::abs(expected));
    }
  }
}

}  // namespace
}  // namespace belay::research
