#include "conversation/conversation.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/in_quotes.h"
#include "base/trimmed.h"
#include "conversation/agent_turns.h"
#include "conversation/call_arguments.h"
#include "conversation/entry_id.h"

namespace belay::conversation {

bool has_channel(const Value& document, std::string_view name) {
  const Value::Array* channels = document["channels"].as_array();
  return channels && std::find(channels->begin(), channels->end(), Value(name)) != channels->end();
}

namespace {

bool is_agent_document(const Value& document) {
  return has_channel(document, "question") && has_channel(document, "turns") &&
         has_channel(document, "results");
}

// Returns the texts of the person. An image is not ignored: the answer would not be about it.
Result<std::string> text_of_person(std::string_view agent, const std::vector<ChatEntry>& messages) {
  std::string text;
  for (const ChatEntry& message : messages) {
    if (message.author != Author::person) continue;
    if (!message.content.is_null()) {
      return error(ErrorCode::invalid, "The agent " + in_quotes(agent) +
                                           " accepts text only. Remove the other contents.");
    }
    if (trimmed(message.text).empty()) continue;
    if (!text.empty()) text += "\n\n";
    text += message.text;
  }
  if (!text.empty()) return text;
  return error(ErrorCode::invalid, "There is no text for the agent " + in_quotes(agent) +
                                       ". Provide a message of a person with a text.");
}

std::string channel_list(const Value& document) {
  std::string list;
  if (const Value::Array* channels = document["channels"].as_array()) {
    for (const Value& channel : *channels) {
      const std::string* name = channel.as_string();
      if (name) list += (list.empty() ? "" : ", ") + *name;
    }
  }
  return list;
}

Result<Value> object_in(std::string_view agent, const Value& document, std::string_view text) {
  auto parsed = parse_json(text);
  if (parsed.ok() && parsed->as_object()) return parsed;
  std::string message = "The agent " + in_quotes(agent) +
                        " does not accept a free text. Provide its input as a JSON object";
  std::string channels = channel_list(document);
  if (!channels.empty()) message += " with members of these: " + channels;
  return error(ErrorCode::invalid, message + ".");
}

// An id that an earlier entry has is replaced: the first one keeps it.
void make_ids_unique(std::string_view thread, std::vector<ChatEntry>& entries) {
  std::set<std::string, std::less<>> used;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::string& id = entries[i].id;
    for (int attempt = 0; used.contains(id); ++attempt) {
      id = entry_id(thread, "repeated", std::to_string(i) + "." + std::to_string(attempt));
    }
    used.insert(id);
  }
}

Author author_of_role(Role role) {
  switch (role) {
    case Role::user:
      return Author::person;
    case Role::assistant:
      return Author::agent;
    case Role::tool:
      return Author::tool;
    case Role::system:
      return Author::system;
  }
  return Author::agent;
}

// The state of such an agent can be that of its current run alone, and the next run of the thread
// has other messages at the same positions: an id depends on the texts of persons up to its entry.
std::vector<ChatEntry> form_entries(const ConversationForm& form, std::string_view thread,
                                    const Value& state, const std::string& question_id) {
  std::vector<ChatEntry> entries;
  if (!form.messages_of) return entries;
  std::string asked;
  for (FormMessage& shown : form.messages_of(state, question_id)) {
    Message& message = shown.message;
    ChatEntry entry;
    entry.author = author_of_role(message.role);
    if (entry.author == Author::person) asked = entry_id(asked, "asked", message.text);
    entry.id = std::move(shown.id);
    if (entry.id.empty()) {
      entry.id = entry_id(thread, "form", std::to_string(entries.size()) + " " + asked);
    }
    entry.text = std::move(message.text);
    entry.call_id = std::move(message.tool_call_id);
    entry.is_error = shown.is_error;
    for (ToolCall& call : message.tool_calls) {
      entry.calls.push_back(
          {std::move(call.id), std::move(call.name), call_arguments(call.arguments)});
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

// Returns the entries of a channel `messages`; nullopt if its items are something else.
std::optional<std::vector<ChatEntry>> message_entries(std::string_view thread, const Value& state) {
  const Value::Array* messages = state["messages"].as_array();
  if (!messages) return std::nullopt;
  std::vector<ChatEntry> entries;
  for (std::size_t i = 0; i < messages->size(); ++i) {
    auto entry = entry_of_message((*messages)[i]);
    if (!entry.ok()) continue;
    if (entry->id.empty()) entry->id = entry_id(thread, "message", std::to_string(i));
    entries.push_back(*std::move(entry));
  }
  if (entries.empty() && !messages->empty()) return std::nullopt;
  return entries;
}

// Sets the names of the tools that only the calls have.
void name_tools(std::vector<ChatEntry>& entries) {
  std::map<std::string, std::string, std::less<>> tools;
  for (ChatEntry& entry : entries) {
    for (const ChatCall& call : entry.calls) tools[call.id] = call.tool;
    if (entry.author != Author::tool || !entry.tool.empty()) continue;
    auto found = tools.find(entry.call_id);
    if (found != tools.end()) entry.tool = found->second;
  }
}

}  // namespace

const ConversationForm* Conversations::form_of_input(std::string_view agent) const {
  auto form = forms_.find(agent);
  bool has_form = form != forms_.end() && form->second.input_of;
  return has_form ? &form->second : nullptr;
}

bool Conversations::takes_messages(std::string_view agent, const Value& document) const {
  return !form_of_input(agent) && !is_agent_document(document) && has_channel(document, "messages");
}

Result<Value> Conversations::input_of(std::string_view agent, const Value& document,
                                      const std::vector<ChatEntry>& messages) const {
  if (takes_messages(agent, document)) {
    if (messages.empty()) return error(ErrorCode::invalid, "There is no message.");
    Value::Array items;
    for (const ChatEntry& message : messages) items.push_back(langchain_message(message));
    return Value::object({{"messages", std::move(items)}});
  }
  BELAY_TRY(std::string text, text_of_person(agent, messages));
  if (const ConversationForm* form = form_of_input(agent)) return form->input_of(text);
  if (is_agent_document(document)) return Value::object({{"question", std::move(text)}});
  return object_in(agent, document, text);
}

bool Conversations::makes_entries(std::string_view agent) const {
  auto form = forms_.find(agent);
  return form != forms_.end() && form->second.messages_of;
}

std::vector<ChatEntry> Conversations::entries_of(std::string_view agent, std::string_view thread,
                                                 const Value& state, bool ended,
                                                 const std::string& question_id) const {
  std::vector<ChatEntry> entries;
  auto form = forms_.find(agent);
  if (form != forms_.end()) {
    entries = form_entries(form->second, thread, state, question_id);
  } else if (auto messages = message_entries(thread, state)) {
    entries = *std::move(messages);
  } else if (is_agent_state(state)) {
    entries = turn_entries(thread, state, ended);
  } else if (ended && !state.is_null()) {
    ChatEntry entry;
    entry.text = to_json(state);
    entry.id = entry_id(thread, "state", entry.text);
    entries.push_back(std::move(entry));
  }
  name_tools(entries);
  make_ids_unique(thread, entries);
  return entries;
}

}  // namespace belay::conversation
