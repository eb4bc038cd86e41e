#include "langgraph/classic_stream.h"

#include "agent/message_id.h"

namespace belay::langgraph {
namespace {

constexpr int kPartCharacters = 8;
// The numbers of an attempt that has failed: those of the events of its text.
constexpr std::uint64_t kAttemptNumbers = 1 << 16;

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

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

const std::string& text_of(const Value& value) {
  static const std::string none;
  const std::string* text = value.as_string();
  return text ? *text : none;
}

Value node_path(const std::string& node) {
  return Value(Value::Array{Value("__pregel_pull"), Value(node)});
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

std::optional<std::size_t> end_of_part(std::string_view text, std::size_t from, bool is_whole) {
  int characters = 0;
  for (std::size_t at = from; at < text.size(); ++at) {
    bool is_next = !is_continuation(text[at]);
    if (is_next && ++characters > kPartCharacters) return at;
    char c = text[at];
    if (c == ' ' || c == '\n' || c == '\t') return at + 1;
  }
  return is_whole ? std::optional(text.size()) : std::nullopt;
}

std::string ClassicStream::message_id(const StreamEvent& event) {
  return agents::message_id(event.task, event.attempt);
}

Value ClassicStream::ai_message(const StreamEvent& event, std::string_view text) {
  return Value::object({{"type", "ai"},
                        {"id", message_id(event)},
                        {"content", text},
                        {"additional_kwargs", Value(Value::Object{})},
                        {"response_metadata", Value(Value::Object{})},
                        {"tool_calls", Value(Value::Array{})},
                        {"invalid_tool_calls", Value(Value::Array{})},
                        {"tool_call_chunks", Value(Value::Array{})}});
}

std::vector<EventKind> ClassicStream::kinds() const {
  std::vector<EventKind> kinds;
  bool has_states = wants(StreamMode::checkpoints) || wants(StreamMode::debug);
  bool has_events = wants(StreamMode::events);
  bool has_texts = wants(StreamMode::messages) || wants(StreamMode::messages_tuple) || has_events;
  bool has_tasks = wants(StreamMode::tasks) || wants(StreamMode::debug) || has_events;
  if (wants(StreamMode::values) || has_states || wants_calls()) kinds.push_back(EventKind::values);
  if (has_texts) kinds.push_back(EventKind::messages);
  if (wants(StreamMode::custom)) kinds.push_back(EventKind::custom);
  if (wants(StreamMode::updates) || has_tasks) kinds.push_back(EventKind::updates);
  if (!options_.modes.empty()) {
    kinds.push_back(EventKind::tasks);
    kinds.push_back(EventKind::checkpoints);
  }
  return kinds;
}

void ClassicStream::send(std::string_view name, const std::string& space, Value data,
                         ClassicEvents& out) {
  if (!space.empty() && !options_.subgraphs) return;
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
  if (was_previewed) next_ += kAttemptNumbers;
  if (event.kind == EventKind::updates) {
    add_update(event, out);
  } else if (event.kind == EventKind::values) {
    ClassicFrame& frame = frames_[event.checkpoint_ns];
    frame.state = std::move(event.body);
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

void ClassicStream::revoke_preview() {
  if (!preview_) return;
  next_ = preview_->first;
  preview_.reset();
}

void ClassicStream::preview_text(const StreamEvent& event, ClassicEvents& out) {
  bool is_first_text = event.checkpoint_ns.empty() && only_task_ == event.task;
  if (!is_first_text) return;
  bool is_later = preview_ && event.attempt > preview_->attempt;
  if (is_later) revoke_preview();
  if (!preview_) preview_ = Preview{event.task, event.attempt, {}, 0, next_};
  // A part that does not continue the text, or that is older than it.
  bool fits = event.attempt == preview_->attempt && event.offset == preview_->text.size();
  if (!fits) return;
  preview_->text += text_of(event.body["text"]);
  bool is_full = next_ - preview_->first > kAttemptNumbers / 2;
  if (is_full) return;
  send_parts(event, preview_->text, preview_->sent, false, out);
}

void ClassicStream::add_text(StreamEvent&& event, ClassicEvents& out) {
  if (!event.id) return preview_text(event, out);
  const std::string& text = text_of(event.body["text"]);
  bool continues = preview_ && preview_->task == event.task && preview_->attempt == event.attempt &&
                   text.starts_with(preview_->text);
  std::size_t from = continues ? preview_->sent : 0;
  if (continues) {
    preview_.reset();
  } else {
    revoke_preview();
  }
  send_parts(event, text, from, true, out);
  if (wants_calls() && !text.empty()) {
    ClassicText ended{{}, text};
    ended.place.checkpoint_ns = event.checkpoint_ns;
    ended.place.node = event.node;
    ended.place.task = event.task;
    ended.place.attempt = event.attempt;
    frames_[event.checkpoint_ns].texts.push_back(std::move(ended));
  }
  if (wants(StreamMode::messages)) {
    send("messages/complete", event.checkpoint_ns, Value(Value::Array{ai_message(event, text)}),
         out);
  }
}

void ClassicStream::send_parts(const StreamEvent& event, std::string_view text, std::size_t& from,
                               bool is_whole, ClassicEvents& out) {
  while (from < text.size()) {
    auto end = end_of_part(text, from, is_whole);
    if (!end) return;
    send_part(event, text, from, *end, out);
    from = *end;
  }
}

void ClassicStream::send_part(const StreamEvent& event, std::string_view text, std::size_t from,
                              std::size_t until, ClassicEvents& out) {
  Value metadata = message_metadata(event);
  std::string message = message_id(event);
  bool is_whole = frames_[event.checkpoint_ns].whole.contains(message);
  if (wants(StreamMode::events) && !is_whole) {
    if (from == 0) send_model_event("on_chat_model_start", event, message, Value::Object(), out);
    Value part = ai_message(event, text.substr(from, until - from));
    Value data = Value::object({{"chunk", std::move(part)}});
    send_model_event("on_chat_model_stream", event, message, std::move(data), out);
  }
  if (wants(StreamMode::messages)) {
    if (from == 0) {
      Value::Object each{{message_id(event), Value::object({{"metadata", metadata}})}};
      send("messages/metadata", event.checkpoint_ns, Value(std::move(each)), out);
    }
    Value::Array so_far{ai_message(event, text.substr(0, until))};
    send("messages/partial", event.checkpoint_ns, Value(std::move(so_far)), out);
  }
  if (!wants(StreamMode::messages_tuple)) return;
  Value::Array pair{ai_message(event, text.substr(from, until - from)), std::move(metadata)};
  send("messages", event.checkpoint_ns, Value(std::move(pair)), out);
}

Value ClassicStream::message_metadata(const StreamEvent& event) {
  std::string space = event.checkpoint_ns.empty() ? "" : event.checkpoint_ns + "|";
  space += event.node + ":" + event.task.text();
  return Value::object({{"langgraph_step", frames_[event.checkpoint_ns].superstep.value_or(0)},
                        {"langgraph_node", event.node},
                        {"langgraph_triggers", Value(Value::Array{})},
                        {"langgraph_path", node_path(event.node)},
                        {"langgraph_checkpoint_ns", space},
                        {"checkpoint_ns", space},
                        {"run_id", options_.run_id},
                        {"thread_id", options_.thread_id},
                        {"graph_id", options_.graph_id},
                        {"assistant_id", options_.assistant_id},
                        {"tags", Value(Value::Array{})}});
}

void ClassicStream::add_update(const StreamEvent& event, ClassicEvents& out) {
  // The input, and the values of a superstep as a whole.
  if (event.node.empty()) return;
  Value::Object writes;
  if (const Value::Object* channels = event.body["channels"].as_object()) {
    for (const auto& [name, write] : *channels) writes.emplace(name, write["value"]);
  }
  ClassicFrame& frame = frames_[event.checkpoint_ns];
  frame.results.insert_or_assign(event.task, Value(writes));
  if (!wants(StreamMode::updates)) return;
  send("updates", event.checkpoint_ns, Value::object({{event.node, std::move(writes)}}), out);
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
  bool is_last = event.body["status"] == Value("completed") && is_root;
  show_state(frame, is_root, is_last);
  if (wants_calls()) {
    read_calls(frame);
    end_models(event.checkpoint_ns, frame, out);
    end_calls(event.checkpoint_ns, frame, out);
  }
  end_tasks(event, frame, out);
  auto superstep = event.body["superstep"].as_int().value_or(0);
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
  begin_tasks(event, frame, out);
  if (wants_calls()) begin_calls(event.checkpoint_ns, frame, out);
  if (is_last) send_run_event("on_chain_end", Value::object({{"output", frame.values}}), out);
}

// The end of a run can change how the same state is shown.
void ClassicStream::show_state(ClassicFrame& frame, bool is_root, bool is_last) {
  bool is_changed = is_root && options_.shown && is_last;
  if (!frame.has_new_values && !is_changed) return;
  Value values = is_root && options_.shown ? options_.shown(frame.state, is_last) : frame.state;
  frame.has_new_values = frame.has_new_values || values != frame.values;
  frame.values = std::move(values);
}

Value ClassicStream::config_of(const std::string& space, const std::string& checkpoint) const {
  if (checkpoint.empty()) return Value();
  return Value::object({{"configurable", Value::object({{"thread_id", options_.thread_id},
                                                        {"checkpoint_ns", space},
                                                        {"checkpoint_id", checkpoint}})}});
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
  std::string id = text_of(event.body["checkpoint"]);
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
                     {"tasks", std::move(tasks)}});
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
