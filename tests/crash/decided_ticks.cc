#include "tests/crash/decided_ticks.h"

#include <algorithm>

#include "belay/clock.h"

namespace belay::crash {
namespace {

Instant instant_in(const Value& document, const char* member) {
  const std::string* text = document[member].as_string();
  return text ? instant_from(*text).value_or(Instant()) : Instant();
}

class Judge {
 public:
  explicit Judge(const DecidedTicks& decided) : decided_(decided) {}

  TickVerdict judge() {
    std::vector<Value> ticks(decided_.ticks.begin(), decided_.ticks.end());
    auto is_before = [](const Value& left, const Value& right) {
      return instant_in(left, "at") < instant_in(right, "at");
    };
    std::sort(ticks.begin(), ticks.end(), is_before);
    expected_ = tick_after(instant_in(decided_.schedule, "createdAt"));
    for (const Value& tick : ticks) take(tick);
    Instant until = instant_in(decided_.schedule, "decidedUntil");
    if (expected_ != tick_after(until)) {
      fault("the last decision is before " + to_text(expected_) + ", and all up to " +
            to_text(until) + " were decided");
    }
    expect_count("started", verdict_.counts.started);
    expect_count("skipped", verdict_.counts.skipped);
    expect_count("missed", verdict_.counts.missed);
    expect_count("failed", 0);
    return std::move(verdict_);
  }

 private:
  void fault(const std::string& text) { verdict_.faults.push_back(decided_.name + ": " + text); }

  Instant tick_after(Instant time) const {
    auto period = std::chrono::duration_cast<Instant::duration>(decided_.period);
    return Instant(period * (time.time_since_epoch() / period + 1));
  }

  void expect_count(const char* decision, std::int64_t count) {
    std::int64_t counted = decided_.schedule[decision].as_int().value_or(-1);
    if (counted == count) return;
    fault("it counts " + std::to_string(counted) + " ticks as " + decision + ", and has " +
          std::to_string(count));
  }

  void take(const Value& tick) {
    Instant at = instant_in(tick, "at");
    Instant until = instant_in(tick, "until");
    std::int64_t count = tick["count"].as_int().value_or(0);
    if (at != expected_) {
      fault("the tick after the one before is " + to_text(expected_) + ", and the next decision " +
            to_json(tick));
    }
    if (until - at != decided_.period * (count - 1)) fault("wrong count: " + to_json(tick));
    expected_ = tick_after(until);
    const std::string* decision = tick["decision"].as_string();
    if (!decision) return fault("no decision: " + to_json(tick));
    if (*decision == "started") return take_start(tick, count);
    if (!tick["reason"].as_string()) fault("no reason: " + to_json(tick));
    if (*decision == "skipped") {
      verdict_.counts.skipped += count;
    } else if (*decision == "missed") {
      verdict_.counts.missed += count;
      bool is_of_pause = decided_.schedule["updatedAt"] == tick["decidedAt"];
      bool is_old = instant_in(tick, "decidedAt") - until >= decided_.catch_up;
      if (!is_old && !is_of_pause) fault("missed within its window: " + to_json(tick));
    } else {
      fault("no final decision: " + to_json(tick));
    }
  }

  void take_start(const Value& tick, std::int64_t count) {
    verdict_.counts.started += count;
    const std::string* run = tick["runId"].as_string();
    if (count != 1 || !run) return fault("a start without its run: " + to_json(tick));
    if (!verdict_.runs.insert(*run).second) fault("a second tick has the run " + *run);
  }

  const DecidedTicks& decided_;
  Instant expected_;
  TickVerdict verdict_;
};

}  // namespace

TickVerdict judge_ticks(const DecidedTicks& decided) { return Judge(decided).judge(); }

}  // namespace belay::crash
