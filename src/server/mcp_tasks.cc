#include "server/mcp_tasks.h"

#include <algorithm>

#include "base/in_quotes.h"
#include "belay/service.h"
#include "service/json_encode.h"

namespace belay::server {
namespace {

constexpr std::int64_t kPollIntervalMs = 1'000;
constexpr std::size_t kCommentBytesMax = 4'096;

// The texts of a run that has not ended, or not with a result.
std::string text_of(const RunView& view) {
  const RunRow& row = view.row;
  std::string thread = " Its thread is \"" + row.thread.text + "\".";
  switch (row.status) {
    case RunStatus::failed:
      return "The run has failed (" + row.error_code + "): " + row.error;
    case RunStatus::cancelled:
      return "The run was cancelled.";
    case RunStatus::quarantined:
      return "The run is quarantined, until an operator retries it: " + row.reason + "." + thread;
    case RunStatus::paused:
      if (view.approval) {
        return "The run waits for an approval: " + view.approval->question + " The approval is \"" +
               view.approval->interrupt.text() + "\"." + thread;
      }
      return "The run waits for its time or for an operator." + thread;
    default:
      return "The run is in progress." + thread;
  }
}

std::string_view status_of_task(const RunView& view, const McpMessage& message) {
  switch (view.row.status) {
    case RunStatus::completed:
    case RunStatus::failed:
      return "completed";  // with `isError` for a run that has failed
    case RunStatus::cancelled:
      return "cancelled";
    case RunStatus::quarantined:
      return "failed";
    default:
      return requires_input(view, message) ? "input_required" : "working";
  }
}

Value run_summary_of(const RunView& view) {
  const RunRow& row = view.row;
  Value outcome = row.outcome.empty() ? Value() : Value(row.outcome);
  return Value::object({{"outcome", std::move(outcome)},
                        {"runId", row.run.text()},
                        {"state", view.state},
                        {"status", name_of(row.status)},
                        {"threadId", row.thread.text}});
}

Value::Array text_content(std::string text) {
  return {Value::object({{"type", "text"}, {"text", std::move(text)}})};
}

Value output_schema() {
  Value text = Value::object({{"type", "string"}});
  Value::Array text_or_null{"string", "null"};
  Value::Object properties{{"outcome", Value::object({{"type", std::move(text_or_null)}})},
                           {"runId", text},
                           {"state", Value(Value::Object{})},
                           {"status", text},
                           {"threadId", text}};
  Value::Array required{"runId", "status", "threadId"};
  return Value::object({{"type", "object"},
                        {"properties", Value(std::move(properties))},
                        {"required", std::move(required)}});
}

Value choice_property(const ApprovalTerms& terms) {
  Value::Array names, labels;
  for (const ApprovalChoice& each : terms.choices) {
    names.emplace_back(each.name);
    labels.emplace_back(each.label.empty() ? each.name : each.label);
  }
  return Value::object({{"type", "string"},
                        {"title", "Choice"},
                        {"enum", std::move(names)},
                        {"enumNames", std::move(labels)}});
}

// The forms of this protocol have no members that are objects.
Value answer_property(const ApprovalTerms& terms) {
  return Value::object(
      {{"type", "string"},
       {"title", "Answer"},
       {"description", "JSON that fits this schema: " + to_json(terms.answer_schema)}});
}

Value elicitation_of(const ApprovalRow& row) {
  Value payload = payload_of(row);
  std::string text = row.question;
  if (!payload.is_null()) text += "\n" + to_pretty_json(payload);
  Value::Object properties;
  auto terms = terms_of(row);
  bool is_plain = !terms.ok() || terms->is_plain();
  // Without a default: a client that fills forms in automatically approves nothing.
  if (is_plain) {
    properties.emplace("confirm", Value::object({{"type", "boolean"},
                                                 {"title", "Approve"},
                                                 {"description", "True approves, false rejects"}}));
  } else {
    properties.emplace("choice", choice_property(*terms));
  }
  if (terms.ok() && !terms->answer_schema.is_null()) {
    properties.emplace("answer", answer_property(*terms));
  }
  properties.emplace("comment", Value::object({{"type", "string"}, {"title", "Comment"}}));
  if (!payload.is_null()) {
    properties.emplace(
        "edited",
        Value::object({{"type", "string"},
                       {"title", "Edited data"},
                       {"description", "To approve other data: JSON that replaces that above"}}));
  }
  Value schema = Value::object({{"type", "object"},
                                {"properties", Value(std::move(properties))},
                                {"required", Value::Array{is_plain ? "confirm" : "choice"}}});
  Value parameters = Value::object(
      {{"mode", "form"}, {"message", std::move(text)}, {"requestedSchema", std::move(schema)}});
  return Value::object({{"method", "elicitation/create"}, {"params", std::move(parameters)}});
}

// Reads a member that is JSON as a text; nullopt: none.
Result<std::optional<Value>> json_member(const Value& content, std::string_view name) {
  const Value& member = content[name];
  const std::string* json = member.as_string();
  if (member.is_null() || (json && json->empty())) return std::optional<Value>();
  if (!json) return error(ErrorCode::invalid, in_quotes(name) + " must be a text: JSON.");
  auto value = parse_json(*json);
  if (!value.ok()) {
    return error(ErrorCode::invalid, in_quotes(name) + " is not JSON: " + value.error().message);
  }
  return std::optional(*std::move(value));
}

Result<Decision> decision_in(const Value& content) {
  Decision decision;
  if (const std::string* choice = content["choice"].as_string()) {
    decision.choice = *choice;
  } else if (auto confirmed = content["confirm"].as_bool()) {
    decision.approved = *confirmed;
  } else {
    return error(ErrorCode::invalid, "\"confirm\" must be true or false, or \"choice\" a name.");
  }
  if (const Value& comment = content["comment"]; !comment.is_null()) {
    const std::string* text = comment.as_string();
    if (!text || text->size() > kCommentBytesMax) {
      return error(ErrorCode::invalid, "\"comment\" must be a text of at most 4096 bytes.");
    }
    decision.comment = *text;
  }
  BELAY_TRY(auto answer, json_member(content, "answer"));
  if (answer) decision.answer = *std::move(answer);
  BELAY_TRY(decision.edited, json_member(content, "edited"));
  return decision;
}

// Returns the schema of an input. In the older era, the schema of a member is an object: that of
// any value is therefore {} instead of true.
Value input_schema_of(const Value& agent) {
  Value schema = agent["inputSchema"];
  Value::Object* members = schema.as_object();
  if (!members) return Value::object({{"type", "object"}});
  auto properties = members->find("properties");
  if (properties == members->end() || !properties->second.as_object()) return schema;
  for (auto& [name, property] : *properties->second.as_object()) {
    if (!property.as_object()) property = Value(Value::Object());
  }
  return schema;
}

}  // namespace

Value mcp_tool(const Value& agent) {
  const std::string* name = agent["name"].as_string();
  const std::string* description = agent["description"].as_string();
  std::string text = description ? *description : "Runs the agent \"" + (name ? *name : "") + "\".";
  return Value::object({{"name", name ? *name : ""},
                        {"description", std::move(text)},
                        {"inputSchema", input_schema_of(agent)},
                        {"outputSchema", output_schema()}});
}

bool has_result(const RunRow& run) {
  return is_final(run.status) || run.status == RunStatus::quarantined;
}

Value::Object tool_result(const RunView& view) {
  bool has_failed = view.row.status != RunStatus::completed && has_result(view.row);
  Value summary = run_summary_of(view);
  std::string text = view.row.status == RunStatus::completed ? to_json(summary) : text_of(view);
  return {{"content", text_content(std::move(text))},
          {"isError", has_failed},
          {"structuredContent", std::move(summary)}};
}

Value::Object tool_error(const Error& failed) {
  std::string text = failed.message + " (" + std::string(name_of(failed.code)) + ")";
  return {{"content", text_content(std::move(text))}, {"isError", true}};
}

Value::Object task_of(const RunView& view, const McpMessage& message) {
  const RunRow& row = view.row;
  Value::Object task{{"taskId", row.run.text()},
                     {"status", status_of_task(view, message)},
                     {"createdAt", to_text(row.created_at)},
                     {"lastUpdatedAt", to_text(row.updated_at)},
                     {"ttlMs", Value()},
                     {"pollIntervalMs", kPollIntervalMs}};
  if (row.status != RunStatus::completed) task.emplace("statusMessage", text_of(view));
  return task;
}

void add_details(const RunView& view, const McpMessage& message, Value::Object& task) {
  switch (view.row.status) {
    case RunStatus::completed:
    case RunStatus::failed:
      task.emplace("result", Value(tool_result(view)));
      return;
    case RunStatus::quarantined:
      task.emplace("error", Value::object({{"code", static_cast<std::int64_t>(McpFault::internal)},
                                           {"message", text_of(view)}}));
      return;
    default:
      if (requires_input(view, message)) task.emplace("inputRequests", input_requests(view));
  }
}

bool requires_input(const RunView& view, const McpMessage& message) {
  return message.has_elicitation && view.row.status == RunStatus::paused && !view.approvals.empty();
}

Value input_requests(const RunView& view) {
  Value::Object requests;
  for (const ApprovalRow& row : view.approvals) {
    requests.emplace(row.interrupt.text(), elicitation_of(row));
  }
  return Value(std::move(requests));
}

Result<std::optional<Decision>> decision_of_input(const Value& response) {
  const std::string* action = response["action"].as_string();
  if (action && *action == "cancel") return std::optional<Decision>();
  if (action && *action == "decline") return std::optional(Decision());
  if (!action || *action != "accept") {
    return error(ErrorCode::invalid, "\"action\" must be accept, decline or cancel.");
  }
  BELAY_TRY(Decision decision, decision_in(response["content"]));
  return std::optional(std::move(decision));
}

}  // namespace belay::server
