#include "service/why.h"

#include <algorithm>
#include <map>

#include "base/in_quotes.h"
#include "service/json_encode.h"
#include "service/thread_history.h"

namespace belay {
namespace {

using Phase = engine::NodeTask::Phase;

// A document names this many alternatives; the others are counted.
constexpr std::size_t kNamedMax = 20;

Cause cause_of(const WaitFacts& facts, WaitCause cause, std::string text) {
  Cause wait;
  wait.cause = cause;
  wait.text = std::move(text);
  wait.run = facts.run.run;
  return wait;
}

std::string runs_text(std::uint64_t count, std::string_view one, std::string_view several) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : several);
}

std::vector<std::string> decider_roles(const ApprovalRow& row) {
  std::vector<std::string> roles;
  std::size_t begin = 0;
  while (begin < row.roles.size()) {
    std::size_t comma = std::min(row.roles.find(',', begin), row.roles.size());
    roles.push_back(row.roles.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return roles;
}

std::string deciders_text(const std::vector<std::string>& roles) {
  if (roles.empty()) return "anyone who may decide";
  std::string text = "a person with the role ";
  for (std::size_t i = 0; i < roles.size(); ++i) {
    text += (i == 0 ? "" : " or ") + in_quotes(roles[i]);
  }
  return text;
}

Cause wait_of_approval(const WaitFacts& facts, const ApprovalRow& row) {
  std::vector<std::string> roles = decider_roles(row);
  Cause wait = cause_of(facts, WaitCause::approval,
                        "Waits for a decision of " + deciders_text(roles) + " about node " +
                            in_quotes(row.node) + ": " + row.question);
  wait.is_alternative = true;
  wait.node = row.node;
  wait.interrupt = row.interrupt;
  if (row.expires_at != never_expires) wait.until = row.expires_at;
  wait.roles = std::move(roles);
  return wait;
}

std::string worker_text(const WaitFacts& facts) {
  std::string text;
  if (facts.owner && !facts.owner->name.empty()) text += " " + in_quotes(facts.owner->name);
  if (facts.owner_process) text += ", process " + std::to_string(*facts.owner_process);
  if (facts.owner && facts.owner->seen_at != Instant()) {
    text += ", last seen at " + to_text(facts.owner->seen_at);
  }
  return text;
}

Cause wait_of_retry(const WaitFacts& facts, const WaitingTask& task) {
  std::string number = std::to_string(task.attempt);
  if (task.attempts_max > 0) number += " of " + std::to_string(task.attempts_max);
  std::string text = "Attempt " + number + " of node " + in_quotes(task.node) + " is due then";
  text += task.error.empty() ? "." : "; the one before it failed: " + task.error;
  Cause wait = cause_of(facts, WaitCause::retry, std::move(text));
  wait.node = task.node;
  wait.until = task.due;
  return wait;
}

Cause wait_of_timer(const WaitFacts& facts, const std::string& node, Instant due) {
  Cause wait = cause_of(
      facts, WaitCause::timer,
      node.empty() ? "Its wait ends then." : "The wait of node " + in_quotes(node) + " ends then.");
  wait.node = node;
  wait.until = due;
  return wait;
}

Cause wait_of_slot(const WaitFacts& facts, const WaitingTask& task) {
  Cause wait = cause_of(
      facts, WaitCause::dependency,
      "Node " + in_quotes(task.node) + " waits for a slot of " + in_quotes(task.dependency) + ".");
  wait.node = task.node;
  return wait;
}

// The tasks in progress, by node: a superstep can have thousands of one node.
void add_running_nodes(const WaitFacts& facts, std::vector<Cause>& waits) {
  std::map<std::string, std::uint64_t> nodes;
  for (const WaitingTask& task : facts.tasks) {
    bool is_due = task.phase == Phase::backing_off && task.due <= facts.now;
    bool is_running = task.phase == Phase::ready || task.phase == Phase::running ||
                      task.phase == Phase::in_subgraph || is_due ||
                      (task.phase == Phase::sleeping && task.due <= facts.now);
    if (is_running && task.dependency.empty()) ++nodes[task.node];
  }
  for (const auto& [node, count] : nodes) {
    std::string text = "Node " + in_quotes(node) + " is running";
    if (count > 1) text += " " + std::to_string(count) + " tasks";
    Cause wait = cause_of(facts, WaitCause::node, text + " in worker" + worker_text(facts) + ".");
    wait.node = node;
    waits.push_back(std::move(wait));
  }
}

// Adds the causes in the tasks of a run: those apart from a worker.
void add_task_waits(const WaitFacts& facts, std::vector<Cause>& waits) {
  for (const ApprovalRow& row : facts.approvals) {
    if (row.expires_at > facts.now) waits.push_back(wait_of_approval(facts, row));
  }
  for (const WaitingTask& task : facts.tasks) {
    if (!task.dependency.empty()) {
      waits.push_back(wait_of_slot(facts, task));
    } else if (task.phase == Phase::backing_off && task.due > facts.now) {
      waits.push_back(wait_of_retry(facts, task));
    } else if (task.phase == Phase::sleeping && task.due > facts.now) {
      waits.push_back(wait_of_timer(facts, task.node, task.due));
    }
  }
}

std::string_view text_of_scope(ConcurrencyScope scope) {
  return scope == ConcurrencyScope::key ? std::string_view("concurrency key") : name_of(scope);
}

Cause wait_of_limit(const WaitFacts& facts, const RunHolds::FullLimit& full) {
  std::string text = "The " + std::string(text_of_scope(full.scope)) + " limit of " +
                     runs_text(full.limit, "running run", "running runs") +
                     " is reached: " + std::to_string(full.running) + " of them in progress.";
  return cause_of(facts, WaitCause::limit, std::move(text));
}

void add_refused_materials(const WaitFacts& facts, std::vector<Cause>& waits) {
  if (facts.refused_materials.empty()) return;
  waits.push_back(cause_of(facts, WaitCause::materials, facts.refused_materials));
}

// Adds the causes that keep a run from its next owner, due or not, except for the runs before it.
void add_obstacles(const WaitFacts& facts, std::vector<Cause>& waits) {
  if (!facts.damage.empty()) {
    waits.push_back(
        cause_of(facts, WaitCause::damage, "Its stored data cannot be read: " + facts.damage));
  }
  if (!facts.code_gone.empty()) {
    waits.push_back(cause_of(facts, WaitCause::code_gone, facts.code_gone));
  }
  add_refused_materials(facts, waits);
  // A running run whose owner is gone is claimed from a paused queue, too, and counts as running.
  if (facts.run.status != RunStatus::running) {
    if (facts.queue_is_paused) {
      Cause paused = cause_of(facts, WaitCause::paused_queue,
                              "The queue " + in_quotes(facts.run.queue) + " is paused.");
      paused.queue = facts.run.queue;
      waits.push_back(std::move(paused));
    }
    for (const RunHolds::FullLimit& full : facts.limits)
      waits.push_back(wait_of_limit(facts, full));
  }
  if (!facts.has_worker) {
    waits.push_back(
        cause_of(facts, WaitCause::no_worker, "No process that executes queued runs is known."));
  }
}

// Adds the causes that keep a due run from its next owner. `what`: why it is due, a sentence.
void add_claim_waits(const WaitFacts& facts, const std::string& what, std::vector<Cause>& waits) {
  std::size_t before = waits.size();
  add_obstacles(facts, waits);
  if (waits.size() > before) return;
  if (facts.runs_before > 0) {
    waits.push_back(cause_of(facts, WaitCause::queue_place,
                             runs_text(facts.runs_before, "due run goes", "due runs go") +
                                 " first in the queue " + in_quotes(facts.run.queue) + "."));
    return;
  }
  waits.push_back(cause_of(facts, WaitCause::next_poll,
                           what + " A worker with a free slot claims it at its next poll."));
}

void add_waits_of_queued(const WaitFacts& facts, std::vector<Cause>& waits) {
  for (const RunRow& earlier : facts.earlier_runs) {
    waits.push_back(cause_of(facts, WaitCause::earlier_run,
                             "Run " + short_id(earlier.run) + " of this thread is " +
                                 std::string(name_of(earlier.status)) + " and has to end first."));
  }
  if (facts.run.due_at > facts.now) {
    Cause delayed = cause_of(facts, WaitCause::delayed_start, "Its start is delayed until then.");
    delayed.until = facts.run.due_at;
    waits.push_back(std::move(delayed));
  }
  if (waits.empty()) {
    add_claim_waits(facts, "It is due.", waits);
  } else {
    add_obstacles(facts, waits);
  }
}

void add_waits_of_running(const WaitFacts& facts, std::vector<Cause>& waits) {
  if (!facts.owner_is_alive) {
    waits.push_back(cause_of(facts, WaitCause::lease,
                             "The process that executed it is gone" + worker_text(facts) +
                                 ". A worker, or resume, continues it."));
    std::size_t before = waits.size();
    add_claim_waits(facts, "", waits);
    // The lease is the cause; the next poll is only its remedy.
    if (waits.back().cause == WaitCause::next_poll) waits.resize(before);
    return;
  }
  add_task_waits(facts, waits);
  add_running_nodes(facts, waits);
  if (waits.empty()) {
    waits.push_back(
        cause_of(facts, WaitCause::node, "It is running in worker" + worker_text(facts) + "."));
  }
  for (Cause& wait : waits) wait.is_alternative = true;
}

void add_waits_of_breakpoint(const WaitFacts& facts, std::vector<Cause>& waits) {
  Cause wait = cause_of(facts, WaitCause::breakpoint,
                        "It waits at a breakpoint at node " + in_quotes(facts.run.node) +
                            ". It continues with resume.");
  wait.node = facts.run.node;
  waits.push_back(std::move(wait));
}

void add_waits_of_paused(const WaitFacts& facts, std::vector<Cause>& waits) {
  const RunRow& run = facts.run;
  bool has_expired = std::any_of(facts.approvals.begin(), facts.approvals.end(),
                                 [&](const auto& row) { return row.expires_at <= facts.now; });
  bool is_due = run.due_at != Instant() && run.due_at <= facts.now;
  if (pause_reason(run) == PauseReason::breakpoint) {
    add_waits_of_breakpoint(facts, waits);
    return;
  }
  if (is_due || has_expired) {
    std::string what = has_expired ? "Its approval has expired." : "Its wait has ended.";
    add_claim_waits(facts, what, waits);
    return;
  }
  add_task_waits(facts, waits);
  bool is_timer = pause_reason(run) == PauseReason::timer;
  if (waits.empty() && is_timer) waits.push_back(wait_of_timer(facts, run.node, run.due_at));
  if (waits.empty()) {
    std::string about = facts.damage.empty() ? "none of its approvals is open." : facts.damage;
    waits.push_back(cause_of(facts, WaitCause::damage, "Its stored data is damaged: " + about));
  }
  if (waits.size() > 1) {
    for (Cause& wait : waits) wait.is_alternative = true;
  }
  // A decision needs the graph, too.
  if (!facts.code_gone.empty()) {
    waits.push_back(cause_of(facts, WaitCause::code_gone, facts.code_gone));
  }
  add_refused_materials(facts, waits);
}

Value document_of(const Cause& wait) {
  Value::Array roles(wait.roles.begin(), wait.roles.end());
  return Value::object(
      {{"cause", name_of(wait.cause)},
       {"text", wait.text},
       {"alternative", wait.is_alternative},
       {"runId", wait.run.text()},
       {"node", text_or_null(wait.node)},
       {"until", wait.until ? Value(to_text(*wait.until)) : Value()},
       {"interruptId", wait.interrupt.is_null() ? Value() : Value(wait.interrupt.text())},
       {"roles", std::move(roles)},
       {"queue", text_or_null(wait.queue)}});
}

}  // namespace

std::string_view name_of(WaitCause cause) {
  switch (cause) {
    case WaitCause::ended:
      return "ended";
    case WaitCause::approval:
      return "approval";
    case WaitCause::timer:
      return "timer";
    case WaitCause::breakpoint:
      return "breakpoint";
    case WaitCause::quarantined:
      return "quarantined";
    case WaitCause::earlier_run:
      return "earlier_run";
    case WaitCause::delayed_start:
      return "delayed_start";
    case WaitCause::paused_queue:
      return "paused_queue";
    case WaitCause::limit:
      return "limit";
    case WaitCause::queue_place:
      return "queue_place";
    case WaitCause::no_worker:
      return "no_worker";
    case WaitCause::code_gone:
      return "code_gone";
    case WaitCause::materials:
      return "materials";
    case WaitCause::next_poll:
      return "next_poll";
    case WaitCause::lease:
      return "lease";
    case WaitCause::retry:
      return "retry";
    case WaitCause::dependency:
      return "dependency";
    case WaitCause::node:
      return "node";
    case WaitCause::damage:
      return "damage";
  }
  return "";
}

std::vector<Cause> why(const WaitFacts& facts) {
  std::vector<Cause> waits;
  switch (facts.run.status) {
    case RunStatus::queued:
      add_waits_of_queued(facts, waits);
      break;
    case RunStatus::running:
      add_waits_of_running(facts, waits);
      break;
    case RunStatus::paused:
      add_waits_of_paused(facts, waits);
      break;
    case RunStatus::quarantined:
      waits.push_back(
          cause_of(facts, WaitCause::quarantined,
                   "It is quarantined: " + facts.run.reason + ". It continues with resume."));
      break;
    default:
      waits.push_back(cause_of(facts, WaitCause::ended,
                               "It has ended: " + std::string(name_of(facts.run.status)) + "."));
  }
  return waits;
}

std::vector<Cause> wait_chain(const WaitFacts& facts, const std::optional<WaitFacts>& earlier) {
  std::vector<Cause> own = why(facts);
  if (!earlier) return own;
  std::vector<Cause> chain = why(*earlier);
  chain.insert(chain.begin(), own.front());
  for (std::size_t i = 1; i < own.size(); ++i) {
    bool is_named = std::any_of(chain.begin(), chain.end(), [&](const Cause& each) {
      return each.cause == own[i].cause && each.text == own[i].text;
    });
    if (!is_named) chain.push_back(std::move(own[i]));
  }
  return chain;
}

Value why_document(const RunRow& run, const std::vector<Cause>& chain) {
  Value::Array waits;
  for (std::size_t i = 0; i < std::min(chain.size(), kNamedMax); ++i) {
    waits.push_back(document_of(chain[i]));
  }
  return Value::object({{"threadId", run.thread.text},
                        {"runId", run.run.text()},
                        {"agent", run.graph},
                        {"status", name_of(run.status)},
                        {"since", to_text(run.updated_at)},
                        {"cause", name_of(chain.front().cause)},
                        {"chain", std::move(waits)},
                        {"more", chain.size() - std::min(chain.size(), kNamedMax)}});
}

}  // namespace belay
