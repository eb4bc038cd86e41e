// Runtime::run_worker(): executes queued runs, orphaned runs and due timers; quarantine; drain.

#include <algorithm>

#include "belay/limits.h"
#include "driver/runtime_body.h"
#include "driver/work_signal.h"
#include "engine/advance.h"

namespace belay {
namespace {

// After a candidate of an unknown graph version, other runs of unknown versions are searched for
// this long before each poll. The replacement of a program takes less time.
constexpr std::chrono::minutes other_versions_for{10};

// A run that cannot be continued: its row and its newest commit.
struct Damaged {
  RunRow row;
  CheckpointRow newest;
};

// Replaces a newest checkpoint that cannot be read: has the row's data and no tasks.
CheckpointRow unreadable_checkpoint(const RunRow& row) {
  CheckpointRow checkpoint;
  checkpoint.id = row.checkpoint;
  checkpoint.run = row.run;
  checkpoint.seq = row.seq;
  checkpoint.state_seq = row.seq;
  checkpoint.node = row.node;
  checkpoint.next_tasks = "[]";
  checkpoint.retry_count = row.retry_count;
  return checkpoint;
}

// Reads only the row of a run and its newest commit, even if its other data is damaged. nullopt if
// the run does not exist any more, has ended, or is quarantined already.
Result<std::optional<Damaged>> damaged_run(Snapshot& view, const TenantId& tenant,
                                           const RunId& run) {
  RunFilter filter;
  filter.tenant = tenant;
  filter.run = run;
  BELAY_TRY(auto rows, view.runs(filter));
  if (rows.empty()) return std::optional<Damaged>();
  RunStatus status = rows.front().status;
  if (is_final(status) || status == RunStatus::quarantined) return std::optional<Damaged>();
  auto newest = newest_checkpoint(view, tenant, run);
  if (!newest.ok() && newest.error().code != ErrorCode::corrupt) return std::move(newest).error();
  if (newest.ok() && !*newest) return error(ErrorCode::corrupt, "The run has no commit.");
  CheckpointRow last = newest.ok() ? **std::move(newest) : unreadable_checkpoint(rows.front());
  return std::optional(Damaged{std::move(rows.front()), std::move(last)});
}

// While it exists, drain() and stop() can wake a waiting run_worker().
class CallOfWork {
 public:
  CallOfWork(WorkSignal*& known, WorkSignal& call) : known_(known) { known_ = &call; }
  CallOfWork(const CallOfWork&) = delete;
  CallOfWork& operator=(const CallOfWork&) = delete;
  ~CallOfWork() { known_ = nullptr; }

 private:
  WorkSignal*& known_;
};

}  // namespace

Task<Result<Done>> Runtime::Impl::check_queue(TenantId tenant) {
  std::size_t limit = parts_.process_limits.queued;
  if (limit == 0) co_return Done{};
  std::function<Result<std::size_t>(Snapshot&)> reader =
      [tenant, limit](Snapshot& view) -> Result<std::size_t> {
    RunFilter filter;
    filter.tenant = tenant;
    filter.statuses = {RunStatus::queued};
    filter.limit = limit;
    BELAY_TRY(auto rows, view.runs(filter));
    return rows.size();
  };
  EnteringRuns::Check check(entering_, tenant);
  auto queued = co_await read<std::size_t>(parts_.store, std::move(reader));
  if (!queued.ok()) co_return std::move(queued).error();
  std::size_t taken = *queued + check.others();
  if (taken < limit) co_return Done{};
  Error full =
      error(ErrorCode::unavailable, "Queue limit reached: the tenant has " + std::to_string(limit) +
                                        " queued runs. Try again later.");
  full.retry_after = limits::busy_retry_after;
  co_return std::move(full);
}

Task<Result<CommitOutcome>> Runtime::Impl::put_into_queue(Commit commit) {
  TenantId tenant = commit.tenant;
  EnteringRuns::Entry entry(entering_, tenant);
  auto outcome = co_await parts_.store.commit(std::move(commit));
  if (outcome.ok() && *outcome == CommitOutcome::applied) notify_workers(tenant);
  co_return std::move(outcome);
}

// Executes a candidate. Holds its permit until the execution ends.
Task<Result<Done>> Runtime::Impl::execute_candidate(TenantId tenant, RunId run,
                                                    RunAdmission::Permit place) {
  (void)place;
  auto done = co_await take_up_sound(tenant, run);
  if (done.ok() || done.error().code != ErrorCode::corrupt) co_return done;
  co_return co_await quarantine(std::move(tenant), run, done.error().message);
}

// An error of one run must not affect others. Quarantines the run if it is damaged. Skips it if
// this program cannot continue it (`invalid`), or if it was deleted (`not_found`). Returns any
// other error.
Task<Result<Done>> Runtime::Impl::quarantine_or_skip(TenantId tenant, RunId run, Error why) {
  if (why.code == ErrorCode::invalid || why.code == ErrorCode::not_found) co_return Done{};
  if (why.code != ErrorCode::corrupt) co_return why;
  co_return co_await quarantine(std::move(tenant), run, std::move(why.message));
}

Task<Result<Done>> Runtime::Impl::take_up_sound(TenantId tenant, RunId run) {
  auto found = co_await load_run(tenant, run);
  if (!found.ok()) co_return std::move(found).error();
  if (is_draining_) co_return Done{};  // the drain started during the read
  if (found->stored.row.status == RunStatus::paused) {
    ApprovalFilter due;
    due.tenant = tenant;
    due.run = run;
    due.only_open = true;
    due.expired_at = parts_.clock.now();
    due.limit = limits::page_rows_max;
    auto late = co_await find_due(std::move(due));
    if (!late.ok()) co_return std::move(late).error();
    if (!late->empty()) {
      auto expired = co_await expire_together(*std::move(late));
      if (!expired.ok()) co_return std::move(expired).error();
      co_return Done{};
    }
    engine::Event resumed = engine::Resumed{moment(), session_};
    auto view = co_await commit_and_drive(*std::move(found), std::move(resumed), false);
    if (!view.ok()) co_return std::move(view).error();
    co_return Done{};
  }
  auto view = co_await continue_run(*std::move(found), false);
  if (!view.ok()) co_return std::move(view).error();
  co_return Done{};
}

// Quarantines a run that cannot be read.
//
// No run continues from such a commit. Therefore the run is read again first: if the damage was
// only in the store's cache, the run is not changed. If a part is damaged that check_readable()
// does not read, the second call quarantines the run.
Task<Result<Done>> Runtime::Impl::quarantine(TenantId tenant, RunId run, std::string reason) {
  std::function<Result<Done>(Snapshot&)> look = [tenant, run, graphs = graphs_](Snapshot& view) {
    return check_readable(view, *graphs, tenant, run);
  };
  auto readable = co_await read<Done>(parts_.store, std::move(look));
  if (readable.ok() && misread_.insert(run).second) co_return Done{};
  misread_.erase(run);
  std::function<Result<std::optional<Damaged>>(Snapshot&)> reader = [tenant, run](Snapshot& view) {
    return damaged_run(view, tenant, run);
  };
  auto found = co_await read<std::optional<Damaged>>(parts_.store, std::move(reader));
  if (!found.ok()) co_return std::move(found).error();
  if (!*found) co_return Done{};
  engine::Run damaged;
  damaged.row = std::move((*found)->row);
  GraphDefinition unknown;
  engine::Damaged event{moment(), std::move((*found)->newest), std::move(reason)};
  auto next = engine::advance(unknown, std::move(damaged), std::move(event));
  Commit commit = std::move(*std::get<engine::WriteCommit>(next.actions.front()).commit);
  auto outcome = co_await parts_.store.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  co_return Done{};
}

// Schedules a run that could not be executed for another try.
void Runtime::Impl::retry_later(TenantId tenant, RunId run, const Error& why,
                                const WorkerOptions& options) {
  Instant now = parts_.clock.now();
  // The error of a reached limit has the time of the next try (retry_after).
  bool has_no_place = is_no_place(why);
  bool is_of_store =
      !has_no_place && (why.code == ErrorCode::unavailable || why.code == ErrorCode::uncertain);
  if (is_of_store) {
    store_rest_.add(run, now, options.retry_delay_max);
  } else {
    not_before_[run] = now + (has_no_place ? *why.retry_after : options.retry_delay_max);
  }
  // The run's graph version is unknown, and no upgrade leads from it: another program can execute
  // it.
  bool is_of_others = why.code == ErrorCode::invalid;
  if (is_of_others) {
    meets_other_versions_until_ = now + other_versions_for;
    gives_back_.emplace_back(std::move(tenant), run);
  }
  if ((is_of_others || is_of_store) && options.on_error) options.on_error(why);
}

Task<Result<std::size_t>> Runtime::Impl::run_worker(WorkerOptions options) {
  std::size_t count = 0;
  is_draining_ = is_stopping_ = false;
  parts_.store.set_shutting_down(false);
  outbox_.start();
  std::vector<RunId> over;
  WorkSignal call(parts_.hints.work_notifier);
  CallOfWork known(work_call_, call);
  tenants_.clear();
  if (options.tenant) tenants_.push_back(*options.tenant);
  std::optional<Instant> outbox_looked;
  // A drain also waits for runs that other calls execute: no other code would release them.
  while (!is_draining_ || taken_up_ > 0 || !driven_.empty() || outbox_.under_way() > 0) {
    if (!parts_.store.accepts_commits()) co_return give_up_work();
    // A search of the outbox reads all due messages: at most one per poll interval, however often
    // the worker is woken.
    Instant now = parts_.clock.now();
    bool looks =
        !outbox_looked || now < *outbox_looked || now - *outbox_looked >= options.poll_interval;
    if (looks) outbox_looked = now;
    for (const TenantId& tenant : tenants_) {
      call.listen(tenant);
      if (looks) outbox_.look(tenant);
    }
    if (!is_draining_ && taken_up_ < options.runs_max) {
      std::size_t room = options.runs_max - taken_up_;
      auto found = co_await poll_work(options, room);
      if (store_rest_.looked(found.ok())) call.call();
      if (!found.ok()) {
        bool may_come_back = found.error().code == ErrorCode::unavailable && !options.until_idle;
        if (!may_come_back) {
          forget_work();
          co_return std::move(found).error();
        }
        if (options.on_error) options.on_error(found.error());
        found = std::vector<Work>();
      }
      if (options.until_idle && found->empty() && taken_up_ == 0) {
        while (outbox_.is_busy()) co_await sleep_for(options.poll_interval);
        break;
      }
      for (Work& each : *found) {
        ++count;
        ++taken_up_;
        RunId run = each.row.run;
        std::function<void(Result<Done>)> done = [this, tenant = each.row.tenant, run, &over,
                                                  &options, &call](Result<Done> ended) {
          --taken_up_;
          over.push_back(run);
          not_before_.erase(run);
          // Another run might wait for the capacity that is free now, in this process or within a
          // concurrency limit. If most of this process's capacity is in use, the call is not
          // urgent: the next poll then claims several runs at a time.
          call.call(taken_up_ <= options.runs_max / 2);
          if (ended.ok()) {
            store_rest_.commits_answered(parts_.clock.now());
          } else {
            retry_later(tenant, run, ended.error(), options);
          }
        };
        auto task = execute_candidate(each.row.tenant, run, std::move(each.place));
        work_[run] = spawn<Result<Done>>(parts_.executor, std::move(task), std::move(done));
      }
    }
    co_await call.wait(options.poll_interval);
    for (const RunId& run : std::exchange(over, {})) work_.erase(run);
    if (is_draining_) hurry_if_idle();
  }
  for (const RunId& run : over) work_.erase(run);
  outbox_.start();  // for runs that other calls of this process execute
  co_return count;
}

// Destroys the executions in progress: their completion handlers refer to the variables of
// run_worker(), which they must not outlive.
void Runtime::Impl::forget_work() {
  work_.clear();
  taken_up_ = 0;
}

// The store accepts no more commits of this process. The process must end: as long as its session
// is alive, no other process can claim its runs.
Error Runtime::Impl::give_up_work() {
  forget_work();
  return error(ErrorCode::unavailable,
               "The store accepts no more commits from this process. Stop it, check the disk, and "
               "restart it; its runs then continue.");
}

void Runtime::Impl::drain() {
  is_draining_ = true;
  outbox_.stop();
  release_runs(false);
  hurry_if_idle();
  if (work_call_) work_call_->call(true);
}

// If no run must be saved, the shutdown need not wait for an unavailable store.
void Runtime::Impl::hurry_if_idle() {
  if (driven_.empty() && taken_up_ == 0) parts_.store.set_shutting_down(true);
}

void Runtime::Impl::stop() {
  is_draining_ = is_stopping_ = true;
  parts_.store.set_shutting_down(true);
  outbox_.stop();
  outbox_.give_up();
  release_runs(true);
  if (work_call_) work_call_->call(true);
}

void Runtime::Impl::release_runs(bool is_urgent) {
  for (auto& [run, driver] : driven_) driver->release(is_urgent);
}

Result<Done> Runtime::Impl::check_not_draining() const {
  if (!is_draining_) return Done{};
  Error ending = error(ErrorCode::unavailable, "This process is shutting down. Try again later.");
  ending.retry_after = limits::busy_retry_after;
  return ending;
}

}  // namespace belay
