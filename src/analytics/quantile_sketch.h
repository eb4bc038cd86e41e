#pragma once
// analytics/quantile_sketch.h - QuantileSketch: quantiles of durations and other integers, within
// 1 %, in bounded memory; sketches of parts of the data merge without a further error.
//
//   QuantileSketch today;
//   today.add(latency.count());
//   today.merge(of_another_process);
//   std::optional<double> p95 = today.quantile(0.95);
//
// The algorithm is DDSketch: C. Masson, J. E. Rim, H. K. Lee: "DDSketch: A Fast and Fully-Mergeable
// Quantile Sketch with Relative-Error Guarantees", PVLDB 12(12), 2019, pages 2195-2205. It counts
// the values in buckets (low, high] with high = gamma * low, gamma = (1 + a) / (1 - a), for a
// relative error a. Here, the values are integers, and so are the bounds of the buckets: a bucket
// holds the values from `low` up to the largest `high` with high / low <= 101 / 99. There are three
// consequences:
//   - Values up to 49 have a bucket each, and are exact.
//   - The buckets are the same on each machine: no logarithm rounds a value to its neighbour.
//   - The complete range, 0 to 2^63 - 1, has 2,017 buckets. The number of buckets is bounded
//     without the paper's merge of the lowest ones, which depends on the order of merges.
//
// Threading: one thread at a time.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "belay/result.h"
#include "belay/value.h"

namespace belay::analytics {

// The maximum of every count and sum of this library. Larger ones become it: the sum of two of them
// is representable, and saturation does not depend on the order of additions.
inline constexpr std::int64_t amount_max = (std::int64_t{1} << 62) - 1;

// Returns the sum, at most amount_max. Negative arguments count as 0.
std::int64_t added(std::int64_t one, std::int64_t other);

// A bucket holds the values from `low` to `high`.
struct BucketBounds {
  std::int64_t low = 0;
  std::int64_t high = 0;
  friend bool operator==(const BucketBounds&, const BucketBounds&) = default;
};

class QuantileSketch {
 public:
  // Maximum of |quantile - exact| / exact.
  static constexpr double relative_error = 0.01;
  // Index of a bucket, then the number of its values, which is positive.
  using Buckets = std::map<std::size_t, std::int64_t>;

  // Returns the number of buckets, and the bounds of one. REQUIRES: index < buckets_max().
  static std::size_t buckets_max();
  static BucketBounds bounds_of(std::size_t index);

  // Counts `value` `times` times. A negative value counts as 0; `times` below 1 adds nothing.
  void add(std::int64_t value, std::int64_t times = 1);
  // Adds the values of `other`. The result does not depend on the order or grouping of merges.
  void merge(const QuantileSketch& other);

  bool is_empty() const { return buckets_.empty(); }
  std::int64_t count() const;
  // The exact smallest and largest value; unset if the sketch is empty.
  std::optional<std::int64_t> least() const;
  std::optional<std::int64_t> most() const;

  // Returns the smallest value that at least the part `q` of all values does not exceed, within
  // relative_error; the smallest and the largest value exactly. That is the value of the nearest
  // rank, as in the view agent_metrics, and not of rank floor(q * (count - 1)), as in the paper:
  // the 95th percentile of up to 19 values is the largest one. `q` outside 0 to 1 counts as the
  // nearer bound. Unset if the sketch is empty or `q` is NaN.
  std::optional<double> quantile(double q) const;
  std::optional<double> p50() const { return quantile(0.5); }
  std::optional<double> p95() const { return quantile(0.95); }

  const Buckets& buckets() const { return buckets_; }

  // The stored form. Equal sketches have equal texts:
  //   {"buckets":[[49,3],[120,1]],"least":49,"most":203,"version":1}
  // An empty sketch has no buckets, and null as `least` and `most`. The version determines the
  // bounds of the buckets.
  Value to_value() const;
  // `corrupt` for a value without this form. Unknown members are ignored.
  static Result<QuantileSketch> from_value(const Value& value);

  friend bool operator==(const QuantileSketch&, const QuantileSketch&) = default;

 private:
  Buckets buckets_;
  std::int64_t least_ = 0;  // both 0 if there are no buckets
  std::int64_t most_ = 0;
};

}  // namespace belay::analytics
