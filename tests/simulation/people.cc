#include "tests/simulation/people.h"

#include <algorithm>

#include "belay/value.h"

namespace belay::simulation {
namespace {

using namespace std::chrono_literals;

// An action is repeated if it has no result after this time.
constexpr microseconds kAgain = 15s;

std::string text_of(const Result<RunView>& view) {
  if (!view.ok()) return std::string(name_of(view.error().code)) + ", " + view.error().message;
  return std::string(name_of(view->row.status)) + " " + view->row.reason + view->row.outcome;
}

}  // namespace

void People::want_run() {
  int all = 0;
  for (const auto& [name, weight] : plan_.workloads) all += weight;
  int drawn = static_cast<int>(random_.bits() % static_cast<std::uint64_t>(all));
  const Workload* workload = nullptr;
  for (const auto& [name, weight] : plan_.workloads) {
    if (!workload && drawn < weight) workload = workload_of(name);
    drawn -= weight;
  }
  std::uint64_t number = numbers_++;
  std::string key = workload->name + "-" + std::to_string(number);
  std::string thread = key;
  if (workload->runs_per_thread > 1) {
    thread = workload->name + "-of-" + std::to_string(number / workload->runs_per_thread);
  }
  Wanted& wanted = wanted_[key];
  wanted = {number, workload, thread, {}};
  ask_for(key, wanted);
}

void People::ask_for(const std::string& key, Wanted& wanted) {
  const std::string thread = wanted.thread;
  wanted.asked = machine_.agenda.now();
  std::uint64_t how = random_.bits();
  if (!process_) return;
  StartOptions options;
  options.thread = ThreadId(thread);
  options.idempotency_key = key;
  // Not rolled back: the checkers require that no acknowledged run is lost.
  bool interrupts = wanted.workload->runs_per_thread > 1 && how % 7 == 0;
  options.if_busy = interrupts ? BusyThread::interrupt : BusyThread::enqueue;
  if (interrupts) cancelled_.insert(thread);
  options.run = wanted.workload->options;
  auto input = wanted.workload->input(wanted.number);
  auto done = [this, key, thread](Result<RunView> view) {
    machine_.log.tell(process_->id(), "asked for " + key + ": " + text_of(view));
    if (!view.ok() || wanted_.erase(key) == 0) return;
    begun_.push_back(thread);
    look_anew();
  };
  Runtime& runtime = process_->runtime();
  if (how % 3 == 0) {
    process_->begin<RunView>(runtime.start(wanted.workload->name, input, options), done);
    return;
  }
  // As a schedule does: with a due time in the future.
  Instant when = machine_.agenda.now();
  if (how % 3 == 1) when += microseconds(static_cast<std::int64_t>(how / 3 % 60'000'000));
  process_->begin<RunView>(runtime.enqueue(wanted.workload->name, input, options, when), done);
}

std::optional<std::string> People::any_thread() {
  if (begun_.empty()) return std::nullopt;
  return begun_[random_.bits() % begun_.size()];
}

void People::cancel_something() {
  auto thread = any_thread();
  if (!thread || !process_) return;
  cancelled_.insert(*thread);
  auto task = process_->runtime().cancel(default_tenant(), ThreadId(*thread), "ana");
  process_->begin<RunView>(std::move(task), [this, thread](Result<RunView> view) {
    machine_.log.tell(process_->id(), "cancels " + *thread + ": " + text_of(view));
  });
}

void People::fork_something() {
  auto thread = any_thread();
  std::uint64_t how = random_.bits();
  if (!thread || !process_) return;
  ForkOptions options;
  options.from = ThreadId(*thread);
  options.thread = ThreadId(*thread + "/fork-" + std::to_string(forks_++));
  if (how % 3 == 0) options.copy = true;
  if (cancelled_.contains(*thread)) cancelled_.insert(options.thread.text);
  auto task = process_->runtime().fork(options);
  ++forking_;
  process_->begin<RunView>(std::move(task), [this, thread](Result<RunView> view) {
    machine_.log.tell(process_->id(), "forks " + *thread + ": " + text_of(view));
    --forking_;
    look_anew();
  });
}

void People::send_message() {
  std::vector<std::string> goals;
  for (const std::string& thread : begun_) {
    if (thread.starts_with("goal-")) goals.push_back(thread);
  }
  if (!goals.empty()) requests_.want_message(goals[random_.bits() % goals.size()]);
}

void People::look_around(bool in_a_hurry) {
  if (!process_) return;
  process_->tidy();
  if (!process_->store().accepts_commits()) {
    machine_.log.tell(process_->id(), "ends, since its store takes no more commits");
    return process_->end();
  }
  std::vector<std::string> late;
  for (const auto& [key, wanted] : wanted_) {
    if (machine_.agenda.now() - wanted.asked >= kAgain) late.push_back(key);
  }
  for (const std::string& key : late) ask_for(key, wanted_.at(key));
  requests_.repeat();
  std::function<Result<Open>(Snapshot&)> reader =
      [now = process_->clock().now()](Snapshot& view) -> Result<Open> {
    Open open;
    ApprovalFilter asked;
    asked.tenant = default_tenant();
    asked.only_open = true;
    BELAY_TRY(open.approvals, view.approvals(asked));
    RunFilter unfinished;
    unfinished.tenant = default_tenant();
    unfinished.statuses = {RunStatus::queued, RunStatus::running, RunStatus::paused,
                           RunStatus::quarantined};
    unfinished.limit = 1'000;
    BELAY_TRY(auto rows, view.runs(unfinished));
    for (RunRow& row : rows) {
      open.unfinished.push_back(row.thread.text + " " + std::string(name_of(row.status)) + " " +
                                row.reason);
      // A resume is rejected if another live process owns the run; if their own process had to
      // abandon the run, it continues.
      bool is_still = row.status == RunStatus::running && now - row.updated_at > kAgain;
      if (is_still || row.status == RunStatus::quarantined || row.reason == "breakpoint") {
        open.stopped.push_back(std::move(row));
      }
    }
    return open;
  };
  process_->begin<Open>(read<Open>(process_->store(), std::move(reader)),
                        [this, in_a_hurry, look = looks_](Result<Open> open) {
                          if (!open.ok()) return;
                          found(*std::move(open), in_a_hurry);
                          if (look != looks_) unfinished_.reset();
                        });
}

void People::found(Open open, bool in_a_hurry) {
  for (const ApprovalRow& approval : open.approvals) {
    if (in_a_hurry || random_.bits() % 4 == 0) decide(approval);
  }
  unfinished_ = std::move(open.unfinished);
  for (const RunRow& row : open.stopped) {
    if (in_a_hurry || random_.bits() % 3 == 0) resume(row);
  }
}

void People::decide(const ApprovalRow& approval) {
  auto text = json_in_envelope(approval.payload);
  Value payload = text.ok() ? parse_json(*text).value_or(Value()) : Value();
  if (payload.as_object() && payload["effect"].as_string()) {
    return decide_uncertain(approval, payload);
  }
  std::uint64_t chance = random_.bits();
  Decision decision;
  decision.decided_by = "ana";
  decision.approved = approval.node != "release" || chance % 4 != 0;
  say(approval, decision);
  if (chance % 5 != 0) return;
  // At the same time another person decides otherwise.
  decision.decided_by = "ben";
  decision.approved = !decision.approved && approval.node == "release";
  say(approval, decision);
}

// They check the receiver first.
void People::decide_uncertain(const ApprovalRow& approval, const Value& payload) {
  auto known = machine_.outside.look(*payload["effect"].as_string(), *payload["key"].as_string());
  if (!known.ok()) return;
  Decision decision;
  decision.decided_by = "ana";
  decision.approved = known->has_value();
  decision.choice = decision.approved ? "happened" : "redo";
  // A person who confirms the call of a tool does not know its result.
  if (decision.approved && approval.node != "act") {
    Value edited = payload;
    edited.as_object()->insert_or_assign("result", Value(**known));
    decision.edited = std::move(edited);
  }
  say(approval, std::move(decision));
}

void People::say(const ApprovalRow& approval, Decision decision) {
  std::string what = decision.decided_by + (decision.approved ? " approves " : " rejects ") +
                     approval.node + " of " + approval.thread.text;
  auto task = process_->runtime().decide(default_tenant(), approval.interrupt, std::move(decision));
  process_->begin<DecisionResult>(std::move(task), [this, what](Result<DecisionResult> answer) {
    std::string came = answer.ok() ? "answer " + std::to_string(static_cast<int>(answer->kind))
                                   : std::string(name_of(answer.error().code));
    machine_.log.tell(process_->id(), what + ": " + came);
  });
}

void People::resume(const RunRow& row) {
  auto task = process_->runtime().resume(default_tenant(), row.thread);
  process_->begin<RunView>(std::move(task), [this, thread = row.thread.text](Result<RunView> view) {
    machine_.log.tell(process_->id(), "resumes " + thread + ": " + text_of(view));
  });
}

}  // namespace belay::simulation
