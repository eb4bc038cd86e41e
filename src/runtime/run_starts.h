#pragma once
// runtime/run_starts.h - starts new runs and forks, each exactly once, even if requests are
// repeated with the same thread name.
//
// Threading: the executor's thread.

#include "worker/run_executor.h"

namespace belay {

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

  // The run that a start or enqueue makes, or the existing one of a repeated request.
  struct Begin {
    Definition graph;
    std::optional<engine::Run> run;
    std::optional<LoadedRun> known;
  };
  Task<Result<Begin>> prepare(std::string graph, std::shared_ptr<void> input, StartOptions options);
  // Returns the thread's existing run if it is the run that `wanted` would start; else an error.
  Task<Result<LoadedRun>> find_known(RunRow wanted);
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
