#include "agents/research/report/figure_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "agents/research/report/provenance.h"
#include "agents/research/report/report_content.h"
#include "agents/research/report/report_fixture.h"
#include "agents/research/report/report_limits.h"

namespace belay::research {
namespace {

using report::FigureIndex;

Figure figure(std::string specialist, std::string subtask, std::string metric, std::string end,
              double value = 1) {
  return {std::move(specialist), std::move(subtask), std::move(metric), std::move(end), "ratio",
          Quantity::of(value)};
}

std::vector<std::string> names_of(const FigureIndex& index) {
  std::vector<std::string> names;
  for (const Figure* known : index.figures()) {
    names.push_back(known->metric + "@" + known->period_end);
  }
  return names;
}

TEST(FigureIndex, SortsBySpecialistSubtaskFirstOccurrenceAndPeriod) {
  AnalysisDocument document;
  document.results.figures = {
      figure("zeta", "x", "unknown", "2024"),
      figure("growth", "historical_growth", "g", "2024"),
      figure("financial", "ratio_calculation", "b", "2024"),
      figure("financial", "ratio_calculation", "a", "2023"),
      figure("financial", "10k_parsing", "revenue", "2024"),
      figure("financial", "ratio_calculation", "b", "2023"),
  };
  const FigureIndex index(document);
  EXPECT_EQ(names_of(index), (std::vector<std::string>{"revenue@2024", "b@2023", "b@2024", "a@2023",
                                                       "g@2024", "unknown@2024"}));
  EXPECT_EQ(index.other_specialists(), std::vector<std::string_view>{"zeta"});
}

TEST(FigureIndex, TablesHaveAColumnForEachPeriodOfTheirRows) {
  AnalysisDocument document;
  document.results.figures = {
      figure("growth", "historical_growth", "a", "2022"),
      figure("growth", "historical_growth", "a", "2024"),
      figure("growth", "historical_growth", "b", "2023"),
      figure("growth", "historical_growth", "b", "2024"),
      figure("growth", "historical_growth", "once", "2021"),
  };
  const FigureIndex index(document);
  const auto tables = index.tables("growth");
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].periods, (std::vector<std::string_view>{"2022", "2023", "2024"}));
  ASSERT_EQ(tables[0].rows.size(), 2U);
  EXPECT_TRUE(tables[0].rows[0].cells[0]);
  EXPECT_FALSE(tables[0].rows[0].cells[1]);
  EXPECT_TRUE(tables[0].rows[0].cells[2]);
  ASSERT_EQ(tables[0].single.size(), 1U);
  EXPECT_EQ(index.figure(tables[0].single[0]).metric, "once");
}

TEST(FigureIndex, TheLatestFigureIsThatOfTheLastPeriod) {
  AnalysisDocument document;
  document.results.figures = {figure("growth", "s", "a", "2024", 3),
                              figure("growth", "s", "a", "2023", 2),
                              figure("growth", "s", "ab", "2025", 9)};
  const FigureIndex index(document);
  EXPECT_EQ(index.latest_value("growth", "a"), 3);
  EXPECT_FALSE(index.latest("growth", "b"));
  EXPECT_FALSE(index.latest("credit", "a"));
  EXPECT_FALSE(index.find("growth", "a", "2022"));
}

TEST(FigureIndex, FiguresAboveTheLimitAreCounted) {
  AnalysisDocument document;
  for (std::size_t i = 0; i < report::kFigureLimit + 7; ++i) {
    document.results.figures.push_back(figure("growth", "s", "m" + std::to_string(i), "2024"));
  }
  const FigureIndex index(document);
  EXPECT_EQ(index.figures().size(), report::kFigureLimit);
  EXPECT_EQ(index.figures_left_out(), 7U);
}

TEST(Provenance, EachFigureHasExactlyOnePlace) {
  const AnalysisDocument document = sample_document();
  const FigureIndex index(document);
  const auto provenance = report::provenance_of(index);
  std::vector<int> places(index.figures().size());
  for (const auto& set : provenance.input_sets) {
    for (const auto number : set.figures) {
      ++places[number];
      EXPECT_EQ(index.figure(number).quantity.inputs().all().size(), set.inputs.size());
    }
  }
  for (const auto& row : provenance.unavailable) {
    for (const auto number : row.figures) {
      ++places[number];
      EXPECT_EQ(index.figure(number).quantity.reason(), row.reason);
    }
  }
  EXPECT_TRUE(std::all_of(places.begin(), places.end(), [](int count) { return count == 1; }));
}

TEST(Provenance, EqualInputsStandTogetherEvenIfTheyAreCopies) {
  AnalysisDocument document = small_document();
  Figure other = document.results.figures[1];
  other.metric = "assets";
  other.quantity = Quantity::of(1, Inputs(Input(*other.quantity.inputs().all()[0])));
  document.results.figures.push_back(other);
  other.metric = "cash";
  other.quantity.assume_zero("inventory");
  document.results.figures.push_back(other);
  const FigureIndex index(document);
  const auto provenance = report::provenance_of(index);
  ASSERT_EQ(provenance.input_sets.size(), 3U);
  EXPECT_EQ(provenance.input_sets[0].figures.size(), 2U);
  ASSERT_EQ(provenance.zero_items.size(), 1U);
  EXPECT_EQ(provenance.zero_items[0].item, "inventory");
}

TEST(Provenance, ZeroItemsNameMetricsAndCountTheCellsOfSpecialTables) {
  AnalysisDocument document = small_document();
  Figure other = document.results.figures[1];
  other.specialist = "valuation";
  other.quantity.assume_zero("inventory");
  for (const auto* metric : {"equity_value", "proj_ebit_01", "sens_ev_w-50_g+25"}) {
    other.metric = metric;
    document.results.figures.push_back(other);
  }
  const FigureIndex index(document);
  const auto provenance = report::provenance_of(index);
  ASSERT_EQ(provenance.zero_items.size(), 1U);
  ASSERT_EQ(provenance.zero_items[0].metrics.size(), 1U);
  EXPECT_EQ(index.figure(provenance.zero_items[0].metrics[0].front()).metric, "equity_value");
  EXPECT_EQ(provenance.zero_items[0].in_special_tables, 2U);
  EXPECT_EQ(report::zero_count(provenance.zero_items[0]),
            ", and 2 figures of the comparison with peers, the projection, and the sensitivity "
            "tables");
}

TEST(Provenance, TooManyInputsAreCounted) {
  AnalysisDocument document = small_document();
  Inputs inputs;
  for (std::size_t i = 0; i < report::kInputLimit + 3; ++i) {
    inputs.add(Inputs(report_fact("C" + std::to_string(i), "", "2024-12-31", 1, "")));
  }
  document.results.figures[1].quantity = Quantity::of(1, inputs);
  const FigureIndex index(document);
  const auto provenance = report::provenance_of(index);
  EXPECT_EQ(provenance.input_sets[0].inputs.size(), report::kInputLimit);
  EXPECT_EQ(provenance.input_sets[0].inputs_left_out, 3U);
}

TEST(Provenance, FilingsOfPeersHaveALinkOnlyWithTheirCik) {
  AnalysisDocument document = small_document();
  const std::string known = "0000000077-25-000001";
  const std::string unknown = "0000000088-25-000001";
  Inputs inputs(report_fact("Revenues", "2024-01-01", "2024-12-31", 1, known));
  inputs.add(Inputs(report_fact("Revenues", "2024-01-01", "2024-12-31", 2, unknown)));
  document.results.figures.push_back({"financial", "peer_comparison", "peer_median_roic",
                                      "2024-12-31", "ratio", Quantity::of(1, inputs)});
  document.sources = {{known, "10-K", "2025-02-01", "0000000077"}};
  const FigureIndex index(document);
  const auto provenance = report::provenance_of(index);
  EXPECT_EQ(provenance.urls.at(known),
            "https://www.sec.gov/Archives/edgar/data/77/000000007725000001/"
            "0000000077-25-000001-index.htm");
  EXPECT_EQ(provenance.urls.at(unknown), "");
  EXPECT_EQ(provenance.urls.at("0000000042-25-000001"),
            "https://www.sec.gov/Archives/edgar/data/42/000000004225000001/"
            "0000000042-25-000001-index.htm");
}

TEST(EdgarUrl, AMalformedNumberHasNoAddress) {
  EXPECT_EQ(report::edgar_filing_url("320193", "0000320193-25-00007"), "");
  EXPECT_EQ(report::edgar_filing_url("320193", "0000320193/25/000079"), "");
  EXPECT_EQ(report::edgar_filing_url("320193", "000032019x-25-000079"), "");
  EXPECT_EQ(report::edgar_filing_url("", "0000320193-25-000079"), "");
  EXPECT_EQ(report::edgar_filing_url("0000000000", "0000320193-25-000079"), "");
  EXPECT_EQ(report::edgar_filing_url("3201\"93", "0000320193-25-000079"), "");
  EXPECT_EQ(report::edgar_company_url("0000320193"),
            "https://www.sec.gov/edgar/browse/?CIK=320193");
  EXPECT_EQ(report::edgar_company_url("12345678901"), "");
}

}  // namespace
}  // namespace belay::research
