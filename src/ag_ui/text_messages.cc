// EventTranslator: the texts that nodes stream, as messages.

#include "ag_ui/event_translator.h"
#include "ag_ui/event_value.h"
#include "base/text_in.h"

namespace belay::ag_ui {
namespace {

bool is_inside_character(std::string_view text, std::uint64_t offset) {
  return offset < text.size() && (static_cast<unsigned char>(text[offset]) & 0xC0) == 0x80;
}

// Returns the text after the first bytes, which the client has received.
std::string rest_of(std::string_view text, std::uint64_t bytes) {
  while (is_inside_character(text, bytes)) ++bytes;
  return bytes < text.size() ? std::string(text.substr(bytes)) : std::string();
}

}  // namespace

std::string EventTranslator::message_id(const TaskId& task, int attempt) const {
  std::string id = task.text();
  if (attempt > 1) id += "-" + std::to_string(attempt);
  auto replaced = position_.replaced.find(std::pair(task, attempt));
  if (replaced != position_.replaced.end()) id += "-r" + std::to_string(replaced->second + 1);
  if (segment_.after > 0) id += "." + std::to_string(segment_.after);
  return id;
}

// Ends the message of a text that will not be completed. The event has the position before it, with
// one open text less.
void EventTranslator::end_open_text(OpenTexts::iterator text) {
  std::string id = message_id(text->first, text->second.attempt);
  position_.open.erase(text);
  out_.push_back({position_, event_of("TEXT_MESSAGE_END", {{"messageId", id}})});
}

// Ends the message of a text that the new text of the attempt, another message, does not continue.
void EventTranslator::replace_open_text(OpenTexts::iterator text) {
  TaskId task = text->first;
  int attempt = text->second.attempt;
  std::string id = message_id(task, attempt);
  position_.open.erase(text);
  ++position_.replaced[std::pair(task, attempt)];
  out_.push_back(
      {position_, event_of("TEXT_MESSAGE_END",
                           {{"messageId", id}, {"metadata", belay_metadata("isReplaced", true)}})});
}

// Ends the message of a text that the durable text of the task does not continue.
void EventTranslator::end_void_text(const StreamEvent& event) {
  live_.erase(event.task);
  auto open = position_.open.find(event.task);
  if (open == position_.open.end()) return;
  if (open->second.attempt < event.attempt) {
    end_open_text(open);
  } else if (!goes_on(open->second, text_in(event.body, "text"))) {
    replace_open_text(open);
  }
}

OpenTexts::iterator EventTranslator::begin_text(const StreamEvent& event) {
  OpenText none{event.attempt, 0, hash_of_nothing};
  auto open = position_.open.emplace(event.task, none).first;
  std::string id = message_id(event.task, event.attempt);
  out_.push_back(
      {position_, event_of("TEXT_MESSAGE_START", {{"messageId", id}, {"role", "assistant"}})});
  return open;
}

// The reader sends the text of an attempt from its first byte, and again from there if another
// process repeats the attempt.
void EventTranslator::take_delta(const StreamEvent& event) {
  std::string text = text_in(event.body, "text");
  auto open = position_.open.find(event.task);
  if (open != position_.open.end() && open->second.attempt > event.attempt) return;
  if (open != position_.open.end() && open->second.attempt < event.attempt) {
    end_open_text(open);
    open = position_.open.end();
  }
  LiveText& live = live_[event.task];
  if (live.attempt != event.attempt) live = LiveText{event.attempt};
  bool is_repeated = event.offset == 0 && live.bytes > 0;
  if (is_repeated) {
    bool is_sent = open != position_.open.end() && open->second.bytes > 0 && live.is_checked;
    if (is_sent) {
      replace_open_text(open);
      open = position_.open.end();
    }
    live = LiveText{event.attempt};
  }
  // A part is missing: the durable text has it.
  if (event.offset != live.bytes) return;
  live.bytes += text.size();
  if (open == position_.open.end()) open = begin_text(event);
  if (live.is_checked) return send_text(open, text, event.offset);
  live.held += text;
  if (live.held.size() < open->second.bytes) return;
  if (!goes_on(open->second, live.held)) {
    replace_open_text(open);
    open = begin_text(event);
  }
  open->second.hash = hash_of_text(std::string_view(live.held).substr(0, open->second.bytes));
  live.is_checked = true;
  send_text(open, std::exchange(live.held, {}), 0);
}

// Sends the part of the text that the client has not received. `offset`: of its first byte.
void EventTranslator::send_text(OpenTexts::iterator open, std::string_view text,
                                std::uint64_t offset) {
  OpenText& sent = open->second;
  if (offset > sent.bytes) return;
  std::uint64_t known = sent.bytes - offset;
  std::string fresh = rest_of(text, known);
  if (fresh.empty()) return;
  sent.hash = hash_of_text(text.substr(known), *sent.hash);
  sent.bytes = offset + text.size();
  std::string id = message_id(open->first, sent.attempt);
  out_.push_back(
      {position_, event_of("TEXT_MESSAGE_CONTENT", {{"messageId", id}, {"delta", fresh}})});
}

// The whole text of a node. Its parts have fixed numbers, whether the client has received a
// beginning or not.
void EventTranslator::take_text(const StreamEvent& event) {
  std::string text = text_in(event.body, "text");
  std::string id = message_id(event.task, event.attempt);
  if (!text.empty()) streamed_.insert_or_assign(sha256(text), id);
  if (is_silent_) return;
  auto open = position_.open.find(event.task);
  bool is_open = open != position_.open.end();
  std::uint64_t known = is_open ? open->second.bytes : 0;
  if (!is_open && text.empty()) return;
  std::string rest = rest_of(text, known);
  if (is_open) {
    ++next_part_;
    position_.open.erase(open);
  } else {
    emit(event_of("TEXT_MESSAGE_START", {{"messageId", id}, {"role", "assistant"}}));
  }
  if (rest.empty()) {
    ++next_part_;
  } else {
    emit(event_of("TEXT_MESSAGE_CONTENT", {{"messageId", id}, {"delta", std::move(rest)}}));
  }
  emit(event_of("TEXT_MESSAGE_END", {{"messageId", id}}));
}

}  // namespace belay::ag_ui
