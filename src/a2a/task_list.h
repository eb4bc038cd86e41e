#pragma once
// a2a/task_list.h - the pages of ListTasks: runs by the time of their last change, newest first.
//
// The pages cover all runs of the caller that have the context and the status. A list over more
// than A2aOptions::listed_max of them, of all agents, is refused: it would omit tasks.
//
// Threading: values; any thread.

#include <vector>

#include "a2a/a2a_message.h"

namespace belay::a2a {

struct TaskQuery {
  std::string agent;
  std::string context;                   // empty: any
  std::string state;                     // empty: any
  std::vector<RunStatus> statuses = {};  // that runs in `state` can have; empty: any
  bool can_match = true;                 // false for a state that no task has
  std::optional<Instant> changed_since = std::nullopt;
  std::int64_t page_size = 50;
  std::string after;  // the token of the page; empty: the first one
  std::optional<std::size_t> history_length = std::nullopt;
  bool has_artifacts = false;
};

// Returns the reason if the params of ListTasks are not acceptable.
std::optional<Failure> read_query(const Value& params, TaskQuery& query);

struct TaskPage {
  std::vector<RunRow> rows;
  std::string next;        // the token of the next page; empty: this is the last one
  std::int64_t count = 0;  // of all pages
};
// `rows`: of the agent.
TaskPage select_tasks(std::vector<RunRow> rows, const TaskQuery& query);

}  // namespace belay::a2a
