#include "tests/research/properties/random_company.h"

#include <algorithm>
#include <array>
#include <map>
#include <ostream>

#include "agents/research/filings/facts_fixture.h"

namespace belay::research {
namespace {

constexpr int kLastYear = 2023;
constexpr std::size_t kFactsShown = 40;

using KindsByTag = std::map<std::string, ItemKind>;

void add_tags_of_rules(KindsByTag& kinds) {
  for (const char* tag :
       {"us-gaap:SellingAndMarketingExpense", "us-gaap:GeneralAndAdministrativeExpense",
        "us-gaap:DepreciationAmortizationAndAccretionNet", "us-gaap:DepreciationAndAmortization",
        "us-gaap:DepreciationDepletionAndAmortization", "ifrs-full:SellingExpense",
        "ifrs-full:GeneralAndAdministrativeExpense", "ifrs-full:DepreciationAndAmortisationExpense",
        "ecd:PeoTotalCompAmt"}) {
    kinds[tag] = ItemKind::flow;
  }
  for (const char* tag :
       {"us-gaap:LongTermDebtAndCapitalLeaseObligationsCurrent", "us-gaap:DebtCurrent",
        "us-gaap:LongTermDebtCurrent", "us-gaap:ShortTermBorrowings", "us-gaap:CommercialPaper",
        "ifrs-full:LongtermBorrowings", "ifrs-full:NoncurrentPortionOfNoncurrentBondsIssued",
        "ifrs-full:ShorttermBorrowings", "ifrs-full:CurrentPortionOfLongtermBorrowings",
        "ifrs-full:CurrentBondsIssuedAndCurrentPortionOfNoncurrentBondsIssued",
        "dei:EntityPublicFloat"}) {
    kinds[tag] = ItemKind::instant;
  }
  for (const char* tag : {"us-gaap:CommonStockSharesIssued", "ifrs-full:NumberOfSharesIssued",
                          "dei:EntityCommonStockSharesOutstanding"}) {
    kinds[tag] = ItemKind::shares_at_date;
  }
}

const KindsByTag& kinds_by_tag() {
  static const KindsByTag all = [] {
    KindsByTag kinds;
    for (const LineItem& item : line_items()) {
      for (const std::string& tag : item.gaap) kinds["us-gaap:" + tag] = item.kind;
      for (const std::string& tag : item.ifrs) kinds["ifrs-full:" + tag] = item.kind;
    }
    add_tags_of_rules(kinds);
    return kinds;
  }();
  return all;
}

bool is_share_count(ItemKind kind) {
  return kind == ItemKind::shares_of_year || kind == ItemKind::shares_at_date;
}

Date year_end(int calendar, int year) {
  const std::string name = std::to_string(year);
  if (calendar == CompanyPlan::june) return date_of(name + "-06-30");
  if (calendar == CompanyPlan::december) return date_of(name + "-12-31");
  // The first of January 1970 was a Thursday.
  const bool is_saturday = calendar == CompanyPlan::last_saturday_of_september;
  Date date = date_of(name + (is_saturday ? "-09-30" : "-01-31"));
  while ((date.days + 4) % 7 != (is_saturday ? 6 : 0)) --date.days;
  return date;
}

double extreme_value(std::uint32_t bits) {
  constexpr std::array kValues = {
      0.0,    -0.0,    1.0, -1.0,  1e20, -1e20, 99999999999999999999.0, 1e10, 0.1, 1e-300,
      5e-324, -1e-200, 3.0, 100.0, 7.0,  1e6};
  return kValues[bits % kValues.size()];
}

double amount(std::uint32_t bits, const std::string& tag) {
  if (bits / 1000 % 24 == 0) return 0;
  double value = 1 + bits % 1000;
  if (tag.ends_with(":Assets")) value += 4000;
  if (tag.ends_with(":Revenues") || tag.ends_with(":Revenue")) value += 1000;
  if (bits / 100'000 % 16 == 0) value = -value;
  return value * 1e6;
}

double value_of(const CompanyPlan& plan, const std::string& tag, int year, int report) {
  constexpr double kShares = 42'000;  // a multiple of all factors of splits
  const ItemKind kind = kind_of_tag(tag);
  if (plan.seed == 0) {
    auto found = std::find(plan.tags.begin(), plan.tags.end(), tag);
    const double value = 100 + 10 * static_cast<double>(found - plan.tags.begin()) + year;
    return is_share_count(kind) ? kShares * value : value;
  }
  const bool is_changed = plan.is_restating && !is_share_count(kind);
  const int version = is_changed ? year + 100 * report : year;
  const std::uint32_t bits = mixed_bits(plan.seed, tag, version);
  if (plan.is_extreme) return extreme_value(bits);
  if (is_share_count(kind)) return kShares * (1 + bits % 1000);
  if (kind == ItemKind::per_share) return static_cast<double>(bits % 2000) / 64 - 2;
  return amount(bits, tag);
}

// The dates of a fact of that period, in the report of the year `report`.
Fact dated_fact(const std::string& tag, const FiscalYear& period, const FiscalYear& report,
                bool is_ifrs) {
  constexpr int kCoverPageDays = 20;
  constexpr int kFloatDays = 180;
  constexpr int kProxyDays = 40;
  const ItemKind kind = kind_of_tag(tag);
  Fact fact;
  fact.end = period.end;
  if (kind != ItemKind::instant && kind != ItemKind::shares_at_date) fact.start = period.start;
  fact.filed = filing_date(report);
  fact.form = is_ifrs ? "20-F" : "10-K";
  if (tag == "dei:EntityCommonStockSharesOutstanding") fact.end.days += kCoverPageDays;
  if (tag == "dei:EntityPublicFloat") fact.end.days -= kFloatDays;
  if (tag == "ecd:PeoTotalCompAmt") {
    fact.form = "DEF 14A";
    fact.filed.days += kProxyDays;
  }
  fact.accn = "filing-" + fact.filed.text();
  return fact;
}

bool is_hole(const CompanyPlan& plan, const std::string& tag, int year) {
  if (year == plan.absent_year) return true;
  return plan.has_holes && mixed_bits(plan.seed, tag + " hole", year) % 12 == 0;
}

rc::Seq<CompanyPlan> simpler(const CompanyPlan& plan) {
  auto with_tags = [plan](std::vector<std::string> tags) {
    CompanyPlan other = plan;
    other.tags = std::move(tags);
    return other;
  };
  auto with_years = [plan](int years) {
    CompanyPlan other = plan;
    other.years = years;
    return other;
  };
  std::vector<CompanyPlan> others;
  auto add_if = [&](bool is_simpler, auto change) {
    if (!is_simpler) return;
    others.push_back(plan);
    change(others.back());
  };
  add_if(plan.seed != 0 && !plan.is_extreme, [](CompanyPlan& each) { each.seed = 0; });
  add_if(plan.has_holes, [](CompanyPlan& each) { each.has_holes = false; });
  add_if(plan.is_restating, [](CompanyPlan& each) { each.is_restating = false; });
  add_if(plan.is_extreme, [](CompanyPlan& each) { each.is_extreme = false; });
  add_if(plan.absent_year >= 0, [](CompanyPlan& each) { each.absent_year = -1; });
  add_if(plan.comparatives > 0, [](CompanyPlan& each) { --each.comparatives; });
  add_if(plan.calendar != CompanyPlan::december,
         [](CompanyPlan& each) { each.calendar = CompanyPlan::december; });
  return rc::seq::concat(rc::seq::map(rc::shrink::removeChunks(plan.tags), with_tags),
                         rc::seq::map(rc::shrink::towards(plan.years, 1), with_years),
                         rc::seq::fromContainer(others));
}

rc::Gen<CompanyPlan> shrinking(rc::Gen<CompanyPlan> plan) {
  // As large as possible: the first cases of a property would have one year only.
  auto large = rc::gen::resize(rc::kNominalSize, std::move(plan));
  return rc::gen::shrink(rc::gen::noShrink(std::move(large)),
                         [](const CompanyPlan& each) { return simpler(each); });
}

CompanyPlan generated_plan() {
  CompanyPlan plan;
  plan.years = *rc::gen::inRange(1, 7);
  plan.calendar = *rc::gen::inRange(0, 4);
  plan.is_ifrs = *rc::gen::inRange(0, 4) == 0;
  if (*rc::gen::inRange(0, 4) == 0) plan.currency = "EUR";
  plan.seed = *rc::gen::inRange<std::uint32_t>(1, 1'000'000);
  plan.comparatives = *rc::gen::inRange(0, 3);
  plan.is_restating = *rc::gen::arbitrary<bool>();
  plan.has_holes = *rc::gen::arbitrary<bool>();
  const bool has_gap = plan.years > 1 && *rc::gen::inRange(0, 4) == 0;
  if (has_gap) plan.absent_year = *rc::gen::inRange(0, plan.years);
  return plan;
}

rc::Gen<CompanyPlan> plan_with_most_tags(bool of_gaap) {
  return rc::gen::exec([of_gaap] {
    CompanyPlan generated = generated_plan();
    if (of_gaap) generated.is_ifrs = false;
    const int sparse = *rc::gen::element(3, 10, 30);  // one of so many tags is absent
    for (std::string& tag : all_tags(generated.is_ifrs)) {
      const bool is_bank_tag = tag == "us-gaap:Deposits" || tag.starts_with("us-gaap:Nonint");
      const std::uint32_t bits = mixed_bits(generated.seed, tag + " absent", 0);
      // A bank has no current assets.
      if (is_bank_tag && generated.seed % 4 != 0) continue;
      if (tag == "us-gaap:AssetsCurrent" && generated.seed % 4 == 0) continue;
      if (bits % static_cast<std::uint32_t>(sparse) != 0) generated.tags.push_back(std::move(tag));
    }
    return generated;
  });
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const CompanyPlan& plan) {
  out << plan.years << " years, calendar " << plan.calendar << ", seed " << plan.seed << ", "
      << plan.tags.size() << " tags";
  std::vector<std::string> lines;
  for (const auto& [tag, by_unit] : facts_of(plan).facts) {
    for (const auto& [unit, facts] : by_unit) {
      for (const Fact& fact : facts) lines.push_back(fact_line(tag, unit, fact));
    }
  }
  if (lines.size() > kFactsShown) return out << ", " << lines.size() << " facts";
  for (const std::string& line : lines) out << "\n  " << line;
  return out;
}

std::vector<std::string> all_tags(bool is_ifrs) {
  std::vector<std::string> tags;
  for (const auto& [tag, kind] : kinds_by_tag()) {
    if (!tag.starts_with(is_ifrs ? "us-gaap:" : "ifrs-full:")) tags.push_back(tag);
  }
  return tags;
}

ItemKind kind_of_tag(const std::string& tag) { return kinds_by_tag().at(tag); }

rc::Gen<CompanyPlan> any_plan() { return shrinking(plan_with_most_tags(false)); }

rc::Gen<CompanyPlan> any_plan_of_gaap() { return shrinking(plan_with_most_tags(true)); }

rc::Gen<CompanyPlan> any_plan_with(std::vector<std::string> tags) {
  auto plan = rc::gen::exec([tags = std::move(tags)] {
    CompanyPlan generated = generated_plan();
    generated.is_ifrs = false;
    generated.tags = tags;
    return generated;
  });
  return shrinking(std::move(plan));
}

std::vector<FiscalYear> periods_of(const CompanyPlan& plan) {
  std::vector<FiscalYear> periods;
  for (int year = kLastYear - plan.years + 1; year <= kLastYear; ++year) {
    Date start = year_end(plan.calendar, year - 1);
    ++start.days;
    periods.push_back({start, year_end(plan.calendar, year)});
  }
  return periods;
}

Date filing_date(const FiscalYear& period) { return Date{period.end.days + 45}; }

CompanyFacts facts_of(const CompanyPlan& plan) {
  CompanyFacts facts;
  const std::vector<FiscalYear> periods = periods_of(plan);
  for (int report = 0; report < plan.years; ++report) {
    for (const std::string& tag : plan.tags) {
      const bool is_of_cover = tag.starts_with("dei:") || tag.starts_with("ecd:");
      const int first = is_of_cover ? report : std::max(0, report - plan.comparatives);
      for (int year = first; year <= report; ++year) {
        if (is_hole(plan, tag, year)) continue;
        Fact fact = dated_fact(tag, periods[static_cast<std::size_t>(year)],
                               periods[static_cast<std::size_t>(report)], plan.is_ifrs);
        fact.value = value_of(plan, tag, year, report);
        add_fact(facts, tag, unit_of_kind(kind_of_tag(tag), plan.currency), std::move(fact));
      }
    }
  }
  return facts;
}

Date after_all_filings() { return date_of("2024-12-31"); }

void add_fact(CompanyFacts& facts, const std::string& tag, const std::string& unit, Fact fact) {
  facts.last_filed = std::max(facts.last_filed.value_or(fact.filed), fact.filed);
  if (is_amended_annual(fact.form)) {
    facts.amended.insert_or_assign(fact.accn, Filing{fact.accn, fact.form, fact.filed});
  }
  facts.facts[tag][unit].push_back(std::move(fact));
}

std::string unit_of_kind(ItemKind kind, const std::string& currency) {
  if (is_share_count(kind)) return "shares";
  return kind == ItemKind::per_share ? currency + "/shares" : currency;
}

std::string fact_line(const std::string& tag, const std::string& unit, const Fact& fact) {
  return tag + " " + (fact.start ? fact.start->text() + ".." : "") + fact.end.text() + " = " +
         rc::toString(fact.value) + " " + unit + ", " + fact.form + " filed " + fact.filed.text() +
         " (" + fact.accn + ")";
}

std::uint32_t mixed_bits(std::uint32_t seed, std::string_view text, int number) {
  std::uint64_t bits = 14695981039346656037U ^ seed;
  auto mix = [&](std::uint64_t more) {
    bits ^= more;
    bits *= 1099511628211U;
    bits ^= bits >> 29;
  };
  for (char c : text) mix(static_cast<unsigned char>(c));
  mix(static_cast<std::uint64_t>(number) + 1'000'003);
  mix(seed);
  return static_cast<std::uint32_t>(bits >> 24);
}

std::string difference(const Quantity& a, const Quantity& b, bool with_inputs) {
  auto text = [](const Quantity& quantity) {
    return quantity.is_available() ? rc::toString(quantity.value()) : quantity.reason();
  };
  const bool is_same_value =
      a.is_available() == b.is_available() && a.value() == b.value() && a.reason() == b.reason();
  if (!is_same_value) return text(a) + " != " + text(b);
  if (!with_inputs) return {};
  if (a.assumed_zero() != b.assumed_zero()) return "other items are assumed as zero";
  auto is_same = [](const auto& x, const auto& y) { return *x == *y; };
  const auto& ours = a.inputs().all();
  const auto& theirs = b.inputs().all();
  if (std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(), is_same)) return {};
  return "other inputs";
}

std::vector<std::string> differences(const Statements& a, const Statements& b, bool with_inputs) {
  std::vector<std::string> found;
  if (a.currency() != b.currency()) found.push_back(a.currency() + " != " + b.currency());
  if (a.facts().is_ifrs() != b.facts().is_ifrs()) found.push_back("another taxonomy");
  if (a.is_bank() != b.is_bank()) found.push_back("a bank, or not");
  const std::vector<FiscalYear>& years = a.years().all();
  const std::vector<FiscalYear>& others = b.years().all();
  auto is_same = [](const FiscalYear& x, const FiscalYear& y) {
    return x.start == y.start && x.end == y.end;
  };
  if (!std::equal(years.begin(), years.end(), others.begin(), others.end(), is_same)) {
    found.push_back("other fiscal years");
    return found;
  }
  for (std::size_t year = 0; year < years.size(); ++year) {
    for (const LineItem& item : line_items()) {
      const std::string name = item.name + " " + years[year].end.text() + ": ";
      std::string value = difference(a.item(item.name, year), b.item(item.name, year), with_inputs);
      if (!value.empty()) found.push_back(name + value);
      std::string optional = difference(a.optional_item(item.name, year),
                                        b.optional_item(item.name, year), with_inputs);
      if (!optional.empty()) found.push_back("opt " + name + optional);
    }
  }
  return found;
}

}  // namespace belay::research
