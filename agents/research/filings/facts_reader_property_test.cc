// Rules R1 and R4 for files: the members `fy`, `fp` and `frame`, and entries that do not exist,
// change nothing.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>

#include "tests/research/properties/random_company.h"

namespace belay::research {
namespace {

// The members of an entry that have no meaning, and the way the file is written.
struct FileStyle {
  std::uint32_t seed = 0;
  std::size_t part = 1;  // bytes at a time
  bool has_broken_entries = false;
};
std::ostream& operator<<(std::ostream& out, const FileStyle& style) {
  return out << "seed " << style.seed << ", parts of " << style.part << " bytes"
             << (style.has_broken_entries ? ", with broken entries" : "");
}

rc::Gen<FileStyle> any_style() {
  return rc::gen::build<FileStyle>(
      rc::gen::set(&FileStyle::seed, rc::gen::inRange<std::uint32_t>(0, 1000)),
      rc::gen::set(&FileStyle::part, rc::gen::element<std::size_t>(100'000, 4096, 77, 13)),
      rc::gen::set(&FileStyle::has_broken_entries));
}

std::string number_text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

std::string meaningless_members(std::uint32_t bits) {
  constexpr std::array kMembers = {
      "", R"(,"fy":2019,"fp":"FY")", R"(,"fy":1999,"fp":"Q2","frame":"CY2019Q4I")",
      R"(,"fy":null,"fp":null,"frame":null)", R"(,"frame":"CY2022","fy":"x","more":[{"fy":1}])"};
  return kMembers[bits % kMembers.size()];
}

std::string entry_of(const Fact& fact, std::uint32_t bits) {
  std::string start = fact.start ? ",\"start\":" + quoted(fact.start->text()) : "";
  if (!fact.start && bits % 3 == 0) start = ",\"start\":null";
  return "{\"end\":" + quoted(fact.end.text()) + start + ",\"val\":" + number_text(fact.value) +
         meaningless_members(bits) + ",\"accn\":" + quoted(fact.accn) +
         ",\"form\":" + quoted(fact.form) + ",\"filed\":" + quoted(fact.filed.text()) + "}";
}

// Entries without one of their members, or with one that is not what it must be.
std::string broken_entry(const Fact& fact, std::uint32_t bits) {
  constexpr std::array kBroken = {
      R"({"end":"2023-12-31","accn":"x","form":"10-K","filed":"2024-02-01"})",
      R"({"end":"2023-12-31","val":"5","accn":"x","form":"10-K","filed":"2024-02-01"})",
      R"({"end":"2023-12-31","val":1e300,"accn":"x","form":"10-K","filed":"2024-02-01"})",
      R"({"end":"2023-12-31","val":-1.1e20,"accn":"x","form":"10-K","filed":"2024-02-01"})",
      R"({"end":"2023-02-29","val":5,"accn":"x","form":"10-K","filed":"2024-02-01"})",
      R"({"end":"2023-12-31","val":5,"form":"10-K","filed":"2024-02-01"})",
      R"({"end":"2023-12-31","val":5,"accn":"x","filed":"2024-02-01"})",
      R"({"end":"2023-12-31","val":5,"accn":"x","form":"10-K","filed":"2024-2-1"})",
      R"({"start":"2023-13-01","end":"2023-12-31","val":5,"accn":"x","form":"10-K",)"
      R"("filed":"2024-02-01"})",
      "[]",
      "null"};
  if (bits % 12 == 11) return "{\"val\":" + number_text(fact.value) + "}";
  return kBroken[bits % kBroken.size()];
}

std::string entries_of(const std::string& tag, const std::vector<Fact>& facts,
                       const FileStyle& style) {
  std::string text;
  int number = 0;
  for (const Fact& fact : facts) {
    const std::uint32_t bits = mixed_bits(style.seed, tag, ++number);
    if (!text.empty()) text += ',';
    if (style.has_broken_entries && bits / 7 % 3 == 0) text += broken_entry(fact, bits / 21) + ",";
    text += entry_of(fact, bits);
  }
  return text;
}

std::string file_of(const CompanyFacts& facts, const FileStyle& style) {
  std::string text = R"({"cik":17,"entityName":"Random, Inc.","facts":{)";
  std::string taxonomy;
  for (const auto& [name, by_unit] : facts.facts) {
    const std::string prefix = name.substr(0, name.find(':'));
    if (prefix != taxonomy) {
      if (!taxonomy.empty()) text += "},";
      text += quoted(prefix) + ":{";
      taxonomy = prefix;
    } else {
      text += ',';
    }
    text += quoted(name.substr(prefix.size() + 1)) + R"(:{"label":null,"units":{)";
    bool is_first = true;
    for (const auto& [unit, all] : by_unit) {
      if (!is_first) text += ',';
      is_first = false;
      text += quoted(unit) + ":[" + entries_of(name + unit, all, style) + "]";
    }
    text += "}}";
  }
  if (!taxonomy.empty()) text += '}';
  return text + "}}";
}

CompanyFactsRead read_in_parts(const std::string& text, std::size_t part) {
  CompanyFactsReader reader(is_used_tag);
  for (std::size_t at = 0; at < text.size(); at += part) {
    if (!reader.read(std::string_view(text).substr(at, part))) break;
  }
  return reader.finish();
}

RC_GTEST_PROP(FactsReaderProperty, YearAndPeriodOfTheFilingHaveNoMeaning, ()) {
  const CompanyPlan plan = *any_plan();
  const FileStyle style = *any_style();
  const CompanyFacts facts = facts_of(plan);
  const CompanyFactsRead read = read_in_parts(file_of(facts, style), style.part);
  RC_ASSERT(read.error == "");
  RC_ASSERT(differences(Statements(facts, after_all_filings()),
                        Statements(read.facts, after_all_filings())) == std::vector<std::string>());
  RC_ASSERT(read.facts.last_filed == facts.last_filed);
}

// A file that ends early is an error, or has facts of the file only.
RC_GTEST_PROP(FactsReaderProperty, ATruncatedFileIsAnError, ()) {
  CompanyPlan plan = *any_plan_with({"us-gaap:Revenues", "us-gaap:Assets", "us-gaap:Goodwill"});
  const std::string text = file_of(facts_of(plan), *any_style());
  const auto length = *rc::gen::inRange<std::size_t>(0, text.size());
  const CompanyFactsRead read = read_in_parts(text.substr(0, length), 4096);
  RC_ASSERT(read.error != "");
}

RC_GTEST_PROP(FactsReaderProperty, AnyBytesAreReadOrRefused, ()) {
  CompanyPlan plan = *any_plan_with({"us-gaap:Revenues", "us-gaap:Assets"});
  std::string text = file_of(facts_of(plan), FileStyle());
  const auto changes = *rc::gen::container<std::vector<std::pair<std::size_t, char>>>(
      rc::gen::pair(rc::gen::inRange<std::size_t>(0, text.size()), rc::gen::arbitrary<char>()));
  for (const auto& [at, byte] : changes) text[at % text.size()] = byte;
  const CompanyFactsRead read = read_in_parts(text, 100);
  if (!read.error.empty()) return;
  const Statements statements(read.facts, after_all_filings());
  for (std::size_t year = 0; year < statements.years().all().size(); ++year) {
    RC_ASSERT(std::abs(statements.item("revenue", year).value()) <= 1e20);
  }
}

}  // namespace
}  // namespace belay::research
