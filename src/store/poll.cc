// Selects the candidates of a poll by reads alone.
//
// The counts of running runs are a preselection, which avoids claims that would fail: they can
// change before the claim, whose ConcurrencyGuard decides.

#include "store/poll.h"

#include <algorithm>
#include <map>

#include "belay/limits.h"

namespace belay {
namespace {

std::string group_of(const RunRow& run, ConcurrencyScope of) {
  if (of == ConcurrencyScope::user) return run.user.text;
  if (of == ConcurrencyScope::key) return run.concurrency_key;
  return of == ConcurrencyScope::queue ? run.queue : std::string();
}

// The running runs of one tenant by scope, including the candidates selected so far.
class Places {
 public:
  static Result<Places> read(Snapshot& view, const TenantId& tenant,
                             const ConcurrencyLimits& limits) {
    Places places;
    places.limits_ = limits;
    BELAY_TRY(std::vector<QueueRow> rows, view.queues(tenant));
    bool limits_keys = limits.per_key > 0;
    bool limits_queues = limits.per_queue > 0;
    places.per_key_greatest_ = limits.per_key;
    for (QueueRow& row : rows) {
      limits_keys = limits_keys || row.per_key_max > 0;
      limits_queues = limits_queues || row.runs_max > 0;
      if (limits.per_key > 0) {
        places.per_key_greatest_ = std::max(places.per_key_greatest_, row.per_key_max);
      }
      std::string name = row.name;
      places.queues_.emplace(std::move(name), std::move(row));
    }
    if (limits.per_user > 0) BELAY_CHECK(places.count(view, tenant, ConcurrencyScope::user));
    if (limits_keys) BELAY_CHECK(places.count(view, tenant, ConcurrencyScope::key));
    if (limits_queues) BELAY_CHECK(places.count(view, tenant, ConcurrencyScope::queue));
    if (limits.per_tenant > 0) BELAY_CHECK(places.count(view, tenant, ConcurrencyScope::tenant));
    return places;
  }

  // Excludes runs that cannot be claimed now: of paused queues and of scopes at their limit.
  void pass_over_full(RunFilter& filter) const {
    for (const auto& [name, row] : queues_) {
      if (row.paused || is_full(ConcurrencyScope::queue, name, queue_limit(name))) {
        filter.except_queues.push_back(name);
      }
    }
    for (const auto& [group, running] : running_) {
      if (group.first == ConcurrencyScope::user) pass_over(group.first, group.second, filter);
      if (group.first == ConcurrencyScope::key) pass_over(group.first, group.second, filter);
      bool is_new = !queues_.contains(group.second);
      if (group.first == ConcurrencyScope::queue && is_new)
        pass_over(group.first, group.second, filter);
    }
  }

  // Returns true, and counts the run, if none of its scopes is at its limit. Otherwise excludes the
  // full scope from `filter`.
  bool enter(const RunRow& run, RunFilter& filter) {
    auto row = queues_.find(run.queue);
    auto guards = concurrency_guards(run, limits_, row == queues_.end() ? nullptr : &row->second);
    for (const ConcurrencyGuard& guard : guards) {
      std::string group = group_of(run, guard.scope);
      if (!is_full(guard.scope, group, guard.limit)) continue;
      pass_over(guard.scope, group, filter);
      return false;
    }
    for (const ConcurrencyGuard& guard : guards)
      ++running_[{guard.scope, group_of(run, guard.scope)}];
    return true;
  }

  bool is_tenant_full() const { return is_full(ConcurrencyScope::tenant, "", limits_.per_tenant); }

 private:
  using Group = std::pair<ConcurrencyScope, std::string>;

  Result<Done> count(Snapshot& view, const TenantId& tenant, ConcurrencyScope of) {
    BELAY_TRY(std::vector<ConcurrencyCount> counts, view.running_counts(tenant, of));
    running_[{of, ""}] = 0;
    for (ConcurrencyCount& each : counts) running_[{of, std::move(each.scope_key)}] = each.running;
    return Done{};
  }

  std::uint64_t queue_limit(const std::string& name) const {
    auto row = queues_.find(name);
    bool has_own = row != queues_.end() && row->second.runs_max > 0;
    return has_own ? row->second.runs_max : limits_.per_queue;
  }

  bool is_full(ConcurrencyScope of, const std::string& group, std::uint64_t limit) const {
    if (limit == 0) return false;
    auto running = running_.find({of, group});
    return running != running_.end() && running->second >= limit;
  }

  // Excludes a key only if no queue has a higher limit per key.
  void pass_over(ConcurrencyScope of, const std::string& group, RunFilter& filter) const {
    if (of == ConcurrencyScope::user && is_full(of, group, limits_.per_user)) {
      filter.except_users.emplace_back(group);
    } else if (of == ConcurrencyScope::key && is_full(of, group, per_key_greatest_)) {
      filter.except_keys.push_back(group);
    } else if (of == ConcurrencyScope::queue && is_full(of, group, queue_limit(group))) {
      filter.except_queues.push_back(group);
    }
  }

  ConcurrencyLimits limits_;
  std::uint64_t per_key_greatest_ = 0;  // over all queues; 0: some have no limit
  std::map<std::string, QueueRow> queues_;
  std::map<Group, std::uint64_t> running_;
};

Result<std::vector<RunRow>> due_runs(Snapshot& view, const TenantId& tenant,
                                     const PollFilter& filter) {
  RunFilter due;
  due.tenant = tenant;
  due.statuses = {RunStatus::queued, RunStatus::paused};
  due.due_by = filter.now;
  due.by_priority = true;
  due.without_input = true;
  due.queues = filter.queues;
  due.graphs = filter.graphs;
  due.except_runs = filter.except_runs;
  BELAY_TRY(Places places, Places::read(view, tenant, filter.concurrency));
  std::vector<RunRow> found;
  if (places.is_tenant_full()) return found;
  places.pass_over_full(due);
  // Starts with the requested number: most runs are below their limits, and a store can lock every
  // run that it returns here.
  due.limit = filter.limit;
  while (found.size() < filter.limit) {
    BELAY_TRY(std::vector<RunRow> rows, view.runs(due));
    bool is_last = rows.size() < due.limit;
    for (RunRow& row : rows) {
      if (found.size() == filter.limit || places.is_tenant_full()) break;
      due.except_runs.push_back(row.run);
      if (places.enter(row, due)) found.push_back(std::move(row));
    }
    if (is_last || places.is_tenant_full()) break;
    // Doubles the page, so that many runs without a free slot are skipped in few reads.
    due.limit = std::max(2 * due.limit, limits::poll_batch_max);
  }
  return found;
}

std::uint32_t weight_of(const PollFilter& filter, const TenantId& tenant) {
  for (const auto& [named, weight] : filter.weights) {
    if (named == tenant) return std::max(weight, 1u);
  }
  return 1;
}

// In each round, a tenant gets as many turns as its weight; a tenant without due runs is skipped.
std::vector<RunRow> in_turns(const PollFilter& filter, const std::vector<TenantId>& tenants,
                             std::vector<std::vector<RunRow>> due) {
  std::vector<std::size_t> round;
  std::size_t left = 0;
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    left += due[i].size();
    round.insert(round.end(), due[i].empty() ? 0 : weight_of(filter, tenants[i]), i);
  }
  std::vector<std::size_t> next(tenants.size());
  std::vector<RunRow> offered;
  for (std::size_t turn = filter.round_robin_position; offered.size() < filter.limit && left > 0;
       ++turn) {
    std::size_t tenant = round[turn % round.size()];
    if (next[tenant] == due[tenant].size()) continue;
    offered.push_back(std::move(due[tenant][next[tenant]++]));
    --left;
  }
  return offered;
}

}  // namespace

Result<std::vector<RunRow>> store::candidates_for(Snapshot& view, const PollFilter& filter) {
  if (filter.tenant) return due_runs(view, *filter.tenant, filter);
  BELAY_TRY(std::vector<TenantId> tenants, view.tenants());
  std::vector<std::vector<RunRow>> due;
  for (const TenantId& tenant : tenants) {
    BELAY_TRY(due.emplace_back(), due_runs(view, tenant, filter));
  }
  return in_turns(filter, tenants, std::move(due));
}

Task<Result<std::vector<RunRow>>> Store::poll_runs(PollFilter filter) {
  filter.limit = std::min(filter.limit, limits::poll_batch_max);
  std::function<Result<std::vector<RunRow>>(Snapshot&)> reader =
      [filter = std::move(filter)](Snapshot& view) { return store::candidates_for(view, filter); };
  co_return co_await belay::read<std::vector<RunRow>>(*this, std::move(reader));
}

}  // namespace belay
