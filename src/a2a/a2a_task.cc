#include "a2a/a2a_task.h"

#include <algorithm>
#include <iterator>

#include "belay/service.h"
#include "conversation/question_id.h"

namespace belay::a2a {
namespace {

using conversation::Author;
using conversation::ChatEntry;

// The messages of a person and of the agent. Calls of tools and their results are internal.
std::vector<ChatEntry> shown_entries(const RunView& view,
                                     const conversation::Conversations& conversations) {
  std::vector<ChatEntry> shown;
  for (ChatEntry& entry : conversations.entries_of(view.row.graph, view.row.thread.text, view.state,
                                                   is_final(view.row.status),
                                                   conversation::question_id_of(view.row))) {
    bool is_of_both = entry.author == Author::person || entry.author == Author::agent;
    if (is_of_both && !entry.text.empty()) shown.push_back(std::move(entry));
  }
  return shown;
}

Value message_of(const RunRow& run, std::string id, Value::Array parts, std::string_view role) {
  return Value::object({{"messageId", std::move(id)},
                        {"contextId", run.thread.text},
                        {"taskId", run.run.text()},
                        {"role", role},
                        {"parts", std::move(parts)}});
}

std::string pause_id(const RunRow& run, std::uint64_t seq) {
  return run.run.text() + "-" + std::to_string(seq);
}

Value history_of(const RunView& view, const TaskForm& form) {
  std::vector<ChatEntry> entries = shown_entries(view, form.conversations);
  std::size_t count = std::min(form.history_length.value_or(entries.size()), entries.size());
  Value::Array messages;
  for (auto entry = entries.end() - static_cast<std::ptrdiff_t>(count); entry != entries.end();
       ++entry) {
    std::string_view role = entry->author == Author::person ? "ROLE_USER" : "ROLE_AGENT";
    messages.push_back(
        message_of(view.row, entry->id, Value::Array{text_part(std::move(entry->text))}, role));
    // The thread has earlier tasks: the context is that of all of them.
    messages.back().as_object()->erase("taskId");
  }
  return Value(std::move(messages));
}

// True if the text is nothing but the state.
bool is_state(const std::string& text, const Value& state) {
  if (!text.starts_with('{')) return false;
  auto parsed = parse_json(text);
  return parsed.ok() && *parsed == state;
}

Value message_in_status(const RunRow& run, const std::vector<ApprovalRow>& approvals) {
  if (waits_at_breakpoint(run)) return breakpoint_message(run, run.seq);
  if (requires_input(run)) return request_of(run, run.seq, approvals);
  std::string text = end_text(run);
  return text.empty() ? Value() : end_message(run, std::move(text));
}

}  // namespace

Value text_part(std::string text) {
  return Value::object({{"text", std::move(text)}, {"mediaType", "text/plain"}});
}

Value data_part(Value data) {
  return Value::object({{"data", std::move(data)}, {"mediaType", "application/json"}});
}

bool requires_input(const RunRow& run) {
  bool is_approval = pause_reason(run) == PauseReason::approval;
  return run.status == RunStatus::paused && (is_approval || waits_at_breakpoint(run));
}

bool waits_at_breakpoint(const RunRow& run) {
  return run.status == RunStatus::paused && pause_reason(run) == PauseReason::breakpoint;
}

bool is_terminal(const RunRow& run) {
  return is_final(run.status) || run.status == RunStatus::quarantined;
}

std::string_view state_of(const RunRow& run) {
  switch (run.status) {
    case RunStatus::queued:
      return run.seq > 1 ? "TASK_STATE_WORKING" : "TASK_STATE_SUBMITTED";
    case RunStatus::completed:
      return "TASK_STATE_COMPLETED";
    case RunStatus::failed:
    case RunStatus::quarantined:
      return "TASK_STATE_FAILED";
    case RunStatus::cancelled:
      return "TASK_STATE_CANCELED";
    default:
      return requires_input(run) ? "TASK_STATE_INPUT_REQUIRED" : "TASK_STATE_WORKING";
  }
}

std::string end_text(const RunRow& run) {
  switch (run.status) {
    case RunStatus::failed:
      return "The task has failed (" + run.error_code + "): " + run.error;
    case RunStatus::cancelled:
      return "The task was cancelled.";
    case RunStatus::quarantined:
      return "The task is stopped until an operator retries it: " + run.reason + ".";
    default:
      return "";
  }
}

Value status_of(std::string_view state, Instant at, Value message) {
  Value::Object status{{"state", state}, {"timestamp", to_text(at)}};
  if (!message.is_null()) status.emplace("message", std::move(message));
  return Value(std::move(status));
}

Value request_of(const RunRow& run, std::uint64_t seq, const std::vector<ApprovalRow>& approvals) {
  Value::Array parts;
  for (const ApprovalRow& row : approvals) {
    parts.push_back(text_part(row.question));
    Value shown = Value::object({{"interrupt", row.interrupt.text()},
                                 {"question", row.question},
                                 {"payload", payload_of(row)},
                                 {"roles", row.roles},
                                 {"expiresAt", expiry_value(row)}});
    conversation::add_offered(row, *shown.as_object());
    parts.push_back(data_part(std::move(shown)));
  }
  // The list of approvals is bounded: the oldest of a very busy user might not be in it.
  if (parts.empty()) parts.push_back(text_part("The task waits for the decision of a person."));
  return message_of(run, pause_id(run, seq), std::move(parts), "ROLE_AGENT");
}

Value breakpoint_message(const RunRow& run, std::uint64_t seq) {
  Value::Array parts{text_part(std::string(kBreakpointText))};
  return message_of(run, pause_id(run, seq), std::move(parts), "ROLE_AGENT");
}

Value end_message(const RunRow& run, std::string text) {
  Value::Array parts{text_part(std::move(text))};
  return message_of(run, run.run.text() + "-end", std::move(parts), "ROLE_AGENT");
}

Value result_artifact(const RunView& view, const conversation::Conversations& conversations) {
  Value::Array parts;
  std::vector<ChatEntry> entries = shown_entries(view, conversations);
  bool has_answer = !entries.empty() && entries.back().author == Author::agent;
  if (has_answer && !is_state(entries.back().text, view.state)) {
    parts.push_back(text_part(std::move(entries.back().text)));
  }
  parts.push_back(data_part(view.state));
  Value::Object metadata{{"belay/outcome", view.row.outcome}};
  return Value::object({{"artifactId", "result"},
                        {"name", "result"},
                        {"parts", std::move(parts)},
                        {"metadata", Value(std::move(metadata))}});
}

Value task_of(const RunRow& run, const std::vector<ApprovalRow>& approvals) {
  Value::Object metadata{{"belay/agent", run.graph}, {"belay/status", name_of(run.status)}};
  if (!run.outcome.empty()) metadata.emplace("belay/outcome", run.outcome);
  return Value::object(
      {{"id", run.run.text()},
       {"contextId", run.thread.text},
       {"status", status_of(state_of(run), run.updated_at, message_in_status(run, approvals))},
       {"metadata", Value(std::move(metadata))}});
}

Value task_of(const RunView& view, const TaskForm& form) {
  Value task = task_of(view.row, view.approvals);
  Value::Object& members = *task.as_object();
  if (form.has_artifacts) {
    Value::Array artifacts;
    if (view.row.status == RunStatus::completed) {
      artifacts.push_back(result_artifact(view, form.conversations));
    }
    members.emplace("artifacts", std::move(artifacts));
  }
  if (form.history_length != std::size_t{0}) members.emplace("history", history_of(view, form));
  return task;
}

}  // namespace belay::a2a
