#include "belay/queue.h"

#include <algorithm>

#include "store/enum_names.h"

namespace belay {

std::string_view name_of(ConcurrencyScope of) { return store::enum_name(of); }

std::vector<ConcurrencyGuard> concurrency_guards(const RunRow& run, const ConcurrencyLimits& limits,
                                                 const QueueRow* row) {
  std::uint64_t per_key = row && row->per_key_max > 0 ? row->per_key_max : limits.per_key;
  std::uint64_t per_queue = row && row->runs_max > 0 ? row->runs_max : limits.per_queue;
  std::vector<ConcurrencyGuard> guards;
  if (limits.per_user > 0) guards.push_back({ConcurrencyScope::user, limits.per_user});
  if (per_key > 0 && !run.concurrency_key.empty())
    guards.push_back({ConcurrencyScope::key, per_key});
  if (per_queue > 0) guards.push_back({ConcurrencyScope::queue, per_queue});
  if (limits.per_tenant > 0) guards.push_back({ConcurrencyScope::tenant, limits.per_tenant});
  return guards;
}

}  // namespace belay
