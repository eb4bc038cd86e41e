#pragma once
// worker/run_executor.h - executes runs in this process: claims, continues, cancels, quarantines.
//
// Threading: the executor's thread. The destructor ends the session, and with it the ownership of
// all runs.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "driver/run_driver.h"
#include "events/remote_text.h"
#include "events/text_stream.h"
#include "load/run_loader.h"
#include "worker/outbox_delivery.h"
#include "worker/run_limits.h"

namespace belay {

class RunExecutor {
 public:
  using Definition = RunLoader::Definition;

  RunExecutor(RuntimeParts parts, SessionId session);
  ~RunExecutor();
  RunExecutor(const RunExecutor&) = delete;
  RunExecutor& operator=(const RunExecutor&) = delete;

  RuntimeParts& parts() { return parts_; }
  const SessionId& session() const { return session_; }
  RunLoader& loader() { return loader_; }
  RunLimits& limits() { return limits_; }
  RunAdmission& admission() { return protection_.places; }
  OutboxDelivery& outbox() { return outbox_; }
  const std::shared_ptr<TextHub>& text_hub() const { return live_; }

  void protect(std::string dependency, DependencyOptions options);
  engine::Moment moment();

  // Executes `run` until its driver stops, and returns the resulting view. `unavailable` if its
  // first commit exceeds a concurrency limit. With `is_shown` false, only the status of the view is
  // set.
  Task<Result<RunView>> drive(Definition graph, engine::Run run, engine::Event first,
                              std::vector<ConcurrencyGuard> places = {}, bool is_shown = true) {
    return drive(std::move(graph), std::move(run), std::move(first), std::move(places), is_shown,
                 RecordConflicts());
  }
  // Claims a queued, orphaned or quarantined run, or continues a paused one that can be resumed,
  // and executes it. Returns any other run unchanged.
  Task<Result<RunView>> continue_run(LoadedRun found, bool by_person = true,
                                     std::optional<Breakpoints> breakpoints = std::nullopt);
  // The same for a repeated start: the run is returned unchanged if it is running elsewhere, or if
  // a concurrency limit keeps it from running.
  Task<Result<RunView>> continue_or_view(LoadedRun found);
  // Applies `event` to a run without an owner, commits the result, and executes the run. nullopt if
  // the event has no effect, or the run changed since it was read.
  Task<Result<std::optional<RunView>>> commit_and_drive(LoadedRun found, engine::Event event,
                                                        bool by_person);
  // Executes a run after the commit of its decision, unless that queued it.
  Task<Result<RunView>> drive_decided(Definition graph, engine::Run run);
  // Returns the engine's event for the expiry of an approval.
  engine::Decided expiry_of(ApprovalRow approval);
  // A decision is recorded without a commit of its run: passes it to the run's driver in this
  // process, if there is one.
  Task<Result<RunView>> pass_to_owner(ApprovalRow decided);
  Task<Result<RunView>> resume(TenantId tenant, ThreadId thread,
                               std::optional<Breakpoints> breakpoints,
                               std::optional<std::uint64_t> only_at,
                               std::optional<Consent> consent = std::nullopt);
  Task<Result<RunView>> cancel(TenantId tenant, ThreadId thread, std::string by,
                               std::string on_behalf_of, std::optional<RunId> run = std::nullopt,
                               std::optional<std::uint64_t> only_at = std::nullopt);
  Task<Result<std::vector<ThreadId>>> orphaned_threads(TenantId tenant, std::optional<UserId> user);

  // An error of one run must not affect others. Quarantines the run if it is damaged. Skips it if
  // this program cannot continue it (`invalid`), or if it was deleted (`not_found`). Returns any
  // other error.
  Task<Result<Done>> quarantine_or_skip(TenantId tenant, RunId run, Error why);
  Task<Result<Done>> quarantine(TenantId tenant, RunId run, std::string reason);

  // The runs that this process executes now.
  const std::multimap<RunId, RunDriver*>& driven() const { return driven_; }
  // Makes the drivers of all runs release them: see RunDriver::release(). Until end_drain(), no run
  // is started.
  void drain(bool is_urgent);
  void end_drain() { is_draining_ = is_stopping_ = false; }
  bool is_draining() const { return is_draining_; }
  // Fails with `unavailable` while this process drains.
  Result<Done> check_not_draining() const;

 private:
  // Refused commits at one commit of a run, because a record had changed.
  struct RecordConflicts {
    std::uint64_t seq = 0;
    int count = 0;
  };

  Task<Result<RunView>> drive(Definition graph, engine::Run run, engine::Event first,
                              std::vector<ConcurrencyGuard> places, bool is_shown,
                              RecordConflicts conflicts);
  // Executes the tasks of the newest commit again, which read the changed record. After too many
  // conflicts, the run fails.
  Task<Result<RunView>> repeat_changed(LoadedRun found, bool is_shown, RecordConflicts conflicts);
  Task<Result<RunDriver::End>> drive_registered(RunId run, RunDriver& driver, engine::Event first);
  // A record that a node of this run saves has changed: the run fails.
  Task<Result<RunView>> fail_changed(LoadedRun found);
  std::vector<RunDriver*> drivers_of(const RunId& run) const;
  // `conflict` if another live session, or another call of this one, executes the run.
  Result<Done> check_free(const RunRow& row);
  // Records the consent to the materials that the graph of the run refuses, unless it is recorded.
  // False if the run has changed since it was read; `invalid` if it refuses none.
  Task<Result<bool>> accept_materials(LoadedRun found, Consent consent);
  // The same until the consent is recorded; returns the run as of then.
  Task<Result<LoadedRun>> accepted_run(LoadedRun found, Consent consent);
  // `corrupt` if an approval that the paused run waits for is marked as decided.
  Task<Result<Done>> check_asked(engine::Run run);

  RuntimeParts parts_;
  SessionId session_;
  // Shared with event readers, which can outlive the runtime.
  std::shared_ptr<TextHub> live_ = std::make_shared<TextHub>();
  TextFanOut fan_out_{parts_.hints.broadcast, parts_.executor, *live_, session_};
  Protection protection_;
  RunLoader loader_{parts_.store};
  RunLimits limits_{parts_};
  std::multimap<RunId, RunDriver*> driven_;
  bool is_draining_ = false;
  bool is_stopping_ = false;  // a drain whose timeout has passed
  std::set<RunId> misread_;   // runs that were readable when they were read again
  OutboxDelivery outbox_{parts_};
};

}  // namespace belay
