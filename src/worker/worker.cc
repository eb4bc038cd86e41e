// The loop of a worker: polls, executes candidates, drains.

#include "worker/worker.h"

#include <algorithm>

#include "belay/limits.h"
#include "engine/advance.h"

namespace belay {
namespace {

// After a candidate of an unknown graph version, other runs of unknown versions are searched for
// this long before each poll. The replacement of a program takes less time.
constexpr std::chrono::minutes other_versions_for{10};

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

// Executes a candidate. Holds its permit until the execution ends.
Task<Result<Done>> Worker::execute_candidate(TenantId tenant, RunId run,
                                             RunAdmission::Permit place) {
  (void)place;
  auto done = co_await take_up_sound(tenant, run);
  if (done.ok() || done.error().code != ErrorCode::corrupt) co_return done;
  co_return co_await executor_.quarantine(std::move(tenant), run, done.error().message);
}

Task<Result<Done>> Worker::take_up_sound(TenantId tenant, RunId run) {
  auto found = co_await loader_.load_run(tenant, run);
  if (!found.ok()) co_return std::move(found).error();
  if (executor_.is_draining()) co_return Done{};  // the drain started during the read
  if (found->stored.row.status == RunStatus::paused) {
    co_return co_await due_runs_.continue_due(*std::move(found));
  }
  auto view = co_await executor_.continue_run(*std::move(found), false);
  if (!view.ok()) co_return std::move(view).error();
  co_return Done{};
}

// Schedules a run that could not be executed for another try.
void Worker::retry_later(TenantId tenant, RunId run, const Error& why,
                         const WorkerOptions& options) {
  Instant now = parts_.clock.now();
  // The error of a reached limit has the time of the next try (retry_after).
  bool has_no_place = RunLimits::is_limit(why);
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

Task<Result<std::size_t>> Worker::run(WorkerOptions options) {
  std::size_t count = 0;
  executor_.end_drain();
  parts_.store.set_shutting_down(false);
  outbox_.start();
  std::vector<RunId> over;
  WorkSignal call(parts_.hints.work_notifier);
  CallOfWork known(work_call_, call);
  tenants_.clear();
  if (options.tenant) tenants_.push_back(*options.tenant);
  std::optional<Instant> outbox_looked;
  // A drain also waits for runs that other calls execute: no other code would release them.
  while (!executor_.is_draining() || taken_up_ > 0 || !executor_.driven().empty() ||
         outbox_.under_way() > 0) {
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
    if (!executor_.is_draining() && taken_up_ < options.runs_max) {
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
    if (executor_.is_draining()) hurry_if_idle();
  }
  for (const RunId& run : over) work_.erase(run);
  outbox_.start();  // for runs that other calls of this process execute
  co_return count;
}

// Destroys the executions in progress: their completion handlers refer to the variables of
// run_worker(), which they must not outlive.
void Worker::forget_work() {
  work_.clear();
  taken_up_ = 0;
}

// The store accepts no more commits of this process. The process must end: as long as its session
// is alive, no other process can claim its runs.
Error Worker::give_up_work() {
  forget_work();
  return error(ErrorCode::unavailable,
               "The store accepts no more commits from this process. Stop it, check the disk, and "
               "restart it; its runs then continue.");
}

void Worker::drain() {
  executor_.drain(false);
  outbox_.stop();
  hurry_if_idle();
  if (work_call_) work_call_->call(true);
}

// If no run must be saved, the shutdown need not wait for an unavailable store.
void Worker::hurry_if_idle() {
  if (executor_.driven().empty() && taken_up_ == 0) parts_.store.set_shutting_down(true);
}

void Worker::stop() {
  parts_.store.set_shutting_down(true);
  outbox_.stop();
  outbox_.give_up();
  executor_.drain(true);
  if (work_call_) work_call_->call(true);
}

}  // namespace belay
