// advance() accepts every event in every state; an event that no longer applies has no effect.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/advance.h"
#include "engine/next_task.h"
#include "engine/restore.h"
#include "tests/property/player.h"

namespace belay::property {
namespace {

using namespace std::chrono_literals;

// Restores the run as of one of its commits, as a process would read it.
engine::Run run_at(Player& player, const GraphDefinition& graph, const RunView& view,
                   const CheckpointRow& checkpoint, const Digest& parent) {
  engine::StoredRun stored;
  stored.row = view.row;
  stored.row.status = checkpoint.status;
  stored.row.seq = checkpoint.seq;
  stored.row.epoch = checkpoint.epoch;
  stored.row.session = checkpoint.session;
  stored.row.checkpoint = checkpoint.id;
  stored.checkpoint = checkpoint;
  stored.parent_chain_hash = parent;
  std::function<Result<std::vector<ValueRow>>(Snapshot&)> reader =
      [run = view.row.run, seq = checkpoint.seq](Snapshot& snapshot) {
        ValueFilter filter;
        filter.tenant = default_tenant();
        filter.run = run;
        filter.at_seq = seq;
        return snapshot.values(filter);
      };
  stored.values =
      player.wait(read<std::vector<ValueRow>>(*player.memory, std::move(reader))).value();
  return engine::restore(graph, std::move(stored)).value();
}

engine::Moment moment() {
  engine::Moment moment;
  moment.now = *instant_from("2027-01-01T00:00:00Z");
  moment.entropy = *rc::gen::arbitrary<std::uint64_t>();
  return moment;
}

// Returns an event for another task, attempt or approval than the run's current ones.
engine::Event stale_event(const engine::Run& run) {
  engine::AttemptId of;
  of.task = TaskId(derived_uuid("another task"));
  if (!run.tasks.empty() && *rc::gen::arbitrary<bool>()) {
    const engine::NodeTask& task = run.tasks.front();
    of.task = task.id;
    of.attempt = task.attempt + *rc::gen::element(-1, 1, 7);
  }
  of.position = *rc::gen::element<std::size_t>(0, 0, 1, 9);
  if (of.position == 0 && *rc::gen::inRange(0, 4) == 0)
    of.path = {*rc::gen::inRange<std::size_t>(0, 2)};
  engine::Decided decided;
  decided.moment = moment();
  decided.approval.interrupt = InterruptId(derived_uuid("another question"));
  InterruptRequest question;
  question.payload = Value("stale");
  switch (*rc::gen::inRange(0, 5)) {
    case 0:
      return engine::NodeEnded{moment(), of, {}, {}, false};
    case 1:
      return engine::NodeFailed{moment(), of, error(ErrorCode::unavailable, "stale"), {}};
    case 2:
      return engine::NodeInterrupted{moment(), of, std::move(question), {}};
    case 3:
      return engine::TaskDue{moment(), of};
    default:
      return decided;
  }
}

// Returns an event that arrives too late for a run that has stopped.
engine::Event event_after_the_end() {
  if (*rc::gen::arbitrary<bool>()) return engine::RunTimedOut{moment()};
  return engine::Cancelled{moment(), "ana"};
}

bool is_same(const engine::Run& one, const engine::Run& other) {
  bool same_tasks = one.tasks.size() == other.tasks.size();
  for (std::size_t i = 0; same_tasks && i < one.tasks.size(); ++i) {
    same_tasks = one.tasks[i].phase == other.tasks[i].phase;
  }
  return one.row == other.row && one.chain_hash == other.chain_hash && same_tasks &&
         one.superstep == other.superstep && one.working_since == other.working_since &&
         engine::next_tasks_text(one, true) == engine::next_tasks_text(other, true);
}

RC_GTEST_PROP(Advance, AStaleEventLeavesEveryRunUnchangedWithNoActions, ()) {
  auto scenario = *any_scenario();
  Player player;
  RunView view = player.play(scenario, {});
  auto graph = graph_of(scenario, graph_name("t"));
  auto checkpoints = player.checkpoints(view);
  std::size_t index = *rc::gen::inRange<std::size_t>(0, checkpoints.size());
  Digest parent = index == 0 ? Digest{} : checkpoints[index - 1].chain_hash;
  const GraphDefinition& definition = *graph.definition();
  engine::Run run = run_at(player, definition, view, checkpoints[index], parent);
  bool rests = is_final(run.row.status) || run.row.status == RunStatus::paused;
  // The node of a running run must be executing.
  if (!rests && !run.tasks.empty() && !run.tasks.front().node->approval) {
    engine::NodeTask& task = run.tasks.front();
    if (task.phase == engine::NodeTask::Phase::ready) {
      task.phase = engine::NodeTask::Phase::running;
      ++run.running;
    }
  }
  engine::Event event = is_final(run.row.status) && *rc::gen::arbitrary<bool>()
                            ? event_after_the_end()
                            : stale_event(run);
  engine::Run before = run;
  auto next = engine::advance(definition, std::move(run), std::move(event));
  RC_ASSERT(next.actions.empty());
  RC_ASSERT(is_same(next.run, before));
}

// Any event at any position produces at most one commit, and the store accepts it.
RC_GTEST_PROP(Advance, AnyEventGivesARunThatCanGoOn, ()) {
  auto scenario = *any_scenario();
  Player player;
  RunView view = player.play(scenario, {});
  auto graph = graph_of(scenario, graph_name("t"));
  auto checkpoints = player.checkpoints(view);
  std::size_t index = *rc::gen::inRange<std::size_t>(0, checkpoints.size());
  Digest parent = index == 0 ? Digest{} : checkpoints[index - 1].chain_hash;
  const GraphDefinition& definition = *graph.definition();
  engine::Run run = run_at(player, definition, view, checkpoints[index], parent);
  std::uint64_t seq = run.row.seq;
  engine::Event event = engine::Committed{moment()};
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      event = engine::Claimed{moment(), SessionId(derived_uuid("session"))};
      break;
    case 1:
      event = engine::RunTimedOut{moment()};
      break;
    case 2:
      event = engine::Cancelled{moment(), "ana"};
      break;
    default:
      break;
  }
  auto next = engine::advance(definition, std::move(run), std::move(event));
  RC_ASSERT(next.actions.size() <= 1);
  bool writes =
      !next.actions.empty() && std::holds_alternative<engine::WriteCommit>(next.actions.front());
  RC_ASSERT(next.run.row.seq == seq + (writes ? 1 : 0));
}

}  // namespace
}  // namespace belay::property
