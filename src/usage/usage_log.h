#pragma once
// usage/usage_log.h - reads of one snapshot for the totals of usage: pending invocations, the
// tokens and the cost of a run, and stored days; and the writes of days.
//
// Threading: any thread; the snapshot's.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analytics/usage.h"
#include "belay/store.h"
#include "usage/recording_store.h"

namespace belay::usage {

// The collection of the totals of days: records of the tenant, whose JSON is the stored form of
// analytics/usage.h and `created_at`, and whose key is "DATE AGENT". Two ordered indexes: "date"
// (date, agent) and "agent" (agent, date).
inline constexpr std::string_view days_collection = "agent_usage_analytics";

std::string key_of(const analytics::UsageDay& day);

// The invocation with the tokens and the cost that the calls of its run have recorded. A run that
// was deleted has none.
Result<analytics::InvocationRecord> invocation_record(Snapshot& view, const TenantId& tenant,
                                                      const PendingInvocation& ended);

// The next invocations after the key, at most a page, with the versions of their records.
Result<std::vector<Versioned<PendingInvocation>>> pending_page(Snapshot& view,
                                                               const TenantId& tenant,
                                                               std::string after);

struct StoredDay {
  analytics::UsageDay day;
  Instant created_at{};
  std::uint64_t version = 0;  // 0: not stored
};
// Returns the stored day, or an empty one.
Result<StoredDay> stored_day(Snapshot& view, const TenantId& tenant, analytics::UsageDay key);

Result<analytics::UsageDay> day_in(std::string_view json);

// The writes expect the versions that were read.
RecordWrite day_write(const StoredDay& stored, Instant now);
RecordWrite pending_erasure(const Versioned<PendingInvocation>& counted);

}  // namespace belay::usage
