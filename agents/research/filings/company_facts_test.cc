#include "agents/research/filings/company_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace belay::research {
namespace {

using ::testing::HasSubstr;

bool is_assets(std::string_view tag) { return tag == "us-gaap:Assets"; }

CompanyFactsRead read_facts(std::string_view text, std::size_t chunk = 1'000'000) {
  CompanyFactsReader reader(is_assets);
  for (std::size_t at = 0; at < text.size() && reader.read(text.substr(at, chunk)); at += chunk) {
  }
  return reader.finish();
}

// A file with these entries of one tag.
std::string file_with(const std::string& entries) {
  return R"({"cik":320193,"entityName":"Apple Inc.","facts":{"us-gaap":{"Assets":{"label":"A",)"
         R"("units":{"USD":[)" +
         entries + R"(]}}}}})";
}

std::string entry_with(const std::string& members) {
  return R"({"end":"2024-09-28","val":5,"accn":"0001","form":"10-K","filed":"2024-11-01")" +
         members + "}";
}

std::size_t entries_in(const std::string& entries) {
  CompanyFactsRead read = read_facts(file_with(entries));
  EXPECT_EQ(read.error, "");
  auto tag = read.facts.facts.find("us-gaap:Assets");
  return tag == read.facts.facts.end() ? 0 : tag->second["USD"].size();
}

TEST(CompanyFactsReader, AFileMayArriveInPartsOfAnySize) {
  std::string text = file_with(entry_with(R"(,"start":"2023-10-01","fy":2024,"frame":null)"));
  for (std::size_t chunk : {std::size_t{1}, std::size_t{7}, text.size()}) {
    CompanyFactsRead read = read_facts(text, chunk);
    ASSERT_EQ(read.error, "") << chunk;
    EXPECT_EQ(read.facts.cik, "0000320193");
    EXPECT_EQ(read.facts.entity_name, "Apple Inc.");
    const Fact& fact = read.facts.facts.at("us-gaap:Assets").at("USD").at(0);
    EXPECT_EQ(fact.start->text(), "2023-10-01");
    EXPECT_EQ(fact.end.text(), "2024-09-28");
    EXPECT_EQ(fact.value, 5);
    EXPECT_EQ(fact.accn, "0001");
    EXPECT_EQ(read.facts.last_filed->text(), "2024-11-01");
  }
}

TEST(CompanyFactsReader, AnEntryWithoutAUsableMemberDoesNotExist) {
  EXPECT_EQ(entries_in(entry_with("")), 1u);
  EXPECT_EQ(entries_in(entry_with(R"(,"start":null)")), 1u);
  EXPECT_EQ(entries_in(entry_with(R"(,"start":"2024-02-30")")), 0u) << "not in the calendar";
  EXPECT_EQ(entries_in(entry_with(R"(,"start":20230101)")), 0u);
  EXPECT_EQ(entries_in(R"({"end":"2024-09-28","val":5,"accn":"1","form":"10-K"})"), 0u);
  EXPECT_EQ(
      entries_in(R"({"end":"2024-09-28","val":"5","accn":"1","form":"10-K","filed":"2024-11-01"})"),
      0u);
  EXPECT_EQ(entries_in(
                R"({"end":"2024-09-28","val":1e21,"accn":"1","form":"10-K","filed":"2024-11-01"})"),
            0u);
  EXPECT_EQ(
      entries_in(
          R"({"end":"2024-09-28","val":1e999,"accn":"1","form":"10-K","filed":"2024-11-01"})"),
      0u);
  EXPECT_EQ(
      entries_in(R"({"end":"2024-09-28","val":5,"accn":7,"form":"10-K","filed":"2024-11-01"})"),
      0u);
  EXPECT_EQ(entries_in("1, null, [], \"x\", " + entry_with(R"(,"more":{"val":7})")), 1u);
}

TEST(CompanyFactsReader, ANumberThatIsTooSmallForADoubleIsZero) {
  for (const char* number : {"1e-400", "-1e-400", "0.5e-999"}) {
    std::string entry =
        R"({"end":"2024-09-28","accn":"1","form":"10-K","filed":"2024-11-01","val":)";
    CompanyFactsRead read = read_facts(file_with(entry + number + "}"));
    ASSERT_EQ(read.facts.facts["us-gaap:Assets"]["USD"].size(), 1u) << number;
    EXPECT_EQ(read.facts.facts["us-gaap:Assets"]["USD"][0].value, 0) << number;
  }
}

TEST(CompanyFactsReader, AnAmendedFilingHasItsEarliestDateWhateverTheOrder) {
  const std::string early =
      R"({"end":"2024-09-28","val":1,"accn":"2","form":"10-K/A","filed":"2025-01-01"})";
  const std::string late =
      R"({"end":"2024-09-28","val":1,"accn":"2","form":"10-K/A","filed":"2025-03-01"})";
  for (const std::string& entries : {early + "," + late, late + "," + early}) {
    CompanyFactsRead read = read_facts(file_with(entries));
    ASSERT_EQ(read.facts.amended.size(), 1u);
    EXPECT_EQ(read.facts.amended.at("2").filed.text(), "2025-01-01") << entries;
  }
}

TEST(CompanyFactsReader, AFileOfAnotherShapeHasNoFacts) {
  for (const char* text :
       {R"({"facts":[]})", R"({"facts":{"us-gaap":[]}})", R"({"facts":{"us-gaap":{"Assets":7}}})",
        R"({"facts":{"us-gaap":{"Assets":{"units":[1]}}}})",
        R"({"facts":{"us-gaap":{"Assets":{"units":{"USD":{"end":"2024-01-01"}}}}}})"}) {
    CompanyFactsRead read = read_facts(text);
    EXPECT_EQ(read.error, "") << text;
    EXPECT_TRUE(read.facts.facts.empty()) << text;
  }
  EXPECT_EQ(read_facts("{}").error, "it has no object \"facts\"");
  EXPECT_EQ(read_facts("[]").error, "it has no object \"facts\"");
}

TEST(CompanyFactsReader, AFileThatIsCutOffIsAnError) {
  std::string text = file_with(entry_with(""));
  for (std::size_t size : {std::size_t{0}, std::size_t{1}, text.size() / 2, text.size() - 1}) {
    EXPECT_THAT(read_facts(text.substr(0, size)).error, HasSubstr("not valid JSON")) << size;
  }
  EXPECT_THAT(read_facts(text + "x").error, HasSubstr("not valid JSON"));
  EXPECT_EQ(read_facts(text + "\n").error, "");
}

TEST(CompanyFactsReader, NestingAndLongTextsAreBounded) {
  EXPECT_THAT(read_facts(std::string(100'000, '[')).error, HasSubstr("not valid JSON"));
  CompanyFactsRead read =
      read_facts(R"({"entityName":")" + std::string(1'000'000, 'x') + R"(","facts":{}})");
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.facts.entity_name.size(), 1'000u);
}

TEST(CompanyFactsReader, AmendedFilingsCountWhateverTheirTag) {
  std::string text =
      R"({"facts":{"dei":{"Other":{"units":{"pure":[)"
      R"({"end":"2024-09-28","val":1,"accn":"0002","form":"10-K/A","filed":"2025-01-01"},)"
      R"({"end":"2024-09-28","val":2,"accn":"0002","form":"10-K/A","filed":"2025-01-01"},)"
      R"({"end":"2024-09-28","val":2,"accn":"0003","form":"10-Q/A","filed":"2025-02-01"}]}}}}})";
  CompanyFactsRead read = read_facts(text);
  EXPECT_EQ(read.facts.amended.size(), 1u);
  EXPECT_EQ(read.facts.last_filed->text(), "2025-02-01");
  EXPECT_TRUE(read.facts.facts.empty());
}

TEST(Forms, AreAnnualProxyOrOther) {
  for (const char* form : {"10-K", "10-KT", "20-F", "40-F", "10-K/A", "20-F/A"}) {
    EXPECT_TRUE(is_annual_form(form)) << form;
  }
  for (const char* form : {"10-Q", "8-K", "6-K", "DEF 14A", "10-K405", "", "/A"}) {
    EXPECT_FALSE(is_annual_form(form)) << form;
  }
  EXPECT_TRUE(is_proxy_form("DEF 14A") && is_proxy_form("PRE 14A"));
  EXPECT_FALSE(is_proxy_form("10-K"));
}

}  // namespace
}  // namespace belay::research
