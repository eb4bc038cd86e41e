// The texts and the messages of a ClassicStream.

#include <algorithm>

#include "agent/message_id.h"
#include "base/text_in.h"
#include "langgraph/classic_items.h"
#include "langgraph/classic_stream.h"

namespace belay::langgraph {
namespace {

constexpr int kPartCharacters = 8;

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

const std::string& text_of(const Value& value) {
  static const std::string none;
  const std::string* text = value.as_string();
  return text ? *text : none;
}

}  // namespace

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
  bool is_full = next_ - preview_->first > attempt_numbers / 2;
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
  note_text(event, text);
  if (wants_calls() && !text.empty()) {
    ClassicText ended{{}, text};
    ended.place.checkpoint_ns = event.checkpoint_ns;
    ended.place.node = event.node;
    ended.place.task = event.task;
    ended.place.attempt = event.attempt;
    frames_[event.checkpoint_ns].texts.push_back(std::move(ended));
  }
  if (!wants(StreamMode::messages)) return;
  frames_[event.checkpoint_ns].complete.push_back(ai_message(event, text));
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

Value ClassicStream::node_path(const std::string& node) {
  return Value(Value::Array{Value("__pregel_pull"), Value(node)});
}

// Without a node: that of no task.
Value ClassicStream::message_metadata(const StreamEvent& event) {
  Value::Object metadata{{"run_id", options_.run_id},
                         {"thread_id", options_.thread_id},
                         {"graph_id", options_.graph_id},
                         {"assistant_id", options_.assistant_id},
                         {"tags", Value(Value::Array{})}};
  if (event.node.empty()) return Value(std::move(metadata));
  std::string space = event.checkpoint_ns.empty() ? "" : event.checkpoint_ns + "|";
  space += event.node + ":" + event.task.text();
  metadata.emplace("langgraph_step", frames_[event.checkpoint_ns].superstep.value_or(0));
  metadata.emplace("langgraph_node", event.node);
  metadata.emplace("langgraph_triggers", Value(Value::Array{}));
  metadata.emplace("langgraph_path", node_path(event.node));
  metadata.emplace("langgraph_checkpoint_ns", space);
  metadata.emplace("checkpoint_ns", std::move(space));
  return Value(std::move(metadata));
}

void ClassicStream::note_text(const StreamEvent& event, const std::string& text) {
  if (!options_.whole_messages || text.empty() || !is_sent(event.checkpoint_ns)) return;
  sent_messages_.insert(message_id(event));
  streamed_texts_.push_back(text);
}

// Finds the messages of the values that the last values, if there were any, do not have.
void ClassicStream::find_new_messages(ClassicFrame& frame, const Value& values) const {
  const Value::Array* messages = values["messages"].as_array();
  if (!messages || frame.values.is_null()) return;
  frame.new_messages = fresh_items(frame.values["messages"], *messages, FreshItems::added);
}

// A node can give the message of the text that it has streamed another id.
bool ClassicStream::was_streamed(const Value& message) {
  if (sent_messages_.contains(text_in(message, "id"))) return true;
  bool is_of_model = message["type"] == Value("ai") || message["role"] == Value("assistant");
  if (!is_of_model) return false;
  auto text =
      std::find(streamed_texts_.begin(), streamed_texts_.end(), text_of(message["content"]));
  if (text == streamed_texts_.end()) return false;
  streamed_texts_.erase(text);
  return true;
}

// The task that has written the message; none if that is not known.
StreamEvent ClassicStream::place_of_message(const std::string& space, const ClassicFrame& frame,
                                            const std::string& id) const {
  StreamEvent place;
  place.checkpoint_ns = space;
  for (const ClassicTask& task : frame.ended) {
    auto result = frame.results.find(task.id);
    bool is_its = frame.ended.size() == 1;
    if (!is_its && result != frame.results.end()) {
      const Value& written = result->second["messages"];
      const Value::Array* several = written.as_array();
      is_its = text_in(written, "id") == id;
      if (several) {
        is_its = std::any_of(several->begin(), several->end(),
                             [&id](const Value& each) { return text_in(each, "id") == id; });
      }
    }
    if (!is_its) continue;
    place.node = task.node;
    place.task = task.id;
    return place;
  }
  return place;
}

// A commit that ends no task has the messages of an input. If the state has another form than
// messages, those of a person are input, too: a node of an agent stores the question.
void ClassicStream::send_new_messages(const std::string& space, ClassicFrame& frame,
                                      ClassicEvents& out) {
  Value::Array messages = std::exchange(frame.new_messages, Value::Array());
  if (frame.ended.empty() || !is_sent(space)) messages.clear();
  bool has_questions = !frame.state.find("messages");
  for (Value& message : messages) {
    bool is_question = has_questions && message["type"] == Value("human");
    if (is_question || was_streamed(message)) continue;
    std::string id = text_in(message, "id");
    sent_messages_.insert(id);
    Value metadata = message_metadata(place_of_message(space, frame, id));
    if (wants(StreamMode::messages)) {
      Value::Object each{{id, Value::object({{"metadata", metadata}})}};
      send("messages/metadata", space, Value(std::move(each)), out);
      frame.complete.push_back(message);
    }
    if (!wants(StreamMode::messages_tuple)) continue;
    Value::Array pair{std::move(message), std::move(metadata)};
    send("messages", space, Value(std::move(pair)), out);
  }
  if (space.empty()) streamed_texts_.clear();
}

void ClassicStream::send_complete(const std::string& space, ClassicFrame& frame,
                                  ClassicEvents& out) {
  for (Value& message : frame.complete) {
    send("messages/complete", space, Value(Value::Array{std::move(message)}), out);
  }
  frame.complete.clear();
}

}  // namespace belay::langgraph
