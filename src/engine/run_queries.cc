#include "engine/run_queries.h"

#include <algorithm>

#include "belay/limits.h"

namespace belay::engine {

bool waits_for_person(const RunRow& row) {
  if (row.status == RunStatus::quarantined) return true;
  return row.status == RunStatus::paused && pause_reason(row) != PauseReason::timer;
}

bool can_resume(const RunRow& row, Instant now) {
  auto reason = pause_reason(row);
  return reason == PauseReason::breakpoint || (reason == PauseReason::timer && row.due_at <= now);
}

Result<Done> check_idle(const RunRow& row, Instant last_expiry, Instant now) {
  if (!waits_for_person(row) || last_expiry > now) return Done{};
  if (now - row.updated_at <= limits::thread_idle_max) return Done{};
  return error(ErrorCode::not_found, "Execution thread not found or expired: \"" + row.thread.text +
                                         "\" was last active on " + to_text(row.updated_at) +
                                         ". Start a new one.");
}

Result<Done> check_decidable(const RunRow& row) {
  if (row.status != RunStatus::quarantined) return Done{};
  return error(ErrorCode::conflict, "Cannot decide: the run of thread \"" + row.thread.text +
                                        "\" is quarantined (" + row.reason +
                                        "). Resume the run first.");
}

std::string nodes_text(const std::vector<NodeTask>& tasks) {
  if (tasks.empty()) return std::string(end);
  std::string text = tasks.front().node->name;
  const GraphDefinition::Node* last = tasks.front().node;
  std::vector<const GraphDefinition::Node*> named{last};
  for (const NodeTask& task : tasks) {
    if (task.node == last || std::find(named.begin(), named.end(), task.node) != named.end()) {
      continue;
    }
    last = task.node;
    named.push_back(last);
    text += "," + last->name;
  }
  return text;
}

bool is_blocked(const Run& run, Instant now) {
  if (run.running > 0 || run.unfinished == 0) return false;
  return std::all_of(run.tasks.begin(), run.tasks.end(), [now](const NodeTask& task) {
    if (task.phase == NodeTask::Phase::in_subgraph) return is_blocked(*task.inner, now);
    return task.phase == NodeTask::Phase::done || task.phase == NodeTask::Phase::interrupted ||
           (task.phase == NodeTask::Phase::sleeping && task.due > now);
  });
}

bool any_running(const Run& run) {
  return run.running > 0 ||
         std::any_of(run.tasks.begin(), run.tasks.end(), [](const NodeTask& task) {
           return task.phase == NodeTask::Phase::in_subgraph && any_running(*task.inner);
         });
}

std::optional<Instant> first_due(const Run& run) {
  std::optional<Instant> first;
  for (const NodeTask& task : run.tasks) {
    std::optional<Instant> due;
    if (task.phase == NodeTask::Phase::in_subgraph) due = first_due(*task.inner);
    if (task.phase == NodeTask::Phase::interrupted || task.phase == NodeTask::Phase::sleeping) {
      due = task.due;
    }
    if (due && *due != Instant() && (!first || *due < *first)) first = due;
  }
  return first;
}

bool has_open_interrupts(const Run& run) {
  return std::any_of(run.tasks.begin(), run.tasks.end(), [](const NodeTask& task) {
    return task.phase == NodeTask::Phase::interrupted ||
           (task.phase == NodeTask::Phase::in_subgraph && has_open_interrupts(*task.inner));
  });
}

bool any_timer_due(const Run& run, Instant now) {
  return std::any_of(run.tasks.begin(), run.tasks.end(), [&](const NodeTask& task) {
    return (task.phase == NodeTask::Phase::sleeping && task.due <= now) ||
           (task.phase == NodeTask::Phase::in_subgraph && any_timer_due(*task.inner, now));
  });
}

void collect_open_interrupts(const Run& run, std::vector<InterruptId>& asked) {
  for (const NodeTask& task : run.tasks) {
    if (task.phase == NodeTask::Phase::interrupted) asked.push_back(task.interrupt);
    if (task.phase == NodeTask::Phase::in_subgraph) collect_open_interrupts(*task.inner, asked);
  }
}

bool waits_for(const Run& run, const InterruptId& interrupt) {
  return std::any_of(run.tasks.begin(), run.tasks.end(), [&](const NodeTask& task) {
    return (task.phase == NodeTask::Phase::interrupted && task.interrupt == interrupt) ||
           (task.phase == NodeTask::Phase::in_subgraph && waits_for(*task.inner, interrupt));
  });
}

bool was_cancelled_without_code(const std::vector<EventRow>& events, std::uint64_t seq) {
  auto found = std::find_if(events.begin(), events.end(), [seq](const EventRow& event) {
    return event.seq == seq && event.index == 0;
  });
  if (found == events.end()) return false;
  auto body = parse_json(found->body, limits::document_depth_max);
  return body.ok() && std::as_const(*body)["codeGone"] == Value(true);
}

Run copy_of(const Run& run) {
  Run copy = run;
  for (NodeTask& task : copy.tasks) {
    if (task.inner) task.inner = std::make_shared<Run>(copy_of(*task.inner));
  }
  return copy;
}

}  // namespace belay::engine
