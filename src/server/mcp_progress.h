#pragma once
// server/mcp_progress.h - ProgressStream: the steps of a run as progress of the call that waits for
// it.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "belay/service.h"
#include "server/mcp_message.h"
#include "server/start_limits.h"

namespace belay::server {

// The token of `_meta` by which a request wants notifications of its progress; null: none.
const Value& progress_token_of(const McpMessage& message);

// The run that a call starts or continues, which might not exist yet.
struct FollowedRun {
  Service& service;
  Principal who;
  ThreadId thread;  // empty: nothing is followed
};

// The progress is the number of the run's steps that have ended. It is read from the events of the
// run, and is therefore the same in whatever process the run executes.
//
// Threading: the executor's thread. The destructor ends the wait for the run, not the run.
class ProgressStream final : public McpStream {
 public:
  // `start`: the count of the start, which is kept when the run exists; null: not counted.
  ProgressStream(Executor& executor, Value token, FollowedRun run,
                 std::shared_ptr<StartCount> start)
      : executor_(executor),
        token_(std::move(token)),
        run_(std::move(run)),
        start_(std::move(start)) {}

  // Starts the call, and waits until the run has made progress or `reply` exists. Returns the
  // reply if it exists: the stream is then without use.
  Task<std::optional<McpReply>> begin(Task<McpReply> reply);

  Task<std::optional<Value>> next() override;

 private:
  Task<Done> follow();
  Task<RunId> found_run();

  Executor& executor_;
  const Value token_;
  const FollowedRun run_;
  const std::shared_ptr<StartCount> start_;
  std::int64_t ended_ = 0;     // steps of the run
  std::int64_t reported_ = 0;  // of them
  std::string last_step_;
  std::optional<McpReply> reply_;
  bool has_replied_ = false;
  Completion<Done> wake_;
  // Last members: they use all members above.
  Spawned replying_;
  Spawned following_;
};

}  // namespace belay::server
