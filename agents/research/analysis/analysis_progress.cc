#include "agents/research/analysis/analysis_progress.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "agents/research/specialists/specialists.h"

namespace belay::research {
namespace {

constexpr const char* kForResume = "resume";  // as SpecialistProgress::waitsFor: a pause

std::string exported_text(const Value& value) {
  const std::string* text = value.as_string();
  return text ? *text : std::string();
}

std::vector<std::string> texts_in(const Value& value) {
  std::vector<std::string> texts;
  const Value::Array* items = value.as_array();
  if (!items) return texts;
  for (const Value& each : *items) texts.push_back(exported_text(each));
  return texts;
}

// The channels of a subgraph's state that its values define, in their order of (seq, index).
class ExportedState {
 public:
  explicit ExportedState(const Value& values) {
    const Value::Array* rows = values.as_array();
    if (!rows) return;
    for (const Value& row : *rows) add(row);
  }
  const Value& operator[](const std::string& channel) const {
    static const Value absent;
    auto found = channels_.find(channel);
    return found == channels_.end() ? absent : found->second;
  }

 private:
  void add(const Value& row) {
    const std::string* json = row["value"].as_string();
    auto value = json ? parse_json(*json) : Result<Value>(Value());
    if (!value.ok()) return;
    Value& channel = channels_[exported_text(row["channel"])];
    Value::Array* items = channel.as_array();
    const Value::Array* more = value->as_array();
    if (row["kind"] == Value("append") && items && more) {
      items->insert(items->end(), more->begin(), more->end());
    } else {
      channel = *std::move(value);
    }
  }

  std::map<std::string, Value> channels_;
};

// Returns the ids of the tasks in the superstep that has not ended.
std::set<std::string> tasks_in_progress(const Value& exported) {
  std::set<std::string> tasks;
  const Value::Array* checkpoints = exported["checkpoints"].as_array();
  const Value::Array* rows = exported["tasks"].as_array();
  if (!checkpoints || checkpoints->empty() || !rows) return tasks;
  std::int64_t superstep = 0;
  for (const Value& each : *checkpoints) {
    superstep = std::max(superstep, each["superstep"].as_int().value_or(0));
  }
  for (const Value& row : *rows) {
    if (row["superstep"].as_int() == superstep) tasks.insert(exported_text(row["taskId"]));
  }
  return tasks;
}

// Returns whether the newest commit of a subgraph is not its last one.
bool is_open(const Value& space) {
  const Value* newest = nullptr;
  const Value::Array* checkpoints = space["checkpoints"].as_array();
  if (!checkpoints) return false;
  for (const Value& each : *checkpoints) {
    bool is_newer = !newest || each["seq"].as_uint() > (*newest)["seq"].as_uint();
    if (is_newer) newest = &each;
  }
  return newest && (*newest)["status"] == Value(name_of(RunStatus::running));
}

void add_completed(const std::string& specialist, const std::vector<std::string>& names,
                   std::vector<std::string>& completed) {
  for (const std::string& name : names) {
    if (!contains(completed, name)) completed.push_back(name);
  }
  auto place = [&](const std::string& name) {
    return std::pair(subtask_position(specialist, name), name);
  };
  std::sort(completed.begin(), completed.end(),
            [&](const std::string& a, const std::string& b) { return place(a) < place(b); });
}

// Adds a subgraph of a specialist. In a superstep in progress, its failure is the current one.
void add_space(const Value& space, bool is_current, bool has_checkpoints,
               AnalysisProgress& progress) {
  ExportedState state(space["values"]);
  std::string name = exported_text(state["specialist"]);
  if (!find_specialist(name)) return;
  SpecialistProgress& specialist = progress.specialists[name];
  add_completed(name, texts_in(state["completed"]), specialist.completed);
  if (!is_current) return;
  specialist.failure = exported_text(state["failure"]);
  specialist.waitsFor = exported_text(state["waitsFor"]);
  if (state["isPaused"] == Value(true)) specialist.waitsFor = kForResume;
  if (!has_checkpoints || !is_open(space)) return;
  for (const std::string& planned : texts_in(state["planned"])) {
    if (contains(specialist.completed, planned)) continue;
    progress.current[name] = planned;
    return;
  }
}

}  // namespace

AnalysisProgress progress_in(const Value& exported, const Analysis& state) {
  AnalysisProgress progress{state.specialists, {}};
  const Value::Object* spaces = exported["inner"].as_object();
  if (!spaces) return progress;
  std::set<std::string> tasks = tasks_in_progress(exported);
  bool has_ended = exported["run"]["status"] != Value(name_of(RunStatus::running)) &&
                   exported["run"]["status"] != Value(name_of(RunStatus::queued)) &&
                   exported["run"]["status"] != Value(name_of(RunStatus::paused));
  for (const auto& [name, space] : *spaces) {
    std::string task = name.substr(std::min(name.find(':'), name.size() - 1) + 1);
    add_space(space, tasks.contains(task), state.request.checkpoints, progress);
  }
  if (has_ended) progress.current.clear();
  return progress;
}

Task<Result<AnalysisProgress>> progress_of_run(Service& service, const Principal& who, RunRow run,
                                               const Analysis& state) {
  bool is_exact = run.status == RunStatus::completed ||
                  (run.status == RunStatus::paused && pause_reason(run) == PauseReason::approval);
  if (is_exact) co_return AnalysisProgress{state.specialists, {}};
  BELAY_CO_TRY(Value exported, co_await service.export_run(who, std::move(run.thread), run.run));
  co_return progress_in(exported, state);
}

}  // namespace belay::research
