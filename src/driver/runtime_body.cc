#include "driver/runtime_body.h"

#include <algorithm>

#include "belay/limits.h"
#include "engine/advance.h"
#include "engine/checkpoint.h"
#include "engine/run_queries.h"
#include "graph/call_guarded.h"

namespace belay {
namespace {

// Registers the driver of a run while its call is in progress.
class Registration {
 public:
  Registration(std::map<RunId, RunDriver*>& driven, RunId run, RunDriver& driver)
      : driven_(driven), run_(run) {
    driven_[run_] = &driver;
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() { driven_.erase(run_); }

 private:
  std::map<RunId, RunDriver*>& driven_;
  RunId run_;
};

Error ended_otherwise(const RunRow& row) {
  return error(ErrorCode::conflict, "Thread \"" + row.thread.text + "\" has already " +
                                        std::string(name_of(row.status)) + ".");
}

}  // namespace

engine::Moment Runtime::Impl::moment() {
  engine::Moment moment;
  moment.now = parts_.clock.now();
  moment.entropy = parts_.random.bits();
  return moment;
}

void Runtime::Impl::add(Definition graph) {
  auto graphs = std::make_shared<GraphRegistry>(*graphs_);
  graphs->add(std::move(graph));
  graphs_ = std::move(graphs);
}

Result<Runtime::Impl::Definition> Runtime::Impl::graph_of(const engine::StoredRun& stored) const {
  BELAY_TRY(Digest version, engine::version_of(stored));
  return graphs_->for_version(stored.row.graph, version);
}

Result<Runtime::Impl::LoadedRun> Runtime::Impl::load(Snapshot& view, const GraphRegistry& graphs,
                                                     RunRow row, std::optional<std::uint64_t> seq) {
  LoadedRun found;
  if (!seq || *seq == row.seq) {
    BELAY_TRY(found.approvals, open_approvals(view, row));
    BELAY_TRY(found.spending, spending_of_run(view, row));
    BELAY_TRY(found.uncertain, uncertain_effects(view, row));
  }
  BELAY_TRY(found.stored, stored_run(view, graphs, std::move(row), seq));
  return found;
}

Task<Result<Runtime::Impl::LoadedRun>> Runtime::Impl::find(
    std::function<Result<RunRow>(Snapshot&)> find_row, std::optional<std::uint64_t> seq) {
  std::function<Result<LoadedRun>(Snapshot&)> reader =
      [find_row = std::move(find_row), seq, graphs = graphs_](Snapshot& view) -> Result<LoadedRun> {
    BELAY_TRY(RunRow row, find_row(view));
    return load(view, *graphs, std::move(row), seq);
  };
  co_return co_await read<LoadedRun>(parts_.store, std::move(reader));
}

Task<Result<Runtime::Impl::LoadedRun>> Runtime::Impl::find_thread(
    TenantId tenant, ThreadId thread, std::optional<std::uint64_t> seq) {
  std::function<Result<RunRow>(Snapshot&)> find_row = [tenant, thread](Snapshot& view) {
    return latest_run(view, tenant, thread);
  };
  co_return co_await find(std::move(find_row), seq);
}

Task<Result<Runtime::Impl::LoadedRun>> Runtime::Impl::load_run(TenantId tenant, RunId run) {
  std::function<Result<RunRow>(Snapshot&)> find_row = [tenant, run](Snapshot& view) {
    return run_row(view, tenant, run);
  };
  co_return co_await find(std::move(find_row), std::nullopt);
}

// A run can be viewed with any version of its graph: if no version can read its state, the state is
// returned as stored.
Result<RunView> Runtime::Impl::view_of(LoadedRun found) {
  RunView view;
  auto graph = graph_of(found.stored);
  if (!graph.ok()) {
    BELAY_TRY(graph, graphs_->newest(found.stored.row.graph));
    view.state = engine::raw_state(found.stored);
  } else {
    BELAY_TRY(engine::Run run, engine::restore(**graph, found.stored));
    view.state = engine::state_value(**graph, found.stored, run);
  }
  view.row = std::move(found.stored.row);
  view.approvals = std::move(found.approvals.rows);
  if (!view.approvals.empty()) view.approval = view.approvals.front();
  view.spending = found.spending;
  view.uncertain = std::move(found.uncertain);
  return view;
}

Task<Result<RunView>> Runtime::Impl::view_of_run(TenantId tenant, RunId run) {
  auto found = co_await load_run(std::move(tenant), run);
  if (!found.ok()) co_return std::move(found).error();
  co_return view_of(*std::move(found));
}

Task<Result<RunView>> Runtime::Impl::status(TenantId tenant, ThreadId thread,
                                            std::optional<std::uint64_t> seq) {
  auto found = co_await find_thread(std::move(tenant), std::move(thread), seq);
  if (!found.ok()) co_return std::move(found).error();
  co_return view_of(*std::move(found));
}

Task<Result<RunView>> Runtime::Impl::drive(Definition graph, engine::Run run, engine::Event first,
                                           std::vector<ConcurrencyGuard> places, bool is_shown) {
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
  auto driver =
      std::make_unique<RunDriver>(parts_, protection_, *live_, std::move(graph), std::move(run));
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
  if (*came_to == RunDriver::End::exists) {
    co_return error(ErrorCode::conflict, "Thread \"" + thread.text + "\" already exists.");
  }
  if (*came_to == RunDriver::End::limit_reached) {
    co_return co_await limit_reached(std::move(row), std::move(guards));
  }
  // A decision was recorded just before the pause. The stored run is still running under this
  // session, and is continued from there.
  if (*came_to == RunDriver::End::superseded) {
    auto found = co_await load_run(std::move(tenant), id);
    if (!found.ok()) co_return std::move(found).error();
    co_return co_await continue_run(*std::move(found));
  }
  // Released: another process can claim it.
  if (row.status == RunStatus::queued) notify_workers(tenant);
  if (ended) co_return *std::move(ended);
  if (!is_shown) co_return RunView{std::move(row), {}, {}, {}, {}, {}};
  co_return co_await view_of_run(std::move(tenant), id);
}

Task<Result<RunDriver::End>> Runtime::Impl::drive_registered(RunId run, RunDriver& driver,
                                                             engine::Event first) {
  Registration registration(driven_, run, driver);
  co_return co_await driver.drive(std::move(first));
}

Result<Done> Runtime::Impl::check_free(const RunRow& row) {
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
Task<Result<Done>> Runtime::Impl::check_asked(engine::Run run) {
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

Task<Result<std::optional<RunView>>> Runtime::Impl::commit_and_drive(LoadedRun found,
                                                                     engine::Event event,
                                                                     bool by_person) {
  BELAY_CO_CHECK(check_not_draining());
  RunRow row = found.stored.row;
  auto places = co_await concurrency_guards_of(row, by_person);
  if (!places.ok()) co_return std::move(places).error();
  BELAY_CO_TRY(Definition graph, graph_of(found.stored));
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
  auto outcome = co_await parts_.store.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  if (*outcome == CommitOutcome::limit_reached) {
    co_return co_await limit_reached(std::move(row), std::move(guards));
  }
  if (*outcome != CommitOutcome::applied) co_return std::optional<RunView>();
  engine::Event first = engine::Committed{moment()};
  std::vector<ConcurrencyGuard> none;
  auto view = co_await drive(std::move(graph), std::move(next.run), std::move(first),
                             std::move(none), by_person);
  if (!view.ok()) co_return std::move(view).error();
  co_return std::optional(*std::move(view));
}

Task<Result<RunView>> Runtime::Impl::continue_run(LoadedRun found, bool by_person) {
  const RunRow& row = found.stored.row;
  if (is_final(row.status)) co_return view_of(std::move(found));
  Instant now = parts_.clock.now();
  if (by_person) BELAY_CO_CHECK(engine::check_idle(row, found.approvals.last_expiry, now));
  TenantId tenant = row.tenant;
  RunId id = row.run;
  if (row.status == RunStatus::paused) {
    if (!engine::can_resume(row, now)) co_return view_of(std::move(found));
    engine::Event resumed = engine::Resumed{moment(), session_};
    auto view = co_await commit_and_drive(std::move(found), std::move(resumed), by_person);
    if (!view.ok()) co_return std::move(view).error();
    if (*view) co_return **std::move(view);
    co_return co_await view_of_run(std::move(tenant), id);
  }
  BELAY_CO_CHECK(check_free(row));
  auto places = co_await concurrency_guards_of(row, by_person);
  if (!places.ok()) co_return std::move(places).error();
  BELAY_CO_TRY(Definition graph, graph_of(found.stored));
  BELAY_CO_TRY(engine::Run run, engine::restore(*graph, std::move(found.stored)));
  engine::Event first = engine::Claimed{moment(), session_, by_person};
  co_return co_await drive(std::move(graph), std::move(run), std::move(first), *std::move(places),
                           by_person);
}

Task<Result<RunView>> Runtime::Impl::resume(TenantId tenant, ThreadId thread) {
  auto found = co_await find_thread(std::move(tenant), std::move(thread));
  if (!found.ok()) co_return std::move(found).error();
  const RunRow& row = found->stored.row;
  if (!is_final(row.status)) BELAY_CO_CHECK(check_not_draining());
  RunAdmission::Permit place;
  if (!is_final(row.status) && row.status != RunStatus::paused) {
    BELAY_CO_TRY(place, protection_.places.enter(row));
  }
  co_return co_await continue_run(*std::move(found));
}

Task<Result<std::vector<ThreadId>>> Runtime::Impl::orphaned_threads(TenantId tenant,
                                                                    std::optional<UserId> user) {
  // A queued run has no owner and is not orphaned: it waits for its due time and a worker.
  std::function<Result<std::vector<RunRow>>(Snapshot&)> reader = [tenant, user](Snapshot& view) {
    return running_runs(view, tenant, user);
  };
  auto rows = co_await read<std::vector<RunRow>>(parts_.store, std::move(reader));
  if (!rows.ok()) co_return std::move(rows).error();
  std::vector<ThreadId> threads;
  for (const RunRow& row : *rows) {
    if (!graphs_->knows(row.graph) || driven_.contains(row.run)) continue;
    BELAY_CO_TRY(bool alive, parts_.store.is_alive(row.session));
    if (!alive || row.session == session_) threads.push_back(row.thread);
  }
  co_return std::move(threads);
}

Task<Result<RunView>> Runtime::Impl::cancel(TenantId tenant, ThreadId thread, std::string by,
                                            std::string on_behalf_of) {
  BELAY_CO_CHECK(check_name("canceller name", by));
  if (!on_behalf_of.empty()) {
    BELAY_CO_CHECK(check_name("\"on behalf of\" name", on_behalf_of));
  }
  while (true) {
    auto found = co_await find_thread(tenant, thread);
    if (!found.ok()) co_return std::move(found).error();
    const RunRow& row = found->stored.row;
    if (row.status == RunStatus::cancelled) co_return view_of(*std::move(found));
    if (is_final(row.status)) co_return ended_otherwise(row);
    RunId id = row.run;
    bool is_worked_on = row.status == RunStatus::running && driven_.contains(id);
    if (row.status == RunStatus::running && !is_worked_on && row.session != session_) {
      BELAY_CO_TRY(is_worked_on, parts_.store.is_alive(row.session));
    }
    BELAY_CO_TRY(Definition graph, graph_of(found->stored));
    BELAY_CO_TRY(engine::Run run, engine::restore(*graph, std::move(found->stored)));
    engine::Event event = engine::Cancelled{moment(), by, on_behalf_of, is_worked_on};
    auto next = engine::advance(*graph, std::move(run), std::move(event));
    BELAY_ASSERT(next.actions.size() == 1);
    Commit commit = std::move(*std::get<engine::WriteCommit>(next.actions.front()).commit);
    auto outcome = co_await parts_.store.commit(std::move(commit));
    if (!outcome.ok()) co_return std::move(outcome).error();
    if (*outcome != CommitOutcome::applied) continue;  // the run changed since it was read
    // Durable from here on. A driver in this process stops immediately; an owner in another process
    // is fenced at its next commit, or detects the new epoch while it waits.
    if (auto driven = driven_.find(id); driven != driven_.end()) driven->second->abandon();
    live_->wake(id);
    co_return co_await view_of_run(tenant, id);
  }
}

}  // namespace belay
