#pragma once
// driver/run_driver.h - carries one run on: does what advance() says and tells it what happened.
//
// Threading: everything on the executor's thread. Destroying a driver stops its node where it
// waits; the store keeps what was committed, and any process can take the run over.

#include <deque>
#include <memory>

#include "belay/runtime.h"
#include "driver/node_boundary.h"
#include "engine/event.h"

namespace belay {

class RunDriver {
 public:
  // Why a driver came to its end.
  enum class End {
    rested,  // the run has ended or waits for a person; that is durable
    lost,    // somebody else has moved the run on: nothing more may be done here
    exists,  // the first commit found the thread or the run there already
  };

  // `parts` outlives the driver.
  RunDriver(RuntimeParts& parts, std::shared_ptr<const GraphDefinition> graph, engine::Run run);
  ~RunDriver();
  RunDriver(const RunDriver&) = delete;
  RunDriver& operator=(const RunDriver&) = delete;

  // Goes on until End, or until the store fails. Once.
  Task<Result<End>> drive(engine::Event first);

  // The run has been cancelled or taken over: stop at once, without a commit.
  void lose();

 private:
  using TimerId = Executor::TimerId;

  engine::Moment moment();
  void push(engine::Event event);
  Task<Done> wait_for_event();
  Task<Done> give_way();
  // What an action comes to; nothing when the run goes on. Uses the action up: it has to live until
  // then, since a commit is big enough for its moves to count.
  Task<Result<std::optional<End>>> carry_out(engine::Action& action);
  Task<Result<std::optional<End>>> write(Commit& commit);
  void start_node(const engine::StartNode& action);
  void wait_for_retry(const engine::WaitForRetry& action);
  void node_came_to(NodeOutcome outcome);
  void limit_node(std::chrono::milliseconds limit);
  void stop_timer(std::optional<TimerId>& timer);
  Task<Done> watch_owner();
  void tell(const CommitRows& rows);
  void tell(RunEvent::Kind kind, std::string node, int attempt, std::string message = {});

  RuntimeParts& parts_;
  std::shared_ptr<const GraphDefinition> graph_;
  std::unique_ptr<Records> records_;
  engine::Run run_;
  std::deque<engine::Event> inbox_;
  std::optional<Completion<Done>> awaited_;
  bool lost_ = false;
  bool node_ended_ = false;
  int commits_in_a_row_ = 0;

  // Of the attempt under way.
  engine::StartNode attempt_;
  Instant attempt_began_{};
  std::unique_ptr<Context> context_;
  std::optional<TimerId> node_timer_;
  std::optional<TimerId> retry_timer_;
  std::optional<TimerId> run_timer_;
  // Last: what they run uses all of the above.
  Spawned watch_;
  Spawned node_;
};

// A user's records, read through the store.
std::unique_ptr<Records> store_records(Store& store, TenantId tenant, UserId user);

}  // namespace belay
