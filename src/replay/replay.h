#pragma once
// replay/replay.h - one replay of a recorded run.
//
// The recording selects the events, and the resulting commits are compared with the recorded ones.

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "belay/runtime.h"
#include "driver/node_boundary.h"
#include "engine/advance.h"
#include "replay/completion_order.h"
#include "replay/recorded_journal.h"

namespace belay {

class Replay {
 public:
  Replay(RecordedRun recorded, Executor& executor, Records& records)
      : recorded_(std::move(recorded)),
        graph_(*recorded_.graph),
        executor_(executor),
        records_(records),
        order_(recorded_),
        is_loose_(false) {}

  Task<Result<ReplayReport>> run();

 private:
  using Missing = RecordedJournal::Missing;
  using Turn = CompletionOrder::Turn;

  // The outcome of an attempt.
  struct Ran {
    engine::StartNode start;
    NodeOutcome outcome;
    NodeEffects left;
    std::optional<Missing> missing;
  };

  const CheckpointRow& target() const { return recorded_.commits()[compared_]; }
  void start_again(bool is_fork);
  Result<engine::Event> begin();
  Task<std::optional<engine::Event>> next_event();
  Task<Done> run_started();
  std::optional<engine::Event> from_outside();
  std::optional<engine::Event> from_inside(Turn latest);
  std::optional<engine::Event> decision(Turn latest);
  const ApprovalRow* next_decision(Turn latest) const;
  bool has_held_decision() const;
  bool is_held_decision(const ApprovalRow& row, Turn latest) const;
  bool is_waker(const InterruptId& interrupt) const;
  std::optional<engine::Event> due(Turn latest);
  std::optional<engine::Event> asked(Turn latest);
  std::optional<engine::Event> ended(Turn latest);
  Turn turn_of(const Ran& ran) const;
  bool fails_run(const Ran& ran) const;
  Turn turn_of_question(const Ran& ran) const;
  std::optional<engine::Event> taken(std::deque<Ran>::iterator attempt);
  Task<Ran> run_attempt(engine::StartNode wanted);
  std::unique_ptr<Context> context_for(const engine::StartNode& wanted, Journal& journal,
                                       Instant now) const;
  std::optional<Error> recorded_failure(const engine::StartNode& wanted) const;
  void take_up(engine::Action& action);
  // Null if the subgraph task that contained the attempt is over.
  const engine::Run* frame_of(const engine::AttemptId& attempt) const;
  engine::Moment moment() const;
  engine::Moment moment_in(const engine::AttemptId& attempt) const;
  engine::Moment moment_after_commit() const;

  void note_nodes();
  void compare(const Commit& commit);
  void compare_error();
  void compare_inner(const CommitRows& rows);
  void compare_state(const CommitRows& rows);
  bool is_passed_over(const CheckpointRow& replayed) const;
  void differs(std::string what, std::string recorded, std::string replayed, std::string node = {});
  void expect(const std::string& what, const std::string& recorded, const std::string& replayed,
              std::string node = {}) {
    if (recorded != replayed) differs(what, recorded, replayed, std::move(node));
  }

  RecordedRun recorded_;
  const GraphDefinition& graph_;
  Executor& executor_;
  Records& records_;
  CompletionOrder order_;
  // Durability::exit: one recorded commit can correspond to several replayed ones.
  bool is_loose_;

  engine::Run run_;
  std::uint64_t compared_ = 0;
  std::optional<Divergence> divergence_;
  Value state_;  // the recorded state
  bool is_committed_ = false;
  std::deque<engine::StartNode> started_;
  std::deque<Ran> ran_;
  std::deque<Ran> lacking_;
  std::deque<engine::WaitForTask> waits_;
  std::set<InterruptId> decided_;
  std::map<TaskId, RecordedJournal::Begun> begun_;
  std::set<std::string> node_errors_;           // messages of errors that nodes returned or threw
  std::vector<std::string> nodes_;              // of the superstep in progress, by position
  std::vector<ValueRow> written_;               // by its tasks
  std::vector<std::string> events_, messages_;  // of replayed commits that were not recorded
  std::int64_t timeout_ms_ = 0;
};

// See Runtime::replay().
Task<Result<ReplayReport>> replay_run(RuntimeParts& parts,
                                      std::shared_ptr<const GraphRegistry> graphs,
                                      ReplayOptions options);

}  // namespace belay
