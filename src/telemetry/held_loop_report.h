#pragma once
// telemetry/held_loop_report.h - HeldLoopReport: which nodes hold the event loop, in the log, the
// metrics and the store.
//
// The store keeps one record per day and node, written at most once a minute: `belay doctor` reads
// it after the process has ended.
//
// Threading: the executor's thread.

#include <chrono>
#include <list>
#include <map>
#include <string>
#include <utility>

#include "belay/event.h"
#include "belay/record.h"
#include "belay/telemetry.h"

namespace belay::telemetry {

// Of the whole tenant. The key is its date (UTC), agent and node: it is readable in an encrypted
// store, too.
struct HeldLoopDay {
  static constexpr std::string_view collection = "held_loops";
  std::string date{}, agent{}, node{};
  std::int64_t times = 0;  // in the processes of the day, as far as they were written
  std::int64_t longest_ms = 0;
  std::string key() const { return date + " " + agent + " " + node; }
};
inline constexpr std::chrono::hours kHeldLoopKept{24 * 14};

class HeldLoopReport {
 public:
  // All must outlive the object.
  HeldLoopReport(Telemetry telemetry, Store& store, Executor& executor, Clock& clock)
      : telemetry_(telemetry), store_(store), executor_(executor), clock_(clock) {}
  HeldLoopReport(const HeldLoopReport&) = delete;
  HeldLoopReport& operator=(const HeldLoopReport&) = delete;

  void note(const HeldLoop& held);

 private:
  struct Noted {
    Instant reported{};           // the last time; unset: never
    std::int64_t times = 0;       // since then
    std::int64_t longest_ms = 0;  // in this process
    bool is_writing = false;
    Spawned writing;
  };

  void write_record(const HeldLoop& held, Noted& noted, std::int64_t times);

  const Telemetry telemetry_;
  Store& store_;
  Executor& executor_;
  Clock& clock_;
  std::map<std::pair<std::string, std::string>, Noted> nodes_;  // by agent and node
};

// Returns the records of a tenant, oldest first; without their counts if they cannot be read.
Result<std::vector<HeldLoopDay>> held_loop_days(Snapshot& view, const TenantId& tenant);

}  // namespace belay::telemetry
