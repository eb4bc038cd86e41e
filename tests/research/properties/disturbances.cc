#include "tests/research/properties/disturbances.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <set>

#include "tests/research/properties/random_company.h"

namespace belay::research {
namespace {

constexpr std::array kKindNames = {"shuffle",        "duplicate", "later_filing", "other_taxonomy",
                                   "other_currency", "quarter",   "other_form"};

rc::Gen<Disturbance> disturbance_of(rc::Gen<int> kind) {
  return rc::gen::build<Disturbance>(
      rc::gen::set(&Disturbance::kind, std::move(kind)),
      rc::gen::set(&Disturbance::pick, rc::gen::inRange<std::uint32_t>(0, 1'000'000)));
}

bool is_number_of_shares_tag(const std::string& unit) { return unit == "shares"; }

bool is_counted_for_currency(const std::string& tag) {
  for (const char* name : {"assets", "net_income", "revenue"}) {
    const LineItem& item = *find_line_item(name);
    for (const std::string& each : item.gaap) {
      if (tag == "us-gaap:" + each) return true;
    }
    for (const std::string& each : item.ifrs) {
      if (tag == "ifrs-full:" + each) return true;
    }
  }
  return false;
}

void log_fact(const char* what, const std::string& tag, const std::string& unit, const Fact& fact) {
  RC_LOG() << what << ": " << fact_line(tag, unit, fact) << "\n";
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Disturbance& disturbance) {
  return out << kKindNames[static_cast<std::size_t>(disturbance.kind)] << " " << disturbance.pick;
}

rc::Gen<std::vector<Disturbance>> any_disturbances() {
  return rc::gen::container<std::vector<Disturbance>>(
      disturbance_of(rc::gen::inRange(0, static_cast<int>(kKindNames.size()))));
}

rc::Gen<std::vector<Disturbance>> disturbances_of(Disturbance::Kind kind) {
  return rc::gen::nonEmpty(rc::gen::container<std::vector<Disturbance>>(
      disturbance_of(rc::gen::just(static_cast<int>(kind)))));
}

void shuffle_facts(CompanyFacts& facts, std::uint32_t seed) {
  for (auto& [tag, by_unit] : facts.facts) {
    for (auto& [unit, all] : by_unit) {
      for (std::size_t i = all.size(); i > 1; --i) {
        std::swap(all[i - 1], all[mixed_bits(seed, tag, static_cast<int>(i)) % i]);
      }
    }
  }
}

Disturber::Disturber(const CompanyFacts& facts, Date as_of)
    : facts_(facts), as_of_(as_of), statements_(facts, as_of), all_(places()) {
  for (const Place& place : all_) {
    counted_ += is_counted_for_currency(place.tag);
    const bool is_amount = !is_number_of_shares_tag(place.unit) && !place.tag.starts_with("dei:");
    if (is_amount) amounts_.push_back(place);
    if (!is_of_a_spine_year(place)) continue;
    spine_.push_back(place);
    if (is_amount && is_annual_form(place.fact->form)) replaceable_.push_back(place);
  }
}

std::vector<Disturber::Place> Disturber::places() const {
  const std::string& currency = statements_.currency();
  const std::string_view other = statements_.facts().is_ifrs() ? "us-gaap:" : "ifrs-full:";
  std::vector<Place> found;
  for (const auto& [tag, by_unit] : facts_.facts) {
    if (tag.starts_with(other)) continue;
    for (const auto& [unit, facts] : by_unit) {
      if (unit != currency && unit != currency + "/shares" && unit != "shares") continue;
      for (const Fact& fact : facts) {
        if (fact.filed <= as_of_) found.push_back({tag, unit, &fact});
      }
    }
  }
  return found;
}

bool Disturber::is_of_a_spine_year(const Place& place) const {
  for (const FiscalYear& year : statements_.years().all()) {
    if (place.fact->end != year.end) continue;
    return !place.fact->start || place.fact->start == year.start;
  }
  return false;
}

CompanyFacts Disturber::disturbed(const std::vector<Disturbance>& disturbances) const {
  CompanyFacts facts = facts_;
  std::size_t translations = 0;
  for (const Disturbance& each : disturbances) apply(each, facts, translations);
  return facts;
}

void Disturber::apply(const Disturbance& disturbance, CompanyFacts& facts,
                      std::size_t& translations) const {
  switch (disturbance.kind) {
    case Disturbance::shuffle:
      return shuffle_facts(facts, disturbance.pick);
    case Disturbance::duplicate:
      return add_twin(disturbance.pick, facts);
    case Disturbance::later_filing:
      return add_later_filing(disturbance.pick, facts);
    case Disturbance::other_taxonomy:
      return add_of_other_taxonomy(disturbance.pick, facts);
    case Disturbance::other_currency:
      return add_translation(disturbance.pick, facts, translations);
    case Disturbance::quarter:
      return add_quarter(disturbance.pick, facts);
    default:
      return add_of_other_form(disturbance.pick, facts);
  }
}

void Disturber::add_twin(std::uint32_t pick, CompanyFacts& facts) const {
  if (spine_.empty()) return;
  const Place& place = spine_[pick % spine_.size()];
  log_fact("twice", place.tag, place.unit, *place.fact);
  add_fact(facts, place.tag, place.unit, *place.fact);
}

// A fact of a tag that the file may not have, of any year.
void Disturber::add_later_filing(std::uint32_t pick, CompanyFacts& facts) const {
  constexpr std::array kForms = {"10-K", "10-K/A", "10-Q", "8-K", "DEF 14A", "20-F"};
  const std::vector<std::string> tags = all_tags(pick % 5 == 0);
  const std::string& tag = tags[pick / 5 % tags.size()];
  const ItemKind kind = kind_of_tag(tag);
  const auto& years = statements_.years().all();
  Fact fact;
  fact.end = years.empty() ? as_of_ : years[pick % years.size()].end;
  const bool is_at_date = kind == ItemKind::instant || kind == ItemKind::shares_at_date;
  if (!is_at_date) fact.start = years.empty() ? as_of_ : years[pick % years.size()].start;
  fact.value = pick % 1000;
  fact.filed = Date{as_of_.days + 1 + static_cast<int>(pick % 700)};
  fact.form = kForms[pick % kForms.size()];
  fact.accn = "later-" + std::to_string(pick);
  const std::string unit = unit_of_kind(kind, pick % 7 == 0 ? "GBP" : statements_.currency());
  log_fact("later", tag, unit, fact);
  add_fact(facts, tag, unit, std::move(fact));
}

// Assets of us-gaap would decide on the taxonomy, and those of ifrs-full if us-gaap has none.
void Disturber::add_of_other_taxonomy(std::uint32_t pick, CompanyFacts& facts) const {
  if (all_.empty()) return;
  const bool to_ifrs = !statements_.facts().is_ifrs();
  std::vector<std::string> tags = all_tags(to_ifrs);
  std::erase_if(tags, [](const std::string& tag) {
    return tag.starts_with("dei:") || tag.starts_with("ecd:") || tag.ends_with(":Assets");
  });
  if (to_ifrs && facts_.facts.contains("us-gaap:Assets")) {
    for (const Place& place : all_) {
      if (place.tag == "us-gaap:Assets") tags.push_back("ifrs-full:Assets");
    }
  }
  const Place& like = all_[pick % all_.size()];
  const std::string& tag = tags[pick / 7 % tags.size()];
  Fact fact = *like.fact;
  fact.value = pick % 1000 + 1;
  log_fact("of the other taxonomy", tag, like.unit, fact);
  add_fact(facts, tag, like.unit, std::move(fact));
}

void Disturber::add_translation(std::uint32_t pick, CompanyFacts& facts,
                                std::size_t& translations) const {
  if (all_.empty()) return;
  const Place& place = all_[pick % all_.size()];
  if (is_number_of_shares_tag(place.unit)) return;
  // The currency with most facts counts.
  if (is_counted_for_currency(place.tag) && ++translations >= counted_) return;
  Fact fact = *place.fact;
  fact.value *= 7.5;
  const std::string unit = place.unit.ends_with("/shares") ? "AUD/shares" : "AUD";
  log_fact("translated", place.tag, unit, fact);
  add_fact(facts, place.tag, unit, std::move(fact));
}

void Disturber::add_quarter(std::uint32_t pick, CompanyFacts& facts) const {
  constexpr std::array kForms = {"10-Q", "10-K", "6-K", "8-K"};
  if (amounts_.empty()) return;
  const Place& place = amounts_[pick % amounts_.size()];
  Fact fact = *place.fact;
  // Not the end of a fiscal year.
  fact.end.days -= fact.start ? static_cast<int>(pick % 300) : 91 + static_cast<int>(pick % 100);
  for (const FiscalYear& year : statements_.years().all()) {
    if (!fact.start && year.end == fact.end) --fact.end.days;
  }
  if (fact.start) fact.start = Date{fact.end.days - 80 - static_cast<int>(pick % 20)};
  fact.value *= 0.25;  // zero stays zero: a line without other values may be taken as zero
  fact.form = kForms[pick % kForms.size()];
  log_fact("quarter", place.tag, place.unit, fact);
  add_fact(facts, place.tag, place.unit, std::move(fact));
}

void Disturber::add_of_other_form(std::uint32_t pick, CompanyFacts& facts) const {
  constexpr std::array kForms = {"10-Q", "8-K", "6-K", "S-1", "DEF 14A", "PRE 14A", "10-QT", "ARS"};
  if (replaceable_.empty()) return;
  const Place& place = replaceable_[pick % replaceable_.size()];
  Fact fact = *place.fact;
  fact.value *= 1.25;
  fact.form = kForms[pick / 3 % kForms.size()];
  fact.accn = "other-" + std::to_string(pick);
  fact.filed = Date{std::min(as_of_.days, fact.end.days + 30 + static_cast<int>(pick % 900))};
  log_fact("other form", place.tag, place.unit, fact);
  add_fact(facts, place.tag, place.unit, std::move(fact));
}

}  // namespace belay::research
