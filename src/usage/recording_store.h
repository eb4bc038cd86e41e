#pragma once
// usage/recording_store.h - a store that records each ended run for the usage of agents.
//
//   std::unique_ptr<Store> recording = make_recording_store(*store);
//   RuntimeParts parts{*recording, ...};
//   ... flush_usage(*recording, clock, tenant)  // usage_flush.h: adds the records to the day's
//   totals
//
// The record is a part of the commit that ends the run. It is therefore durable exactly if the end
// of the run is: a crash neither loses an invocation nor counts one twice, and no run waits for
// another write. An invocation that cannot be recorded is omitted; its commit is not changed.
//
// A completed run is a success, a failed run a failure. A cancelled run is neither. An imported run
// counts on the day on which it ended; a second time if the totals counted it before it was
// deleted.
//
// Threading: as Store.

#include <memory>
#include <string>
#include <string_view>

#include "belay/record.h"
#include "belay/store.h"

namespace belay {

// An ended run that the totals do not contain yet. It contains no user.
struct PendingInvocation {
  static constexpr std::string_view collection = "agent_usage_pending";
  static constexpr bool is_of_tenant = true;

  std::string run{};
  std::string agent{};
  bool failed = false;
  std::int64_t latency_ms = 0;  // working time, as `duration_ms` of the view agent_metrics
  std::int64_t retries = 0;
  Instant ended_at{};

  std::string key() const { return run; }
  static auto indexed() { return std::tuple(); }
};

namespace usage {

// Returns the invocation of an ended run; nullopt for another status, and for a cancelled run.
std::optional<PendingInvocation> invocation_of(const RunRow& run);

// `inner` must outlive the result.
std::unique_ptr<Store> make_recording_store(Store& inner);

}  // namespace usage
}  // namespace belay
