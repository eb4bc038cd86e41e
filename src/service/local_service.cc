// Long on purpose: one short function for each operation.

#include "service/local_service.h"

#include <algorithm>

#include "belay/limits.h"
#include "load/stored_run.h"
#include "scheduler/local_schedules.h"
#include "service/access.h"
#include "service/background_operations.h"
#include "service/find_approval.h"
#include "service/find_run.h"
#include "service/held_by.h"
#include "service/json_encode.h"
#include "service/queue_documents.h"
#include "service/run_file.h"
#include "service/run_request.h"
#include "service/status_summary.h"
#include "service/steering.h"
#include "service/thread_history.h"
#include "service/wait_facts.h"

namespace belay {
namespace {

// Later than any due time of a run.

// Larger than the index of any event in a commit.
constexpr std::uint64_t kLastIndex = 1'000'000'000;
// Poll interval for commits of other processes: the first one, then the later ones.
constexpr std::chrono::milliseconds kFirstLook{50};
constexpr std::chrono::milliseconds kLaterLooks{500};

Task<Result<Done>> refused(Error why) { co_return why; }

// The records that have operations of the service, which check them.
Result<Done> check_collection(const RecordWrite& write) {
  for (std::string_view reserved :
       {SteeringMessage::collection, Schedule::collection, ScheduleTick::collection}) {
    if (write.collection != reserved) continue;
    return error(ErrorCode::invalid, "Records of the collection \"" + write.collection +
                                         "\" cannot be saved directly. Use their commands.");
  }
  return Done{};
}

class LocalService final : public Service {
 public:
  explicit LocalService(LocalServiceParts parts)
      : parts_(std::move(parts)), graphs_(registry_of(parts_)), under_way_(parts_.executor) {
    auto check_start = [this](const Principal& who, StartRun wanted) -> Result<Done> {
      BELAY_CHECK(run_request(parts_.graphs, who.tenant, std::move(wanted)));
      return Done{};
    };
    schedules_ = scheduler::local_schedules(
        {parts_.store, *this, parts_.clock, parts_.random, zones_, std::move(check_start)});
  }

  std::optional<std::uint64_t> store_version() override { return parts_.store.change_token(); }

  Task<Result<AgentDocuments>> agents(const Principal&) override {
    if (!documents_) {
      Value::Array documents;
      for (const auto& graph : parts_.graphs) documents.push_back(agent_document(*graph));
      documents_ = std::make_shared<const Value::Array>(std::move(documents));
    }
    co_return documents_;
  }

  Task<Result<RunView>> start(const Principal& who, StartRun wanted) override {
    if (wanted.thread.empty() && !wanted.idempotency_key.empty()) {
      wanted.thread = thread_of_key(wanted.user, wanted.idempotency_key);
    }
    BELAY_CO_CHECK(check_records(wanted.records));
    BELAY_CO_TRY(RunRequest request, run_request(parts_.graphs, who.tenant, std::move(wanted)));
    if (request.options.thread.empty()) {
      request.options.thread = ThreadId(random_uuid(parts_.random).text());
      request.options.thread_is_new = true;
    }
    ThreadId thread = request.options.thread;
    UserId user = request.options.user;
    if (request.queued) {
      Instant not_before = parts_.clock.now() + request.delay;
      auto queued =
          co_await parts_.runtime.enqueue(std::move(request.graph), std::move(request.state),
                                          std::move(request.options), not_before);
      co_return co_await with_hold(std::move(queued));
    }
    // Not awaited directly: the run must continue if this coroutine is destroyed because its caller
    // has disconnected.
    auto task = parts_.runtime.start(std::move(request.graph), std::move(request.state),
                                     std::move(request.options));
    auto view = co_await under_way_.wait(std::move(task));
    auto held = co_await with_hold(std::move(view));
    co_return co_await with_owner(who, std::move(thread), std::move(held), std::move(user));
  }

  Task<Result<RunView>> resume(const Principal& who, ThreadId thread,
                               std::optional<Breakpoints> breakpoints,
                               std::optional<std::uint64_t> only_at,
                               std::optional<Consent> consent) override {
    auto task = parts_.runtime.resume(who.tenant, thread, std::move(breakpoints), only_at,
                                      std::move(consent));
    auto view = co_await under_way_.wait(std::move(task));
    co_return co_await with_owner(who, std::move(thread), std::move(view));
  }

  Task<Result<std::vector<ThreadId>>> orphaned_threads(const Principal& who,
                                                       std::optional<UserId> user) override {
    return parts_.runtime.orphaned_threads(who.tenant, std::move(user));
  }

  Task<Result<RunView>> cancel(const Principal& who, ThreadId thread, std::string by,
                               std::string on_behalf_of, std::optional<RunId> run) override {
    return parts_.runtime.cancel(who.tenant, std::move(thread), std::move(by),
                                 std::move(on_behalf_of), run);
  }

  Task<Result<RunView>> fork(const Principal& who, ForkOptions options) override {
    options.tenant = who.tenant;
    if (options.thread.empty()) options.thread = ThreadId(random_uuid(parts_.random).text());
    ThreadId thread = options.thread;
    if (options.queued) {
      auto queued = co_await parts_.runtime.fork(std::move(options));
      co_return co_await with_hold(std::move(queued));
    }
    auto task = parts_.runtime.fork(std::move(options));
    auto view = co_await under_way_.wait(std::move(task));
    co_return co_await with_owner(who, std::move(thread), std::move(view));
  }

  Task<Result<ForkPreview>> preview(const Principal& who, ForkOptions options) override {
    options.tenant = who.tenant;
    return parts_.runtime.preview(std::move(options));
  }

  Task<Result<ReplayReport>> replay(const Principal& who, ThreadId thread,
                                    std::optional<RunId> run) override {
    ReplayOptions options;
    options.tenant = who.tenant;
    options.thread = std::move(thread);
    options.run = run;
    return parts_.runtime.replay(std::move(options));
  }

  Task<Result<Value>> export_run(const Principal& who, ThreadId thread,
                                 std::optional<RunId> run) override {
    return belay::export_run(parts_.store, scope(who), std::move(thread), run, parts_.clock.now(),
                             parts_.call);
  }

  Task<Result<RunRow>> import_run(const Principal& who, Value file,
                                  bool allow_unfinished) override {
    BELAY_CO_TRY(RunFile read, run_file_from(file));
    co_return co_await belay::import_run(parts_.store, scope(who), std::move(read),
                                         allow_unfinished, parts_.clock, parts_.random);
  }

  // Woken by the commits of this process; polls for commits of other processes.
  Task<Result<RunView>> wait_for(const Principal& who, ThreadId thread,
                                 std::optional<RunId> run) override {
    while (true) {
      ThreadId wanted = thread;
      BELAY_CO_TRY(RunView view,
                   co_await parts_.runtime.status(who.tenant, std::move(wanted), run));
      run = view.row.run;  // another run can be the current one when this one has ended
      if (is_settled(view.row.status)) co_return std::move(view);
      EventOptions options;
      options.thread = thread;
      options.run = view.row.run;
      options.kinds = {EventKind::status};
      // After the commit of the status just read: a commit in between is then still an event to
      // come, and is not missed.
      options.after = EventId{view.row.seq, kLastIndex};
      options.poll = kFirstLook;
      options.poll_max = kLaterLooks;
      BELAY_CO_TRY(std::unique_ptr<EventReader> reader, co_await events(who, std::move(options)));
      BELAY_CO_CHECK(co_await reader->next());
    }
  }

  Task<Result<RunRow>> run_of(const Principal& who, ThreadId thread,
                              std::optional<RunId> run) override {
    std::function<Result<RunRow>(Snapshot&)> reader = [tenant = who.tenant, thread, run,
                                                       call = parts_.call](Snapshot& view) {
      return run_of_thread(view, tenant, thread, call, run);
    };
    return read<RunRow>(parts_.store, std::move(reader));
  }

  Task<Result<RunView>> status(const Principal& who, ThreadId thread,
                               std::optional<std::uint64_t> seq,
                               std::optional<RunId> run) override {
    if (!seq) {
      auto now = co_await parts_.runtime.status(who.tenant, std::move(thread), run);
      co_return co_await with_hold(std::move(now));
    }
    co_return co_await parts_.runtime.status_at(who.tenant, std::move(thread), *seq, run);
  }

  Task<Result<ListedThread>> thread(const Principal& who, ThreadId thread) override {
    std::function<Result<std::vector<ListedThread>>(Snapshot&)> reader =
        [tenant = who.tenant, thread = std::move(thread),
         call = parts_.call](Snapshot& view) -> Result<std::vector<ListedThread>> {
      BELAY_TRY(FoundThread found, find_thread(view, tenant, thread, call));
      std::vector<ListedThread> only;
      only.push_back({std::move(found.thread), std::move(found.run)});
      return only;
    };
    BELAY_CO_TRY(std::vector<ListedThread> listed,
                 co_await threads_with_code(parts_.store, graphs_, parts_.runtime.session(),
                                            who.tenant, std::move(reader)));
    co_return std::move(listed.front());
  }

  Task<Result<ThreadRow>> edit_thread(const Principal& who, ThreadId thread,
                                      ThreadSettings settings) override {
    return parts_.runtime.edit_thread(who.tenant, std::move(thread), std::move(settings));
  }

  Task<Result<SteeringMessage>> steer(const Principal& who, ThreadId thread,
                                      Steer message) override {
    return steer_run(steering_parts(), who.tenant, std::move(thread), std::move(message));
  }

  Task<Result<std::vector<SteeringMessage>>> steering(const Principal& who,
                                                      ThreadId thread) override {
    return steering_of_thread(steering_parts(), who.tenant, std::move(thread));
  }

  Schedules& schedules() override { return *schedules_; }

  Task<Result<ThreadDeletion>> delete_thread(const Principal& who, ThreadId thread,
                                             KeptRuns kept) override {
    BELAY_CO_TRY(ListedThread listed, co_await this->thread(who, thread));
    UserId owner = listed.thread.user;
    ThreadId deleted_thread = thread;
    BELAY_CO_TRY(ThreadDeletion deleted,
                 co_await belay::delete_thread(parts_.store, who.tenant, std::move(thread), kept));
    if (kept != KeptRuns::none) co_return deleted;
    // A crash before this leaves messages that expire.
    BELAY_CO_CHECK(co_await delete_steering(parts_.store, parts_.clock, who.tenant,
                                            std::move(owner), std::move(deleted_thread)));
    co_return deleted;
  }

  Task<Result<std::vector<ListedThread>>> threads(const Principal& who, ThreadPage page) override {
    std::function<Result<std::vector<ListedThread>>(Snapshot&)> reader =
        [tenant = who.tenant, page](Snapshot& view) -> Result<std::vector<ListedThread>> {
      ThreadFilter filter;
      filter.tenant = tenant;
      filter.before = page.before;
      filter.user = page.user;
      filter.limit = std::min(page.limit, limits::list_rows_max);
      BELAY_TRY(std::vector<ThreadRow> rows, view.threads(filter));
      std::vector<ListedThread> listed;
      for (ThreadRow& thread : rows) {
        auto run = current_run(view, tenant, thread.thread);
        bool is_absent = !run.ok() && run.error().code == ErrorCode::not_found;
        if (!run.ok() && !is_absent) return std::move(run).error();
        ListedThread& one = listed.emplace_back();
        one.thread = std::move(thread);
        if (run.ok()) one.run = *std::move(run);
      }
      return listed;
    };
    return threads_with_code(parts_.store, graphs_, parts_.runtime.session(), who.tenant,
                             std::move(reader));
  }

  Task<Result<std::vector<RunRow>>> runs(const Principal& who, RunPage page) override {
    RunFilter filter;
    filter.tenant = who.tenant;
    filter.statuses = std::move(page.statuses);
    filter.thread = page.thread;
    filter.before = page.before;
    filter.user = std::move(page.user);
    filter.limit = std::min(page.limit, limits::list_rows_max);
    auto found = co_await rows_of(std::move(filter));
    bool might_be_absent = page.thread && found.ok() && found->empty();
    if (!might_be_absent) co_return std::move(found);
    ThreadId thread = *std::move(page.thread);
    auto any = co_await run_of(who, std::move(thread), std::nullopt);
    if (!any.ok()) co_return std::move(any).error();
    co_return std::move(found);
  }

  Task<Result<RunRow>> run(const Principal& who, RunId run) override {
    RunFilter filter;
    filter.tenant = who.tenant;
    filter.run = run;
    BELAY_CO_TRY(std::vector<RunRow> rows, co_await rows_of(std::move(filter)));
    if (!rows.empty()) co_return std::move(rows.front());
    co_return error(ErrorCode::not_found, "Unknown run \"" + run.text() + "\".");
  }

  Task<Result<std::vector<RunHistory>>> history(const Principal& who, HistoryPage page) override {
    page.limit = std::min(page.limit, limits::list_rows_max);
    std::function<Result<std::vector<RunHistory>>(Snapshot&)> reader =
        [tenant = who.tenant, page = std::move(page), call = parts_.call](Snapshot& view) {
          return thread_history(view, tenant, page, call);
        };
    return read<std::vector<RunHistory>>(parts_.store, std::move(reader));
  }

  Task<Result<Value>> calls(const Principal& who, CallPage page) override {
    std::function<Result<Value>(Snapshot&)> reader =
        [tenant = who.tenant, page, call = parts_.call](Snapshot& view) -> Result<Value> {
      BELAY_TRY(RunRow run, run_of_thread(view, tenant, page.thread, call, page.run));
      EffectFilter filter;
      filter.tenant = tenant;
      filter.run = run.run;
      filter.limit = std::min(page.limit, limits::list_rows_max);
      BELAY_TRY(std::vector<EffectRow> rows, view.effects(filter));
      return calls_document(run, rows);
    };
    return read<Value>(parts_.store, std::move(reader));
  }

  Task<Result<Value>> why(const Principal& who, ThreadId thread,
                          std::optional<RunId> run) override {
    return explain_wait(wait_parts(), who.tenant, std::move(thread), run);
  }

  Task<Result<StatusSummary>> standing(const Principal& who, Whose whose) override {
    return status_summary(parts_.store, graphs_, parts_.runtime.session(), who.tenant,
                          std::move(whose), parts_.clock.now());
  }

  Task<Result<std::unique_ptr<EventReader>>> events(const Principal& who,
                                                    EventOptions options) override {
    options.tenant = who.tenant;
    return parts_.runtime.events(std::move(options));
  }

  Task<Result<Done>> preserve(const Principal& who, ThreadId thread, bool preserve) override {
    ThreadId wanted = thread;
    auto run = co_await run_of(who, std::move(wanted), std::nullopt);
    if (!run.ok()) co_return std::move(run).error();
    Commit commit;
    commit.tenant = who.tenant;
    commit.rows.preserve = {std::move(thread), preserve};
    auto outcome = co_await parts_.store.commit(std::move(commit));
    if (!outcome.ok()) co_return std::move(outcome).error();
    co_return Done{};
  }

  Task<Result<std::vector<ApprovalRow>>> approvals(const Principal& who,
                                                   ApprovalPage page) override {
    std::function<Result<std::vector<ApprovalRow>>(Snapshot&)> reader = [tenant = who.tenant,
                                                                         page](Snapshot& view) {
      ApprovalFilter filter;
      filter.tenant = tenant;
      filter.only_open = page.only_open;
      filter.before = page.before;
      filter.user = page.user;
      filter.limit = std::min(page.limit, limits::list_rows_max);
      return view.approvals(filter);
    };
    return read<std::vector<ApprovalRow>>(parts_.store, std::move(reader));
  }

  Task<Result<ApprovalRow>> approval(const Principal& who, std::string id, Whose whose) override {
    std::function<Result<ApprovalRow>(Snapshot&)> reader =
        [tenant = who.tenant, id = std::move(id), whose = std::move(whose), call = parts_.call](
            Snapshot& view) { return find_approval(view, tenant, id, whose, call); };
    return read<ApprovalRow>(parts_.store, std::move(reader));
  }

  Task<Result<ApprovalRow>> approval_of(const Principal& who, ThreadId thread,
                                        Whose whose) override {
    std::function<Result<ApprovalRow>(Snapshot&)> reader =
        [tenant = who.tenant, thread = std::move(thread), whose = std::move(whose),
         call = parts_.call](Snapshot& view) {
          return find_approval_of(view, tenant, thread, whose, call);
        };
    return read<ApprovalRow>(parts_.store, std::move(reader));
  }

  Task<Result<DecisionResult>> decide(const Principal& who, InterruptId interrupt,
                                      Decision decision) override {
    auto task = parts_.runtime.decide(who.tenant, interrupt, std::move(decision));
    auto answer = co_await under_way_.wait(std::move(task));
    if (!answer.ok() || answer->view.row.status != RunStatus::queued) co_return std::move(answer);
    BELAY_CO_TRY(answer->view.held_by, co_await hold_of(answer->view.row));
    co_return std::move(answer);
  }

  Task<Result<Value>> queues(const Principal& who, std::optional<UserId> user) override {
    std::optional<UserId> whose = user;
    QueueView view = queue_view(who);
    BELAY_CO_TRY(Value document, co_await show_queues(std::move(view), std::move(user)));
    WaitParts parts = wait_parts();
    BELAY_CO_TRY(Value::Array waits,
                 co_await count_waits(std::move(parts), who.tenant, std::move(whose)));
    document.as_object()->emplace("waitCauses", std::move(waits));
    co_return std::move(document);
  }
  Task<Result<Value>> workers(const Principal& who) override {
    // Other than a worker, a command only asks.
    std::optional<SessionId> except;
    if (!parts_.works) except = parts_.runtime.session();
    return show_workers(queue_view(who), except);
  }
  Task<Result<Value>> change_queue(const Principal& who, QueueChange change) override {
    return belay::change_queue(queue_view(who), std::move(change));
  }

  Task<Result<Messages>> messages(const Principal& who, MessagePage page) override {
    OutboxFilter filter;
    filter.tenant = who.tenant;
    filter.without_delivered = !page.all;
    filter.user = page.user;
    if (page.thread) {
      ThreadId thread = *page.thread;
      BELAY_CO_TRY(RunRow row, co_await run_of(who, std::move(thread), std::nullopt));
      filter.run = row.run;
    }
    std::function<Result<Messages>(Snapshot&)> reader =
        [filter = std::move(filter), limit = page.limit](Snapshot& view) -> Result<Messages> {
      Messages found;
      OutboxFilter shown = filter;
      shown.limit = limit;
      BELAY_TRY(found.rows, view.outbox(shown));
      if (found.rows.size() < limit) return found;
      // Rows beyond the page are only counted: without their bodies, which might be large.
      OutboxFilter all = filter;
      all.without_body = true;
      all.limit = limit + limits::list_rows_max;
      BELAY_TRY(auto counted, view.outbox(all));
      found.more = counted.size() - found.rows.size();
      return found;
    };
    co_return co_await read<Messages>(parts_.store, std::move(reader));
  }

  Task<Result<Done>> retry_message(const Principal& who, std::string id) override {
    return parts_.runtime.retry_message(who.tenant, std::move(id));
  }
  Task<Result<Done>> give_up_message(const Principal& who, std::string id) override {
    return parts_.runtime.give_up_message(who.tenant, std::move(id));
  }

  Task<Result<std::vector<RecordRow>>> find_records(const Principal& who, UserId user,
                                                    RecordFilter filter) override {
    auto records = parts_.runtime.records(who.tenant, std::move(user));
    auto rows = co_await records->find(std::move(filter));
    co_return std::move(rows);
  }
  Task<Result<Done>> save_records(const Principal& who, std::vector<RecordWrite> records) override {
    auto checked = check_records(records);
    if (!checked.ok()) return refused(std::move(checked).error());
    return parts_.runtime.save(who.tenant, std::move(records));
  }

  Task<Result<StoreStatistics>> statistics(const Principal&) override {
    std::function<Result<StoreStatistics>()> work = [&store = parts_.store] {
      return store.statistics();
    };
    return on_blocking_pool<StoreStatistics>(std::move(work));
  }

  Task<Result<Compaction>> compact(const Principal&) override {
    std::function<Result<Compaction>()> work = [&store = parts_.store]() -> Result<Compaction> {
      Compaction done;
      BELAY_TRY(StoreStatistics before, store.statistics());
      BELAY_CHECK(store.compact());
      BELAY_TRY(StoreStatistics after, store.statistics());
      done.bytes_before = before.bytes;
      done.bytes_after = after.bytes;
      return done;
    };
    return on_blocking_pool<Compaction>(std::move(work));
  }

  Task<Result<Pruning>> prune(const Principal& who, RetentionPolicy policy) override {
    Pruning done;
    done.dry_run = policy.dry_run;
    BELAY_CO_TRY(done.threads,
                 co_await apply_retention(parts_.store, who.tenant, policy, parts_.clock.now()));
    if (policy.dry_run) co_return done;
    EncryptionOptions encryption = parts_.encryption;
    BELAY_CO_TRY(BlobReport blobs, co_await delete_unused_blobs(parts_.stored, parts_.random,
                                                                std::move(encryption), who.tenant));
    done.large_values = blobs.deleted;
    co_return done;
  }

  Task<Result<CheckReport>> check(const Principal& who) override {
    CheckScope whole = scope(who);
    whole.collections = parts_.collections;
    return check_store(parts_.store, std::move(whole));
  }

 private:
  QueueView queue_view(const Principal& who) const {
    QueueView view{parts_.store, who.tenant, parts_.clock, nullptr, parts_.concurrency};
    if (parts_.process_of) view.process_of = parts_.process_of;
    return view;
  }

  WaitParts wait_parts() const {
    WaitParts parts{parts_.store,       parts_.clock, graphs_,
                    parts_.concurrency, parts_.works, parts_.runtime.session(),
                    parts_.call};
    parts.slot_waits = [&runtime = parts_.runtime](const RunId& run) {
      return runtime.slot_waits(run);
    };
    if (parts_.process_of) parts.process_of = parts_.process_of;
    return parts;
  }

  Result<Done> check_records(const std::vector<RecordWrite>& records) const {
    for (const RecordWrite& record : records) {
      BELAY_CHECK(check_collection(record));
      if (parts_.check_record) BELAY_CHECK(parts_.check_record(record, parts_.clock.now()));
    }
    return Done{};
  }

  SteeringParts steering_parts() const {
    return {parts_.store, parts_.clock, parts_.random, parts_.call};
  }

  CheckScope scope(const Principal& who) const {
    CheckScope scope;
    scope.tenant = who.tenant;
    scope.graphs = parts_.graphs;
    return scope;
  }

  Task<Result<std::vector<RunRow>>> rows_of(RunFilter filter) {
    std::function<Result<std::vector<RunRow>>(Snapshot&)> reader =
        [filter = std::move(filter)](Snapshot& view) { return view.runs(filter); };
    return read<std::vector<RunRow>>(parts_.store, std::move(reader));
  }

  Task<Result<std::string>> hold_of(RunRow run) { return held_by(wait_parts(), std::move(run)); }

  Task<Result<RunView>> with_hold(Result<RunView> view) {
    if (view.ok() && view->row.status == RunStatus::running) {
      BELAY_CO_TRY(bool is_alive, parts_.store.is_alive(view->row.session));
      if (!is_alive) view->held_by = kProcessGone;
    }
    if (!view.ok() || is_final(view->row.status)) co_return std::move(view);
    RunRow run = view->row;
    run.input.clear();
    SessionId own = parts_.runtime.session();
    BELAY_CO_TRY(view->code_gone,
                 co_await gone_code_of(parts_.store, graphs_, own, std::move(run)));
    if (!view->code_gone.empty()) view->held_by = view->code_gone;
    if (!view->code_gone.empty() || view->row.status != RunStatus::queued) {
      co_return std::move(view);
    }
    BELAY_CO_TRY(view->held_by, co_await hold_of(view->row));
    co_return std::move(view);
  }

  // Adds the owner's process id to the error about a run that another live process owns; not if the
  // run belongs to another user than the caller.
  Task<Result<RunView>> with_owner(const Principal& who, ThreadId thread, Result<RunView> view,
                                   std::optional<UserId> user = std::nullopt) {
    bool is_taken = !view.ok() && view.error().code == ErrorCode::conflict && parts_.process_of;
    if (!is_taken) co_return std::move(view);
    auto run = co_await run_of(who, std::move(thread), std::nullopt);
    if (!run.ok() || is_final(run->status)) co_return std::move(view);
    if (user && run->user != *user) co_return std::move(view);
    auto alive = parts_.store.is_alive(run->session);
    if (!alive.ok() || !*alive) co_return std::move(view);
    Error taken = std::move(view).error();
    if (auto process = parts_.process_of(run->session)) {
      taken.message += " Its process id is " + std::to_string(*process) + ".";
    }
    co_return std::move(taken);
  }

  static std::shared_ptr<const GraphRegistry> registry_of(const LocalServiceParts& parts) {
    auto graphs = std::make_shared<GraphRegistry>();
    for (const auto& graph : parts.graphs) graphs->add(graph);
    return graphs;
  }

  const LocalServiceParts parts_;
  AgentDocuments documents_;  // null until the first request for them
  const std::shared_ptr<const GraphRegistry> graphs_;
  BackgroundOperations under_way_;
  const cron::ZoneDatabase zones_;
  std::unique_ptr<Schedules> schedules_;
};

}  // namespace

std::unique_ptr<Service> make_local_service(LocalServiceParts parts) {
  return with_access_rules(std::make_unique<LocalService>(std::move(parts)));
}

}  // namespace belay
