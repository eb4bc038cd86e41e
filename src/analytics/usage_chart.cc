#include "analytics/usage_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "belay/clock.h"

namespace belay::analytics {
namespace {

constexpr std::int64_t kEighths = 8;  // of a cell
constexpr std::size_t kLabelMin = 4;  // the width of "fail"
constexpr std::size_t kBarWidthMax = 3;

constexpr std::array<std::string_view, 9> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 9> kAscii = {" ", ".", ".", ".", ":", ":", ":", "#", "#"};

struct Bar {
  std::int64_t invocations = 0;
  std::int64_t failed = 0;
};

// Returns at most 5 characters, rounded down: 9999, 12.3k, 456M.
std::string short_number(std::int64_t number) {
  if (number < 10'000) return std::to_string(number);
  std::int64_t unit = 1'000;
  std::size_t name = 0;
  while (number / unit >= 1'000) {
    unit *= 1'000;
    ++name;
  }
  std::int64_t tenths = number / (unit / 10);
  std::string text = std::to_string(tenths / 10);
  if (tenths < 1'000) text += "." + std::to_string(tenths % 10);
  return text + "kMGTPE"[name];
}

std::string in_milliseconds(std::optional<double> time) {
  double most = static_cast<double>(amount_max);
  return short_number(std::llround(std::clamp(*time, 0.0, most))) + " ms";
}

// Returns bars of `group` days, the last of which ends with the last day.
std::vector<Bar> bars_of(std::span<const UsageDay> series, std::size_t group) {
  std::size_t count = (series.size() + group - 1) / group;
  std::vector<Bar> bars(count);
  for (std::size_t i = 0; i < series.size(); ++i) {
    const UsageTotals& totals = series[i].totals;
    Bar& bar = bars[count - 1 - (series.size() - 1 - i) / group];
    bar.invocations = added(bar.invocations, totals.invocations());
    bar.failed = added(bar.failed, totals.failed);
  }
  return bars;
}

std::string line_of(std::string_view label, std::size_t label_width, std::string_view cells) {
  std::string line(label_width - label.size(), ' ');
  line += std::string(label) + " |" + std::string(cells);
  while (line.ends_with(' ')) line.pop_back();
  return line + "\n";
}

std::int64_t height_of(const Bar& bar, std::int64_t peak, std::int64_t eighths) {
  if (bar.invocations == 0) return 0;
  double share = static_cast<double>(bar.invocations) / static_cast<double>(peak);
  auto height = static_cast<std::int64_t>(std::llround(share * static_cast<double>(eighths)));
  return std::clamp<std::int64_t>(height, 1, eighths);
}

std::string_view mark_of(const Bar& bar) {
  if (bar.failed == 0) return " ";
  return bar.failed > bar.invocations / 20 ? "!" : ".";
}

std::string title_of(std::span<const UsageDay> series, std::size_t group) {
  std::string title = "invocations";
  title += group == 1 ? " a day" : " in " + std::to_string(group) + " days";
  if (is_date(series.front().date) && is_date(series.back().date)) {
    title += ", " + series.front().date + " to " + series.back().date;
  }
  return title + "\n";
}

std::string summary_of(std::span<const UsageDay> series) {
  UsageTotals sum;
  for (const UsageDay& day : series) sum.merge(day.totals);
  if (sum.invocations() == 0) return "no invocations\n";
  std::int64_t thousandths = std::llround(*sum.failure_rate() * 1'000);
  std::string text = short_number(sum.invocations()) + " invocations, " + short_number(sum.failed) +
                     " failed (" + std::to_string(thousandths / 10) + "." +
                     std::to_string(thousandths % 10) + " %)\n";
  if (sum.latency.is_empty()) return text;
  return text + "latency p50 " + in_milliseconds(sum.latency.p50()) + ", p95 " +
         in_milliseconds(sum.latency.p95()) + "\n";
}

std::string repeated(std::string_view cell, std::size_t times) {
  std::string cells;
  for (std::size_t i = 0; i < times; ++i) cells += cell;
  return cells;
}

// The geometry of a chart.
struct Layout {
  std::int64_t height = 0;
  std::int64_t peak = 0;
  std::size_t label_width = 0;
  std::size_t bar_width = 0;
};

std::string bar_lines(const std::vector<Bar>& bars, const Layout& layout, bool utf8) {
  std::string text;
  for (std::int64_t row = layout.height - 1; row >= 0; --row) {
    std::string cells;
    for (const Bar& bar : bars) {
      std::int64_t height = height_of(bar, layout.peak, layout.height * kEighths);
      auto filled = std::clamp<std::int64_t>(height - row * kEighths, 0, kEighths);
      const auto& cell = (utf8 ? kBlocks : kAscii)[static_cast<std::size_t>(filled)];
      cells += repeated(cell, layout.bar_width);
    }
    std::string label = row == 0 ? "0" : "";
    if (row == layout.height - 1 && layout.peak > 0) label = short_number(layout.peak);
    text += line_of(label, layout.label_width, cells);
  }
  return text;
}

}  // namespace

std::string usage_chart(std::span<const UsageDay> series, const ChartOptions& options) {
  if (series.empty()) return "";
  std::size_t width = std::clamp<std::size_t>(options.width, 60, 400);
  // The widest label: a sum of days is not known before their number is.
  constexpr std::size_t label_max = 5;
  std::size_t available = width - label_max - 2;
  std::size_t group = (series.size() + available - 1) / available;
  std::vector<Bar> bars = bars_of(series, group);
  Layout layout;
  layout.height = static_cast<std::int64_t>(std::clamp<std::size_t>(options.height, 1, 40));
  for (const Bar& bar : bars) layout.peak = std::max(layout.peak, bar.invocations);
  layout.label_width = std::max(kLabelMin, short_number(layout.peak).size());
  layout.bar_width = std::clamp<std::size_t>(available / bars.size(), 1, kBarWidthMax);
  std::string marks;
  bool has_failures = false;
  for (const Bar& bar : bars) {
    marks += repeated(mark_of(bar), layout.bar_width);
    has_failures = has_failures || bar.failed > 0;
  }
  std::string chart = title_of(series, group);
  chart += bar_lines(bars, layout, options.utf8);
  if (has_failures) chart += line_of("fail", layout.label_width, marks);
  return chart + summary_of(series);
}

}  // namespace belay::analytics
