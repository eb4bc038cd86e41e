#include "store/memory/places.h"

#include <algorithm>

namespace belay::store {

const std::string& group_of(const RunRow& run, PlaceOf of) {
  static const std::string all;
  if (of == PlaceOf::user) return run.user.text;
  if (of == PlaceOf::key) return run.concurrency_key;
  return of == PlaceOf::queue ? run.queue : all;
}

bool has_places(const Commit& commit, const TenantTables& tenant, const RunTable* run,
                const CommitRows& rows) {
  bool begins = rows.run && rows.run->status == RunStatus::running &&
                (!run || run->row.status != RunStatus::running);
  if (!begins) return true;
  const RunRow& row = run ? run->row : *rows.run;
  return std::all_of(commit.places.begin(), commit.places.end(), [&](const PlaceGuard& guard) {
    if (guard.of == PlaceOf::key && row.concurrency_key.empty()) return true;
    std::uint64_t others = 0;
    for (const RunTable& other : tenant.runs) {
      bool counts = &other != run && other.row.status == RunStatus::running &&
                    group_of(other.row, guard.of) == group_of(row, guard.of);
      if (counts) ++others;
    }
    return others < guard.limit;
  });
}

}  // namespace belay::store
