#include "ag_ui/run_input.h"

#include <algorithm>
#include <set>

#include "conversation/interrupt_id.h"

namespace belay::ag_ui {
namespace {

constexpr std::size_t kInterruptsMax = limits::list_rows_max;

Error misfit(std::string_view member, std::string_view expected) {
  return error(ErrorCode::invalid,
               "\"" + std::string(member) + "\" must be " + std::string(expected) + ".");
}

Result<std::string> name_in(const Value& body, std::string_view member) {
  const std::string* text = body[member].as_string();
  if (!text) return misfit(member, "a text");
  BELAY_CHECK(check_name(member, *text));
  return *text;
}

// Returns the text of a content: a text, or the texts of its parts.
Result<std::string> text_of_content(const Value& content) {
  if (const std::string* text = content.as_string()) return *text;
  const Value::Array* parts = content.as_array();
  if (!parts) return misfit("content", "a text or a list of parts");
  std::string all;
  for (const Value& part : *parts) {
    const std::string* type = part["type"].as_string();
    if (!type) return misfit("content", "a list of parts with a type");
    if (*type != "text") continue;
    const std::string* text = part["text"].as_string();
    if (!text) return misfit("text", "a text");
    if (!all.empty()) all += "\n";
    all += *text;
  }
  return all;
}

bool is_role(std::string_view role) {
  constexpr std::string_view roles[] = {"developer", "system",   "assistant", "user",
                                        "tool",      "activity", "reasoning"};
  return std::find(std::begin(roles), std::end(roles), role) != std::end(roles);
}

Result<std::vector<conversation::ChatEntry>> unanswered_messages(const Value& body) {
  const Value::Array* messages = body["messages"].as_array();
  if (!messages) return misfit("messages", "a list");
  std::vector<conversation::ChatEntry> unanswered;
  for (const Value& message : *messages) {
    const std::string* id = message["id"].as_string();
    const std::string* role = message["role"].as_string();
    if (!id || !role || !is_role(*role)) {
      return misfit("messages", "a list of messages with an id and a role");
    }
    if (*role != "user") {
      unanswered.clear();
      continue;
    }
    conversation::ChatEntry entry;
    entry.id = *id;
    entry.author = conversation::Author::person;
    BELAY_TRY(entry.text, text_of_content(message["content"]));
    unanswered.push_back(std::move(entry));
  }
  return unanswered;
}

Result<std::vector<ResumeEntry>> resume_entries(const Value& resume) {
  std::vector<ResumeEntry> entries;
  if (resume.is_null()) return entries;
  const Value::Array* items = resume.as_array();
  if (!items || items->size() > kInterruptsMax) return misfit("resume", "a list of answers");
  std::set<InterruptId> named;
  for (const Value& item : *items) {
    const std::string* id = item["interruptId"].as_string();
    const std::string* status = item["status"].as_string();
    if (!id || !status || (*status != "resolved" && *status != "cancelled")) {
      return misfit("resume", "a list of answers with an interruptId and a status");
    }
    auto interrupt = conversation::interrupt_id_from(*id);
    if (!interrupt) return error(ErrorCode::not_found, "Unknown interrupt. Nothing was decided.");
    ResumeEntry entry{*interrupt, *status == "cancelled", item["payload"]};
    if (!named.insert(entry.interrupt).second) {
      return misfit("resume", "a list with one answer to each interrupt");
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace

Result<RunInput> read_run_input(const Value& body) {
  if (!body.as_object()) return error(ErrorCode::invalid, "The body must be a JSON object.");
  RunInput input;
  BELAY_TRY(std::string thread, name_in(body, "threadId"));
  input.thread = ThreadId(std::move(thread));
  BELAY_TRY(input.run_id, name_in(body, "runId"));
  BELAY_TRY(input.messages, unanswered_messages(body));
  BELAY_TRY(input.resume, resume_entries(body["resume"]));
  input.input = body["forwardedProps"]["input"];
  if (!input.input.is_null() && !input.input.as_object()) {
    return misfit("forwardedProps.input", "an object");
  }
  return input;
}

Value run_input_schema() {
  Value text = Value::object({{"type", "string"}});
  Value list = Value::object({{"type", "array"}});
  Value any{Value::Object()};
  Value::Object properties{
      {"context", list},         {"forwardedProps", any}, {"messages", list}, {"parentRunId", text},
      {"protocolVersion", text}, {"resume", list},        {"runId", text},    {"state", any},
      {"threadId", text},        {"tools", list}};
  return Value::object({{"type", "object"},
                        {"properties", Value(std::move(properties))},
                        {"required", Value::Array{"threadId", "runId", "messages"}}});
}

}  // namespace belay::ag_ui
