// usage_chart(): its bars, its marks and its width.

#include "analytics/usage_chart.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "analytics/usage_series.h"

namespace belay::analytics {
namespace {

// Days with successes and failures; the last one is 2026-11-28.
std::vector<UsageDay> charted(const std::vector<std::pair<std::int64_t, std::int64_t>>& counts) {
  auto days = daily_series({}, "a", "2026-11-28", static_cast<std::int64_t>(counts.size()));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    UsageTotals& totals = (*days)[i].totals;
    totals.success = counts[i].first;
    totals.failed = counts[i].second;
    totals.latency.add(40, counts[i].first);
    totals.latency.add(5'000'000, counts[i].second);
  }
  return *days;
}

// Returns the columns of a line, each code point counted as one.
std::size_t columns_of(std::string_view line) {
  std::size_t columns = 0;
  for (char c : line) columns += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return columns;
}

TEST(UsageCharts, ShowBarsMarksAndASummary) {
  std::vector<UsageDay> series = charted({{0, 0}, {1, 0}, {8, 0}, {15, 1}, {28, 1}, {32, 0}});
  EXPECT_EQ(usage_chart(series, {.width = 60, .height = 2}),
            "invocations a day, 2026-11-23 to 2026-11-28\n"
            "  32 |            ▇▇▇███\n"
            "   0 |   ▁▁▁▄▄▄█████████\n"
            "fail |         !!!...\n"
            "86 invocations, 2 failed (2.3 %)\n"
            "latency p50 40 ms, p95 40 ms\n");
  EXPECT_EQ(usage_chart(series, {.width = 60, .height = 2, .utf8 = false}),
            "invocations a day, 2026-11-23 to 2026-11-28\n"
            "  32 |            ######\n"
            "   0 |   ...:::#########\n"
            "fail |         !!!...\n"
            "86 invocations, 2 failed (2.3 %)\n"
            "latency p50 40 ms, p95 40 ms\n");
}

TEST(UsageCharts, OfDaysWithoutInvocationsAreBlank) {
  EXPECT_EQ(usage_chart(charted({{0, 0}, {0, 0}}), {.height = 2}),
            "invocations a day, 2026-11-27 to 2026-11-28\n"
            "     |\n"
            "   0 |\n"
            "no invocations\n");
  EXPECT_EQ(usage_chart({}), "");
}

TEST(UsageCharts, ShowOneInvocationNextToAMillion) {
  std::string chart = usage_chart(charted({{1, 0}, {1'000'000, 0}}), {.height = 1});
  EXPECT_NE(chart.find("1.0M |▁▁▁███\n"), chart.npos) << chart;
}

TEST(UsageCharts, AddDaysIfTheTerminalIsNarrow) {
  std::vector<std::pair<std::int64_t, std::int64_t>> counts(365, {1, 0});
  counts.back() = {1, 1};
  std::string chart = usage_chart(charted(counts), {.width = 60, .height = 1, .utf8 = false});
  // 53 columns: bars of 7 days, of which the first has one day.
  std::string bars = "   8 |." + std::string(51, '#') + "#\n";
  EXPECT_NE(chart.find("invocations in 7 days, 2025-11-29 to 2026-11-28\n"), chart.npos) << chart;
  EXPECT_NE(chart.find(bars), chart.npos) << chart;
  EXPECT_NE(chart.find("fail |" + std::string(52, ' ') + "!\n"), chart.npos) << chart;
}

TEST(UsageCharts, ShortenLargeNumbers) {
  std::string chart = usage_chart(charted({{12'399, 0}}), {.height = 1});
  EXPECT_NE(chart.find("12.3k |"), chart.npos) << chart;
  chart = usage_chart(charted({{9'999, 0}}), {.height = 1});
  EXPECT_NE(chart.find("\n9999 |"), chart.npos) << chart;
  chart = usage_chart(charted({{amount_max, amount_max}}), {.height = 1});
  EXPECT_NE(chart.find("9.2E invocations, 4.6E failed (50.0 %)"), chart.npos) << chart;
}

TEST(UsageCharts, FitTheirWidthAndHeight) {
  EXPECT_TRUE(rc::check("any series and any terminal", [] {
    auto counts = *rc::gen::resize(
        365, rc::gen::container<std::vector<std::pair<std::int64_t, std::int64_t>>>(
                 rc::gen::pair(rc::gen::element<std::int64_t>(0, 1, 999, 123'456, amount_max),
                               rc::gen::element<std::int64_t>(0, 0, 2, amount_max))));
    if (counts.size() > 365) counts.resize(365);
    if (counts.empty()) return;
    ChartOptions options;
    options.width = *rc::gen::element<std::size_t>(0, 60, 61, 80, 200, 400, 100'000);
    options.height = *rc::gen::element<std::size_t>(0, 1, 8, 40, 100'000);
    options.utf8 = *rc::gen::arbitrary<bool>();
    std::string chart = usage_chart(charted(counts), options);
    std::size_t width = std::clamp<std::size_t>(options.width, 60, 400);
    std::size_t lines = 0;
    std::size_t begin = 0;
    while (begin < chart.size()) {
      std::size_t end = chart.find('\n', begin);
      RC_ASSERT(end != chart.npos);
      std::string_view line = std::string_view(chart).substr(begin, end - begin);
      RC_ASSERT(columns_of(line) <= width);
      RC_ASSERT(!line.ends_with(' '));
      RC_ASSERT(options.utf8 || columns_of(line) == line.size());
      begin = end + 1;
      ++lines;
    }
    RC_ASSERT(lines <= std::clamp<std::size_t>(options.height, 1, 40) + 4);
  }));
}

}  // namespace
}  // namespace belay::analytics
