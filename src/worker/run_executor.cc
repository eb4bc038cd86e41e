#include "worker/run_executor.h"

#include <algorithm>

#include "belay/limits.h"
#include "engine/advance.h"
#include "engine/restore.h"
#include "engine/run_options.h"
#include "engine/run_queries.h"
#include "load/code_gone.h"

namespace belay {
namespace {

// Registers the driver of a run while its call is in progress.
// Two starts with one idempotency key have the same run at the same time, until the store rejects
// one of them: its end must not remove the registration of the other, whose run would then look
// orphaned, be claimed, and repeat its effects.
class Registration {
 public:
  Registration(std::multimap<RunId, RunDriver*>& driven, RunId run, RunDriver& driver)
      : driven_(driven), place_(driven.emplace(run, &driver)) {}
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() { driven_.erase(place_); }

 private:
  std::multimap<RunId, RunDriver*>& driven_;
  const std::multimap<RunId, RunDriver*>::iterator place_;
};

}  // namespace

RunExecutor::RunExecutor(RuntimeParts parts, SessionId session)
    : parts_(std::move(parts)), session_(session), protection_(parts_.process_limits) {
  live_->on_text = [this](const RunRow& run) { fan_out_.published(run); };
}

RunExecutor::~RunExecutor() {
  live_->on_text = nullptr;
  parts_.store.close_session(session_);
}

void RunExecutor::protect(std::string dependency, DependencyOptions options) {
  protection_.protect(std::move(dependency), options, parts_.clock, parts_.hints.broadcast,
                      parts_.executor);
}

engine::Moment RunExecutor::moment() {
  engine::Moment moment;
  moment.now = parts_.clock.now();
  moment.entropy = parts_.random.bits();
  return moment;
}

Task<Result<RunView>> RunExecutor::drive(Definition graph, engine::Run run, engine::Event first,
                                         std::vector<ConcurrencyGuard> places, bool is_shown,
                                         RecordConflicts conflicts) {
  TenantId tenant = run.row.tenant;
  ThreadId thread = run.row.thread;
  RunId id = run.row.run;
  RunRow row;  // the columns that errors mention
  row.tenant = tenant;
  row.thread = thread;
  row.user = run.row.user;
  row.queue = run.row.queue;
  row.concurrency_key = run.row.concurrency_key;
  std::vector<ConcurrencyGuard> guards = places;
  RunAdmission::Permit place = protection_.places.enter_anyway(run.row);
  auto driver = std::make_unique<RunDriver>(parts_, protection_, *live_, loader_.graphs(),
                                            std::move(graph), std::move(run));
  driver->concurrency = std::move(places);
  if (is_draining_) driver->release(is_stopping_);
  driver->when_published = [this, tenant, id] { outbox_.look_at(tenant, id); };
  auto came_to = co_await drive_registered(id, *driver, std::move(first));
  // If possible, the view is made in memory: a read of the store costs as much as several commits.
  std::optional<RunView> ended;
  if (came_to.ok() && *came_to == RunDriver::End::stopped) {
    row.status = driver->row().status;
    if (is_shown) ended = driver->take_view();
  }
  driver.reset();
  // Delivers messages of the commit that preceded this call, or of a lagging one: when_published
  // was not called for them.
  outbox_.look_at(tenant, id);
  if (!came_to.ok()) co_return std::move(came_to).error();
  if (*came_to == RunDriver::End::not_started) {
    co_return error(ErrorCode::conflict,
                    "Thread \"" + thread.text + "\" already exists, or has got another run.");
  }
  if (*came_to == RunDriver::End::limit_reached) {
    co_return co_await limits_.limit_reached(std::move(row), std::move(guards));
  }
  // A decision was recorded just before the pause. The stored run is still running under this
  // session, and is continued from there.
  if (*came_to == RunDriver::End::superseded) {
    auto found = co_await loader_.load_run(std::move(tenant), id);
    if (!found.ok()) co_return std::move(found).error();
    co_return co_await continue_run(*std::move(found));
  }
  if (*came_to == RunDriver::End::record_changed) {
    place = RunAdmission::Permit();  // the run enters again
    auto found = co_await loader_.load_run(std::move(tenant), id);
    if (!found.ok()) co_return std::move(found).error();
    co_return co_await repeat_changed(*std::move(found), is_shown, conflicts);
  }
  // Released: another process can claim it.
  if (row.status == RunStatus::queued) limits_.notify_workers(tenant);
  if (ended) co_return *std::move(ended);
  if (!is_shown) co_return RunView{std::move(row), {}, {}, {}, {}, {}};
  co_return co_await loader_.view(std::move(tenant), id);
}

// The run was read again after a refused commit: no commit of this process has advanced it.
Task<Result<RunView>> RunExecutor::repeat_changed(LoadedRun found, bool is_shown,
                                                  RecordConflicts conflicts) {
  const RunRow& row = found.stored.row;
  // Cancelled or claimed meanwhile.
  bool is_ours = row.status == RunStatus::running && row.session == session_;
  if (!is_ours) co_return loader_.view_of(std::move(found));
  if (conflicts.seq != row.seq) conflicts = {row.seq, 0};
  if (++conflicts.count > limits::record_conflicts_max) {
    co_return co_await fail_changed(std::move(found));
  }
  BELAY_CO_TRY(Definition graph, loader_.graph_of(found.stored));
  BELAY_CO_TRY(engine::Run run, loader_.restore(*graph, std::move(found)));
  engine::Event changed = engine::RecordChanged{moment(), false};
  std::vector<ConcurrencyGuard> none;
  co_return co_await drive(std::move(graph), std::move(run), std::move(changed), std::move(none),
                           is_shown, conflicts);
}

Task<Result<RunDriver::End>> RunExecutor::drive_registered(RunId run, RunDriver& driver,
                                                           engine::Event first) {
  Registration registration(driven_, run, driver);
  co_return co_await driver.drive(std::move(first));
}

// More than one only until the store has decided between two starts of one run.
std::vector<RunDriver*> RunExecutor::drivers_of(const RunId& run) const {
  std::vector<RunDriver*> drivers;
  auto [at, last] = driven_.equal_range(run);
  for (; at != last; ++at) drivers.push_back(at->second);
  return drivers;
}

Result<Done> RunExecutor::check_free(const RunRow& row) {
  if (driven_.contains(row.run)) {
    return error(ErrorCode::conflict,
                 "Thread \"" + row.thread.text + "\" is already being executed by this process.");
  }
  if (row.session == session_ || row.session.is_null()) return Done{};
  BELAY_TRY(bool alive, parts_.store.is_alive(row.session));
  if (!alive) return Done{};
  return error(ErrorCode::conflict,
               "Thread \"" + row.thread.text +
                   "\" is owned by another live process. Wait for it, stop it, or cancel the run.");
}

// The commit of a decision on a paused run also advances the run. If an approval is decided and the
// run has not advanced, the row was tampered with, and each poll would try to continue the run
// again.
Task<Result<Done>> RunExecutor::check_asked(engine::Run run) {
  std::vector<InterruptId> asked;
  if (run.row.status == RunStatus::paused) engine::collect_open_interrupts(run, asked);
  if (asked.empty()) co_return Done{};
  std::function<Result<Done>(Snapshot&)> reader = [row = run.row,
                                                   asked](Snapshot& view) -> Result<Done> {
    BELAY_TRY(RunRow now, run_row(view, row.tenant, row.run));
    if (now.status != RunStatus::paused || now.seq != row.seq) return Done{};
    BELAY_TRY(auto decided, decided_of(view, row.tenant, row.run, asked));
    if (decided.empty()) return Done{};
    return error(
        ErrorCode::corrupt,
        "The approval " + decided.front().interrupt.text() +
            " is decided, but its run waits for it. Run `belay check` and restore a backup.");
  };
  auto checked = co_await read<Done>(parts_.store, std::move(reader));
  co_return checked;
}

Task<Result<std::optional<RunView>>> RunExecutor::commit_and_drive(LoadedRun found,
                                                                   engine::Event event,
                                                                   bool by_person) {
  BELAY_CO_CHECK(check_not_draining());
  RunRow row = found.stored.row;
  auto places = co_await limits_.guards_of(row, by_person);
  if (!places.ok()) co_return std::move(places).error();
  BELAY_CO_TRY(Definition graph, loader_.graph_to_continue(found.stored));
  BELAY_CO_TRY(engine::Run run, engine::restore(*graph, std::move(found.stored)));
  auto next = engine::advance(*graph, std::move(run), std::move(event));
  // The event does not apply: the run changed, or the stored data contradicts itself.
  if (next.actions.empty()) {
    BELAY_CO_CHECK(co_await check_asked(std::move(next.run)));
    co_return std::optional<RunView>();
  }
  if (auto* refused = std::get_if<engine::Refuse>(&next.actions.front())) {
    co_return std::move(refused->why);
  }
  Commit commit = std::move(*std::get<engine::WriteCommit>(next.actions.front()).commit);
  std::vector<ConcurrencyGuard> guards = *places;
  commit.concurrency = *std::move(places);
  bool publishes = !commit.rows.outbox.empty();
  auto outcome = co_await parts_.store.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  if (*outcome == CommitOutcome::limit_reached) {
    co_return co_await limits_.limit_reached(std::move(row), std::move(guards));
  }
  if (*outcome != CommitOutcome::applied) co_return std::optional<RunView>();
  if (publishes) outbox_.look_at(row.tenant, row.run);
  engine::Event first = engine::Committed{moment()};
  std::vector<ConcurrencyGuard> none;
  auto view = co_await drive(std::move(graph), std::move(next.run), std::move(first),
                             std::move(none), by_person);
  if (!view.ok()) co_return std::move(view).error();
  co_return std::optional(*std::move(view));
}

Task<Result<RunView>> RunExecutor::continue_run(LoadedRun found, bool by_person,
                                                std::optional<Breakpoints> breakpoints) {
  const RunRow& row = found.stored.row;
  if (is_final(row.status)) co_return loader_.view_of(std::move(found));
  Instant now = parts_.clock.now();
  if (by_person) BELAY_CO_CHECK(engine::check_idle(row, found.approvals.last_expiry, now));
  TenantId tenant = row.tenant;
  RunId id = row.run;
  if (row.status == RunStatus::paused) {
    if (!engine::can_resume(row, now)) co_return loader_.view_of(std::move(found));
    engine::Event resumed = engine::Resumed{moment(), session_, std::move(breakpoints)};
    auto view = co_await commit_and_drive(std::move(found), std::move(resumed), by_person);
    if (!view.ok()) co_return std::move(view).error();
    if (*view) co_return **std::move(view);
    co_return co_await loader_.view(std::move(tenant), id);
  }
  BELAY_CO_CHECK(check_free(row));
  auto places = co_await limits_.guards_of(row, by_person);
  if (!places.ok()) co_return std::move(places).error();
  BELAY_CO_TRY(Definition graph, loader_.graph_to_continue(found.stored));
  BELAY_CO_TRY(engine::Run run, loader_.restore(*graph, std::move(found)));
  engine::Event first = engine::Claimed{moment(), session_, by_person};
  co_return co_await drive(std::move(graph), std::move(run), std::move(first), *std::move(places),
                           by_person);
}

Task<Result<RunView>> RunExecutor::resume(TenantId tenant, ThreadId thread,
                                          std::optional<Breakpoints> breakpoints,
                                          std::optional<std::uint64_t> only_at,
                                          std::optional<Consent> consent) {
  auto found = co_await loader_.load_thread(std::move(tenant), std::move(thread));
  if (!found.ok()) co_return std::move(found).error();
  const RunRow& row = found->stored.row;
  if (only_at && row.seq != *only_at) co_return loader_.view_of(*std::move(found));
  if (!is_final(row.status)) BELAY_CO_CHECK(check_not_draining());
  if (consent) {
    found = co_await accepted_run(*std::move(found), *std::move(consent));
    if (!found.ok()) co_return std::move(found).error();
  }
  RunAdmission::Permit place;
  if (!is_final(row.status) && row.status != RunStatus::paused) {
    BELAY_CO_TRY(place, protection_.places.enter(row));
  }
  if (breakpoints) {
    BELAY_CO_TRY(Definition graph, loader_.graph_of(found->stored));
    BELAY_CO_CHECK(engine::check_breakpoints(*graph, *breakpoints));
  }
  co_return co_await continue_run(*std::move(found), true, std::move(breakpoints));
}

Task<Result<std::vector<ThreadId>>> RunExecutor::orphaned_threads(TenantId tenant,
                                                                  std::optional<UserId> user) {
  // A queued run has no owner and is not orphaned: it waits for its due time and a worker.
  // A run whose code is gone has a status of that name: this process cannot resume it.
  std::function<Result<std::vector<RunRow>>(Snapshot&)> reader =
      [tenant, user, graphs = loader_.graphs()](Snapshot& view) -> Result<std::vector<RunRow>> {
    BELAY_TRY(std::vector<RunRow> running, running_runs(view, tenant, user));
    std::vector<RunRow> with_code;
    for (RunRow& row : running) {
      if (!graphs->knows(row.graph)) continue;
      BELAY_TRY(auto gone, why_code_is_gone(view, *graphs, {}, row));
      if (!gone) with_code.push_back(std::move(row));
    }
    return with_code;
  };
  auto rows = co_await read<std::vector<RunRow>>(parts_.store, std::move(reader));
  if (!rows.ok()) co_return std::move(rows).error();
  std::vector<ThreadId> threads;
  for (const RunRow& row : *rows) {
    if (driven_.contains(row.run)) continue;
    BELAY_CO_TRY(bool alive, parts_.store.is_alive(row.session));
    if (!alive || row.session == session_) threads.push_back(row.thread);
  }
  co_return std::move(threads);
}

Task<Result<RunView>> RunExecutor::continue_or_view(LoadedRun found) {
  if (is_draining_) co_return loader_.view_of(std::move(found));
  TenantId tenant = found.stored.row.tenant;
  RunId run = found.stored.row.run;
  auto view = co_await continue_run(std::move(found));
  bool is_held =
      !view.ok() && (view.error().code == ErrorCode::conflict || RunLimits::is_limit(view.error()));
  if (!is_held) co_return std::move(view);
  co_return co_await loader_.view(std::move(tenant), run);
}

Task<Result<RunView>> RunExecutor::drive_decided(Definition graph, engine::Run run) {
  // No process executes a queued run yet: its readers and the workers must be notified from here.
  if (run.row.status == RunStatus::queued) {
    live_->wake(run.row.run);
    limits_.notify_workers(run.row.tenant);
    co_return co_await loader_.view(run.row.tenant, run.row.run);
  }
  engine::Event first = engine::Committed{moment()};
  co_return co_await drive(std::move(graph), std::move(run), std::move(first));
}

// A driver in this process receives the decision immediately. An owner in another process polls for
// it while it waits (limits::owner_watch_interval), and the next owner of a queued run reads it at
// the start of drive(). A second delivery is ignored: no task waits for it any more.
Task<Result<RunView>> RunExecutor::pass_to_owner(ApprovalRow decided) {
  TenantId tenant = decided.tenant;
  RunId run = decided.run;
  for (RunDriver* driver : drivers_of(run)) {
    ApprovalRow approval = decided;
    BELAY_CO_CHECK(driver->on_decision(std::move(approval)));
  }
  co_return co_await loader_.view(std::move(tenant), run);
}

engine::Decided RunExecutor::expiry_of(ApprovalRow approval) {
  engine::Decided event;
  event.moment = moment();
  event.session = session_;
  event.approval = std::move(approval);
  event.verdict = engine::Decided::Verdict::expired;
  return event;
}

void RunExecutor::drain(bool is_urgent) {
  is_draining_ = true;
  is_stopping_ = is_stopping_ || is_urgent;
  for (auto& [run, driver] : driven_) driver->release(is_urgent);
}

Result<Done> RunExecutor::check_not_draining() const {
  if (!is_draining_) return Done{};
  Error ending = error(ErrorCode::unavailable, "This process is shutting down. Try again later.");
  ending.retry_after = limits::busy_retry_after;
  return ending;
}

}  // namespace belay
