// The messages of V2Events, and the calls of tools in them.

#include <algorithm>

#include "base/text_in.h"
#include "langgraph/v2_events.h"

namespace belay::langgraph {
namespace {

Value text_block(std::string_view text) {
  return Value::object({{"type", "text"}, {"text", text}});
}

}  // namespace

void V2Events::add_part(const ClassicEvent& event, std::string_view space, V2EventList& out) {
  const Value::Array& pair = *event.data.as_array();
  std::string message = text_in(pair[0], "id");
  if (sent_.contains(message)) return;
  std::string node = text_in(pair[1], "langgraph_node");
  std::string id = std::to_string(event.id) + "-" + message;
  std::string& open = messages_[std::string(space)];
  if (open != message) {
    if (!open.empty()) {
      Value failure = Value::object({{"event", "error"}, {"message", "The attempt has failed."}});
      send("messages", space, std::move(failure), "failed-" + open, out).node = node;
    }
    open = message;
    Value start = Value::object({{"event", "message-start"}, {"role", "ai"}, {"id", message}});
    send("messages", space, std::move(start), "start-" + message, out).node = node;
    Value block = Value::object(
        {{"event", "content-block-start"}, {"index", 0}, {"content", text_block("")}});
    send("messages", space, std::move(block), "block-" + message, out).node = node;
  }
  Value text = Value::object({{"type", "text-delta"}, {"text", pair[0]["content"]}});
  Value delta =
      Value::object({{"event", "content-block-delta"}, {"index", 0}, {"delta", std::move(text)}});
  send("messages", space, std::move(delta), std::move(id), out).node = node;
}

// The durable text has come: it is whole. Its message can have calls.
void V2Events::end_message(const StreamEvent& event, V2EventList& out) {
  const std::string& space = event.checkpoint_ns;
  auto open = messages_.find(space);
  if (open == messages_.end()) return;
  std::string message = std::move(open->second);
  messages_.erase(open);
  Value block = Value::object({{"event", "content-block-finish"},
                               {"index", 0},
                               {"content", text_block(text_in(event.body, "text"))}});
  send("messages", space, std::move(block), "whole-" + message, out).node = event.node;
  whole_[space].push_back({std::move(message), event.node, 1});
}

void V2Events::add_call(const ClassicEvent& event, std::string_view space, V2EventList& out) {
  std::string what = text_in(event.data, "event");
  std::string call = text_in(event.data, "toolCallId");
  Value::Object data{{"tool_call_id", call}};
  if (what == "on_tool_start") {
    add_call_block(event, space, out);
    data.emplace("event", "tool-started");
    data.emplace("tool_name", event.data["name"]);
    data.emplace("input", event.data["input"]);
  } else if (what == "on_tool_end") {
    data.emplace("event", "tool-finished");
    data.emplace("output", event.data["output"]);
  } else {
    data.emplace("event", "tool-error");
    data.emplace("message", event.data["error"]["message"]);
  }
  std::string id = std::to_string(event.id) + "-" + what + "-" + call;
  send("tools", space, Value(std::move(data)), std::move(id), out);
}

// The text of a reply in a subgraph, whose event follows with the end of the subgraph.
void V2Events::add_whole_text(const ClassicEvent& event, std::string_view space,
                              WholeMessage& message, V2EventList& out) {
  sent_.insert(message.id);
  int index = message.blocks++;
  Value block = Value::object(
      {{"event", "content-block-start"}, {"index", index}, {"content", text_block("")}});
  send("messages", space, std::move(block), "block-" + message.id, out);
  Value whole = Value::object(
      {{"event", "content-block-finish"}, {"index", index}, {"content", text_block(event.text)}});
  send("messages", space, std::move(whole), "whole-" + message.id, out);
}

// Adds the call to its message. A reply without a text has a message of its calls alone.
void V2Events::add_call_block(const ClassicEvent& event, std::string_view space, V2EventList& out) {
  std::vector<WholeMessage>& messages = whole_[std::string(space)];
  auto is_its = [&event](const WholeMessage& each) { return each.id == event.message; };
  auto message = std::find_if(messages.begin(), messages.end(), is_its);
  if (message == messages.end()) {
    Value start =
        Value::object({{"event", "message-start"}, {"role", "ai"}, {"id", event.message}});
    send("messages", space, std::move(start), "start-" + event.message, out);
    messages.push_back({event.message, {}, 0});
    message = std::prev(messages.end());
    if (!event.text.empty()) add_whole_text(event, space, *message, out);
  }
  int index = message->blocks++;
  message->has_calls = true;
  const Value& call = event.data["toolCallId"];
  const Value& name = event.data["name"];
  std::string place = std::to_string(event.id) + "-" + text_in(event.data, "toolCallId");
  Value chunk = Value::object({{"type", "tool_call_chunk"},
                               {"id", call},
                               {"name", name},
                               {"args", to_json(event.data["input"])}});
  Value begun = Value::object(
      {{"event", "content-block-start"}, {"index", index}, {"content", std::move(chunk)}});
  send("messages", space, std::move(begun), "call-" + place, out).node = message->node;
  Value block = Value::object(
      {{"type", "tool_call"}, {"id", call}, {"name", name}, {"args", event.data["input"]}});
  Value ended = Value::object(
      {{"event", "content-block-finish"}, {"index", index}, {"content", std::move(block)}});
  send("messages", space, std::move(ended), "called-" + place, out).node = message->node;
}

void V2Events::finish_messages(const std::string& space, V2EventList& out) {
  auto whole = whole_.extract(space);
  if (whole.empty()) return;
  for (const WholeMessage& each : whole.mapped()) {
    Value finish = Value::object(
        {{"event", "message-finish"}, {"reason", each.has_calls ? "tool_use" : "stop"}});
    send("messages", space, std::move(finish), "finish-" + each.id, out).node = each.node;
  }
}

}  // namespace belay::langgraph
