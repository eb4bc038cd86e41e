#pragma once
// analytics/usage_chart.h - usage_chart(): a daily series as a chart for a terminal.
//
//   invocations a day, 2026-11-19 to 2026-11-28
//     27 |       █
//        |  ▂▅█  █
//      0 |▁ ███▇██ ▃
//   fail |  .  !
//   114 invocations, 4 failed (3.5 %)
//   latency p50 120 ms, p95 900 ms
//
// Threading: none; a pure function.

#include <cstddef>
#include <span>
#include <string>

#include "analytics/usage.h"

namespace belay::analytics {

struct ChartOptions {
  std::size_t width = 80;  // columns of the terminal, counted as 60 to 400
  std::size_t height = 8;  // lines of the bars, counted as 1 to 40
  bool utf8 = true;        // false: ASCII
};

// Returns the chart of `series` (usage_series.h): lines that end with '\n', each at most `width`
// columns, without trailing spaces. The bars show the invocations, from 0; a day with invocations
// has a visible bar. If there are more days than columns, a bar is the sum of 2 or more days,
// which the title states, and the last bar ends with the last day. The line `fail` marks bars with
// failures: `.`, or `!` if more than 5 % have failed; without failures, it is omitted. Empty for an
// empty series.
std::string usage_chart(std::span<const UsageDay> series, const ChartOptions& options = {});

}  // namespace belay::analytics
