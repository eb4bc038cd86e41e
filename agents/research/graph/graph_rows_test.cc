#include "agents/research/graph/graph_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>

#include "agents/research/graph/graph_fixture.h"
#include "agents/research/graph/graph_text.h"
#include "belay/value.h"

namespace belay::research {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kAnalysisKey = "0000320193|2026-01-30";

std::vector<std::string> keys_of(const GraphRows& rows, std::string_view table) {
  std::vector<std::string> keys;
  for (const GraphRow& row : rows.of(table)) keys.push_back(row.key);
  return keys;
}

std::vector<std::string> ends_of(const GraphRows& rows, std::string_view table) {
  std::vector<std::string> ends;
  for (const GraphRow& row : rows.of(table)) ends.push_back(row.source + " -> " + row.target);
  return ends;
}

// The value of a property of the row with this key.
GraphValue property_of(const GraphRows& rows, std::string_view table, std::string_view key,
                       std::string_view property) {
  const GraphTable& of = *graph_table(table);
  for (const GraphRow& row : rows.of(table)) {
    for (std::size_t i = 0; i < of.properties.size(); ++i) {
      if (row.key == key && of.properties[i].name == property) return row.values[i];
    }
  }
  ADD_FAILURE() << table << " " << key << " " << property;
  return {};
}

std::string metric_key(const std::string& rest) { return std::string(kAnalysisKey) + "|" + rest; }

TEST(GraphRows, HaveTheNodesOfTheAnalysis) {
  GraphRows rows = graph_rows(sample_results(), sample_subject());
  EXPECT_EQ(rows.name, "AAPL-2026-01-30");
  EXPECT_THAT(keys_of(rows, "Company"), ElementsAre("0000320193", "0000789019"));
  EXPECT_THAT(keys_of(rows, "Analysis"), ElementsAre(kAnalysisKey));
  EXPECT_THAT(keys_of(rows, "FiscalYear"),
              ElementsAre("0000320193|2024-09-28", "0000320193|2025-09-27"));
  EXPECT_THAT(keys_of(rows, "Filing"), ElementsAre("0000320193-24-000123", "0000320193-25-000057",
                                                   "0000320193-25-000079", "0000950170-25-100235"));
  EXPECT_THAT(keys_of(rows, "Specialist"), ElementsAre("credit", "filing_sentiment", "financial",
                                                       "governance", "growth", "industry_macro"));
  EXPECT_EQ(rows.of("Metric").size(), 8u);
  EXPECT_EQ(rows.of("Finding").size(), 2u);
}

TEST(GraphRows, HaveTheValuesOfAFigure) {
  GraphRows rows = graph_rows(sample_results(), sample_subject());
  std::string margin = metric_key("financial|ratio_calculation|gross_margin|2025-09-27");
  EXPECT_EQ(property_of(rows, "Metric", margin, "value"), GraphValue(0.4690516410716045));
  EXPECT_EQ(property_of(rows, "Metric", margin, "unit"), GraphValue("ratio"));
  EXPECT_EQ(property_of(rows, "Metric", margin, "analysis_id"), GraphValue("analysis-1"));
  EXPECT_EQ(property_of(rows, "Metric", margin, "not_available"), GraphValue());
  std::string coverage = metric_key("credit|coverage|interest_coverage|2025-09-27");
  EXPECT_EQ(property_of(rows, "Metric", coverage, "value"), GraphValue());
  EXPECT_EQ(property_of(rows, "Metric", coverage, "not_available"),
            GraphValue("missing_input: interest_expense"));
  std::string debt = metric_key("credit|leverage|total_debt|2025-09-27");
  EXPECT_EQ(property_of(rows, "Metric", debt, "assumed_zero"),
            GraphValue("current_debt, minority_interest"));
  std::string beta = metric_key("industry_macro|market_sensitivity|beta_raw|2022-12-28");
  EXPECT_EQ(property_of(rows, "Metric", beta, "other_inputs"),
            GraphValue("config:beta_months 60\nprice:AAPL 2018-01-31 39.5"));
}

TEST(GraphRows, HaveTheValuesOfAFinding) {
  GraphRows rows = graph_rows(sample_results(), sample_subject());
  std::string key = metric_key("governance|controls|control_weakness_disclosed|2024-09-28");
  EXPECT_EQ(property_of(rows, "Finding", key, "severity"), GraphValue("high"));
  EXPECT_EQ(property_of(rows, "Finding", key, "quote"), GraphValue(awkward_quote()));
  EXPECT_EQ(property_of(rows, "Finding", key, "item"), GraphValue("9A"));
  EXPECT_EQ(property_of(rows, "Finding", key, "quote_offset"), GraphValue(std::int64_t{184467}));
  EXPECT_EQ(property_of(rows, "Finding", key, "metric"), GraphValue());
}

TEST(GraphRows, RelateAFigureToTheFilingsItUsesWithTheFactsOfEach) {
  GraphRows rows = graph_rows(sample_results(), sample_subject());
  std::string growth = metric_key("growth|historical_growth|revenue_growth|2025-09-27");
  std::vector<std::string> facts;
  for (const GraphRow& row : rows.of("USES")) {
    if (row.source == growth) facts.push_back(row.target + ": " + std::get<1>(row.values[0]));
  }
  EXPECT_THAT(facts,
              ElementsAre("0000320193-24-000123: Revenues 2023-10-01 2024-09-28 391035000000",
                          "0000320193-25-000079: Revenues 2024-09-29 2025-09-27 416161000000"));
  std::string margin = metric_key("financial|ratio_calculation|gross_margin|2025-09-27");
  for (const GraphRow& row : rows.of("USES")) {
    if (row.source != margin) continue;
    EXPECT_EQ(row.values[0], GraphValue("GrossProfit 2024-09-29 2025-09-27 195201000000\n"
                                        "Revenues 2024-09-29 2025-09-27 416161000000"));
  }
}

TEST(GraphRows, RelateTextFiguresAndQuotesToTheFilingOfTheText) {
  GraphRows rows = graph_rows(sample_results(), sample_subject());
  EXPECT_THAT(ends_of(rows, "QUOTES"),
              ElementsAre(metric_key("governance|controls|control_weakness_disclosed|2024-09-28") +
                          " -> 0000320193-24-000123"));
  std::string words = metric_key("filing_sentiment|tokenization|words_total|2024-09-28");
  auto uses = ends_of(rows, "USES");
  EXPECT_THAT(uses, ::testing::Contains(words + " -> 0000320193-24-000123"));
}

TEST(GraphRows, NameATextWithoutAnAccessionNumberByFormAndDate) {
  GraphSubject subject = sample_subject();
  subject.text = GraphFiling{"", "10-K", "2024-11-01"};
  Results results;
  for (Figure& figure : sample_figures()) {
    if (figure.metric == "words_total") results.figures.push_back(std::move(figure));
  }
  GraphRows rows = graph_rows(results, subject);
  EXPECT_THAT(keys_of(rows, "Filing"), ::testing::Contains("0000320193|10-K|2024-11-01"));
  EXPECT_THAT(ends_of(rows, "USES"),
              ElementsAre(metric_key("filing_sentiment|tokenization|words_total|2024-09-28") +
                          " -> 0000320193|10-K|2024-11-01"));
}

TEST(GraphRows, DoNotTakeAPeersFilingForTheCompanys) {
  GraphRows rows = graph_rows(sample_results(), sample_subject());
  EXPECT_THAT(ends_of(rows, "FILED"), ElementsAre("0000320193 -> 0000320193-24-000123",
                                                  "0000320193 -> 0000320193-25-000057",
                                                  "0000320193 -> 0000320193-25-000079"));
  EXPECT_EQ(rows.of("READS").size(), 4u);
  EXPECT_THAT(ends_of(rows, "COMPARED_WITH"),
              ElementsAre(std::string(kAnalysisKey) + " -> 0000789019"));
}

TEST(GraphRows, RelateResultsToFiscalYearsOfTheAnalysisOnly) {
  GraphRows rows = graph_rows(sample_results(), sample_subject());
  EXPECT_EQ(rows.of("MEASURED_IN").size(), 7u) << "beta_raw has another period";
  EXPECT_EQ(rows.of("FOUND_IN").size(), 2u);
  EXPECT_EQ(rows.of("HAS_METRIC").size(), 8u);
  EXPECT_EQ(rows.of("COMPUTED_BY").size(), 8u);
  EXPECT_EQ(rows.of("HAS_FINDING").size(), 2u);
  EXPECT_EQ(rows.of("REPORTED_BY").size(), 2u);
}

TEST(GraphRows, RelateAFindingToItsMetric) {
  GraphRows rows = graph_rows(sample_results(), sample_subject());
  EXPECT_THAT(
      ends_of(rows, "BASED_ON"),
      ElementsAre(metric_key("financial|red_flag_detection|low_current_ratio|2025-09-27") + " -> " +
                  metric_key("financial|red_flag_detection|flag_low_current_ratio|2025-09-27")));
  Results findings_only = sample_results();
  findings_only.figures.clear();
  EXPECT_THAT(graph_rows(findings_only, sample_subject()).of("BASED_ON"), IsEmpty());
}

TEST(GraphRows, FindAMetricOfAnotherSubtaskOfTheSpecialist) {
  Results results = sample_results();
  results.findings[0].metric = "gross_margin";
  GraphRows rows = graph_rows(results, sample_subject());
  EXPECT_THAT(ends_of(rows, "BASED_ON"),
              ElementsAre(::testing::EndsWith("ratio_calculation|gross_margin|2025-09-27")));
  results.findings[0].metric = "revenue_growth";
  EXPECT_THAT(graph_rows(results, sample_subject()).of("BASED_ON"), IsEmpty())
      << "that metric is of another specialist";
}

TEST(GraphRows, AreTheSameInWhateverOrderTheResultsAre) {
  Results results = sample_results();
  GraphRows expected = graph_rows(results, sample_subject());
  std::mt19937 random(7);
  for (int i = 0; i < 50; ++i) {
    std::shuffle(results.figures.begin(), results.figures.end(), random);
    std::shuffle(results.findings.begin(), results.findings.end(), random);
    EXPECT_EQ(graph_rows(results, sample_subject()), expected);
  }
}

TEST(GraphRows, AreTheSameInWhateverOrderContradictoryResultsAre) {
  Results results = sample_results();
  Figure other = results.figures[0];
  other.quantity = Quantity::of(0.5);
  Finding milder = results.findings[1];
  milder.severity = Severity::low;
  results.figures.push_back(other);
  results.findings.push_back(milder);
  GraphRows expected = graph_rows(results, sample_subject());
  EXPECT_EQ(expected.of("Metric").size(), 8u);
  std::reverse(results.figures.begin(), results.figures.end());
  std::reverse(results.findings.begin(), results.findings.end());
  EXPECT_EQ(graph_rows(results, sample_subject()), expected);
}

TEST(GraphRows, OfAnotherAnalysisOfTheSameDateHaveTheSameKeys) {
  GraphSubject again = sample_subject();
  again.analysis_id = "analysis-2";
  GraphRows first = graph_rows(sample_results(), sample_subject());
  GraphRows second = graph_rows(sample_results(), again);
  EXPECT_NE(first, second);
  for (const GraphTable& table : graph_tables()) {
    EXPECT_EQ(keys_of(first, table.name), keys_of(second, table.name)) << table.name;
    EXPECT_EQ(ends_of(first, table.name), ends_of(second, table.name)) << table.name;
  }
  again.as_of = "2026-05-01";
  GraphRows later = graph_rows(sample_results(), again);
  EXPECT_NE(keys_of(first, "Metric"), keys_of(later, "Metric"));
  EXPECT_EQ(keys_of(first, "Filing"), keys_of(later, "Filing"));
}

// Every row has the values of its table, and every end of a relation exists.
void expect_consistent(const GraphRows& rows) {
  std::map<std::string_view, std::set<std::string>> nodes;
  ASSERT_EQ(rows.tables.size(), graph_tables().size());
  for (const GraphTable& table : graph_tables()) {
    for (const GraphRow& row : rows.of(table.name)) {
      ASSERT_EQ(row.values.size(), table.properties.size()) << table.name;
      for (std::size_t i = 0; i < row.values.size(); ++i) {
        std::size_t kind = row.values[i].index();
        EXPECT_TRUE(kind == 0 || kind == 1 + static_cast<std::size_t>(table.properties[i].type))
            << table.name << "." << table.properties[i].name;
      }
      if (!table.is_relation()) {
        EXPECT_TRUE(nodes[table.name].insert(row.key).second);
        continue;
      }
      EXPECT_TRUE(nodes[table.source].contains(row.source)) << table.name << " " << row.source;
      EXPECT_TRUE(nodes[table.target].contains(row.target)) << table.name << " " << row.target;
    }
  }
}

TEST(GraphRows, HaveBothEndsOfEachRelation) {
  expect_consistent(graph_rows(sample_results(), sample_subject()));
  expect_consistent(graph_rows({}, {}));
  Results results = sample_results();
  results.findings[1].quote.clear();
  GraphSubject bare;
  bare.company.ticker = "X";
  expect_consistent(graph_rows(results, bare));
}

TEST(GraphRows, UseTheTickerOfACompanyWithoutACik) {
  GraphSubject subject;
  subject.company.ticker = "XYZ";
  subject.as_of = "2026-01-30";
  GraphRows rows = graph_rows({}, subject);
  EXPECT_THAT(keys_of(rows, "Company"), ElementsAre("ticker|XYZ"));
  EXPECT_THAT(keys_of(rows, "Analysis"), ElementsAre("ticker%7CXYZ|2026-01-30"));
}

TEST(GraphRows, HaveANameThatIsASafeFileName) {
  GraphSubject subject;
  subject.company.ticker = "../BRK B/\n";
  subject.as_of = "2026-01-30";
  EXPECT_EQ(graph_rows({}, subject).name, "_._BRK_B__-2026-01-30");
  subject.company.ticker = std::string(1000, 'A');
  EXPECT_EQ(graph_rows({}, subject).name, std::string(40, 'A') + "-2026-01-30");
}

TEST(GraphRows, LeaveOutAnOffsetThatDoesNotFit) {
  Results results = sample_results();
  results.findings[1].offset = std::numeric_limits<std::uint64_t>::max();
  GraphRows rows = graph_rows(results, sample_subject());
  std::string key = metric_key("governance|controls|control_weakness_disclosed|2024-09-28");
  EXPECT_EQ(property_of(rows, "Finding", key, "quote_offset"), GraphValue());
}

TEST(GraphKey, SeparatesItsParts) {
  EXPECT_EQ(graph_key({"a", "b"}), "a|b");
  EXPECT_EQ(graph_key({"a|b", "c%"}), "a%7Cb|c%25");
  EXPECT_NE(graph_key({"a", "b|c"}), graph_key({"a|b", "c"}));
  EXPECT_NE(graph_key({"a%7Cb"}), graph_key({"a|b"}));
  EXPECT_NE(graph_key({"", "a"}), graph_key({"a", ""}));
}

TEST(GraphKey, IsShortForALongPart) {
  std::string accents;
  for (int i = 0; i < 100'000; ++i) accents += "\xC3\xA9";
  std::string one = graph_key({accents});
  EXPECT_LE(one.size(), 200u);
  EXPECT_FALSE(first_invalid_utf8(one));
  EXPECT_THAT(one, StartsWith("\xC3\xA9"));
  EXPECT_NE(one, graph_key({accents + "x"}));
}

TEST(GraphText, ReplacesNulAndInvalidBytes) {
  EXPECT_EQ(graph_text("plain \xC3\xA9 \xF0\x9F\x98\x80"), "plain \xC3\xA9 \xF0\x9F\x98\x80");
  EXPECT_EQ(graph_text(std::string_view("a\0b", 3)),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(graph_text("a\xFF\xC3"), "a\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(graph_text("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(graph_text(""), "");
}

TEST(GraphText, OfManyBadBytesIsMadeInLinearTime) {
  std::string bad(500'000, '\0');
  EXPECT_EQ(graph_text(bad).size(), 1'500'000u);
  EXPECT_EQ(graph_text(std::string(500'000, '\xFF')).size(), 1'500'000u);
}

TEST(GraphText, OfRandomBytesIsValid) {
  std::mt19937 random(11);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes;
    for (std::size_t n = random() % 40; n > 0; --n) bytes += static_cast<char>(random() % 256);
    std::string text = graph_text(bytes);
    EXPECT_FALSE(first_invalid_utf8(text));
    EXPECT_EQ(text.find('\0'), text.npos);
    EXPECT_EQ(graph_text(text), text);
  }
}

TEST(GraphNumber, ReadsBackAsTheSameDouble) {
  EXPECT_EQ(graph_number(391035000000), "391035000000");
  EXPECT_EQ(graph_number(-5), "-5");
  EXPECT_EQ(graph_number(0.1), "0.1");
  EXPECT_EQ(graph_number(1e300), "1e+300");
  EXPECT_EQ(graph_number(0.4690516410716045), "0.4690516410716045");
}

}  // namespace
}  // namespace belay::research
