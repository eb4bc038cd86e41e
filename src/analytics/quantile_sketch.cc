#include "analytics/quantile_sketch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace belay::analytics {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kValueMax = std::numeric_limits<std::int64_t>::max();

// Returns the largest value of the bucket whose smallest value is `low`: with this quotient, the
// estimate 2 * low * high / (low + high) differs from no value of the bucket by more than 1 %.
constexpr std::int64_t high_of(std::int64_t low) {
  std::int64_t step = low / 99 * 2 + low % 99 * 2 / 99;
  return step > kValueMax - low ? kValueMax : low + step;
}

constexpr std::size_t bucket_count() {
  std::size_t count = 1;  // of the value 0
  for (std::int64_t high = 0; high < kValueMax; ++count) high = high_of(high + 1);
  return count;
}

constexpr std::size_t kBuckets = bucket_count();

constexpr std::array<std::int64_t, kBuckets> bucket_highs() {
  std::array<std::int64_t, kBuckets> highs{};
  for (std::size_t i = 1; i < kBuckets; ++i) highs[i] = high_of(highs[i - 1] + 1);
  return highs;
}

// The largest value of each bucket, ascending.
constexpr std::array<std::int64_t, kBuckets> kHighs = bucket_highs();
static_assert(kHighs.back() == kValueMax);

std::size_t index_of(std::int64_t value) {
  auto found = std::lower_bound(kHighs.begin(), kHighs.end(), value);
  return static_cast<std::size_t>(found - kHighs.begin());
}

double estimate_of(std::size_t index) {
  BucketBounds bounds = QuantileSketch::bounds_of(index);
  if (bounds.low == bounds.high) return static_cast<double>(bounds.low);
  auto low = static_cast<double>(bounds.low);
  auto high = static_cast<double>(bounds.high);
  return 2 * low * (high / (low + high));
}

// Returns the nearest rank, from 0, for `q` from 0 to 1. The rounding of `q` and of the product
// must not lift a whole number to the next rank. amount_max is rounded up to 2^62 as a double,
// which is still representable.
std::int64_t rank_of(double q, std::int64_t count) {
  if (q >= 1) return count - 1;
  constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
  double place = q * static_cast<double>(count) * (1 - rounding);
  return std::max<std::int64_t>(static_cast<std::int64_t>(std::ceil(place)) - 1, 0);
}

Error corrupt_sketch(const char* fault) {
  return error(ErrorCode::corrupt, std::string("A stored quantile sketch is damaged: ") + fault +
                                       ". Rebuild the day from the execution log.");
}

// Returns the bucket of the item [index, count].
std::optional<std::pair<std::size_t, std::int64_t>> bucket_from(const Value& item) {
  const Value::Array* pair = item.as_array();
  if (!pair || pair->size() != 2) return std::nullopt;
  if (!(*pair)[0].holds_integer() || !(*pair)[1].holds_integer()) return std::nullopt;
  auto index = (*pair)[0].as_uint();
  auto count = (*pair)[1].as_int();
  if (!index || !count || *index >= kBuckets) return std::nullopt;
  if (*count < 1 || *count > amount_max) return std::nullopt;
  return std::pair(static_cast<std::size_t>(*index), *count);
}

}  // namespace

std::int64_t added(std::int64_t one, std::int64_t other) {
  one = std::clamp<std::int64_t>(one, 0, amount_max);
  other = std::clamp<std::int64_t>(other, 0, amount_max);
  return std::min(one + other, amount_max);
}

std::size_t QuantileSketch::buckets_max() { return kBuckets; }

BucketBounds QuantileSketch::bounds_of(std::size_t index) {
  BELAY_ASSERT(index < kBuckets);
  if (index == 0) return BucketBounds{0, 0};
  return BucketBounds{kHighs[index - 1] + 1, kHighs[index]};
}

void QuantileSketch::add(std::int64_t value, std::int64_t times) {
  if (times < 1) return;
  value = std::max<std::int64_t>(value, 0);
  least_ = is_empty() ? value : std::min(least_, value);
  most_ = is_empty() ? value : std::max(most_, value);
  std::int64_t& count = buckets_[index_of(value)];
  count = added(count, times);
}

void QuantileSketch::merge(const QuantileSketch& other) {
  if (other.is_empty()) return;
  least_ = is_empty() ? other.least_ : std::min(least_, other.least_);
  most_ = is_empty() ? other.most_ : std::max(most_, other.most_);
  // A sketch can be merged with itself: no bucket is inserted then.
  for (const auto& [index, count] : other.buckets_) {
    std::int64_t& own = buckets_[index];
    own = added(own, count);
  }
}

std::int64_t QuantileSketch::count() const {
  std::int64_t sum = 0;
  for (const auto& [index, count] : buckets_) sum = added(sum, count);
  return sum;
}

std::optional<std::int64_t> QuantileSketch::least() const {
  if (is_empty()) return std::nullopt;
  return least_;
}

std::optional<std::int64_t> QuantileSketch::most() const {
  if (is_empty()) return std::nullopt;
  return most_;
}

std::optional<double> QuantileSketch::quantile(double q) const {
  if (is_empty() || std::isnan(q)) return std::nullopt;
  q = std::clamp(q, 0.0, 1.0);
  std::int64_t last = count() - 1;
  std::int64_t rank = rank_of(q, count());
  if (rank >= last) return static_cast<double>(most_);
  if (rank == 0) return static_cast<double>(least_);
  std::int64_t below = 0;
  for (const auto& [index, count] : buckets_) {
    below = added(below, count);
    if (below > rank) {
      // The exact value is not outside of them: the error becomes smaller, or remains.
      return std::clamp(estimate_of(index), static_cast<double>(least_),
                        static_cast<double>(most_));
    }
  }
  return static_cast<double>(most_);
}

Value QuantileSketch::to_value() const {
  Value::Array buckets;
  for (const auto& [index, count] : buckets_) {
    buckets.emplace_back(Value::Array{Value(static_cast<std::int64_t>(index)), Value(count)});
  }
  return Value::object({{"buckets", std::move(buckets)},
                        {"least", is_empty() ? Value() : Value(least_)},
                        {"most", is_empty() ? Value() : Value(most_)},
                        {"version", kVersion}});
}

Result<QuantileSketch> QuantileSketch::from_value(const Value& value) {
  if (!value["version"].holds_integer() || value["version"].as_int() != kVersion) {
    return corrupt_sketch("its version is unknown");
  }
  const Value::Array* buckets = value["buckets"].as_array();
  if (!buckets || buckets->size() > kBuckets) return corrupt_sketch("it has no list of buckets");
  QuantileSketch sketch;
  for (const Value& item : *buckets) {
    auto bucket = bucket_from(item);
    if (!bucket) return corrupt_sketch("a bucket is not a pair of an index and a count");
    if (!sketch.is_empty() && sketch.buckets_.rbegin()->first >= bucket->first) {
      return corrupt_sketch("its buckets are not in ascending order");
    }
    sketch.buckets_.emplace_hint(sketch.buckets_.end(), bucket->first, bucket->second);
  }
  if (sketch.is_empty()) {
    if (value["least"].is_null() && value["most"].is_null()) return sketch;
    return corrupt_sketch("its bounds belong to no bucket");
  }
  auto least = value["least"].holds_integer() ? value["least"].as_int() : std::nullopt;
  auto most = value["most"].holds_integer() ? value["most"].as_int() : std::nullopt;
  if (!least || !most || *least < 0 || *least > *most)
    return corrupt_sketch("its bounds are wrong");
  if (index_of(*least) != sketch.buckets_.begin()->first ||
      index_of(*most) != sketch.buckets_.rbegin()->first) {
    return corrupt_sketch("its bounds belong to other buckets");
  }
  sketch.least_ = *least;
  sketch.most_ = *most;
  return sketch;
}

}  // namespace belay::analytics
