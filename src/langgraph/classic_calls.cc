// The calls of tools and the events of LangChain of a ClassicStream.

#include <algorithm>

#include "langgraph/classic_stream.h"

namespace belay::langgraph {
namespace {

using conversation::Author;
using conversation::ChatCall;
using conversation::ChatEntry;

// The entries of a state whose own form, if it has one, is shown as `messages`.
std::vector<ChatEntry> shown_entries(const std::string& thread, const Value& values) {
  return conversation::Conversations().entries_of({}, thread, values, false);
}

StreamEvent place_of(const std::string& space, const std::string& node, const TaskId& task) {
  StreamEvent place;
  place.checkpoint_ns = space;
  place.node = node;
  place.task = task;
  return place;
}

// The ids of the run, and of the tasks around a namespace ("node:TASK|node:TASK").
Value::Array runs_around(const std::string& run, std::string_view space) {
  Value::Array runs{Value(run)};
  while (!space.empty()) {
    std::size_t end = std::min(space.find('|'), space.size());
    std::string_view step = space.substr(0, end);
    std::size_t colon = step.find(':');
    if (colon != step.npos) runs.emplace_back(step.substr(colon + 1));
    space.remove_prefix(std::min(end + 1, space.size()));
  }
  return runs;
}

Value calls_of_reply(const ChatEntry& reply) {
  ChatEntry only;
  only.calls = reply.calls;
  return conversation::langchain_message(only)["tool_calls"];
}

}  // namespace

void ClassicStream::know(const Value& state) {
  ClassicFrame& frame = frames_[{}];
  frame.state = state;
  if (!shows_states()) return;
  frame.values = options_.shown ? options_.shown(state, false) : state;
  if (wants_calls()) read_calls(frame);
}

// Finds the replies with calls, and the results, that the state has since the last one. Those of
// the first state belong to earlier runs.
void ClassicStream::read_calls(ClassicFrame& frame) {
  if (frame.values.is_null()) return;
  for (ChatEntry& entry : shown_entries(options_.thread_id, frame.values)) {
    if (entry.author == Author::tool) {
      auto call = frame.calls.find(entry.call_id);
      if (call == frame.calls.end() || call->second.has_result) continue;
      call->second.has_result = true;
      if (frame.has_calls) frame.tool_results.push_back(std::move(entry));
      continue;
    }
    std::vector<ChatCall> fresh;
    for (ChatCall& call : entry.calls) {
      ClassicCall known;
      known.name = call.tool;
      for (const ClassicTask& task : frame.begun) {
        if (task.input == Value(call.id)) known.task = task;
      }
      bool is_new = frame.calls.emplace(call.id, std::move(known)).second;
      if (is_new) fresh.push_back(std::move(call));
    }
    entry.calls = std::move(fresh);
    if (frame.has_calls && !entry.calls.empty()) frame.replies.push_back(std::move(entry));
  }
  frame.has_calls = true;
}

// Ends the models of the commit. A reply without a text was not streamed: its model starts here.
void ClassicStream::end_models(const std::string& space, ClassicFrame& frame, ClassicEvents& out) {
  bool has_one_writer = frame.ended.size() == 1;
  for (const ClassicText& each : frame.texts) {
    if (frame.whole.contains(message_id(each.place))) continue;
    Value output = ai_message(each.place, each.text);
    for (ChatEntry& reply : frame.replies) {
      if (reply.text != each.text) continue;
      reply.id = message_id(each.place);
      output.as_object()->insert_or_assign("tool_calls", calls_of_reply(reply));
    }
    Value data = Value::object({{"output", std::move(output)}});
    send_model_event("on_chat_model_end", each.place, message_id(each.place), std::move(data), out);
  }
  for (const ChatEntry& reply : frame.replies) {
    auto is_its_text = [&reply](const ClassicText& each) { return each.text == reply.text; };
    if (std::any_of(frame.texts.begin(), frame.texts.end(), is_its_text)) continue;
    StreamEvent place = place_of(space, {}, {});
    if (has_one_writer) place = place_of(space, frame.ended[0].node, frame.ended[0].id);
    if (!reply.text.empty()) frame.whole.insert(reply.id);
    send_model_event("on_chat_model_start", place, reply.id, Value::Object(), out);
    Value data = Value::object({{"output", conversation::langchain_message(reply)}});
    send_model_event("on_chat_model_end", place, reply.id, std::move(data), out);
  }
  frame.texts.clear();
}

void ClassicStream::end_calls(const std::string& space, ClassicFrame& frame, ClassicEvents& out) {
  std::vector<ChatEntry> later;  // the call starts with this commit
  for (ChatEntry& result : frame.tool_results) {
    bool starts_here =
        std::any_of(frame.replies.begin(), frame.replies.end(), [&](const ChatEntry& reply) {
          return std::any_of(reply.calls.begin(), reply.calls.end(),
                             [&](const ChatCall& call) { return call.id == result.call_id; });
        });
    if (starts_here) {
      later.push_back(std::move(result));
      continue;
    }
    send_result(space, frame, result, out);
  }
  frame.tool_results = std::move(later);
}

void ClassicStream::begin_calls(const std::string& space, ClassicFrame& frame, ClassicEvents& out) {
  for (const ChatEntry& reply : frame.replies) {
    for (const ChatCall& call : reply.calls) {
      Value::Object data{{"event", "on_tool_start"}, {"input", call.arguments}};
      send_call(std::move(data), space, call.id, frame.calls[call.id], reply, out);
    }
  }
  for (const ChatEntry& result : frame.tool_results) send_result(space, frame, result, out);
  frame.replies.clear();
  frame.tool_results.clear();
}

void ClassicStream::send_result(const std::string& space, ClassicFrame& frame,
                                const ChatEntry& result, ClassicEvents& out) {
  Value::Object data{{"event", result.is_error ? "on_tool_error" : "on_tool_end"}};
  if (result.is_error) {
    data.emplace("error", Value::object({{"name", "Error"}, {"message", result.text}}));
  } else {
    data.emplace("output", conversation::langchain_message(result));
  }
  send_call(std::move(data), space, result.call_id, frame.calls[result.call_id], ChatEntry(), out);
}

void ClassicStream::send_call(Value::Object data, const std::string& space, const std::string& id,
                              const ClassicCall& call, const ChatEntry& reply, ClassicEvents& out) {
  if (wants(StreamMode::events)) {
    Value::Object about = data;
    std::string what = *about["event"].as_string();
    about.erase("event");
    StreamEvent place = place_of(space, call.task.node, call.task.id);
    send_event(what, call.name, id, place, Value(std::move(about)), out);
  }
  if (!wants(StreamMode::tools)) return;
  data.emplace("toolCallId", id);
  data.emplace("name", call.name);
  std::size_t before = out.size();
  send("tools", space, Value(std::move(data)), out);
  if (out.size() == before) return;
  out.back().message = reply.id;
  out.back().text = reply.text;
}

// The events of LangChain have no namespace in their names.
void ClassicStream::send_event(std::string_view what, std::string_view name, std::string run,
                               const StreamEvent& place, Value data, ClassicEvents& out) {
  if (!wants(StreamMode::events)) return;
  bool is_of_run = run == options_.run_id;
  Value::Array parents;
  if (!is_of_run) parents = runs_around(options_.run_id, place.checkpoint_ns);
  bool is_in_task = !place.node.empty() && run != place.task.text();
  if (is_in_task) parents.emplace_back(place.task.text());
  Value event = Value::object({{"event", what},
                               {"name", name},
                               {"run_id", std::move(run)},
                               {"parent_ids", std::move(parents)},
                               {"tags", Value(Value::Array{})},
                               {"metadata", message_metadata(place)},
                               {"data", std::move(data)}});
  send("events", {}, std::move(event), out);
}

void ClassicStream::send_run_event(std::string_view what, Value data, ClassicEvents& out) {
  send_event(what, options_.graph_id, options_.run_id, StreamEvent(), std::move(data), out);
}

void ClassicStream::send_task_event(std::string_view what, const std::string& space,
                                    const ClassicTask& task, Value data, ClassicEvents& out) {
  StreamEvent place = place_of(space, task.node, task.id);
  send_event(what, task.node, task.id.text(), place, std::move(data), out);
}

void ClassicStream::send_task_end(const std::string& space, const ClassicTask& task,
                                  const Value& writes, ClassicEvents& out) {
  send_task_event("on_chain_stream", space, task, Value::object({{"chunk", writes}}), out);
  send_task_event("on_chain_end", space, task, Value::object({{"output", writes}}), out);
  if (!space.empty()) return;
  Value chunk = Value::object({{task.node, writes}});
  send_run_event("on_chain_stream", Value::object({{"chunk", std::move(chunk)}}), out);
}

void ClassicStream::send_model_event(std::string_view what, const StreamEvent& place,
                                     const std::string& message, Value data, ClassicEvents& out) {
  send_event(what, "model", message, place, std::move(data), out);
}

}  // namespace belay::langgraph
