// Reads of MemorySnapshot: queues, pages of runs, running runs by scope, sessions.

#include <algorithm>
#include <map>

#include "store/memory/concurrency.h"
#include "store/memory/memory_snapshot.h"
#include "store/memory/open_sessions.h"

namespace belay::store {

// The list has the runs in the order in which they were created.
std::vector<const RunTable*> page_of_unfinished(const TenantTables& tables,
                                                const RunFilter& filter) {
  std::vector<const RunTable*> page;
  auto next = tables.runs.begin();
  if (filter.after) {
    auto found = tables.run_by_id.find(*filter.after);
    if (found == tables.run_by_id.end()) return page;
    next = std::next(found->second);
  }
  for (; next != tables.runs.end() && page.size() < filter.limit; ++next) {
    if (!is_final(next->row.status)) page.push_back(&*next);
  }
  return page;
}

std::vector<TenantId> Tables::tenants() const {
  std::vector<TenantId> found;
  for (const auto& [id, tenant] : tenants_) found.push_back(id);
  return found;
}

Result<std::vector<TenantId>> MemorySnapshot::tenants() { return tables_.tenants(); }

Result<std::vector<QueueRow>> MemorySnapshot::queues(const TenantId& tenant) {
  std::vector<QueueRow> rows;
  const TenantTables* tables = tables_.tenant(tenant);
  if (!tables) return rows;
  for (const auto& [name, row] : tables->queues) rows.push_back(row);
  return rows;
}

Result<std::vector<QueueCount>> MemorySnapshot::queue_counts(const TenantId& tenant, Instant now,
                                                             const std::optional<UserId>& user) {
  std::map<std::string, QueueCount> counts;
  const TenantTables* tables = tables_.tenant(tenant);
  if (!tables) return std::vector<QueueCount>();
  for (const auto& [name, row] : tables->queues) counts[name];
  for (const RunTable& run : tables->runs) {
    const RunRow& row = run.row;
    if (is_final(row.status) || (user && row.user != *user)) continue;
    QueueCount& count = counts[row.queue];
    if (row.status == RunStatus::queued) ++count.queued;
    if (row.status == RunStatus::running) ++count.running;
    if (row.status == RunStatus::paused) ++count.paused;
    if (row.status == RunStatus::quarantined) ++count.quarantined;
    bool waits = row.status == RunStatus::queued || row.status == RunStatus::paused;
    if (!waits || row.due_at == Instant{} || row.due_at > now) continue;
    if (count.due++ == 0 || row.due_at < count.oldest_due) count.oldest_due = row.due_at;
  }
  std::vector<QueueCount> found;
  for (auto& [name, count] : counts) {
    count.name = name;
    found.push_back(std::move(count));
  }
  return found;
}

Result<std::vector<ConcurrencyCount>> MemorySnapshot::running_counts(const TenantId& tenant,
                                                                     ConcurrencyScope of) {
  std::map<std::string, std::uint64_t> counts;
  if (const TenantTables* tables = tables_.tenant(tenant)) {
    for (const RunTable& run : tables->runs) {
      if (run.row.status != RunStatus::running) continue;
      if (of == ConcurrencyScope::key && run.row.concurrency_key.empty()) continue;
      ++counts[group_of(run.row, of)];
    }
  }
  std::vector<ConcurrencyCount> found;
  for (auto& [group, running] : counts) found.push_back({group, running});
  return found;
}

Result<std::vector<SessionRow>> MemorySnapshot::sessions(const SessionFilter& filter) {
  std::vector<SessionRow> rows;
  if (sessions_) rows = sessions_->list();
  std::map<SessionId, SessionRow*> by_id;
  for (SessionRow& row : rows) by_id[row.session] = &row;
  std::vector<TenantId> tenants =
      filter.tenant ? std::vector<TenantId>{*filter.tenant} : tables_.tenants();
  std::map<SessionId, SessionRow> unknown;  // owners of runs that were imported
  for (const TenantId& tenant : tenants) {
    const TenantTables* tables = tables_.tenant(tenant);
    if (!tables) continue;
    for (const RunTable& run : tables->runs) {
      if (run.row.status != RunStatus::running || run.row.session.is_null()) continue;
      auto owner = by_id.find(run.row.session);
      SessionRow& row = owner == by_id.end() ? unknown[run.row.session] : *owner->second;
      row.session = run.row.session;
      bool is_older = row.runs++ == 0 || run.row.updated_at < row.oldest;
      if (is_older) row.oldest = run.row.updated_at;
    }
  }
  for (auto& [session, row] : unknown) rows.push_back(std::move(row));
  if (filter.only_owners) {
    std::erase_if(rows, [](const SessionRow& row) { return row.runs == 0; });
  }
  if (rows.size() > filter.limit) rows.resize(filter.limit);
  return rows;
}

}  // namespace belay::store
