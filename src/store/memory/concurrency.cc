#include "store/memory/concurrency.h"

#include <algorithm>

namespace belay::store {

const std::string& group_of(const RunRow& run, ConcurrencyScope of) {
  static const std::string all;
  if (of == ConcurrencyScope::user) return run.user.text;
  if (of == ConcurrencyScope::key) return run.concurrency_key;
  return of == ConcurrencyScope::queue ? run.queue : all;
}

bool has_capacity(const Commit& commit, const TenantTables& tenant, const RunTable* run,
                  const CommitRows& rows) {
  bool begins = rows.run && rows.run->status == RunStatus::running &&
                (!run || run->row.status != RunStatus::running);
  if (!begins) return true;
  const RunRow& row = run ? run->row : *rows.run;
  return std::all_of(
      commit.concurrency.begin(), commit.concurrency.end(), [&](const ConcurrencyGuard& guard) {
        if (guard.scope == ConcurrencyScope::key && row.concurrency_key.empty()) return true;
        std::uint64_t others = 0;
        for (const RunTable& other : tenant.runs) {
          bool counts = &other != run && other.row.status == RunStatus::running &&
                        group_of(other.row, guard.scope) == group_of(row, guard.scope);
          if (counts) ++others;
        }
        return others < guard.limit;
      });
}

}  // namespace belay::store
