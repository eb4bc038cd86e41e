#include "a2a/task_list.h"

#include <algorithm>

#include "a2a/a2a_task.h"
#include "base/rfc3339.h"

namespace belay::a2a {
namespace {

constexpr std::int64_t kSizeMax = 100;
constexpr std::size_t kTimeDigits = 20;

// The order of the list, as a text: the time of the last change, then the run.
std::string place_of(const RunRow& run) {
  auto since = run.updated_at.time_since_epoch();
  std::string time =
      std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(since).count());
  time.insert(0, kTimeDigits - std::min(time.size(), kTimeDigits), '0');
  return time + "-" + run.run.text();
}

// The statuses of runs that a state of a task covers.
std::optional<std::vector<RunStatus>> statuses_of(std::string_view state) {
  using enum RunStatus;
  if (state == "TASK_STATE_SUBMITTED") return std::vector{queued};
  if (state == "TASK_STATE_WORKING") return std::vector{queued, running, paused};
  if (state == "TASK_STATE_INPUT_REQUIRED") return std::vector{paused};
  if (state == "TASK_STATE_COMPLETED") return std::vector{completed};
  if (state == "TASK_STATE_FAILED") return std::vector{failed, quarantined};
  if (state == "TASK_STATE_CANCELED") return std::vector{cancelled};
  bool is_unused = state == "TASK_STATE_REJECTED" || state == "TASK_STATE_AUTH_REQUIRED";
  if (is_unused) return std::vector<RunStatus>();
  return std::nullopt;
}

std::optional<Failure> unfit_query(std::string text) {
  return Failure{Fault::invalid_params, std::move(text)};
}

std::optional<Failure> read_state(TaskQuery& query) {
  if (query.state == "TASK_STATE_UNSPECIFIED") query.state.clear();
  if (query.state.empty()) return std::nullopt;
  auto statuses = statuses_of(query.state);
  if (!statuses) return unfit_query("\"status\" must be a state of tasks: TASK_STATE_WORKING.");
  query.can_match = !statuses->empty();
  query.statuses = *std::move(statuses);
  return std::nullopt;
}

}  // namespace

std::optional<Failure> read_query(const Value& params, TaskQuery& query) {
  std::string since;
  if (auto failure = read_text(params, "contextId", query.context)) return failure;
  if (auto failure = read_text(params, "status", query.state)) return failure;
  if (auto failure = read_text(params, "pageToken", query.after)) return failure;
  if (auto failure = read_text(params, "statusTimestampAfter", since)) return failure;
  if (auto failure = read_history_length(params, query.history_length)) return failure;
  if (auto failure = read_state(query)) return failure;
  bool is_token = query.after.empty() || (query.after.size() > kTimeDigits + 1 &&
                                          uuid_from(query.after.substr(kTimeDigits + 1)));
  if (!is_token) return unfit_query("\"pageToken\" is not one of this list.");
  if (!query.context.empty()) {
    auto named = check_name("contextId", query.context);
    if (!named.ok()) return failure_of(named.error());
  }
  if (!since.empty()) {
    query.changed_since = instant_from_rfc3339(since);
    if (!query.changed_since) return unfit_query("\"statusTimestampAfter\" is not a timestamp.");
  }
  if (const Value& size = params["pageSize"]; !size.is_null()) {
    auto number = size.as_int();
    if (!number || *number < 1 || *number > kSizeMax) {
      return unfit_query("\"pageSize\" must be a number from 1 to 100.");
    }
    query.page_size = *number;
  }
  const Value& artifacts = params["includeArtifacts"];
  if (!artifacts.is_null() && !artifacts.as_bool()) {
    return unfit_query("\"includeArtifacts\" must be true or false.");
  }
  query.has_artifacts = artifacts == Value(true);
  return std::nullopt;
}

TaskPage select_tasks(std::vector<RunRow> rows, const TaskQuery& query) {
  std::erase_if(rows, [&query](const RunRow& row) {
    bool is_older = query.changed_since && row.updated_at < *query.changed_since;
    bool is_other = !query.state.empty() && state_of(row) != query.state;
    return is_older || is_other;
  });
  TaskPage page;
  page.count = static_cast<std::int64_t>(rows.size());
  auto is_before = [](const RunRow& a, const RunRow& b) { return place_of(a) > place_of(b); };
  std::sort(rows.begin(), rows.end(), is_before);
  for (RunRow& row : rows) {
    if (!query.after.empty() && place_of(row) >= query.after) continue;
    if (static_cast<std::int64_t>(page.rows.size()) == query.page_size) {
      page.next = place_of(page.rows.back());
      break;
    }
    page.rows.push_back(std::move(row));
  }
  return page;
}

}  // namespace belay::a2a
