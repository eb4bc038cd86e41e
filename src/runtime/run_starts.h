#pragma once
// runtime/run_starts.h - starts new runs and forks, each exactly once, even if a request that names
// its run or its thread is repeated.
//
// Threading: the executor's thread.

#include "belay/thread.h"
#include "worker/run_executor.h"

namespace belay {

// Whether an edit is an input for the first nodes of the graph, from an earlier commit.
inline bool is_next_turn(const StateEdit& edit) {
  return edit.from && edit.as_node == start && edit.go_to.empty();
}
// Whether an edit only continues at an earlier commit, with its state.
inline bool is_return(const StateEdit& edit) {
  bool has_values = edit.values.as_object() && !edit.values.as_object()->empty();
  return edit.from && edit.as_node.empty() && edit.go_to.empty() && !has_values;
}

class RunStarts {
 public:
  // `executor` must outlive it.
  explicit RunStarts(RunExecutor& executor)
      : executor_(executor),
        loader_(executor.loader()),
        limits_(executor.limits()),
        parts_(executor.parts()) {}

  // See Runtime.
  Task<Result<RunView>> start(std::string graph, std::shared_ptr<void> input, StartOptions options);
  Task<Result<RunView>> enqueue(std::string graph, std::shared_ptr<void> input,
                                StartOptions options, Instant not_before);
  Task<Result<RunView>> fork(ForkOptions options);
  Task<Result<ForkPreview>> preview(ForkOptions options);

 private:
  using Definition = RunLoader::Definition;

  // A requested run: `run` is consumed by an attempt to store it, and made again from `wanted`.
  struct Request {
    Definition graph;
    RunRow wanted;  // ordinal 0
    std::optional<engine::Run> run;
    bool is_named = false;  // by an idempotency key
    bool thread_is_named = false;
    bool may_have_a_run = false;
    bool needs_a_thread = false;             // see StartOptions::thread_exists
    std::optional<ThreadRow> former_thread;  // see engine::Run
    // Above the ordinals of all runs that the thread has had, also of those that this start has
    // rolled back. A first run has 0 nevertheless.
    std::int64_t next_ordinal = 0;
    BusyThread if_busy = BusyThread::reject;
    std::optional<StateEdit> edit;
    std::vector<RecordWrite> records;  // see StartOptions::records
  };
  // The place of the run in its thread.
  struct Place {
    std::optional<LoadedRun> known;   // the request was repeated: this is its run
    std::optional<RunRow> busy;       // an earlier run of the thread, which has not ended
    std::optional<ThreadRow> thread;  // if it is busy
  };
  Result<Request> prepare(std::string graph, std::shared_ptr<void> input, StartOptions options);
  // `conflict` for another user; `invalid` for another graph.
  static Result<Done> check_same_thread(const RunRow& newest, const RunRow& wanted);
  static Error unknown_thread(const Request& request);
  // Finds the run of a repeated request, or sets the run's place in its thread.
  Task<Result<Place>> find_place(Request& request);
  // Returns the run that the request names, if it exists. Errors: see StartOptions.
  Task<Result<std::optional<LoadedRun>>> find_known(const Request& request);
  // Places the request, and applies its policy if the thread is busy. nullopt: the runs of the
  // thread have changed, and the place must be found again.
  Task<Result<std::optional<Place>>> settle_place(Request& request);
  // Called after a refused first commit: `conflict` if a record does not have its expected version,
  // otherwise the start is repeated.
  Task<Result<Done>> check_records(const Request& request);
  // Ends the earlier runs of the thread; with BusyThread::rollback deletes them.
  Task<Result<Done>> end_earlier_runs(RunRow wanted, BusyThread how);
  Task<Result<Done>> delete_runs(TenantId tenant, std::vector<RunRow> runs);
  // Stores the run in its queue. False: the runs of the thread have changed.
  Task<Result<bool>> put_into_queue(Request& request, Instant not_before);
  // state_edit.cc: the same as settle_place() for a start with an edit. Checks all of the edit
  // before it cancels a run that waits for a person.
  Task<Result<std::optional<Place>>> settle_edit(Request& request);
  // fork.cc
  Task<Result<RunView>> begin_fork(ForkOptions options);
  Task<Result<LoadedRun>> find_origin(ForkOptions options);
  Task<Result<RunView>> put_fork_into_queue(Definition graph, engine::Run run, std::string request);
  // known_fork.cc: returns the fork if it already exists under the given thread; `invalid` if
  // that thread is another run.
  Task<Result<std::optional<RunView>>> known_fork(ForkOptions options);

  RunExecutor& executor_;
  RunLoader& loader_;
  RunLimits& limits_;
  RuntimeParts& parts_;
};

}  // namespace belay
