#pragma once
// agents/research/report/svg_charts.h - charts as SVG elements inside an HTML document.
//
// Colours come from classes of report.css: s0 to s5 for series. Each drawn value is a link to its
// anchor, with its text as a tooltip; the links are left out of the order of the tab key, since the
// tables of the report have the same ones.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/report/valuation_ranges.h"

namespace belay::research::report {

struct ChartPoint {
  double value = 0;
  std::string text;    // "46.9%"
  std::string anchor;  // "f17"
};

struct ChartSeries {
  std::string name;
  std::vector<std::optional<ChartPoint>> points;  // one of each category; empty: not available
};

// A value that is drawn as a dashed line across the chart.
struct ChartThreshold {
  double value = 0;
  std::string label;
};

enum class ChartKind { lines, columns };

struct Chart {
  std::string id;  // unique in the document: "chart-3"
  ChartKind kind = ChartKind::lines;
  std::string title;
  std::vector<std::string> categories;
  std::vector<ChartSeries> series;  // at most kMaxSeries are drawn
  std::string unit;                 // of the axis, as in Figure::unit
  bool as_percentage = false;
  std::optional<ChartThreshold> threshold;
};
inline constexpr std::size_t kMaxSeries = 6;

// Whether a series has at least two values.
bool is_worth_drawing(const Chart& chart);

// Returns an <svg> element; the values are read out by its title and description.
std::string chart_svg(const Chart& chart);

// One bar of a chart with horizontal bars.
struct HorizontalBar {
  std::string label;
  ChartPoint point;
};
// Returns an <svg> element; negative values are drawn as zero.
std::string horizontal_bars_svg(std::string_view id, std::string_view title,
                                const std::vector<HorizontalBar>& bars);

// Returns an <svg> element with one bar of each range; the ranges are not empty.
std::string football_field_svg(std::string_view id, std::string_view title,
                               const FootballField& field);

// Returns the text of a tick mark: "50%", where a figure's text would be "50.0%".
std::string tick_text(double value, std::string_view unit, bool as_percentage);

}  // namespace belay::research::report
