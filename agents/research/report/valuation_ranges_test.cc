#include "agents/research/report/valuation_ranges.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "agents/research/report/report_fixture.h"

namespace belay::research {
namespace {

using report::FigureIndex;
using report::football_field_of;
using report::heat_map_of;

AnalysisDocument valuation_document() {
  AnalysisDocument document;
  document.results = sample_figures();
  return document;
}

void set_value(AnalysisDocument& document, std::string_view metric, double value) {
  for (Figure& figure : document.results.figures) {
    if (figure.metric == metric) figure.quantity = Quantity::of(value);
  }
}

TEST(FootballField, HasARangeOfScenariosOfBothRatesAndOfTheTerminalValue) {
  const AnalysisDocument document = valuation_document();
  const FigureIndex index(document);
  const auto field = football_field_of(index);
  ASSERT_EQ(field.ranges.size(), 5U);
  EXPECT_EQ(field.unit, "USD/shares");
  EXPECT_DOUBLE_EQ(field.ranges[0].low.value, 81.2);
  EXPECT_DOUBLE_EQ(field.ranges[0].base->value, 120.65);
  EXPECT_DOUBLE_EQ(field.ranges[0].high.value, 158.4);
  // The highest rate and the lowest growth give the least value of all combinations.
  const auto least = index.latest("valuation", "sens_value_per_share_w+100_g-50");
  EXPECT_EQ(field.ranges[3].low.anchor, FigureIndex::anchor(*least));
}

TEST(FootballField, TheValueOfConvergenceReplacesTheTerminalValue) {
  const AnalysisDocument document = valuation_document();
  const FigureIndex index(document);
  const auto field = football_field_of(index);
  ASSERT_TRUE(field.convergence);
  // 120.65 / 1811 of equity 1811 - 1082.214... + 2401 / 2932 x 1082.214...
  EXPECT_NEAR(field.convergence->value, 107.59271717, 1e-7);
  EXPECT_EQ(field.convergence->operands.size(), 5U);
  EXPECT_EQ(field.ranges[4].low.anchor, "d0");
}

TEST(FootballField, WithoutAValuePerShareThereIsNothingToDraw) {
  AnalysisDocument document = valuation_document();
  for (Figure& figure : document.results.figures) {
    if (figure.unit == "USD/shares") {
      figure.quantity = Quantity::missing(Missing::missing_input, "wacc");
    }
  }
  const FigureIndex index(document);
  EXPECT_TRUE(football_field_of(index).ranges.empty());
  EXPECT_FALSE(football_field_of(index).convergence);
  const auto map = heat_map_of(index, "sens_value_per_share");
  ASSERT_TRUE(map);
  EXPECT_FALSE(map->has_values);
}

TEST(FootballField, ADivisionByZeroGivesNoValueOfConvergence) {
  AnalysisDocument document = valuation_document();
  set_value(document, "terminal_value", 0);
  const FigureIndex index(document);
  EXPECT_FALSE(football_field_of(index).convergence);
  EXPECT_EQ(football_field_of(index).ranges.size(), 4U);
}

TEST(HeatMap, LevelsGrowWithTheValue) {
  const AnalysisDocument document = valuation_document();
  const FigureIndex index(document);
  const auto map = heat_map_of(index, "sens_value_per_share");
  ASSERT_TRUE(map);
  EXPECT_EQ(map->cells[0][4].level, 6);  // the lowest rate, the greatest growth
  EXPECT_EQ(map->cells[4][0].level, 0);
  EXPECT_EQ(map->cells[2][2].level, 3);
}

TEST(HeatMap, EqualValuesAreInTheMiddle) {
  AnalysisDocument document = valuation_document();
  for (Figure& figure : document.results.figures) {
    if (figure.metric.starts_with("sens_ev")) figure.quantity = Quantity::of(5);
  }
  const FigureIndex index(document);
  EXPECT_EQ(heat_map_of(index, "sens_ev")->cells[0][0].level, 3);
}

TEST(HeatMap, ExtremeValuesDoNotOverflow) {
  AnalysisDocument document = valuation_document();
  set_value(document, "sens_ev_w-100_g+50", 1.7e308);
  set_value(document, "sens_ev_w+100_g-50", -1.7e308);
  const FigureIndex index(document);
  const auto map = heat_map_of(index, "sens_ev");
  EXPECT_EQ(map->cells[0][4].level, 6);
  EXPECT_EQ(map->cells[4][0].level, 0);
}

TEST(HeatMap, AnAnalysisWithoutSensitivityHasNone) {
  const AnalysisDocument document = small_document();
  const FigureIndex index(document);
  EXPECT_FALSE(heat_map_of(index, "sens_ev"));
}

}  // namespace
}  // namespace belay::research
