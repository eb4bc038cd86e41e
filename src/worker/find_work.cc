// Finds runs that this worker can claim, and the concurrency limits that apply to them.

#include "worker/worker.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "belay/limits.h"
#include "load/code_gone.h"

namespace belay {
namespace {

// Tenants change rarely: they are cached for this time.
constexpr std::chrono::seconds tenants_known_for{1};
// Maximum number of pages of due runs that are searched for unknown graph versions before a poll.
constexpr int looks_in_a_row_max = 10;
// Maximum number of polls in a row, if this process has no permits for the candidates of the
// previous ones.
constexpr int offers_in_a_row_max = 10;

// Due runs whose graph version no registered graph can continue, and whether there might be more.
struct OtherVersions {
  std::vector<RunId> runs;
  bool may_be_more = false;
};

Result<Done> add_other_versions(Snapshot& view, const RunFilter& due, const GraphRegistry& graphs,
                                OtherVersions& others) {
  BELAY_TRY(std::vector<RunRow> rows, view.runs(due));
  others.may_be_more = others.may_be_more || rows.size() == due.limit;
  for (const RunRow& row : rows) {
    BELAY_TRY(auto why, why_not_executed(view, graphs, row));
    if (why) others.runs.push_back(row.run);
  }
  return Done{};
}

}  // namespace

Task<Result<Done>> Worker::learn_tenants(WorkerOptions options) {
  if (options.tenant) co_return Done{};
  Instant now = parts_.clock.now();
  if (!tenants_.empty() && now - tenants_as_of_ < tenants_known_for) co_return Done{};
  std::function<Result<std::vector<TenantId>>(Snapshot&)> reader = [](Snapshot& view) {
    return view.tenants();
  };
  auto tenants = co_await read<std::vector<TenantId>>(parts_.store, std::move(reader));
  if (!tenants.ok()) co_return std::move(tenants).error();
  tenants_ = *std::move(tenants);
  tenants_as_of_ = now;
  co_return Done{};
}

// Returns the runs that a poll must not return: those that this process executes already, or could
// not execute a short time ago.
std::vector<RunId> Worker::not_to_be_offered() {
  Instant now = parts_.clock.now();
  std::vector<RunId> runs;
  for (const auto& [run, driver] : executor_.driven()) runs.push_back(run);
  for (const auto& [run, task] : work_) runs.push_back(run);
  std::erase_if(not_before_, [&](const auto& entry) { return entry.second <= now; });
  for (const auto& [run, when] : not_before_) runs.push_back(run);
  for (const RunId& run : store_rest_.resting(now)) runs.push_back(run);
  return runs;
}

// While programs of several graph versions run concurrently, a poll must not return runs that this
// one cannot execute: the visibility timeout would hide them from the programs that can.
Task<Result<Done>> Worker::pass_over_other_versions(const WorkerOptions& options) {
  Instant now = parts_.clock.now();
  for (int look = 0; look < looks_in_a_row_max && now < meets_other_versions_until_; ++look) {
    RunFilter due;
    due.statuses = {RunStatus::queued, RunStatus::paused};
    due.due_by = now;
    due.by_priority = true;
    due.without_input = true;
    due.queues = options.queues;
    due.graphs = loader_.graphs()->names();
    due.except_runs = not_to_be_offered();
    due.limit = limits::poll_batch_max;
    std::function<Result<OtherVersions>(Snapshot&)> reader =
        [due, tenants = tenants_,
         graphs = loader_.graphs()](Snapshot& view) mutable -> Result<OtherVersions> {
      OtherVersions found;
      for (const TenantId& tenant : tenants) {
        due.tenant = tenant;
        BELAY_CHECK(add_other_versions(view, due, *graphs, found));
      }
      return found;
    };
    auto others = co_await read<OtherVersions>(parts_.store, std::move(reader));
    if (!others.ok()) co_return std::move(others).error();
    for (const RunId& run : others->runs) not_before_[run] = now + options.retry_delay_max;
    if (others->runs.empty() || !others->may_be_more) break;
  }
  co_return Done{};
}

Task<Result<std::vector<RunRow>>> Worker::find_orphaned(WorkerOptions options,
                                                        std::vector<RunId> except) {
  std::function<Result<std::vector<SessionRow>>(Snapshot&)> owners =
      [tenant = options.tenant](Snapshot& view) {
        SessionFilter filter;
        filter.tenant = tenant;
        filter.only_owners = true;
        filter.limit = std::numeric_limits<std::int32_t>::max();
        return view.sessions(filter);
      };
  auto sessions = co_await read<std::vector<SessionRow>>(parts_.store, std::move(owners));
  if (!sessions.ok()) co_return std::move(sessions).error();
  RunFilter lost;
  lost.statuses = {RunStatus::running};
  lost.queues = options.queues;
  lost.graphs = loader_.graphs()->names();
  lost.except_runs = std::move(except);
  lost.without_input = true;
  lost.limit = limits::page_rows_max;
  for (const SessionRow& each : *sessions) {
    bool is_alive = false;
    if (each.session != executor_.session()) {
      BELAY_CO_TRY(is_alive, parts_.store.is_alive(each.session));
    }
    if (!is_alive) lost.owners.push_back(each.session);
  }
  if (lost.owners.empty()) co_return std::vector<RunRow>();
  std::function<Result<std::vector<RunRow>>(Snapshot&)> reader =
      [lost, tenants = tenants_](Snapshot& view) mutable -> Result<std::vector<RunRow>> {
    std::vector<RunRow> all;
    for (const TenantId& tenant : tenants) {
      lost.tenant = tenant;
      lost.before.reset();
      std::size_t begin = all.size();
      while (true) {
        BELAY_TRY(std::vector<RunRow> page, view.runs(lost));
        if (page.empty()) break;
        lost.before = page.back().run;
        std::move(page.begin(), page.end(), std::back_inserter(all));
      }
      // Oldest first.
      std::reverse(all.begin() + static_cast<std::ptrdiff_t>(begin), all.end());
    }
    return all;
  };
  co_return co_await read<std::vector<RunRow>>(parts_.store, std::move(reader));
}

// Returns runs that can continue now: first orphaned runs, then due ones. Orphaned runs count in
// their concurrency limits already, and behind a queue that is never empty they would never be
// claimed.
Task<Result<std::vector<Worker::Work>>> Worker::poll_work(WorkerOptions options,
                                                          std::size_t limit) {
  auto learnt = co_await learn_tenants(options);
  if (!learnt.ok()) co_return std::move(learnt).error();
  std::vector<Work> work;
  auto passed_over = co_await pass_over_other_versions(options);
  if (!passed_over.ok()) co_return std::move(passed_over).error();
  std::vector<RunId> except = not_to_be_offered();
  auto take = [&](std::vector<RunRow>& rows) {
    for (RunRow& row : rows) {
      except.push_back(row.run);
      if (work.size() == limit) continue;
      auto place = executor_.admission().enter(row);
      if (!place.ok()) continue;
      ++offered_;
      work.push_back({std::move(row), *std::move(place)});
    }
  };
  auto lost = co_await find_orphaned(options, except);
  if (!lost.ok()) co_return std::move(lost).error();
  take(*lost);
  // The first candidates might have no permit in this process, and must not block the others.
  int rounds = executor_.admission().is_limited() ? offers_in_a_row_max : 1;
  for (int round = 0; round < rounds && work.size() < limit; ++round) {
    PollFilter filter;
    filter.tenant = options.tenant;
    filter.session = executor_.session();
    filter.now = parts_.clock.now();
    filter.queues = options.queues;
    filter.graphs = loader_.graphs()->names();
    filter.except_runs = except;
    filter.returned_candidates = std::exchange(gives_back_, {});
    filter.concurrency = parts_.concurrency;
    filter.weights = options.weights;
    filter.round_robin_position = offered_;
    std::size_t room = limit - work.size();
    filter.limit = std::min(rounds > 1 ? limits::poll_batch_max : room, limits::poll_batch_max);
    auto offered = co_await parts_.store.poll_runs(std::move(filter));
    if (!offered.ok()) co_return std::move(offered).error();
    bool is_last = offered->empty();
    take(*offered);
    if (is_last) break;
  }
  co_return std::move(work);
}

}  // namespace belay
