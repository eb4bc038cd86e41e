#pragma once
// belay/telemetry.h - the log and the metrics of a process.
//
//     auto log = make_log(*clock, {.format = LogFormat::json}, log_to_descriptor(STDERR_FILENO));
//     auto metrics = make_metrics();
//     Telemetry telemetry{log.get(), metrics.get()};
//     auto observed = make_observed_store(*store, *clock, telemetry);
//     RuntimeParts parts{*observed, ...};
//
// The observed store reports what its commits have made durable: no run of this process starts,
// pauses, fails, is cancelled or ends without an entry, whichever call caused it. The entries and
// the metrics are listed in docs/observability.md; their names are stable.
//
// An entry contains ids, names of agents and nodes, statuses and error messages; neither inputs,
// states, questions nor texts of models.
//
// Threading: all methods can be called on any thread, and none of them blocks or fails: telemetry
// must not delay or end a run.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "belay/clock.h"
#include "belay/model.h"
#include "belay/store.h"

namespace belay {

enum class LogLevel { debug, info, warning, error };
std::string_view name_of(LogLevel level);
std::optional<LogLevel> log_level_named(std::string_view name);

struct LogEntry {
  LogLevel level = LogLevel::info;
  std::string event;    // a stable name, for filters: "run.failed"
  std::string message;  // for a person; may be empty
  std::vector<std::pair<std::string, std::string>> fields = {};  // such as {"thread", "t"}
};

class Log {
 public:
  virtual ~Log() = default;
  // True if entries of this level are written.
  virtual bool wants(LogLevel level) const = 0;
  virtual void write(LogEntry entry) = 0;
};

// text: TIME LEVEL EVENT NAME=VALUE... MESSAGE; a value with other characters than letters, digits
// and -_.:/@ is a JSON string. json: one object a line with the members time, level, event, message
// and the fields.
enum class LogFormat { text, json };
std::string_view name_of(LogFormat format);
std::optional<LogFormat> log_format_named(std::string_view name);

struct LogOptions {
  LogLevel level = LogLevel::info;  // entries below it are not written
  LogFormat format = LogFormat::text;
  // Maximum number of entries that wait for the sink. Further ones are dropped; the entry
  // `log.dropped` counts them as soon as the sink accepts lines again.
  std::size_t entries_max = 10'000;
};
// Writes whole lines. Returns false if they were not written: they are dropped. Called on the log's
// own thread, by one call at a time; it may block.
using LogSink = std::function<bool(std::string_view lines)>;
LogSink log_to_descriptor(int descriptor);

// The destructor waits at most 1 s for the sink; if it still blocks, the remaining entries are
// lost.
std::unique_ptr<Log> make_log(Clock& clock, LogOptions options, LogSink sink);

enum class MetricKind { counter, gauge, histogram };

// One metric, with the name and the help of Prometheus' text format. Must outlive its use.
struct MetricFamily {
  MetricKind kind = MetricKind::counter;
  std::string_view name;  // [a-z][a-z0-9_]*; a counter ends in _total, a time in _seconds
  std::string_view help;
  std::span<const double> bounds = {};  // of a histogram's buckets, increasing
};
// Names and values of labels. A family always has the same names.
using MetricLabels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

class Metrics {
 public:
  virtual ~Metrics() = default;
  virtual void add(const MetricFamily& counter, MetricLabels labels, double by = 1) = 0;
  virtual void set(const MetricFamily& gauge, MetricLabels labels, double value) = 0;
  virtual void observe(const MetricFamily& histogram, MetricLabels labels, double value) = 0;
  // Removes all values of the family, for a gauge whose values are computed again.
  virtual void clear(const MetricFamily& family) = 0;
  // All metrics in Prometheus' text format, version 0.0.4, ordered by name.
  virtual std::string text() const = 0;
};

struct MetricsOptions {
  // Maximum number of combinations of labels of one family. Further ones are counted together, with
  // the value "other" for each label: memory and text stay bounded, whatever names arrive.
  std::size_t series_max = 1'000;
};
std::unique_ptr<Metrics> make_metrics(MetricsOptions options = {});

// Null members: no log, no metrics.
struct Telemetry {
  Log* log = nullptr;
  Metrics* metrics = nullptr;
  bool is_on() const { return log || metrics; }
};

// An alert that has fired or cleared, with the counts of its window.
struct FailureReport {
  bool is_firing = false;
  std::int64_t failed = 0;
  std::int64_t ended = 0;
  std::chrono::milliseconds window{0};
  Instant at{};

  // Returns the share of failed runs, 0 to 1; 0 if no run has ended.
  double rate() const {
    return ended > 0 ? static_cast<double>(failed) / static_cast<double>(ended) : 0;
  }
};

// When to report that many runs fail: the entry `alert.failure_rate`, and the gauge
// belay_failure_rate_alert. It clears below half of the rate.
struct FailureAlert {
  double rate = 0.05;               // share of failed runs among those that ended
  std::chrono::minutes window{15};  // that are counted
  std::size_t runs_min = 20;        // fewer ended runs in the window raise no alert
  bool is_on = true;
  // Called once when the alert fires and once when it clears, by the thread of the commit, which
  // waits for it: it must not block, and must not use the store. Null: none.
  std::function<void(const FailureReport&)> reporter = nullptr;
};

// Stores and models that report to `telemetry`. The arguments must outlive the result.
std::unique_ptr<Store> make_observed_store(Store& inner, Clock& clock, Telemetry telemetry,
                                           FailureAlert alert = {});
std::shared_ptr<Model> make_observed_model(std::shared_ptr<Model> inner, Clock& clock,
                                           Telemetry telemetry);

}  // namespace belay
