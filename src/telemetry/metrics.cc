#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <mutex>
#include <unordered_map>

#include "belay/telemetry.h"

namespace belay {
namespace {

constexpr std::string_view kOther = "other";

// Appends a label's value, escaped as Prometheus' text format requires.
void append_escaped(std::string& to, std::string_view value) {
  for (char c : value) {
    if (c == '\\') {
      to += "\\\\";
    } else if (c == '"') {
      to += "\\\"";
    } else if (c == '\n') {
      to += "\\n";
    } else {
      to += c;
    }
  }
}

// {name="value",...}, or nothing without labels. `value_of` replaces the values.
template <typename ValueOf>
void append_labels(std::string& to, MetricLabels labels, ValueOf value_of) {
  char separator = '{';
  for (const auto& [name, value] : labels) {
    to += separator;
    to += name;
    to += "=\"";
    append_escaped(to, value_of(value));
    to += '"';
    separator = ',';
  }
  if (separator == ',') to += '}';
}

std::string number_text(double value) {
  constexpr double kWholeMax = 9e15;  // below 2^53
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  if (std::isnan(value)) return "NaN";
  bool is_whole = std::abs(value) < kWholeMax && value == std::floor(value);
  if (is_whole) return std::to_string(static_cast<std::int64_t>(value));
  // Bounds of buckets are read by people: 0.0005, not 5e-04.
  bool is_usual = std::abs(value) >= 1e-6 && std::abs(value) < kWholeMax;
  auto format = is_usual ? std::chars_format::fixed : std::chars_format::scientific;
  std::array<char, 40> text{};
  char* end = std::to_chars(text.data(), text.data() + text.size(), value, format).ptr;
  return {text.data(), end};
}

struct Series {
  double value = 0;                    // of a histogram: the sum
  std::vector<std::uint64_t> buckets;  // the last one is unbounded
  std::uint64_t count() const {
    std::uint64_t all = 0;
    for (std::uint64_t bucket : buckets) all += bucket;
    return all;
  }
};

struct Family {
  const MetricFamily* described = nullptr;
  std::unordered_map<std::string, Series> series;  // by the text of their labels
};

class Registry final : public Metrics {
 public:
  explicit Registry(MetricsOptions options) : options_(options) {}

  void add(const MetricFamily& counter, MetricLabels labels, double by) override {
    std::lock_guard lock(mutex_);
    series(counter, labels).value += by;
  }

  void set(const MetricFamily& gauge, MetricLabels labels, double value) override {
    std::lock_guard lock(mutex_);
    series(gauge, labels).value = value;
  }

  void observe(const MetricFamily& histogram, MetricLabels labels, double value) override {
    std::lock_guard lock(mutex_);
    Series& found = series(histogram, labels);
    if (found.buckets.empty()) found.buckets.resize(histogram.bounds.size() + 1);
    std::size_t place = 0;
    for (double bound : histogram.bounds) {
      if (value <= bound) break;
      ++place;
    }
    ++found.buckets[place];
    found.value += value;
  }

  void clear(const MetricFamily& family) override {
    std::lock_guard lock(mutex_);
    families_.erase(family.name);
  }

  std::string text() const override {
    std::lock_guard lock(mutex_);
    std::string made;
    for (const auto& [name, family] : families_) append_family(made, family);
    return made;
  }

 private:
  Series& series(const MetricFamily& family, MetricLabels labels) {
    Family& found = families_[family.name];
    found.described = &family;
    key_.clear();
    append_labels(key_, labels, [](std::string_view value) { return value; });
    auto known = found.series.find(key_);
    if (known != found.series.end()) return known->second;
    if (found.series.size() < options_.series_max) return found.series[key_];
    key_.clear();
    append_labels(key_, labels, [](std::string_view) { return kOther; });
    return found.series[key_];
  }

  static void append_family(std::string& to, const Family& family) {
    const MetricFamily& described = *family.described;
    std::string name(described.name);
    to += "# HELP " + name + " " + std::string(described.help) + "\n# TYPE " + name + " ";
    to += described.kind == MetricKind::counter ? "counter"
          : described.kind == MetricKind::gauge ? "gauge"
                                                : "histogram";
    to += '\n';
    std::map<std::string_view, const Series*> ordered;
    for (const auto& [labels, series] : family.series) ordered.emplace(labels, &series);
    for (const auto& [labels, series] : ordered) {
      if (described.kind == MetricKind::histogram) {
        append_histogram(to, described, labels, *series);
      } else {
        to += name + std::string(labels) + " " + number_text(series->value) + "\n";
      }
    }
  }

  static void append_histogram(std::string& to, const MetricFamily& family, std::string_view labels,
                               const Series& series) {
    std::string name(family.name);
    // The label of the bound follows the others.
    std::string before = labels.empty() ? "{" : std::string(labels.substr(0, labels.size() - 1));
    if (!labels.empty()) before += ',';
    std::uint64_t count = 0;
    std::size_t place = 0;
    for (double bound : family.bounds) {
      count += series.buckets[place++];
      to += name + "_bucket" + before + "le=\"" + number_text(bound) + "\"} " +
            std::to_string(count) + "\n";
    }
    std::string all = std::to_string(series.count());
    to += name + "_bucket" + before + "le=\"+Inf\"} " + all + "\n";
    to += name + "_sum" + std::string(labels) + " " + number_text(series.value) + "\n";
    to += name + "_count" + std::string(labels) + " " + all + "\n";
  }

  const MetricsOptions options_;
  mutable std::mutex mutex_;
  std::map<std::string_view, Family> families_;  // the names outlive the registry
  std::string key_;                              // kept for its memory
};

}  // namespace

std::unique_ptr<Metrics> make_metrics(MetricsOptions options) {
  return std::make_unique<Registry>(options);
}

}  // namespace belay
