#include "store/memory/memory_snapshot.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>

#include "belay/limits.h"
#include "store/memory/envelopes.h"

namespace belay::store {
namespace {

// Copies up to `limit` rows that match, newest first.
template <typename Iterator, typename Matches, typename RowOf>
auto newest_first(Iterator begin, Iterator end, std::size_t limit, Matches matches, RowOf row_of) {
  std::vector<std::decay_t<decltype(row_of(*begin))>> found;
  while (end != begin && found.size() < limit) {
    --end;
    if (matches(row_of(*end))) found.push_back(row_of(*end));
  }
  return found;
}

template <typename T>
bool is_one_of(const std::vector<T>& wanted, const T& value) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

template <typename T>
bool is_listed(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Sorts by key_of(), stable, and truncates to `limit` rows. (std::stable_sort of GCC 12's library
// uses functions that clang reports as deprecated.)
template <typename T, typename KeyOf>
void sort_and_cut(std::vector<T>& rows, std::size_t limit, KeyOf key_of) {
  std::vector<std::size_t> order(rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (key_of(rows[a]) < key_of(rows[b])) return true;
    return !(key_of(rows[b]) < key_of(rows[a])) && a < b;
  });
  std::vector<T> sorted;
  for (std::size_t i = 0; i < std::min(order.size(), limit); ++i) {
    sorted.push_back(std::move(rows[order[i]]));
  }
  rows = std::move(sorted);
}

template <typename Row, typename Entry>
std::vector<Row> rows_of(const std::vector<const Entry*>& entries) {
  std::vector<Row> rows;
  rows.reserve(entries.size());
  for (const Entry* entry : entries) rows.push_back(entry->row);
  return rows;
}

template <typename T>
bool allows(const std::optional<T>& wanted, const T& value) {
  return !wanted || *wanted == value;
}

}  // namespace

const RunTable* MemorySnapshot::run(const TenantId& tenant, const RunId& run) const {
  const TenantTables* tables = tables_.tenant(tenant);
  return tables ? tables->run(run) : nullptr;
}

Result<std::vector<ThreadRow>> MemorySnapshot::threads(const ThreadFilter& filter) {
  const TenantTables* tables = tables_.tenant(filter.tenant);
  if (!tables) return std::vector<ThreadRow>();
  std::list<ThreadRow>::const_iterator end = tables->threads.end();
  if (filter.before) {
    auto found = tables->thread_by_id.find(filter.before->text);
    if (found == tables->thread_by_id.end()) return std::vector<ThreadRow>();
    end = found->second;
  }
  return newest_first(
      tables->threads.begin(), end, filter.limit,
      [&](const ThreadRow& row) {
        return allows(filter.thread, row.thread) && allows(filter.user, row.user);
      },
      std::identity());
}

namespace {

// True if the run waits for the end of earlier runs of its thread.
bool waits_for_others(const TenantTables& tables, const RunTable& run) {
  if (has_started(run.row)) return false;
  const ThreadTable* thread = tables.thread(run.row.thread);
  return !thread->not_ended.empty() && thread->not_ended.begin()->first < run.number;
}

// Calls visit(run) for the runs that the filter can return, newest first, until it returns false.
template <typename Visit>
void visit_candidates(const TenantTables& tables, const RunFilter& filter, Visit visit) {
  auto end = tables.runs.end();
  if (filter.before) {
    auto found = tables.run_by_id.find(*filter.before);
    if (found == tables.run_by_id.end()) return;
    end = found->second;
  }
  std::uint64_t end_number =
      end == tables.runs.end() ? std::numeric_limits<std::uint64_t>::max() : end->number;
  if (filter.run) {
    const RunTable* run = tables.run(*filter.run);
    if (run && run->number < end_number) visit(*run);
    return;
  }
  if (!filter.thread) {
    while (end != tables.runs.begin() && visit(*--end)) {
    }
    return;
  }
  const ThreadTable* thread = tables.thread(*filter.thread);
  if (!thread) return;
  const auto& runs = filter.only_current ? thread->not_ended : thread->runs;
  auto run = runs.lower_bound(end_number);
  while (run != runs.begin() && visit(*(--run)->second)) {
  }
}

bool is_current(const TenantTables& tables, const RunTable& run) {
  const ThreadTable* thread = tables.thread(run.row.thread);
  return !thread->not_ended.empty() && thread->not_ended.begin()->second == &run;
}

}  // namespace

Result<std::vector<RunRow>> MemorySnapshot::runs(const RunFilter& filter) {
  auto is_wanted = [&](const RunRow& row) {
    return is_one_of(filter.queues, row.queue) && is_one_of(filter.graphs, row.graph) &&
           is_one_of(filter.owners, row.session) && !is_listed(filter.except_runs, row.run) &&
           !is_listed(filter.except_users, row.user) &&
           !is_listed(filter.except_keys, row.concurrency_key) &&
           !is_listed(filter.except_queues, row.queue);
  };
  const TenantTables* tables = tables_.tenant(filter.tenant);
  if (!tables) return std::vector<RunRow>();
  auto matches = [&](const RunTable* table) {
    const RunRow& row = table->row;
    bool is_due =
        !filter.due_by || ((row.status == RunStatus::queued || row.status == RunStatus::paused) &&
                           row.due_at != Instant{} && row.due_at <= *filter.due_by &&
                           !waits_for_others(*tables, *table));
    if (filter.thread && filter.only_current && !is_current(*tables, *table)) return false;
    return is_due && is_one_of(filter.statuses, row.status) && allows(filter.run, row.run) &&
           allows(filter.thread, row.thread) && allows(filter.user, row.user) &&
           (!filter.updated_before || row.updated_at < *filter.updated_before) && is_wanted(row);
  };
  std::size_t limit = filter.due_by ? tables->runs.size() : filter.limit;
  std::vector<const RunTable*> selected;
  auto select = [&](const RunTable& table) {
    if (selected.size() < limit && matches(&table)) selected.push_back(&table);
    return selected.size() < limit;
  };
  if (filter.in_pages) selected = page_of_unfinished(*tables, filter);
  if (!filter.in_pages) visit_candidates(*tables, filter, select);
  if (filter.due_by) {
    std::reverse(selected.begin(), selected.end());
    sort_and_cut(selected, filter.limit, [&](const RunTable* table) {
      return std::pair(filter.by_priority ? -table->row.priority : 0, table->row.due_at);
    });
  }
  auto found = rows_of<RunRow>(selected);
  for (RunRow& row : found) {
    if (!filter.without_input) break;
    row.input.clear();
    row.options.clear();
  }
  return found;
}

Result<std::vector<CheckpointRow>> MemorySnapshot::checkpoints(const CheckpointFilter& filter) {
  const RunTable* table = run(filter.tenant, filter.run);
  if (!table) return std::vector<CheckpointRow>();
  auto matches = [&](const CheckpointRow& row) {
    return allows(filter.seq, row.seq) && (!filter.before_seq || row.seq < *filter.before_seq);
  };
  std::identity as_it_is;
  if (filter.checkpoint_ns.empty()) {
    auto begin = table->checkpoints.begin();
    auto end = table->checkpoints.end();
    if (filter.seq) {
      const CheckpointRow* only = table->checkpoint(*filter.seq);
      begin = only ? begin + (only - table->checkpoints.data()) : end;
      end = only ? begin + 1 : end;
    } else if (filter.before_seq) {
      end = std::lower_bound(
          begin, end, *filter.before_seq,
          [](const CheckpointRow& row, std::uint64_t seq) { return row.seq < seq; });
    }
    return newest_first(begin, end, filter.limit, matches, as_it_is);
  }
  auto begin = table->inner_checkpoints.lower_bound({filter.checkpoint_ns, 0});
  auto end = table->inner_checkpoints.upper_bound({filter.checkpoint_ns, ~std::uint64_t{0}});
  return newest_first(begin, end, filter.limit, matches,
                      [](const auto& entry) -> const CheckpointRow& { return entry.second; });
}

Result<std::vector<ValueRow>> MemorySnapshot::values(const ValueFilter& filter) {
  const TenantTables* tables = tables_.tenant(filter.tenant);
  const RunTable* table = run(filter.tenant, filter.run);
  const ThreadTable* thread = tables ? tables->thread(filter.thread) : nullptr;
  const Channels* channels = table ? &table->channels : nullptr;
  if (!filter.thread.empty()) channels = thread ? &thread->channels : nullptr;
  std::vector<ValueRow> found;
  if (!channels) return found;
  for (const auto& [name, rows] : *channels) {
    if (filter.checkpoint_ns && name.first != *filter.checkpoint_ns) continue;
    if (!filter.every_version) {
      auto [begin, end] = rows_that_count(rows, filter.at_seq);
      for (std::size_t i = begin; i < end; ++i) {
        if (rows[i].kind != WriteOp::reduce) found.push_back(rows[i]);
      }
      continue;
    }
    for (const ValueRow& row : rows) {
      if (row.seq > filter.after_seq && row.seq <= filter.at_seq) found.push_back(row);
    }
  }
  if (filter.every_version) {
    std::sort(found.begin(), found.end(), [](const ValueRow& a, const ValueRow& b) {
      return std::tie(a.seq, a.checkpoint_ns, a.channel, a.index) <
             std::tie(b.seq, b.checkpoint_ns, b.channel, b.index);
    });
  }
  return found;
}

Result<std::vector<EventRow>> MemorySnapshot::events(const EventFilter& filter) {
  const RunTable* table = run(filter.tenant, filter.run);
  std::vector<EventRow> found;
  if (!table) return found;
  auto after = std::pair(filter.after_seq, filter.after_index);
  auto event = std::upper_bound(
      table->events.begin(), table->events.end(), after,
      [](const auto& place, const EventRow& row) { return place < std::pair(row.seq, row.index); });
  for (; event != table->events.end() && found.size() < filter.limit; ++event) {
    found.push_back(*event);
  }
  return found;
}

Result<std::vector<ApprovalRow>> MemorySnapshot::approvals(const ApprovalFilter& filter) {
  const TenantTables* tables = tables_.tenant(filter.tenant);
  if (!tables) return std::vector<ApprovalRow>();
  auto matches = [&](const ApprovalRow& row) {
    return (!filter.only_open || row.status == ApprovalStatus::open) &&
           (!filter.expired_at || row.expires_at <= *filter.expired_at) &&
           is_one_of(filter.graphs, row.graph) && allows(filter.interrupt, row.interrupt) &&
           allows(filter.run, row.run) && allows(filter.user, row.user) &&
           (!filter.between ||
            (row.interrupt >= filter.between->first && row.interrupt <= filter.between->second));
  };
  if (filter.interrupt || filter.run) {
    std::vector<const ApprovalRow*> some;
    if (filter.interrupt) {
      auto found = tables->approval_by_id.find(*filter.interrupt);
      if (found != tables->approval_by_id.end()) some.push_back(&*found->second);
    } else if (const RunTable* table = run(filter.tenant, *filter.run)) {
      some.assign(table->approvals.begin(), table->approvals.end());
    }
    auto end = some.end();
    if (filter.before) {
      end = std::find_if(some.begin(), some.end(),
                         [&](const ApprovalRow* row) { return row->interrupt == *filter.before; });
    }
    return newest_first(some.begin(), end, filter.limit, matches,
                        [](const ApprovalRow* row) -> const ApprovalRow& { return *row; });
  }
  std::list<ApprovalRow>::const_iterator end = tables->approvals.end();
  if (filter.before) {
    auto found = tables->approval_by_id.find(*filter.before);
    if (found == tables->approval_by_id.end()) return std::vector<ApprovalRow>();
    end = found->second;
  }
  return newest_first(tables->approvals.begin(), end, filter.limit, matches, std::identity());
}

Result<std::vector<TaskRow>> MemorySnapshot::tasks(const TaskFilter& filter) {
  const RunTable* table = run(filter.tenant, filter.run);
  std::vector<TaskRow> found;
  if (!table) return found;
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  auto entry =
      table->tasks.lower_bound({filter.checkpoint_ns, filter.superstep.value_or(least), least});
  for (; entry != table->tasks.end(); ++entry) {
    const TaskRow& row = entry->second;
    if (row.checkpoint_ns != filter.checkpoint_ns ||
        (filter.superstep && row.superstep != *filter.superstep)) {
      break;
    }
    found.push_back(row);
  }
  return found;
}

namespace {

std::vector<EffectRow> page_of_effects(const RunTable& table, const EffectFilter& filter) {
  std::vector<EffectRow> page;
  auto effect = table.effects.upper_bound(*filter.after);
  for (; effect != table.effects.end() && page.size() < filter.limit; ++effect) {
    const EffectRow& row = effect->second.row;
    bool is_wanted = allows(filter.task, row.task) && is_one_of(filter.statuses, row.status);
    if (is_wanted) page.push_back(row);
  }
  return page;
}

}  // namespace

Result<std::vector<EffectRow>> MemorySnapshot::effects(const EffectFilter& filter) {
  std::vector<const EffectEntry*> found;
  auto look_at = [&](const RunTable& table) {
    for (const auto& [key, entry] : table.effects) {
      bool is_wanted =
          allows(filter.task, entry.row.task) && is_one_of(filter.statuses, entry.row.status);
      if (is_wanted) found.push_back(&entry);
    }
  };
  if (filter.run && filter.after) {
    const RunTable* table = run(filter.tenant, *filter.run);
    return table ? page_of_effects(*table, filter) : std::vector<EffectRow>();
  }
  if (filter.run) {
    if (const RunTable* table = run(filter.tenant, *filter.run)) look_at(*table);
  } else if (const TenantTables* tables = tables_.tenant(filter.tenant)) {
    for (const RunTable& table : tables->runs) look_at(table);
  }
  sort_and_cut(found, filter.limit, [](const EffectEntry* entry) { return entry->number; });
  return rows_of<EffectRow>(found);
}

Result<std::vector<OutboxRow>> MemorySnapshot::outbox(const OutboxFilter& filter) {
  std::vector<const OutboxEntry*> found;
  auto look_at = [&](const RunTable& table) {
    if (!allows(filter.user, table.row.user)) return;
    bool is_page = filter.run && filter.after;
    auto next = is_page ? table.outbox.upper_bound(*filter.after) : table.outbox.begin();
    for (; next != table.outbox.end() && !(is_page && found.size() == filter.limit); ++next) {
      const OutboxEntry& entry = next->second;
      bool is_due = !filter.due_by || (entry.row.status == OutboxStatus::waiting &&
                                       entry.row.due_at <= *filter.due_by);
      if (!is_due || !is_one_of(filter.topics, entry.row.topic)) continue;
      if (filter.without_delivered && entry.row.status == OutboxStatus::delivered) continue;
      found.push_back(&entry);
      if (filter.first_of_each_run) return;
    }
  };
  if (filter.run) {
    if (const RunTable* table = run(filter.tenant, *filter.run)) look_at(*table);
  } else if (const TenantTables* tables = tables_.tenant(filter.tenant)) {
    for (const RunTable& table : tables->runs) look_at(table);
  }
  sort_and_cut(found, filter.limit, [](const OutboxEntry* entry) { return entry->number; });
  auto rows = rows_of<OutboxRow>(found);
  for (OutboxRow& row : rows) {
    if (filter.without_body) row.envelope.clear();
  }
  return rows;
}

Result<std::vector<BlobUse>> MemorySnapshot::blob_uses(const TenantId& tenant,
                                                       const Digest& after) {
  std::vector<BlobUse> found;
  const TenantTables* tables = tables_.tenant(tenant);
  if (!tables) return found;
  auto blob = tables->blobs.upper_bound(after);
  for (; blob != tables->blobs.end() && found.size() < limits::page_rows_max; ++blob) {
    found.push_back({blob->first, blob->second.last_put});
  }
  return found;
}

Result<std::vector<BlobRow>> MemorySnapshot::blobs(const TenantId& tenant,
                                                   const std::vector<Digest>& ids) {
  std::vector<BlobRow> found;
  const TenantTables* tables = tables_.tenant(tenant);
  if (!tables) return found;
  for (const Digest& id : ids) {
    auto blob = tables->blobs.find(id);
    if (blob != tables->blobs.end()) found.push_back({id, blob->second.envelope});
  }
  return found;
}

Result<std::vector<StoredEnvelope>> MemorySnapshot::envelopes(const EnvelopeFilter& filter) {
  const TenantTables* tables = tables_.tenant(filter.tenant);
  if (!tables) return std::vector<StoredEnvelope>();
  return list_envelopes(*tables, filter);
}

}  // namespace belay::store
