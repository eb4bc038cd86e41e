// Metrics and their text.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>
#include <thread>

#include "telemetry/families.h"

namespace belay {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::array kBounds = {0.1, 1.0};
constexpr MetricFamily kCount{MetricKind::counter, "a_count_total", "Counts"};
constexpr MetricFamily kLevel{MetricKind::gauge, "a_level", "A level"};
constexpr MetricFamily kTime{MetricKind::histogram, "a_time_seconds", "A time", kBounds};

TEST(MetricTexts, HaveTheFormatOfPrometheus) {
  auto metrics = make_metrics();
  metrics->set(kLevel, {}, 0.25);
  metrics->add(kCount, {{"agent", "b"}});
  metrics->add(kCount, {{"agent", "a\"\\\n"}}, 2);
  metrics->add(kCount, {{"agent", "b"}});
  metrics->observe(kTime, {{"of", "x"}}, 0.1);
  metrics->observe(kTime, {{"of", "x"}}, 0.5);
  metrics->observe(kTime, {{"of", "x"}}, 7);
  metrics->observe(kTime, {}, 1);
  EXPECT_EQ(metrics->text(), R"(# HELP a_count_total Counts
# TYPE a_count_total counter
a_count_total{agent="a\"\\\n"} 2
a_count_total{agent="b"} 2
# HELP a_level A level
# TYPE a_level gauge
a_level 0.25
# HELP a_time_seconds A time
# TYPE a_time_seconds histogram
a_time_seconds_bucket{le="0.1"} 0
a_time_seconds_bucket{le="1"} 1
a_time_seconds_bucket{le="+Inf"} 1
a_time_seconds_sum 1
a_time_seconds_count 1
a_time_seconds_bucket{of="x",le="0.1"} 1
a_time_seconds_bucket{of="x",le="1"} 2
a_time_seconds_bucket{of="x",le="+Inf"} 3
a_time_seconds_sum{of="x"} 7.6
a_time_seconds_count{of="x"} 3
)");
}

TEST(MetricTexts, ShowNumbersAsPeopleWriteThem) {
  auto metrics = make_metrics();
  auto shown = [&](double value) {
    metrics->set(kLevel, {}, value);
    std::string text = metrics->text();
    return text.substr(text.rfind(' ') + 1);
  };
  EXPECT_EQ(shown(0), "0\n");
  EXPECT_EQ(shown(-3), "-3\n");
  EXPECT_EQ(shown(0.0005), "0.0005\n");
  EXPECT_EQ(shown(1234567.25), "1234567.25\n");
  EXPECT_EQ(shown(4e15), "4000000000000000\n");
  EXPECT_EQ(shown(1e300), "1e+300\n");
  EXPECT_EQ(shown(2.5e-9), "2.5e-09\n");
  EXPECT_EQ(shown(std::numeric_limits<double>::infinity()), "+Inf\n");
  EXPECT_EQ(shown(std::numeric_limits<double>::quiet_NaN()), "NaN\n");
}

TEST(MetricTexts, StayBoundedWhateverNamesArrive) {
  MetricsOptions options;
  options.series_max = 10;
  auto metrics = make_metrics(options);
  for (int i = 0; i < 100'000; ++i) {
    std::string name = std::to_string(i);
    metrics->add(kCount, {{"agent", name}, {"node", name}});
  }
  std::string text = metrics->text();
  EXPECT_LT(text.size(), 1'000u);
  EXPECT_THAT(text, HasSubstr("a_count_total{agent=\"9\",node=\"9\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("agent=\"10\"")));
  EXPECT_THAT(text, HasSubstr("a_count_total{agent=\"other\",node=\"other\"} 99990\n"));
}

TEST(MetricTexts, CountWhatSeveralThreadsAdd) {
  auto metrics = make_metrics();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 1'000; ++k) {
        metrics->add(kCount, {{"agent", "a"}});
        metrics->observe(kTime, {}, 0.5);
        if (k % 100 == 0) {
          EXPECT_FALSE(metrics->text().empty());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(metrics->text(), HasSubstr("a_count_total{agent=\"a\"} 4000\n"));
  EXPECT_THAT(metrics->text(), HasSubstr("a_time_seconds_count 4000\n"));
}

TEST(MetricTexts, OfBelayHaveNamesThatFollowTheConventions) {
  std::set<std::string_view> names;
  for (const MetricFamily* family : telemetry::kFamilies) {
    EXPECT_TRUE(names.insert(family->name).second) << family->name;
    EXPECT_TRUE(family->name.starts_with("belay_")) << family->name;
    EXPECT_EQ(family->name.ends_with("_total"), family->kind == MetricKind::counter)
        << family->name;
    bool is_histogram = family->kind == MetricKind::histogram;
    EXPECT_EQ(!family->bounds.empty(), is_histogram) << family->name;
    EXPECT_TRUE(std::is_sorted(family->bounds.begin(), family->bounds.end())) << family->name;
    EXPECT_FALSE(family->help.empty());
  }
}

}  // namespace
}  // namespace belay
