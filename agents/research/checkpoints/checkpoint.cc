#include "agents/research/checkpoints/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "agents/research/checkpoints/semantic_version.h"

namespace belay::research {
namespace {

Error invalid_member(std::string_view name, const std::string& expected) {
  return error(ErrorCode::invalid,
               "Invalid " + std::string(name) + " of a checkpoint: expected " + expected + ".");
}

bool is_id_character(char c) {
  bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return is_letter || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

Result<Done> check_id(std::string_view name, std::string_view text, std::size_t bytes_max) {
  bool has_size = !text.empty() && text.size() <= bytes_max;
  if (has_size && std::all_of(text.begin(), text.end(), is_id_character)) return Done{};
  return invalid_member(
      name, "1 to " + std::to_string(bytes_max) + " letters, digits, \"-\", \"_\" or \".\"");
}

Result<Done> check_text(std::string_view name, std::string_view text, std::size_t bytes_max) {
  if (!text.empty() && text.size() <= bytes_max) return Done{};
  return invalid_member(name, "1 to " + std::to_string(bytes_max) + " bytes");
}

bool is_within(double number, double least, double most) {
  return number >= least && number <= most;  // false for NaN
}

Result<Done> check_subtasks(const AgentCheckpoint& checkpoint) {
  std::set<std::string_view> names;
  std::size_t count = checkpoint.completed_subtasks.size() + checkpoint.pending_subtasks.size();
  if (count > kSubtasksMax) {
    return invalid_member("subtasks", "at most " + std::to_string(kSubtasksMax));
  }
  for (const auto* list : {&checkpoint.completed_subtasks, &checkpoint.pending_subtasks}) {
    for (const std::string& subtask : *list) {
      BELAY_CHECK(check_text("subtask", subtask, kSubtaskBytesMax));
      if (!names.insert(subtask).second) {
        return invalid_member("subtasks", "\"" + subtask + "\" only once");
      }
    }
  }
  const auto& pending = checkpoint.pending_subtasks;
  bool is_pending =
      std::find(pending.begin(), pending.end(), checkpoint.current_subtask) != pending.end();
  if (!checkpoint.current_subtask.empty() && !is_pending) {
    return invalid_member("current_subtask", "a pending subtask");
  }
  for (const auto& [subtask, part] : checkpoint.subtask_progress) {
    if (!is_within(part, 0, 1)) return invalid_member("subtask_progress", "0 to 1");
  }
  return Done{};
}

Result<Value> encoded_value(const AgentCheckpoint& checkpoint) {
  BELAY_TRY(std::string text, encode_json(checkpoint));
  if (text.size() > kCheckpointBytesMax) {
    return error(ErrorCode::invalid, "The checkpoint of agent \"" + checkpoint.agent_type +
                                         "\" has " + std::to_string(text.size()) +
                                         " bytes; at most " + std::to_string(kCheckpointBytesMax) +
                                         " can be saved.");
  }
  return parse_json(text, kCheckpointDepthMax);
}

// Returns the text as valid UTF-8 without U+0000, cut.
std::string storable_reason(std::string_view text) {
  std::string kept(text.substr(0, kReasonBytesMax));
  std::replace(kept.begin(), kept.end(), '\0', ' ');
  while (auto at = first_invalid_utf8(kept)) kept[*at] = '?';
  return text.size() > kReasonBytesMax ? kept + " ..." : kept;
}

}  // namespace

std::string AgentCheckpoint::key() const {
  return head_key(analysis_id, agent_type) + "/" + to_text(checkpoint_time);
}

std::string CheckpointHead::key() const { return head_key(analysis_id, agent_type); }

std::string head_key(const std::string& analysis_id, const std::string& agent_type) {
  return analysis_id + "/" + agent_type;
}

Result<Done> check_analysis(std::string_view analysis_id) {
  return check_id("analysis_id", analysis_id, kAnalysisBytesMax);
}

Result<Done> check_agent(std::string_view analysis_id, std::string_view agent_type) {
  BELAY_CHECK(check_analysis(analysis_id));
  return check_id("agent_type", agent_type, kAgentTypeBytesMax);
}

Result<Done> check_checkpoint(const AgentCheckpoint& checkpoint) {
  BELAY_CHECK(check_agent(checkpoint.analysis_id, checkpoint.agent_type));
  BELAY_CHECK(check_text("stock_ticker", checkpoint.stock_ticker, kTickerBytesMax));
  if (!is_within(checkpoint.progress_pct, 0, 100))
    return invalid_member("progress_pct", "0 to 100");
  BELAY_CHECK(check_subtasks(checkpoint));
  if (checkpoint.retry_count < 0) return invalid_member("retry_count", "0 or more");
  if (!semantic_version_from(checkpoint.agent_version)) {
    return invalid_member("agent_version", "a version such as 1.1.0");
  }
  return Done{};
}

Result<Value> checkpoint_value(const AgentCheckpoint& checkpoint) {
  BELAY_CHECK(check_checkpoint(checkpoint));
  return encoded_value(checkpoint);
}

Result<std::string> checkpoint_text(const AgentCheckpoint& checkpoint) {
  BELAY_TRY(Value value, checkpoint_value(checkpoint));
  return to_json(value);
}

Result<AgentCheckpoint> checkpoint_from(const Value& value) {
  BELAY_TRY(AgentCheckpoint checkpoint, decode_json<AgentCheckpoint>(value));
  BELAY_TRY(Value known, checkpoint_value(checkpoint));
  for (const auto& [name, member] : *value.as_object()) {
    if (known.find(name)) continue;
    return error(ErrorCode::invalid, "The checkpoint has the unknown member \"" + name +
                                         "\". Restore it with the program that has saved it.");
  }
  return checkpoint;
}

double progress_pct(std::size_t completed, std::size_t total) {
  if (completed >= total) return 100;
  return std::round(10'000.0 * static_cast<double>(completed) / static_cast<double>(total)) / 100;
}

void set_progress(AgentCheckpoint& checkpoint, const std::vector<std::string>& subtasks,
                  std::size_t completed) {
  std::size_t count = std::min(completed, subtasks.size());
  auto next = subtasks.begin() + static_cast<std::ptrdiff_t>(count);
  checkpoint.completed_subtasks.assign(subtasks.begin(), next);
  checkpoint.pending_subtasks.assign(next, subtasks.end());
  checkpoint.current_subtask = next == subtasks.end() ? std::string() : *next;
  checkpoint.progress_pct = progress_pct(count, subtasks.size());
  checkpoint.subtask_progress.clear();
  for (const std::string& subtask : checkpoint.completed_subtasks) {
    checkpoint.subtask_progress.emplace(subtask, 1.0);
  }
}

void set_failure(AgentCheckpoint& checkpoint, const Error& failure) {
  checkpoint.failure_reason = storable_reason(failure.message);
  checkpoint.error_details = Value::object({{"code", name_of(failure.code)}});
  if (failure.retry_after) {
    std::int64_t delay = failure.retry_after->count();
    checkpoint.error_details.as_object()->emplace("retry_after_ms", delay);
  }
  ++checkpoint.retry_count;
}

}  // namespace belay::research
