// QuantileSketch: its error, its merges, and its stored form.

#include "analytics/quantile_sketch.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace belay::analytics {
namespace {

constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();

QuantileSketch sketch_of(const std::vector<std::int64_t>& values) {
  QuantileSketch sketch;
  for (std::int64_t value : values) sketch.add(value);
  return sketch;
}

QuantileSketch merged(QuantileSketch one, const QuantileSketch& other) {
  one.merge(other);
  return one;
}

// Values of every magnitude: a uniform generator would return large ones only.
rc::Gen<std::int64_t> any_value() {
  return rc::gen::map(rc::gen::pair(rc::gen::inRange(0, 63), rc::gen::arbitrary<std::uint64_t>()),
                      [](const std::pair<int, std::uint64_t>& drawn) {
                        return static_cast<std::int64_t>(drawn.second >> (1 + drawn.first));
                      });
}

rc::Gen<std::vector<std::int64_t>> any_values() {
  return rc::gen::container<std::vector<std::int64_t>>(any_value());
}

rc::Gen<QuantileSketch> any_sketch() { return rc::gen::map(any_values(), sketch_of); }

TEST(QuantileSketches, AreWithinOnePercentOfTheExactQuantile) {
  EXPECT_TRUE(rc::check("every quantile of any values", [] {
    auto values = *rc::gen::nonEmpty(any_values());
    auto thousandths = *rc::gen::inRange<std::size_t>(0, 1'001);
    double q = static_cast<double>(thousandths) / 1'000.0;
    QuantileSketch sketch = sketch_of(values);
    std::sort(values.begin(), values.end());
    std::size_t reached = (thousandths * values.size() + 999) / 1'000;
    auto exact = static_cast<double>(values[std::max<std::size_t>(reached, 1) - 1]);
    double error = std::abs(sketch.quantile(q).value() - exact);
    RC_ASSERT(error <= QuantileSketch::relative_error * exact * (1 + 1e-9));
    RC_ASSERT(sketch.count() == static_cast<std::int64_t>(values.size()));
    RC_ASSERT(sketch.least() == values.front());
    RC_ASSERT(sketch.most() == values.back());
  }));
}

TEST(QuantileSketches, MergeInAnyOrderAndGrouping) {
  EXPECT_TRUE(rc::check("merges are commutative and associative", [] {
    auto [a, b, c] = *rc::gen::tuple(any_sketch(), any_sketch(), any_sketch());
    RC_ASSERT(merged(a, b) == merged(b, a));
    RC_ASSERT(merged(merged(a, b), c) == merged(a, merged(b, c)));
    RC_ASSERT(merged(a, QuantileSketch()) == a);
    RC_ASSERT(to_json(merged(a, b).to_value()) == to_json(merged(b, a).to_value()));
  }));
}

TEST(QuantileSketches, OfPartsAreThoseOfTheWhole) {
  EXPECT_TRUE(rc::check("the parts of a list, merged", [] {
    auto [one, other] = *rc::gen::pair(any_values(), any_values());
    QuantileSketch parts = merged(sketch_of(one), sketch_of(other));
    one.insert(one.end(), other.begin(), other.end());
    RC_ASSERT(parts == sketch_of(one));
  }));
}

TEST(QuantileSketches, AreReadAsTheyWereWritten) {
  EXPECT_TRUE(rc::check("any sketch through its text", [] {
    QuantileSketch sketch = *any_sketch();
    auto value = parse_json(to_json(sketch.to_value()));
    RC_ASSERT(value.ok());
    auto read = QuantileSketch::from_value(*value);
    RC_ASSERT(read.ok());
    RC_ASSERT(*read == sketch);
  }));
}

TEST(QuantileSketches, AreExactForSmallValues) {
  QuantileSketch sketch;
  for (std::int64_t value = 0; value < 50; ++value) sketch.add(value);
  for (std::int64_t value = 0; value < 50; ++value) {
    EXPECT_EQ(sketch.quantile((static_cast<double>(value) + 0.5) / 50), value) << value;
  }
}

// The nearest rank, as in the view agent_metrics.
TEST(QuantileSketches, OfFewValuesHaveTheLargestAsTheirNinetyFifthPercentile) {
  EXPECT_EQ(sketch_of({262, 5'024}).p95(), 5'024.0);
  EXPECT_EQ(sketch_of({262, 5'024}).p50(), 262.0);
  EXPECT_EQ(sketch_of({1, 2, 3}).p50(), 2.0);
  QuantileSketch sketch;
  for (std::int64_t value = 1; value <= 49; ++value) {
    sketch.add(value);
    std::int64_t exact = (95 * value + 99) / 100;
    EXPECT_EQ(sketch.p95(), static_cast<double>(exact)) << value << " values";
  }
}

TEST(QuantileSketches, HaveBucketsThatCoverEachValueOnce) {
  // Stored sketches depend on these bounds: they must not change without a new version.
  EXPECT_EQ(QuantileSketch::buckets_max(), 2'017u);
  EXPECT_EQ(QuantileSketch::bounds_of(0), (BucketBounds{0, 0}));
  EXPECT_EQ(QuantileSketch::bounds_of(49), (BucketBounds{49, 49}));
  EXPECT_EQ(QuantileSketch::bounds_of(50), (BucketBounds{50, 51}));
  std::int64_t next = 0;
  for (std::size_t i = 0; i < QuantileSketch::buckets_max(); ++i) {
    BucketBounds bounds = QuantileSketch::bounds_of(i);
    ASSERT_EQ(bounds.low, next);
    ASSERT_GE(bounds.high, bounds.low);
    auto low = static_cast<long double>(bounds.low);
    auto high = static_cast<long double>(bounds.high);
    ASSERT_LE(99 * high, 101 * low);
    next = i + 1 < QuantileSketch::buckets_max() ? bounds.high + 1 : next;
  }
  EXPECT_EQ(QuantileSketch::bounds_of(QuantileSketch::buckets_max() - 1).high, int64_max);
}

TEST(QuantileSketches, NeverHaveMoreBucketsThanTheirMaximum) {
  QuantileSketch sketch;
  for (std::size_t i = 0; i < QuantileSketch::buckets_max(); ++i) {
    sketch.add(QuantileSketch::bounds_of(i).low);
    sketch.add(QuantileSketch::bounds_of(i).high);
  }
  EXPECT_EQ(sketch.buckets().size(), QuantileSketch::buckets_max());
  EXPECT_EQ(sketch.quantile(0), 0.0);
  EXPECT_EQ(sketch.quantile(1), static_cast<double>(int64_max));
  EXPECT_TRUE(QuantileSketch::from_value(sketch.to_value()).ok());
}

TEST(QuantileSketches, CountValuesBelowZeroAsZeroAndNoneForNoTimes) {
  QuantileSketch sketch;
  sketch.add(std::numeric_limits<std::int64_t>::min());
  sketch.add(7, 0);
  sketch.add(7, -3);
  EXPECT_EQ(sketch.count(), 1);
  EXPECT_EQ(sketch.most(), 0);
  EXPECT_EQ(sketch.p95(), 0.0);
}

TEST(QuantileSketches, SaturateAndStillReturnQuantiles) {
  QuantileSketch sketch;
  sketch.add(10, int64_max);
  sketch.merge(sketch);
  sketch.add(20, int64_max);
  EXPECT_EQ(sketch.count(), amount_max);
  EXPECT_EQ(sketch.p50(), 10.0);
  EXPECT_TRUE(QuantileSketch::from_value(sketch.to_value()).ok());
}

TEST(QuantileSketches, HaveNoQuantileOfNothingOrOfNoNumber) {
  QuantileSketch sketch;
  EXPECT_EQ(sketch.p50(), std::nullopt);
  EXPECT_EQ(sketch.least(), std::nullopt);
  EXPECT_EQ(sketch.most(), std::nullopt);
  sketch.add(5);
  sketch.add(9);
  EXPECT_EQ(sketch.quantile(std::nan("")), std::nullopt);
  EXPECT_EQ(sketch.quantile(-1), 5.0);
  EXPECT_EQ(sketch.quantile(std::numeric_limits<double>::infinity()), 9.0);
}

TEST(QuantileSketches, HaveAStableText) {
  EXPECT_EQ(to_json(QuantileSketch().to_value()),
            R"({"buckets":[],"least":null,"most":null,"version":1})");
  EXPECT_EQ(to_json(sketch_of({200, 49, 49, 206}).to_value()),
            R"({"buckets":[[49,2],[104,1],[105,1]],"least":49,"most":206,"version":1})");
}

TEST(QuantileSketches, RejectDamagedTexts) {
  for (const char* text : {
           "null",
           "7",
           "[]",
           "{}",
           R"({"buckets":[],"least":null,"most":null,"version":2})",
           R"({"buckets":[],"least":null,"most":null,"version":1.0})",
           R"({"buckets":{},"least":null,"most":null,"version":1})",
           R"({"buckets":[],"least":0,"most":null,"version":1})",
           R"({"buckets":[[4,1]],"least":null,"most":null,"version":1})",
           R"({"buckets":[[4,1]],"least":3,"most":4,"version":1})",
           R"({"buckets":[[4,1]],"least":4,"most":5,"version":1})",
           R"({"buckets":[[4,1]],"least":4.0,"most":4,"version":1})",
           R"({"buckets":[[4,0]],"least":4,"most":4,"version":1})",
           R"({"buckets":[[4,-1]],"least":4,"most":4,"version":1})",
           R"({"buckets":[[4,9223372036854775807]],"least":4,"most":4,"version":1})",
           R"({"buckets":[[4,1.5]],"least":4,"most":4,"version":1})",
           R"({"buckets":[[-4,1]],"least":4,"most":4,"version":1})",
           R"({"buckets":[[4]],"least":4,"most":4,"version":1})",
           R"({"buckets":[[4,1],[4,1]],"least":4,"most":4,"version":1})",
           R"({"buckets":[[5,1],[4,1]],"least":4,"most":5,"version":1})",
           R"({"buckets":[[100000,1]],"least":4,"most":5,"version":1})",
       }) {
    auto read = QuantileSketch::from_value(parse_json(text).value());
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code, ErrorCode::corrupt);
  }
}

}  // namespace
}  // namespace belay::analytics
