#include "ag_ui/event_translator.h"

#include <algorithm>

#include "ag_ui/chat_messages.h"
#include "ag_ui/event_value.h"
#include "ag_ui/interrupts.h"
#include "ag_ui/json_patch.h"
#include "base/json_bytes.h"
#include "base/text_in.h"

namespace belay::ag_ui {
namespace {

constexpr std::string_view kProtocolVersion = "1.0";

// The id of the message of an entry until a MESSAGES_SNAPSHOT names it by the id of the entry.
// Clients keep messages of known ids in their places, before all others: if only some of the ids
// were known, the conversation would be out of order.
std::string live_id(const conversation::ChatEntry& entry) { return "live-" + entry.id; }

std::int64_t milliseconds_of(Instant at) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
}

Value outcome_of(std::string_view type) { return Value::object({{"type", type}}); }

// Returns the key of a task's step: tasks of subgraphs have the same ids in different namespaces.
std::string step_key(const StreamEvent& event) {
  return event.checkpoint_ns + "/" + event.task.text();
}

}  // namespace

std::vector<EventKind> translated_kinds() {
  return {EventKind::status, EventKind::values, EventKind::messages,
          EventKind::custom, EventKind::tasks,  EventKind::approvals};
}

EventTranslator::EventTranslator(Segment segment, EntriesOf entries_of,
                                 std::optional<StreamPosition> received)
    : segment_(std::move(segment)),
      entries_of_(std::move(entries_of)),
      received_(std::move(received)) {
  if (!received_) return;
  position_.open = received_->open;
  position_.replaced = received_->replaced;
}

// Adds an event, unless the client has received it.
void EventTranslator::emit(Value event) {
  if (is_silent_) return;
  position_.part = next_part_++;
  StreamPosition& now = position_;
  if (received_ && std::pair(now.event, now.part) <= std::pair(received_->event, received_->part)) {
    return;
  }
  if (!at_.is_null()) event.as_object()->insert_or_assign("timestamp", at_);
  out_.push_back({now, std::move(event)});
}

void EventTranslator::emit_text(const std::string& id, const std::string& text) {
  emit(event_of("TEXT_MESSAGE_START", {{"messageId", id}, {"role", "assistant"}}));
  emit(event_of("TEXT_MESSAGE_CONTENT", {{"messageId", id}, {"delta", text}}));
  emit(event_of("TEXT_MESSAGE_END", {{"messageId", id}}));
}

AgUiEvents EventTranslator::begin() {
  if (segment_.after == 0) begin_segment();
  return std::exchange(out_, {});
}

void EventTranslator::begin_segment() {
  has_begun_ = true;
  is_silent_ = false;
  position_.event = EventId{segment_.after, 0};
  next_part_ = 0;
  at_ = Value();
  Value about = belay_metadata("runId", segment_.run.text());
  emit(event_of("RUN_STARTED", {{"threadId", segment_.thread},
                                {"runId", segment_.run_id},
                                {"protocolVersion", kProtocolVersion},
                                {"metadata", std::move(about)}}));
  if (!state_.is_null()) emit(event_of("STATE_SNAPSHOT", {{"snapshot", state_}}));
  for (const auto& [task, step] : open_steps_) {
    emit(event_of("STEP_STARTED", {{"stepName", step}}));
  }
}

AgUiEvents EventTranslator::translate(const StreamEvent& event) {
  has_paused_ = false;
  if (has_ended_) return {};
  if (!event.id) {
    if (has_begun_ && event.kind == EventKind::messages) take_delta(event);
    return std::exchange(out_, {});
  }
  is_silent_ = is_before_segment(*event.id);
  if (!is_silent_ && !has_begun_) begin_segment();
  // The ends of texts, which have no part, keep the position before this event.
  StreamPosition before = position_;
  at_ = milliseconds_of(event.at);
  if (event.kind == EventKind::messages && !is_silent_) end_void_text(event);
  bool is_end = event.kind == EventKind::status && !is_silent_;
  auto status = text_in(event.body, "status");
  if (is_end && (status == "completed" || status == "cancelled")) {
    while (!position_.open.empty()) end_open_text(position_.open.begin());
  }
  if (!is_silent_) position_.event = *event.id;
  next_part_ = 0;
  switch (event.kind) {
    case EventKind::messages:
      take_text(event);
      break;
    case EventKind::values:
      if (event.checkpoint_ns.empty()) take_values(event);
      break;
    case EventKind::tasks:
      take_task(event);
      break;
    case EventKind::approvals:
      take_approval(event);
      break;
    case EventKind::custom:
      emit(event_of("CUSTOM",
                    {{"name", text_in(event.body, "name")}, {"value", event.body["body"]}}));
      break;
    case EventKind::status:
      take_status(event);
      break;
    default:
      break;
  }
  // An event that nothing is made from does not move the position.
  if (!is_silent_ && next_part_ == 0) {
    position_.event = before.event;
    position_.part = before.part;
  }
  return std::exchange(out_, {});
}

// Ends what must be closed before the end of the segment.
void EventTranslator::end_open_parts() {
  for (auto step = open_steps_.rbegin(); step != open_steps_.rend(); ++step) {
    emit(event_of("STEP_FINISHED", {{"stepName", step->second}}));
  }
}

void EventTranslator::take_values(const StreamEvent& event) {
  bool is_first = state_.is_null();
  Value::Array patch = is_first ? Value::Array() : json_patch(state_, event.body);
  if (!is_first && patch.empty()) return;
  state_ = event.body;
  Value delta(std::move(patch));
  if (is_first || json_bytes(delta) > json_bytes(state_)) {
    emit(event_of("STATE_SNAPSHOT", {{"snapshot", state_}}));
  } else {
    emit(event_of("STATE_DELTA", {{"delta", std::move(delta)}}));
  }
  if (!is_first) return take_entries(false);
  // The entries of the earlier runs of the thread.
  for (const conversation::ChatEntry& entry : entries_of_(state_, false)) {
    known_entries_.insert(entry.id);
    for (const conversation::ChatCall& call : entry.calls) known_calls_.insert(call.id);
  }
}

void EventTranslator::take_entries(bool ended) {
  for (const conversation::ChatEntry& entry : entries_of_(state_, ended)) {
    if (known_entries_.insert(entry.id).second) take_entry(entry);
  }
}

void EventTranslator::take_entry(const conversation::ChatEntry& entry) {
  if (entry.author == conversation::Author::tool) {
    Value::Object members{{"messageId", live_id(entry)},
                          {"toolCallId", entry.call_id},
                          {"content", entry.text},
                          {"role", "tool"}};
    if (entry.is_error) {
      members.emplace("metadata", belay_metadata("isError", true));
    }
    emit(event_of("TOOL_CALL_RESULT", std::move(members)));
    return;
  }
  if (entry.author != conversation::Author::agent) return;
  auto streamed = entry.text.empty() ? streamed_.end() : streamed_.find(sha256(entry.text));
  std::string parent = streamed == streamed_.end() ? live_id(entry) : streamed->second;
  bool is_sent = entry.text.empty() || streamed != streamed_.end();
  if (!is_sent) emit_text(parent, entry.text);
  for (const conversation::ChatCall& call : entry.calls) {
    known_calls_.insert(call.id);
    emit(event_of(
        "TOOL_CALL_START",
        {{"toolCallId", call.id}, {"toolCallName", call.tool}, {"parentMessageId", parent}}));
    emit(event_of("TOOL_CALL_ARGS", {{"toolCallId", call.id}, {"delta", to_json(call.arguments)}}));
    emit(event_of("TOOL_CALL_END", {{"toolCallId", call.id}}));
  }
}

void EventTranslator::take_task(const StreamEvent& event) {
  std::string what = text_in(event.body, "event");
  if (what == "attemptFailed") return take_failed_attempt(event);
  std::string key = step_key(event);
  auto is_of_task = [&key](const auto& each) { return each.first == key; };
  auto open = std::find_if(open_steps_.begin(), open_steps_.end(), is_of_task);
  bool is_end = what == "ended";
  if (is_end == (open == open_steps_.end())) return;
  if (is_end) {
    std::string name = open->second;
    open_steps_.erase(open);
    return emit(event_of("STEP_FINISHED", {{"stepName", name}}));
  }
  // The name of an open step must be unique.
  std::string name = event.node;
  auto is_named = [&name](const auto& each) { return each.second == name; };
  for (int i = 2; std::any_of(open_steps_.begin(), open_steps_.end(), is_named); ++i) {
    name = event.node + " " + std::to_string(i);
  }
  open_steps_.emplace_back(std::move(key), name);
  emit(event_of("STEP_STARTED", {{"stepName", name}}));
}

void EventTranslator::take_failed_attempt(const StreamEvent& event) {
  Value::Object value;
  for (std::string_view member : {"attempt", "error", "due"}) {
    if (const Value* found = event.body.find(member)) value.emplace(member, *found);
  }
  auto attempt = event.body["attempt"].as_int().value_or(1);
  value.emplace("node", event.node);
  value.emplace("messageId", message_id(event.task, static_cast<int>(attempt)));
  emit(event_of("CUSTOM", {{"name", "belay:attempt_failed"}, {"value", Value(std::move(value))}}));
}

void EventTranslator::take_approval(const StreamEvent& event) {
  auto id = uuid_from(text_in(event.body, "interrupt"));
  if (!id || segment_.answered.contains(InterruptId(*id))) return;
  if (event.body["event"] == Value("asked")) {
    asked_.push_back(InterruptId(*id));
  } else {
    std::erase(asked_, InterruptId(*id));
  }
}

// Begins a segment that has only voted, at the pause where the run waits.
void EventTranslator::begin_at_pause(const StreamEvent& event) {
  bool waits = segment_.has_only_votes && !has_begun_ && event.id->seq == segment_.after &&
               text_in(event.body, "status") == "paused" && !asked_.empty();
  if (!waits) return;
  // The others were decided until then.
  std::erase_if(asked_, [&](const InterruptId& id) { return !segment_.left_open.contains(id); });
  begin_segment();
  has_paused_ = true;
}

void EventTranslator::take_status(const StreamEvent& event) {
  if (is_silent_) return begin_at_pause(event);
  std::string status = text_in(event.body, "status");
  has_paused_ = status == "paused" && !asked_.empty();
  has_ended_ = status == "completed" || status == "cancelled" || status == "failed" ||
               status == "quarantined";
  if (!has_ended_) return;
  if (status == "failed" || status == "quarantined") {
    const Value& failure = event.body["error"];
    std::string message = text_in(failure, "message");
    if (message.empty()) message = "The run is " + status + ".";
    std::string code = text_in(failure, "code");
    if (code.empty()) code = status;
    emit(event_of("RUN_ERROR", {{"message", std::move(message)}, {"code", std::move(code)}}));
    return;
  }
  end_open_parts();
  Value::Object members{{"threadId", segment_.thread}, {"runId", segment_.run_id}};
  if (status == "cancelled") {
    members.emplace("outcome", outcome_of("cancelled"));
  } else {
    // A state that is not a conversation is shown as a text, unless the run has streamed one.
    if (streamed_.empty()) take_entries(true);
    Value messages = chat_messages(entries_of_(state_, true));
    if (!messages.is_null()) {
      emit(event_of("MESSAGES_SNAPSHOT", {{"messages", std::move(messages)}}));
    }
    members.emplace("outcome", outcome_of("success"));
    std::string outcome = text_in(event.body, "outcome");
    if (!outcome.empty()) members.emplace("result", Value::object({{"outcome", outcome}}));
  }
  emit(event_of("RUN_FINISHED", std::move(members)));
}

bool EventTranslator::is_open_at(const ApprovalRow& approval, Instant pause) const {
  if (approval.status == ApprovalStatus::open) return true;
  return approval.decided_at >= pause && approval.decided_at > segment_.decided_at;
}

AgUiEvents EventTranslator::interrupted(const StreamEvent& pause,
                                        const std::vector<ApprovalRow>& open) {
  has_paused_ = false;
  has_ended_ = true;
  while (!position_.open.empty()) end_open_text(position_.open.begin());
  position_.event = *pause.id;
  next_part_ = 0;
  at_ = milliseconds_of(pause.at);
  end_open_parts();
  Value::Array interrupts;
  ShownVotes shown{pause.at, segment_.voted_at};
  for (const ApprovalRow& row : open) {
    interrupts.push_back(interrupt_of(row, known_calls_, shown));
  }
  Value outcome =
      Value::object({{"type", "interrupt"}, {"interrupts", Value(std::move(interrupts))}});
  emit(event_of("RUN_FINISHED", {{"threadId", segment_.thread},
                                 {"runId", segment_.run_id},
                                 {"outcome", std::move(outcome)}}));
  return std::exchange(out_, {});
}

}  // namespace belay::ag_ui
