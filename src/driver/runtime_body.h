#pragma once
// driver/runtime_body.h - the implementation of Runtime.

#include <map>
#include <set>

#include "driver/entering_runs.h"
#include "driver/outbox_delivery.h"
#include "driver/remote_text.h"
#include "driver/run_driver.h"
#include "driver/store_backoff.h"
#include "driver/stored_run.h"
#include "driver/text_stream.h"
#include "driver/work_signal.h"

namespace belay {

class Runtime::Impl {
 public:
  using Definition = std::shared_ptr<const GraphDefinition>;

  Impl(RuntimeParts parts, SessionId session)
      : parts_(std::move(parts)), session_(session), protection_(parts_.process_limits) {
    live_->on_text = [this](const RunRow& run) { fan_out_.published(run); };
  }
  ~Impl() {
    live_->on_text = nullptr;
    parts_.store.close_session(session_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void add(Definition graph);
  void protect(std::string dependency, DependencyOptions options) {
    protection_.protect(std::move(dependency), options, parts_.clock, parts_.hints.broadcast,
                        parts_.executor);
  }
  const SessionId& session() const { return session_; }

  Task<Result<RunView>> start(std::string graph, std::shared_ptr<void> input, StartOptions options);
  Task<Result<RunView>> enqueue(std::string graph, std::shared_ptr<void> input,
                                StartOptions options, Instant not_before);
  Task<Result<std::size_t>> run_worker(WorkerOptions options);
  void drain();
  void stop();
  void deliver(std::string topic, Receiver receiver, DeliveryOptions options) {
    outbox_.add(std::move(topic), std::move(receiver), options);
  }
  // message.cc: on request, makes a message waiting and due now, or given up.
  Task<Result<Done>> move_message(TenantId tenant, std::string id, OutboxStatus to);
  Task<Result<RunView>> fork(ForkOptions options);
  Task<Result<ForkPreview>> preview(ForkOptions options);
  Task<Result<ReplayReport>> replay(ReplayOptions options);
  Task<Result<std::unique_ptr<EventReader>>> events(EventOptions options);
  Task<Result<RunView>> resume(TenantId tenant, ThreadId thread);
  Task<Result<std::vector<ThreadId>>> orphaned_threads(TenantId tenant, std::optional<UserId> user);
  Task<Result<DecisionResult>> decide(TenantId tenant, InterruptId interrupt, Decision decision);
  Task<Result<RunView>> cancel(TenantId tenant, ThreadId thread, std::string by,
                               std::string on_behalf_of);
  Task<Result<RunView>> status(TenantId tenant, ThreadId thread, std::optional<std::uint64_t> seq);
  Task<Result<DueReport>> process_due(TenantId tenant);
  Task<Result<Done>> save(TenantId tenant, std::vector<RecordWrite> records);
  std::unique_ptr<Records> records(TenantId tenant, UserId user) {
    return store_records(parts_.store, std::move(tenant), std::move(user));
  }

 private:
  // A run with its open approvals, read from one snapshot.
  struct LoadedRun {
    engine::StoredRun stored;
    OpenApprovals approvals;
    std::optional<Spending> spending;  // only of a run with a budget
    std::vector<EffectRow> uncertain;  // only if the run has ended
  };

  // Reads a run, as of its commit `seq` if that is set.
  static Result<LoadedRun> load(Snapshot& view, const GraphRegistry& graphs, RunRow row,
                                std::optional<std::uint64_t> seq);

  engine::Moment moment();
  // Returns the graph that continues a run of this version.
  Result<Definition> graph_of(const engine::StoredRun& stored) const;
  Task<Result<LoadedRun>> find_thread(TenantId tenant, ThreadId thread,
                                      std::optional<std::uint64_t> seq = std::nullopt);
  Task<Result<LoadedRun>> load_run(TenantId tenant, RunId run);
  Task<Result<LoadedRun>> find(std::function<Result<RunRow>(Snapshot&)> find_row,
                               std::optional<std::uint64_t> seq);
  // An approval, and its run if that can be read.
  struct AskedRun {
    ApprovalRow approval;
    Result<LoadedRun> run;
  };
  Task<Result<AskedRun>> find_asked(TenantId tenant, InterruptId interrupt);
  Result<RunView> view_of(LoadedRun found);
  Task<Result<RunView>> view_of_run(TenantId tenant, RunId run);
  // Executes `run` until its driver stops, and returns the resulting view. `unavailable` if its
  // first commit exceeds a concurrency limit. With `is_shown` false, only the status of the view is
  // set.
  Task<Result<RunView>> drive(Definition graph, engine::Run run, engine::Event first,
                              std::vector<ConcurrencyGuard> places = {}, bool is_shown = true);
  Task<Result<RunDriver::End>> drive_registered(RunId run, RunDriver& driver, engine::Event first);
  Task<Result<RunView>> continue_run(LoadedRun found, bool by_person = true);
  // The same for a repeated start: the run is returned unchanged if it is running elsewhere, or if
  // a concurrency limit keeps it from running.
  Task<Result<RunView>> go_on_or_look(LoadedRun found);
  // Returns the thread's existing run if it is the run that `wanted` would start; else an error.
  Task<Result<LoadedRun>> find_known(RunRow wanted);
  // The run that a start or enqueue makes, or the existing one of a repeated request.
  struct Begin {
    Definition graph;
    std::optional<engine::Run> run;
    std::optional<LoadedRun> known;
    bool is_named = false;  // the caller named the thread
  };
  Task<Result<Begin>> prepare(std::string graph, std::shared_ptr<void> input, StartOptions options);

  // work.cc
  struct Work {
    RunRow row;
    RunAdmission::Permit place;
  };
  // `unavailable` if the tenant has too many queued runs, including those that this process is
  // enqueuing.
  Task<Result<Done>> check_queue(TenantId tenant);
  Task<Result<CommitOutcome>> put_into_queue(Commit commit);
  Task<Result<Done>> execute_candidate(TenantId tenant, RunId run, RunAdmission::Permit place);
  Task<Result<Done>> take_up_sound(TenantId tenant, RunId run);
  Task<Result<Done>> quarantine_or_skip(TenantId tenant, RunId run, Error why);
  Task<Result<Done>> quarantine(TenantId tenant, RunId run, std::string reason);
  void forget_work();
  Error give_up_work();
  void retry_later(TenantId tenant, RunId run, const Error& why, const WorkerOptions& options);
  // Notifies other processes that the tenant might have claimable runs.
  void notify_workers(const TenantId& tenant) {
    if (parts_.hints.work_notifier) parts_.hints.work_notifier->notify(tenant.text);
  }
  // Makes the drivers of all runs release them: see RunDriver::release().
  void release_runs(bool is_urgent);
  void hurry_if_idle();
  // Fails with `unavailable` while this process drains: it starts no runs.
  Result<Done> check_not_draining() const;
  // find_work.cc
  Task<Result<std::vector<Work>>> poll_work(WorkerOptions options, std::size_t limit);
  Task<Result<std::vector<RunRow>>> find_orphaned(WorkerOptions options, std::vector<RunId> except);
  // Sets tenants_ to all tenants of the store, unless the worker has a tenant.
  Task<Result<Done>> learn_tenants(WorkerOptions options);
  std::vector<RunId> not_to_be_offered();
  Task<Result<Done>> pass_over_other_versions(const WorkerOptions& options);
  Task<Result<Done>> refresh_queues(TenantId tenant);
  // Returns the concurrency limits that apply to a commit that makes the run running.
  Task<Result<std::vector<ConcurrencyGuard>>> concurrency_guards_of(RunRow row, bool by_person);
  // Returns the error for the first guard whose limit is reached.
  Task<Error> limit_reached(RunRow row, std::vector<ConcurrencyGuard> guards);
  static bool is_no_place(const Error& why) {
    return why.code == ErrorCode::unavailable && why.retry_after;
  }
  // fork.cc
  Task<Result<RunView>> begin_fork(ForkOptions options);
  Task<Result<LoadedRun>> find_origin(ForkOptions options);
  Task<Result<RunView>> put_fork_into_queue(Definition graph, engine::Run run, std::string request);
  // known_fork.cc: returns the fork if it already exists under the given thread; `invalid` if
  // that thread is another run.
  Task<Result<std::optional<RunView>>> known_fork(ForkOptions options);
  // Applies `event` to a run without an owner, commits the result, and executes the run. nullopt if
  // the event has no effect, or the run changed since it was read.
  Task<Result<std::optional<RunView>>> commit_and_drive(LoadedRun found, engine::Event event,
                                                        bool by_person);
  // `conflict` if another live session, or another call of this one, executes the run.
  Result<Done> check_free(const RunRow& row);
  // The state of an open approval's run when it was read.
  struct Standing {
    RunStatus status = RunStatus::queued;
    std::uint64_t epoch = 0;
    std::uint64_t seq = 0;
    friend bool operator==(const Standing&, const Standing&) = default;
  };
  Task<Result<std::optional<DecisionResult>>> try_to_decide(LoadedRun found, engine::Decided event,
                                                            Standing& standing);
  Task<Result<RunView>> drive_decided(Definition graph, engine::Run run);
  Task<Result<RunView>> pass_to_owner(ApprovalRow decided);
  // The engine's event for a decision on an approval, or for its expiry.
  engine::Decided decided_as(ApprovalRow approval, const Decision& decision);
  engine::Decided expired(ApprovalRow approval);
  Result<DecisionResult> answer_decided(LoadedRun found, const engine::Decided& event);
  // Returns the error for a decision that failed with `why`; quarantines a damaged run.
  Task<Error> refuse_damaged(TenantId tenant, InterruptId interrupt, Error why);
  // `corrupt` if an approval that the paused run waits for is marked as decided.
  Task<Result<Done>> check_asked(engine::Run run);
  Task<Result<std::vector<ApprovalRow>>> find_due(ApprovalFilter due);
  Task<Result<bool>> expire(ApprovalRow approval);
  Task<Result<bool>> expire_of_active_run(ApprovalRow approval);
  Task<Result<bool>> expire_into_queue(ApprovalRow approval);
  Task<Result<std::size_t>> expire_together(std::vector<ApprovalRow> approvals);
  Task<Result<std::size_t>> expire_due(TenantId tenant);
  Task<Result<std::size_t>> wake_due(TenantId tenant);
  Task<Result<bool>> wake_run(TenantId tenant, RunId run);

  RuntimeParts parts_;
  SessionId session_;
  // Shared with event readers, which can outlive the runtime.
  std::shared_ptr<TextHub> live_ = std::make_shared<TextHub>();
  TextFanOut fan_out_{parts_.hints.broadcast, parts_.executor, *live_, session_};
  Protection protection_;
  // Replaced as a whole: a store's read on another thread might still use the previous one.
  std::shared_ptr<const GraphRegistry> graphs_ = std::make_shared<GraphRegistry>();
  std::map<RunId, RunDriver*> driven_;  // the runs that this runtime executes now
  bool is_draining_ = false;
  WorkSignal* work_call_ = nullptr;  // of run_worker(), while it runs
  bool is_stopping_ = false;         // a drain whose timeout has passed
  std::size_t taken_up_ = 0;         // runs that run_worker() claimed and that are in progress
  EnteringRuns entering_;            // runs that are being enqueued
  struct KnownQueues {
    Instant as_of{};
    std::map<std::string, QueueRow> rows;
  };
  std::map<TenantId, KnownQueues> queues_;
  std::vector<TenantId> tenants_;  // that run_worker() serves
  Instant tenants_as_of_{};
  std::uint64_t offered_ = 0;            // candidates so far: the round-robin position
  std::set<RunId> misread_;              // runs that were readable when they were read again
  std::map<RunId, Instant> not_before_;  // runs that could not be executed: when to try again
  StoreBackoff store_rest_;              // the same for runs for which the store failed
  // Candidates that could not be executed: the next poll returns them, so that the store can offer
  // them to other processes immediately.
  std::vector<std::pair<TenantId, RunId>> gives_back_;
  Instant meets_other_versions_until_{};
  OutboxDelivery outbox_{parts_};
  std::map<RunId, Spawned> work_;  // last: its coroutines use all members above
};

}  // namespace belay
