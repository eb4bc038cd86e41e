#include "langgraph/classic_stream.h"

#include "base/text_in.h"
#include "langgraph/classic_items.h"
#include "langgraph/state.h"

namespace belay::langgraph {
namespace {

// The event of a node: {"type": name, ...} for an object, otherwise {"type": name, "value": body}.
Value custom_data(const Value& body) {
  Value::Object data;
  if (const Value::Object* members = body["body"].as_object()) {
    data = *members;
  } else {
    data.emplace("value", body["body"]);
  }
  data.emplace("type", body["name"]);
  return Value(std::move(data));
}

std::string_view source_of(const Value& kind) {
  if (kind == Value("input")) return "input";
  return kind == Value("fork") ? "fork" : "loop";
}

}  // namespace

std::string sse_text(const ClassicEvent& event) {
  // JSON text contains no line break, which would end the "data:" field.
  std::string text = "event: " + event.name + "\ndata: ";
  write_json(event.data, text);
  return text + "\nid: " + std::to_string(event.id) + "\n\n";
}

bool ClassicStream::shows_states() const {
  bool has_states = wants(StreamMode::values) || wants(StreamMode::checkpoints);
  return has_states || wants(StreamMode::debug) || wants_calls() || sends_whole_messages();
}

bool ClassicStream::reads_writes() const {
  bool has_tasks = wants(StreamMode::tasks) || wants(StreamMode::debug);
  return wants(StreamMode::updates) || has_tasks || wants(StreamMode::events) ||
         sends_whole_messages();
}

// The results of reducers are compared with the state.
std::vector<EventKind> ClassicStream::kinds() const {
  std::vector<EventKind> kinds;
  if (shows_states() || reads_writes()) kinds.push_back(EventKind::values);
  if (wants_messages() || wants(StreamMode::events)) kinds.push_back(EventKind::messages);
  if (wants(StreamMode::custom)) kinds.push_back(EventKind::custom);
  if (reads_writes()) kinds.push_back(EventKind::updates);
  if (!options_.modes.empty()) {
    kinds.push_back(EventKind::tasks);
    kinds.push_back(EventKind::checkpoints);
  }
  return kinds;
}

void ClassicStream::continue_after(std::string checkpoint, std::optional<std::int64_t> superstep) {
  ClassicFrame& frame = frames_[{}];
  frame.checkpoint = std::move(checkpoint);
  frame.superstep = superstep;
}

void ClassicStream::send(std::string_view name, const std::string& space, Value data,
                         ClassicEvents& out) {
  if (!is_sent(space)) return;
  std::string whole(name);
  if (!space.empty()) whole += "|" + space;
  out.push_back({std::move(whole), std::move(data), next_++});
}

void ClassicStream::send_debug(std::string_view type, const StreamEvent& event, Value payload,
                               ClassicEvents& out) {
  if (!wants(StreamMode::debug)) return;
  Value data = Value::object({{"step", frames_[event.checkpoint_ns].superstep.value_or(0)},
                              {"type", type},
                              {"timestamp", to_text(event.at)},
                              {"payload", std::move(payload)}});
  send("debug", event.checkpoint_ns, std::move(data), out);
}

void ClassicStream::begin(ClassicEvents& out) {
  Value data = Value::object({{"run_id", options_.run_id}, {"attempt", 1}});
  send("metadata", {}, std::move(data), out);
  if (!options_.is_resumed) return;  // otherwise with the first checkpoint
  send_run_event("on_chain_start", Value::object({{"input", Value()}}), out);
}

void ClassicStream::add(StreamEvent&& event, ClassicEvents& out) {
  bool is_inside = !event.checkpoint_ns.empty();
  if (is_inside && !options_.subgraphs && !wants(StreamMode::events)) return;
  if (event.kind == EventKind::messages) return add_text(std::move(event), out);
  if (event.kind == EventKind::custom) return held_.push_back(std::move(event));
  send_held(out);
  bool has_failed = event.kind == EventKind::tasks && event.body["event"] == Value("attemptFailed");
  bool is_shown = event.kind == EventKind::updates || event.kind == EventKind::checkpoints;
  if (has_failed || is_shown) revoke_preview();
  bool was_previewed = has_failed && !is_inside && only_task_ == event.task;
  if (was_previewed) next_ += attempt_numbers;
  if (event.kind == EventKind::updates) {
    add_update(event);
  } else if (event.kind == EventKind::values) {
    ClassicFrame& frame = frames_[event.checkpoint_ns];
    frame.state_before = std::exchange(frame.state, std::move(event.body));
    frame.has_new_values = true;
  } else if (event.kind == EventKind::tasks) {
    add_task(std::move(event));
  } else if (event.kind == EventKind::checkpoints) {
    add_checkpoint(event, out);
  }
}

void ClassicStream::send_held(ClassicEvents& out) {
  if (!held_.empty()) revoke_preview();
  for (const StreamEvent& event : held_) {
    send("custom", event.checkpoint_ns, custom_data(event.body), out);
  }
  held_.clear();
}

void ClassicStream::add_update(const StreamEvent& event) {
  ClassicFrame& frame = frames_[event.checkpoint_ns];
  Value::Object writes;
  if (const Value::Object* channels = event.body["channels"].as_object()) {
    for (const auto& [name, write] : *channels) writes.emplace(name, write["value"]);
  }
  if (event.node.empty()) {
    frame.reduced = std::move(writes);
    return;
  }
  frame.updated.push_back({event.task, event.node, Value()});
  frame.results.insert_or_assign(event.task, Value(std::move(writes)));
}

// Adds the writes of the superstep as a whole, which are results of reducers, to those of its only
// task. The input also is such a write, and ends no task.
void ClassicStream::add_reduced(ClassicFrame& frame) {
  Value::Object reduced = std::exchange(frame.reduced, Value::Object());
  if (reduced.empty() || frame.ended.size() != 1) return;
  const ClassicTask& task = frame.ended.front();
  const Value& before = frame.has_new_values ? frame.state_before : frame.state;
  Value& writes = frame.results[task.id];
  if (!writes.as_object()) {
    writes = Value::Object();
    frame.updated.push_back(task);
  }
  for (auto& [name, value] : reduced) {
    writes.as_object()->insert_or_assign(name, written_part(before[name], std::move(value)));
  }
}

void ClassicStream::send_updates(const std::string& space, ClassicFrame& frame,
                                 ClassicEvents& out) {
  for (const ClassicTask& task : frame.updated) {
    if (!wants(StreamMode::updates)) break;
    send("updates", space, Value::object({{task.node, frame.results[task.id]}}), out);
  }
  frame.updated.clear();
}

void ClassicStream::add_task(StreamEvent&& event) {
  ClassicFrame& frame = frames_[event.checkpoint_ns];
  ClassicTask task{event.task, event.node, event.body["input"]};
  if (event.body["event"] == Value("ended")) {
    frame.ended.push_back(std::move(task));
  } else if (event.body["event"] != Value("attemptFailed")) {
    frame.begun.push_back(std::move(task));
  }
}

void ClassicStream::end_tasks(const StreamEvent& event, ClassicFrame& frame, ClassicEvents& out) {
  for (const ClassicTask& task : frame.ended) {
    Value& result = frame.results[task.id];
    if (result.is_null() && wants(StreamMode::updates)) {
      send("updates", event.checkpoint_ns, Value::object({{task.node, Value()}}), out);
    }
    if (wants(StreamMode::events)) send_task_end(event.checkpoint_ns, task, result, out);
    Value payload = Value::object({{"id", task.id.text()},
                                   {"name", task.node},
                                   {"result", std::move(result)},
                                   {"interrupts", Value(Value::Array{})},
                                   {"error", Value()}});
    if (wants(StreamMode::tasks)) send("tasks", event.checkpoint_ns, payload, out);
    send_debug("task_result", event, std::move(payload), out);
  }
  frame.ended.clear();
  frame.results.clear();
}

void ClassicStream::add_checkpoint(const StreamEvent& event, ClassicEvents& out) {
  ClassicFrame& frame = frames_[event.checkpoint_ns];
  bool is_root = event.checkpoint_ns.empty();
  auto superstep = event.body["superstep"].as_int().value_or(0);
  // The run has not started.
  bool is_before = is_root && superstep == 0;
  if (is_before) return;
  bool is_last = event.body["status"] == Value("completed") && is_root;
  add_reduced(frame);
  show_state(frame, is_root, is_last);
  send_new_messages(event.checkpoint_ns, frame, out);
  send_updates(event.checkpoint_ns, frame, out);
  if (wants_calls()) {
    read_calls(frame);
    end_models(event.checkpoint_ns, frame, out);
    end_calls(event.checkpoint_ns, frame, out);
  }
  end_tasks(event, frame, out);
  bool is_first = !frame.superstep && !(options_.is_resumed && is_root);
  bool is_next = frame.superstep && *frame.superstep != superstep;
  frame.superstep = superstep;
  if (is_root && is_first) {
    send_run_event("on_chain_start", Value::object({{"input", frame.values}}), out);
  }
  if (is_first || is_next || is_last) send_checkpoint(event, frame, out);
  if (frame.has_new_values && wants(StreamMode::values)) {
    send("values", event.checkpoint_ns, frame.values, out);
  }
  frame.has_new_values = false;
  frame.state_before = Value();
  send_complete(event.checkpoint_ns, frame, out);
  begin_tasks(event, frame, out);
  if (wants_calls()) begin_calls(event.checkpoint_ns, frame, out);
  if (is_last) send_run_event("on_chain_end", Value::object({{"output", frame.values}}), out);
}

// The end of a run can change how the same state is shown.
void ClassicStream::show_state(ClassicFrame& frame, bool is_root, bool is_last) {
  bool is_changed = is_root && options_.shown && is_last;
  if (!shows_states() || (!frame.has_new_values && !is_changed)) return;
  Value values = is_root && options_.shown ? options_.shown(frame.state, is_last) : frame.state;
  // At the end, a state without messages is shown as one.
  bool is_wanted = sends_whole_messages();
  if (is_wanted && !is_changed) find_new_messages(frame, values);
  if (is_wanted && is_changed) find_new_messages(frame, options_.shown(frame.state, false));
  frame.has_new_values = frame.has_new_values || values != frame.values;
  frame.values = std::move(values);
}

Value ClassicStream::config_of(const std::string& space, const std::string& checkpoint) const {
  if (checkpoint.empty()) return Value();
  return Value::object({{"configurable", Value::object({{"thread_id", options_.thread_id},
                                                        {"checkpoint_ns", space},
                                                        {"checkpoint_id", checkpoint}})}});
}

Value ClassicStream::reference_of(const std::string& space, const std::string& checkpoint) const {
  auto root = frames_.find({});
  std::string around = space.empty() || root == frames_.end() ? "" : root->second.checkpoint;
  return checkpoint_reference(options_.thread_id, checkpoint, space, around);
}

void ClassicStream::send_checkpoint(const StreamEvent& event, ClassicFrame& frame,
                                    ClassicEvents& out) {
  Value::Array tasks;
  for (const ClassicTask& task : frame.begun) {
    tasks.push_back(Value::object({{"id", task.id.text()},
                                   {"name", task.node},
                                   {"path", node_path(task.node)},
                                   {"interrupts", Value(Value::Array{})}}));
  }
  std::string id = text_in(event.body, "checkpoint");
  Value metadata = Value::object({{"source", source_of(event.body["kind"])},
                                  {"step", *frame.superstep},
                                  {"parents", Value(Value::Object{})},
                                  {"run_id", options_.run_id}});
  Value payload =
      Value::object({{"config", config_of(event.checkpoint_ns, id)},
                     {"parent_config", config_of(event.checkpoint_ns, frame.checkpoint)},
                     {"values", frame.values},
                     {"metadata", std::move(metadata)},
                     {"next", event.body["next"]},
                     {"tasks", std::move(tasks)},
                     {"checkpoint", reference_of(event.checkpoint_ns, id)},
                     {"parent_checkpoint", reference_of(event.checkpoint_ns, frame.checkpoint)}});
  frame.checkpoint = std::move(id);
  if (wants(StreamMode::checkpoints)) send("checkpoints", event.checkpoint_ns, payload, out);
  send_debug("checkpoint", event, std::move(payload), out);
}

void ClassicStream::begin_tasks(const StreamEvent& event, ClassicFrame& frame, ClassicEvents& out) {
  bool is_root = event.checkpoint_ns.empty();
  if (is_root && !frame.begun.empty()) {
    only_task_ = frame.begun.size() == 1 ? std::optional(frame.begun.front().id) : std::nullopt;
  }
  for (const ClassicTask& task : frame.begun) {
    Value payload = Value::object({{"id", task.id.text()},
                                   {"name", task.node},
                                   {"input", task.input},
                                   {"triggers", Value(Value::Array{})},
                                   {"interrupts", Value(Value::Array{})},
                                   {"metadata", Value(Value::Object{})}});
    if (wants(StreamMode::tasks)) send("tasks", event.checkpoint_ns, payload, out);
    send_debug("task", event, std::move(payload), out);
    if (!wants(StreamMode::events)) continue;
    Value data = Value::object({{"input", task.input.is_null() ? frame.values : task.input}});
    send_task_event("on_chain_start", event.checkpoint_ns, task, std::move(data), out);
  }
  frame.begun.clear();
}

void ClassicStream::interrupt(const Value::Array& interrupts, ClassicEvents& out) {
  revoke_preview();
  Value data = Value::object({{"__interrupt__", interrupts}});
  if (wants(StreamMode::updates)) send("updates", {}, data, out);
  send_run_event("on_chain_stream", Value::object({{"chunk", data}}), out);
  Value output = frames_[{}].values;
  send_run_event("on_chain_end", Value::object({{"output", std::move(output)}}), out);
  if (wants(StreamMode::values)) send("values", {}, std::move(data), out);
}

void ClassicStream::fail(const std::string& name, const std::string& message, ClassicEvents& out) {
  revoke_preview();
  send("error", {}, Value::object({{"error", name}, {"message", message}}), out);
}

}  // namespace belay::langgraph
