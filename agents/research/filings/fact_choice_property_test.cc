// Rules R7 and R8: the fact behind an item is that of a literal reading of the rules.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "agents/research/filings/facts_fixture.h"
#include "tests/research/properties/disturbances.h"
#include "tests/research/properties/random_company.h"

namespace belay::research {
namespace {

struct Report {
  const char* accn;
  const char* form;
  const char* filed;
};
constexpr std::array kReports = {
    Report{"a", "10-K", "2024-02-01"},    Report{"b", "10-K/A", "2024-02-01"},
    Report{"c", "10-Q", "2024-05-01"},    Report{"d", "20-F", "2025-02-01"},
    Report{"e", "8-K", "2025-02-01"},     Report{"f", "DEF 14A", "2025-03-01"},
    Report{"g", "PRE 14A", "2024-03-01"}, Report{"h", "6-K", "2023-01-01"}};
constexpr std::array kStarts = {"2023-01-01", "2023-01-02", "2022-12-25", "2023-07-01"};
constexpr std::array kEnds = {"2023-12-31", "2023-12-30", "2022-12-31"};

// A fact by its place in the lists above. `start` of 4: none.
struct Choice {
  std::size_t tag = 0;  // in the order of the item's tags
  std::size_t report = 0;
  std::size_t start = 0;
  std::size_t end = 0;
  int value = 0;
};
std::ostream& operator<<(std::ostream& out, const Choice& choice) {
  const Report& report = kReports[choice.report];
  return out << "tag " << choice.tag << ", "
             << (choice.start < kStarts.size() ? kStarts[choice.start] : "at") << " to "
             << kEnds[choice.end] << " = " << choice.value << ", " << report.form << " filed "
             << report.filed << " (" << report.accn << ")";
}

// Most facts of an instant item are at a date.
rc::Gen<std::vector<Choice>> choices(const LineItem& item) {
  const std::size_t tags = item.gaap.size();
  auto start = rc::gen::inRange<std::size_t>(0, kStarts.size() + 1);
  auto no_start = rc::gen::element<std::size_t>(4, 4, 4, 4, 0);
  return rc::gen::container<std::vector<Choice>>(rc::gen::build<Choice>(
      rc::gen::set(&Choice::tag, rc::gen::inRange<std::size_t>(0, tags)),
      rc::gen::set(&Choice::report, rc::gen::inRange<std::size_t>(0, kReports.size())),
      rc::gen::set(&Choice::start, item.kind == ItemKind::instant ? no_start : start),
      rc::gen::set(&Choice::end, rc::gen::element<std::size_t>(0, 0, 0, 1, 2)),
      rc::gen::set(&Choice::value, rc::gen::inRange(-3, 4))));
}

CompanyFacts facts_of(const std::vector<Choice>& all, const LineItem& item) {
  FactsBuilder facts;
  facts.year("Revenues", 2022, 1).year("Revenues", 2023, 2);
  for (const Choice& each : all) {
    const Report& report = kReports[each.report];
    Fact fact{std::nullopt, date_of(kEnds[each.end]), static_cast<double>(each.value), report.accn,
              report.form,  date_of(report.filed)};
    if (each.start < kStarts.size()) fact.start = date_of(kStarts[each.start]);
    facts.add(item.gaap[each.tag], std::move(fact), unit_of_kind(item.kind, "USD"));
  }
  return facts.facts();
}

bool is_of_proxy(const Choice& choice) {
  const std::string_view form = kReports[choice.report].form;
  return form == "DEF 14A" || form == "PRE 14A";
}
bool is_of_annual_form(const Choice& choice) {
  const std::string_view form = kReports[choice.report].form;
  return form == "10-K" || form == "10-K/A" || form == "20-F";
}

// The facts of the year to 2023-12-31. Proxies are another source: the periods that they have do
// not decide on those of reports.
std::vector<Choice> of_year(const std::vector<Choice>& all, std::size_t tag, bool is_instant,
                            bool of_proxy) {
  std::vector<Choice> found;
  bool has_start = false;
  for (const Choice& each : all) {
    if (each.tag != tag || each.end != 0 || is_of_proxy(each) != of_proxy) continue;
    // The third of the lengths is 184 days.
    const bool is_annual = each.start < 3;
    if (is_instant ? each.start != kStarts.size() : !is_annual) continue;
    has_start = has_start || each.start == 0;
    found.push_back(each);
  }
  if (!is_instant && has_start) {
    std::erase_if(found, [](const Choice& each) { return each.start != 0; });
  }
  return found;
}

std::optional<Choice> choice_by_rule(const std::vector<Choice>& all, const LineItem& item) {
  const bool is_instant = item.kind == ItemKind::instant;
  auto rank = [](const Choice& each) {
    const Report& report = kReports[each.report];
    const std::string start = each.start < kStarts.size() ? kStarts[each.start] : "";
    return std::tuple(is_of_annual_form(each), std::string(report.filed), std::string(report.accn),
                      start, each.value);
  };
  for (bool of_proxy : {false, true}) {
    for (std::size_t tag = 0; tag < item.gaap.size(); ++tag) {
      std::optional<Choice> best;
      for (const Choice& each : of_year(all, tag, is_instant, of_proxy)) {
        if (!best || rank(*best) < rank(each)) best = each;
      }
      if (best) return best;
    }
  }
  return std::nullopt;
}

void check_item(const char* name) {
  const LineItem& item = *find_line_item(name);
  const auto all = *choices(item);
  const Statements statements(facts_of(all, item), after_all_filings());
  std::vector<Choice> visible = all;
  std::erase_if(visible, [](const Choice& each) {
    return date_of(kReports[each.report].filed) > after_all_filings();
  });
  const std::optional<Choice> expected = choice_by_rule(visible, item);
  const Quantity found = statements.item(name, 1);
  RC_CLASSIFY(expected.has_value(), "a value");
  RC_ASSERT(found.is_available() == expected.has_value());
  if (!expected) return;
  RC_ASSERT(found.value() == expected->value);
  RC_ASSERT(found.inputs().all().at(0)->accn == std::string(kReports[expected->report].accn));
  RC_ASSERT(found.inputs().all().at(0)->concept_name == item.gaap[expected->tag]);
}

RC_GTEST_PROP(FactChoiceProperty, AFlowIsThatOfTheRules, ()) { check_item("interest_expense"); }
RC_GTEST_PROP(FactChoiceProperty, ABalanceIsThatOfTheRules, ()) {
  check_item("short_term_investments");
}
RC_GTEST_PROP(FactChoiceProperty, AnAmountPerShareIsThatOfTheRules, ()) { check_item("eps_basic"); }

// An amount that a tag has.
struct TaggedAmount {
  const LineItem* item;
  std::size_t year;
};

std::vector<TaggedAmount> tagged_amounts(const Statements& statements) {
  std::vector<TaggedAmount> found;
  for (std::size_t year = 0; year < statements.years().all().size(); ++year) {
    for (const LineItem& item : line_items()) {
      const bool is_of_shares =
          item.kind == ItemKind::shares_of_year || item.kind == ItemKind::shares_at_date;
      if (!is_of_shares && statements.fact_of(item, year)) found.push_back({&item, year});
    }
  }
  return found;
}

// A later annual report that repeats a year with another value replaces the value, whatever the
// reports before it contain.
RC_GTEST_PROP(FactChoiceProperty, TheLastRestatementCounts, ()) {
  const CompanyPlan plan = *any_plan();
  const auto pick = *rc::gen::inRange<std::size_t>(0, 1'000'000);
  CompanyFacts facts = facts_of(plan);
  const Date as_of = after_all_filings();
  const Statements before(facts, as_of);
  const std::vector<TaggedAmount> amounts = tagged_amounts(before);
  RC_PRE(!amounts.empty());
  const auto [item, year] = amounts[pick % amounts.size()];
  Fact restated = *before.fact_of(*item, year);
  restated.value += 17;
  restated.filed = as_of;
  restated.accn = "restated";
  restated.form = "10-K/A";
  const std::string prefix = before.facts().is_ifrs() ? "ifrs-full:" : "us-gaap:";
  const std::string tag = before.item(item->name, year).inputs().all().at(0)->concept_name;
  add_fact(facts, prefix + tag, unit_of_kind(item->kind, plan.currency), restated);
  const Statements after(facts, as_of);
  RC_ASSERT(after.item(item->name, year).value() == restated.value);
  RC_ASSERT(after.item(item->name, year).inputs().all().at(0)->accn == std::string("restated"));
  RC_ASSERT(Statements(facts, Date{as_of.days - 1}).item(item->name, year).value() ==
            before.item(item->name, year).value());
}

}  // namespace
}  // namespace belay::research
