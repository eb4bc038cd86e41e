#include "agents/research/report/svg_charts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "agents/research/report/html_checker.h"
#include "agents/research/report/report_fixture.h"
#include "agents/research/report/svg_scale.h"

namespace belay::research {
namespace {

using report::Chart;
using report::ChartKind;
using report::ChartPoint;
using report::Scale;

CheckedHtml checked_svg(const std::string& svg) { return check_html("<!doctype html>\n" + svg); }

Chart chart_of(std::vector<std::optional<double>> values, ChartKind kind = ChartKind::lines) {
  Chart chart;
  chart.id = "chart-1";
  chart.kind = kind;
  chart.title = "Margins & <more>";
  chart.unit = "ratio";
  chart.as_percentage = true;
  report::ChartSeries series{"Gross margin", {}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    chart.categories.push_back(std::to_string(2020 + i));
    if (values[i]) {
      series.points.push_back(ChartPoint{*values[i], "text", "f" + std::to_string(i)});
    } else {
      series.points.push_back(std::nullopt);
    }
  }
  chart.series.push_back(std::move(series));
  return chart;
}

TEST(Scale, TicksAreRoundAndCoverTheValues) {
  const Scale scale({0.391, 0.469}, false, 100, 0, 6);
  EXPECT_EQ(scale.ticks().front(), scale.least());
  EXPECT_EQ(scale.ticks().back(), scale.greatest());
  EXPECT_LE(scale.least(), 0.391);
  EXPECT_GE(scale.greatest(), 0.469);
  EXPECT_NEAR(scale.ticks()[1] - scale.ticks()[0], 0.02, 1e-12);
  EXPECT_DOUBLE_EQ(scale.at(scale.least()), 100);
  EXPECT_DOUBLE_EQ(scale.at(scale.greatest()), 0);
}

TEST(Scale, ZeroIsIncludedWhenWanted) {
  EXPECT_EQ(Scale({5, 9}, true, 0, 1, 6).least(), 0);
  EXPECT_EQ(Scale({-5, -9}, true, 0, 1, 6).greatest(), 0);
}

TEST(Scale, AnyValuesGiveFewTicksAndCoordinatesInside) {
  const std::vector<std::vector<double>> cases = {{},
                                                  {0},
                                                  {7},
                                                  {-7, -7},
                                                  {1e300, -1e300},
                                                  {5e-324, 0},
                                                  {1e17, 1e17 + 16},
                                                  {1, 1 + 1e-15},
                                                  {-1e-200, 1e-200},
                                                  {std::numeric_limits<double>::infinity(), 3}};
  for (const auto& values : cases) {
    const Scale scale(values, false, 200, 10, 6);
    EXPECT_LE(scale.ticks().size(), 13U);
    EXPECT_GE(scale.ticks().size(), 2U);
    for (const double value : values) {
      EXPECT_GE(scale.at(value), 10 - 1e-9);
      EXPECT_LE(scale.at(value), 200 + 1e-9);
    }
  }
}

TEST(Coordinate, HasOneDecimalAtMost) {
  EXPECT_EQ(report::coordinate(12.345), "12.3");
  EXPECT_EQ(report::coordinate(12.0), "12");
  EXPECT_EQ(report::coordinate(-0.01), "0");
  EXPECT_EQ(report::coordinate(std::numeric_limits<double>::quiet_NaN()), "0");
}

TEST(TickText, HasNoTrailingZeros) {
  EXPECT_EQ(report::tick_text(0.5, "ratio", true), "50%");
  EXPECT_EQ(report::tick_text(4e11, "USD", false), "400 bn");
  EXPECT_EQ(report::tick_text(2.5e9, "USD", false), "2.5 bn");
  EXPECT_EQ(report::tick_text(100, "days", false), "100");
}

TEST(ChartSvg, IsWellFormedAndNamed) {
  for (const ChartKind kind : {ChartKind::lines, ChartKind::columns}) {
    const auto svg = checked_svg(chart_svg(chart_of({0.1, std::nullopt, 0.3, -0.2}, kind)));
    EXPECT_TRUE(svg.faults.empty()) << svg.faults.front();
    ASSERT_FALSE(svg.elements.empty());
    const HtmlElement& root = svg.elements.front();
    EXPECT_EQ(root.attribute("aria-labelledby"), "chart-1-title");
    EXPECT_EQ(root.attribute("aria-describedby"), "chart-1-text");
    EXPECT_EQ(svg.elements[1].text, "Margins &amp; &lt;more&gt;");
    EXPECT_NE(svg.elements[2].text.find("Gross margin: text in 2020, text in 2023."),
              std::string::npos);
  }
}

TEST(ChartSvg, EachValueIsALinkOutsideOfTheTabOrder) {
  for (const ChartKind kind : {ChartKind::lines, ChartKind::columns}) {
    const auto svg = checked_svg(chart_svg(chart_of({0.1, std::nullopt, 0.3}, kind)));
    const auto links = svg.all("a");
    ASSERT_EQ(links.size(), 2U);
    EXPECT_EQ(links[0]->attribute("href"), "#f0");
    EXPECT_EQ(links[1]->attribute("href"), "#f2");
    EXPECT_EQ(links[1]->attribute("tabindex"), "-1");
  }
}

TEST(ChartSvg, AGapIsNotBridged) {
  const std::string svg = chart_svg(chart_of({0.1, 0.2, std::nullopt, 0.3, 0.4}));
  const std::size_t path = svg.find("class=\"line s0\"");
  ASSERT_NE(path, std::string::npos);
  const std::string line = svg.substr(path, svg.find("/>", path) - path);
  EXPECT_EQ(std::count(line.begin(), line.end(), 'M'), 2);
  EXPECT_EQ(std::count(line.begin(), line.end(), 'L'), 2);
}

TEST(ChartSvg, ManyYearsHaveAtMostTwelveLabels) {
  std::vector<std::optional<double>> values(50, 0.5);
  const auto svg = checked_svg(chart_svg(chart_of(values)));
  std::size_t labels = 0;
  for (const HtmlElement* text : svg.all("text")) {
    if (text->text.starts_with("20")) ++labels;
  }
  EXPECT_LE(labels, 12U);
  EXPECT_GE(labels, 6U);
}

TEST(ChartSvg, AChartOfOneYearIsNotWorthDrawing) {
  EXPECT_FALSE(report::is_worth_drawing(chart_of({0.5})));
  EXPECT_FALSE(report::is_worth_drawing(chart_of({0.5, std::nullopt})));
  EXPECT_TRUE(report::is_worth_drawing(chart_of({0.5, std::nullopt, 0.1})));
}

TEST(HorizontalBars, NegativeValuesHaveNoWidth) {
  const std::string drawn = report::horizontal_bars_svg(
      "chart-2", "Words", {{"a <b>", {10, "10", "f1"}}, {"c", {-5, "-5", "f2"}}});
  const auto svg = checked_svg(drawn);
  EXPECT_TRUE(svg.faults.empty());
  const auto bars = svg.all("rect");
  ASSERT_EQ(bars.size(), 2U);
  EXPECT_EQ(bars[1]->attribute("width"), "0.8");
}

TEST(FootballFieldSvg, BothEndsOfEachRangeAreLinks) {
  const AnalysisDocument document = sample_document();
  const report::FigureIndex index(document);
  const auto field = report::football_field_of(index);
  const auto svg = checked_svg(report::football_field_svg("chart-3", "Ranges", field));
  EXPECT_TRUE(svg.faults.empty());
  for (const auto& range : field.ranges) {
    for (const std::string& anchor : {range.low.anchor, range.high.anchor}) {
      const auto links = svg.all("a");
      EXPECT_TRUE(std::any_of(links.begin(), links.end(), [&](const HtmlElement* link) {
        return link->attribute("href") == "#" + anchor;
      })) << anchor;
    }
  }
}

}  // namespace
}  // namespace belay::research
