// The part of RunDriver for attempts that use protected dependencies: they wait for slots first.

#include <algorithm>

#include "driver/run_driver.h"

namespace belay {

void RunDriver::start_protected(engine::StartNode& action, std::vector<Dependency*> used) {
  Attempt& attempt = attempts_[action.attempt.task];
  attempt.journal = std::make_unique<TaskJournal>(journal_, action.attempt.task, parts_.clock);
  attempt.id = action.attempt;
  attempt.checkpoint_ns = frame_of(action.attempt).checkpoint_ns;
  attempt.node = action.node;
  auto task = run_protected(std::move(action), attempt, std::move(used));
  TaskId id = attempt.id.task;
  std::function<void(NodeOutcome)> done = [this, id](NodeOutcome outcome) {
    stop_timer(attempts_.at(id).timer);
    on_attempt_finished(attempts_.at(id), std::move(outcome));
  };
  const GraphDefinition::Node& node = *attempt.node;
  Instant began = parts_.clock.now();
  attempt.task = spawn<NodeOutcome>(parts_.executor, std::move(task), std::move(done));
  // Until its first wait; call_plain() reports a plain node.
  if (node.run_task) note_held(node, parts_.clock.now() - began);
}

// The attempt, and its timeout, start when it has a slot of each dependency that it uses.
Task<NodeOutcome> RunDriver::run_protected(engine::StartNode action, Attempt& attempt,
                                           std::vector<Dependency*> used) {
  std::vector<Dependency::Slot> slots;
  for (Dependency* dependency : used) {
    attempt.waits_for_slot_of = dependency->name();
    auto slot = co_await dependency->enter();
    attempt.waits_for_slot_of.clear();
    if (!slot.ok()) {
      attempt.began = parts_.clock.now();
      co_return NodeOutcome(std::move(slot).error());
    }
    slots.push_back(*std::move(slot));
  }
  attempt.slots = std::move(slots);
  begin_attempt(action, attempt);
  if (action.node->run_task) {
    co_return co_await run_task_node(*action.node, action.state, *attempt.context);
  }
  auto outcome = call_plain(action, *attempt.context);
  while (auto* row = std::get_if<EffectRow>(&outcome)) {
    std::string name = row->name;
    auto written = co_await attempt.journal->write(std::move(*row));
    if (!written.ok()) co_return NodeOutcome(std::move(written).error());
    journal_.let_begin(attempt.id.task, std::move(name));
    attempt.context = context_for(action, attempt);
    outcome = call_plain(action, *attempt.context);
  }
  Instant::duration taken = parts_.clock.now() - attempt.began;
  co_return within_timeout(*action.node, taken, std::move(outcome));
}

std::unique_ptr<Context> RunDriver::context_for(const engine::StartNode& action, Attempt& attempt) {
  Dependency* calls = protection_.find("model");
  if (!calls) return context_for(action, *attempt.journal, model_);
  std::function<void(bool)> waits = [this, &attempt](bool it_waits) {
    note_wait(attempt, it_waits);
  };
  attempt.model = std::make_unique<ProtectedModel>(model_, *calls, std::move(waits));
  return context_for(action, *attempt.journal, *attempt.model);
}

// Returns the slots of the attempt. Its outcome counts as success or failure of the dependencies.
void RunDriver::leave_dependencies(Attempt& attempt, const NodeOutcome& outcome) {
  for (Dependency::Slot& slot : attempt.slots) slot.ended(verdict_of(std::get_if<Error>(&outcome)));
  attempt.slots.clear();
}

// The timeout of the attempt does not run while one of its model calls waits for a slot.
void RunDriver::note_wait(Attempt& attempt, bool waits) {
  int before = attempt.waiting_calls;
  attempt.waiting_calls += waits ? 1 : -1;
  if (!attempt.node->timeout) return;
  if (waits) {
    if (before > 0) return;
    attempt.time_left = attempt.due - parts_.clock.now();
    stop_timer(attempt.timer);
  } else if (attempt.waiting_calls == 0) {
    limit_attempt(attempt, std::max(attempt.time_left, Instant::duration::zero()));
  }
}

std::vector<std::pair<std::string, std::string>> RunDriver::slot_waits() const {
  std::vector<std::pair<std::string, std::string>> waits;
  for (const auto& [task, attempt] : attempts_) {
    std::string dependency = attempt.waits_for_slot_of;
    if (attempt.waiting_calls > 0) dependency = "model";
    if (!dependency.empty()) waits.emplace_back(attempt.node->name, std::move(dependency));
  }
  return waits;
}

}  // namespace belay
