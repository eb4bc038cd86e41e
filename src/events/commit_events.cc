// CommitReporter: makes the events of a commit from its rows.
//
// Long on purpose: the order of a commit's events is defined in one place.

#include "events/commit_events.h"

#include "base/json_bytes.h"
#include "base/text_in.h"
#include "belay/limits.h"
#include "engine/next_task.h"
#include "engine/restore.h"

namespace belay {
namespace {

bool has_new_tasks(const EventFrame& frame, const CheckpointRow& now) {
  return !frame.newest || now.superstep > frame.newest->superstep;
}

std::uint64_t state_seq_of(const EventFrame& frame) {
  return frame.newest ? frame.newest->state_seq : 0;
}

// Commits of a subgraph that one read covers.
constexpr std::uint64_t inner_commits = 64;

}  // namespace

Result<Done> read_chosen(Snapshot& view, const RunOf& of, const CheckpointRow& now,
                         EventFrame& frame) {
  BELAY_TRY(engine::NextTasks next, engine::next_tasks_from(now.next_tasks));
  if (next.version) frame.is_exact = false;
  if (next.as_of) {
    bool is_known = frame.newest && frame.newest->superstep == now.superstep;
    if (is_known) return Done{};
    BELAY_TRY(auto chosen, checkpoint_at(view, of, frame.checkpoint_ns, *next.as_of));
    if (!chosen) {
      return error(ErrorCode::not_found,
                   "Commit " + std::to_string(*next.as_of) + " of the run has been pruned.");
    }
    BELAY_TRY(next, engine::next_tasks_from(chosen->next_tasks));
  }
  frame.tasks.clear();
  bool several = next.tasks.size() > 1;
  for (std::size_t i = 0; i < next.tasks.size(); ++i) {
    const engine::NodeTask& chosen = next.tasks[i];
    ChosenTask task;
    task.node = next.nodes[i];
    task.task = engine::task_id(of.run, frame.checkpoint_ns, next.superstep, task.node,
                                several ? std::optional(i) : std::nullopt);
    if (chosen.input) {
      BELAY_TRY(task.input, parse_json(*chosen.input));
    }
    task.attempt = chosen.attempt;
    task.due = chosen.due;
    task.failure = chosen.previous_error;
    frame.tasks.push_back(std::move(task));
  }
  return Done{};
}

Value defaults_of(const GraphDefinition& graph) {
  Value::Object state;
  std::shared_ptr<void> made = graph.state->make();
  for (const ChannelType& channel : graph.state->channels) {
    Encoder text;
    channel.encode(made.get(), text, nullptr);
    if (auto value = parse_json(text.text); value.ok()) state[channel.name] = *std::move(value);
  }
  return Value(std::move(state));
}

std::map<std::string, std::shared_ptr<const Value>> channels_of(Value state) {
  std::map<std::string, std::shared_ptr<const Value>> channels;
  Value::Object* members = state.as_object();
  if (!members) return channels;
  for (auto& [name, value] : *members) {
    channels.insert_or_assign(name, std::make_shared<const Value>(std::move(value)));
  }
  return channels;
}

std::size_t EventBatch::bytes() {
  constexpr std::size_t around = 300;  // ids and names
  for (; measured_ < events.size(); ++measured_) {
    bytes_ += around + json_bytes(events[measured_].body);
  }
  return bytes_;
}

StreamEvent* CommitReporter::next(EventKind kind, Instant at, const std::string& checkpoint_ns) {
  EventId id{seq_, index_++};
  if (is_cut_ || (place_.after && id <= *place_.after)) return nullptr;
  if (place_.wants(kind) && batch_.is_full()) {
    is_cut_ = true;
    return nullptr;
  }
  place_.after = id;
  if (!place_.wants(kind)) return nullptr;
  StreamEvent& event = batch_.events.emplace_back();
  event.id = id;
  event.kind = kind;
  event.thread = material_.run.thread;
  event.run = material_.run.run;
  event.checkpoint_ns = checkpoint_ns;
  event.at = at;
  return &event;
}

Result<Done> CommitReporter::report(const CheckpointRow& now, const Values& values) {
  BELAY_CHECK(tell_asked());
  return tell_frame(place_.frame, now, values, true);
}

Result<Done> CommitReporter::tell_asked() {
  for (const ApprovalRow& row : material_.approvals) {
    if (row.seq != seq_) continue;
    StreamEvent* event = next(EventKind::approvals, row.created_at);
    if (!event) continue;
    event->node = row.node;
    event->task = row.task;
    BELAY_TRY(Value payload, value_in(row.payload));
    event->body = Value::object({{"event", "asked"},
                                 {"interrupt", row.interrupt.text()},
                                 {"question", row.question},
                                 {"payload", std::move(payload)},
                                 {"payloadHash", to_hex(row.payload_hash)},
                                 {"roles", row.roles},
                                 {"expiresAt", expiry_value(row)}});
    BELAY_TRY(ApprovalTerms terms, terms_of(row));
    if (terms.is_plain()) continue;
    Value::Array choices;
    for (const ApprovalChoice& each : terms.choices) choices.emplace_back(each.name);
    event->body.as_object()->emplace("choices", std::move(choices));
  }
  return Done{};
}

// Reports a commit of the run's own graph or of a subgraph task, and the tasks that it schedules.
Result<Done> CommitReporter::tell_frame(EventFrame& frame, const CheckpointRow& now,
                                        const Values& values, bool is_root) {
  bool is_end = frame.newest && has_new_tasks(frame, now);
  if (is_end || is_final(now.status)) BELAY_CHECK(tell_inside(frame));
  if (is_end || is_final(now.status)) {
    for (const ChosenTask& task : frame.tasks) over_.insert(task.task);
  }
  if (is_end) tell_tasks(frame, now, "ended");
  if (is_root) {
    BELAY_CHECK(tell_answered(now));
    BELAY_CHECK(tell_stored(now));
  }
  BELAY_CHECK(tell_changes(frame, now, values));
  bool begins = has_new_tasks(frame, now);
  BELAY_CHECK(read_chosen(view_, place_.of, now, frame));
  if (now.kind == CommitKind::attempt) tell_tasks(frame, now, "attemptFailed");
  if (begins) tell_tasks(frame, now, "begun");
  BELAY_CHECK(tell_checkpoint(frame, now, is_root));
  BELAY_CHECK(tell_all(frame, now, values));
  bool is_news = !frame.newest || frame.newest->status != now.status;
  if (is_root && is_news) tell_status(now);
  frame.newest = now;
  return Done{};
}

// Reports the commits of the subgraphs that the tasks of `outer` have executed.
Result<Done> CommitReporter::tell_inside(const EventFrame& outer) {
  for (const ChosenTask& task : outer.tasks) {
    const GraphDefinition::Node* node = outer.graph ? outer.graph->find(task.node) : nullptr;
    if (node && !node->subgraph && outer.is_exact) continue;
    EventFrame inner;
    if (node && node->subgraph) inner.graph = node->subgraph->graph;
    inner.is_exact = outer.is_exact;
    inner.checkpoint_ns = engine::inner_checkpoint_ns(outer.checkpoint_ns, task.node, task.task);
    BELAY_CHECK(tell_space(std::move(inner)));
  }
  return Done{};
}

Result<Done> CommitReporter::tell_space(EventFrame frame) {
  if (frame.graph && place_.wants(EventKind::values)) {
    frame.state = channels_of(defaults_of(*frame.graph));
  }
  ValuesAhead ahead(view_, place_.of, frame.checkpoint_ns, place_.commits_ahead);
  while (!is_cut_) {
    std::uint64_t from = frame.newest ? frame.newest->seq : 0;
    BELAY_TRY(auto commits,
              checkpoints_after(view_, place_.of, frame.checkpoint_ns, from, inner_commits));
    if (commits.empty()) break;
    for (std::size_t i = 0; i < commits.size() && !is_cut_; ++i) {
      BELAY_TRY(Values values, ahead.of_commit(state_seq_of(frame), commits, i));
      BELAY_CHECK(tell_frame(frame, commits[i], values, false));
    }
  }
  // The subgraph task might have been abandoned before its end: its own subgraphs are still to be
  // reported.
  BELAY_CHECK(tell_inside(frame));
  for (const ChosenTask& task : frame.tasks) over_.insert(task.task);
  return Done{};
}

void CommitReporter::tell_tasks(const EventFrame& frame, const CheckpointRow& now,
                                std::string_view what) {
  for (std::size_t i = 0; i < frame.tasks.size(); ++i) {
    StreamEvent* event = next(EventKind::tasks, now.created_at, frame.checkpoint_ns);
    if (!event) continue;
    const ChosenTask& task = frame.tasks[i];
    event->node = task.node;
    event->task = task.task;
    Value::Object body{{"event", what}, {"position", static_cast<std::uint64_t>(i)}};
    if (what == "begun") {
      body["superstep"] = now.superstep;
      if (task.input) body["input"] = *task.input;
    } else {
      body["superstep"] = frame.newest->superstep;
    }
    if (what == "attemptFailed") {
      body["attempt"] = task.attempt - 1;
      body["due"] = to_text(task.due);
      if (task.failure) {
        body["error"] = Value::object(
            {{"code", name_of(task.failure->code)}, {"message", task.failure->message}});
      }
    }
    event->body = Value(std::move(body));
  }
}

// Reports approvals whose superstep is over, or that the end of the run has closed.
Result<Done> CommitReporter::tell_answered(const CheckpointRow& now) {
  if (over_.empty()) return Done{};
  for (const ApprovalRow& row : material_.approvals) {
    if (row.seq > seq_ || !over_.contains(row.task)) continue;
    // A closed approval can have the time of its latest vote.
    bool was_decided = row.decided_at != Instant() && row.status != ApprovalStatus::closed;
    Instant at = was_decided ? row.decided_at : now.created_at;
    StreamEvent* event = next(EventKind::approvals, at);
    if (!event) continue;
    event->node = row.node;
    event->task = row.task;
    Value::Object body{{"event", name_of(row.status)},
                       {"interrupt", row.interrupt.text()},
                       {"decidedBy", row.decided_by},
                       {"comment", row.comment}};
    if (!row.on_behalf_of.empty()) body["onBehalfOf"] = row.on_behalf_of;
    BELAY_TRY(ApprovalReply reply, reply_of(row));
    if (reply.edited) body["edited"] = *std::move(reply.edited);
    if (!reply.choice.empty()) body["choice"] = std::move(reply.choice);
    if (!reply.answer.is_null()) body["answer"] = std::move(reply.answer);
    event->body = Value(std::move(body));
  }
  return Done{};
}

// Reports the streamed texts and custom events that nodes have stored with the commit.
Result<Done> CommitReporter::tell_stored(const CheckpointRow& now) {
  for (const EventRow& row : material_.events) {
    if (row.seq != seq_ || row.index == 0) continue;
    bool is_text = row.type == "message";
    StreamEvent* event = next(is_text ? EventKind::messages : EventKind::custom, now.created_at);
    if (!event) continue;
    BELAY_TRY(Value body, parse_json(row.body));
    if (!is_text) {
      event->body = std::move(body);
      continue;
    }
    event->node = text_in(body, "node");
    event->checkpoint_ns = text_in(body, "space");
    if (auto task = uuid_from(text_in(body, "task"))) event->task = TaskId(*task);
    event->attempt = static_cast<int>(body["attempt"].as_int().value_or(1));
    event->body = Value::object({{"text", body["text"]}});
  }
  return Done{};
}

Result<Done> CommitReporter::tell_changes(EventFrame& frame, const CheckpointRow& now,
                                          const Values& values) {
  // One event for each task with writes, and one for the values of the superstep as a whole.
  std::map<std::int64_t, Values> by_task;
  for (const ValueRow* row : values) by_task[row->index].push_back(row);
  for (const auto& [index, rows] : by_task) {
    StreamEvent* event = next(EventKind::updates, now.created_at, frame.checkpoint_ns);
    if (!event) continue;
    auto position = static_cast<std::size_t>(index);
    if (position < frame.tasks.size()) {
      event->node = frame.tasks[position].node;
      event->task = frame.tasks[position].task;
    }
    Value::Object channels;
    for (const ValueRow* row : rows) {
      BELAY_TRY(Value value, value_in(row->envelope));
      channels.insert_or_assign(
          row->channel, Value::object({{"kind", name_of(row->kind)}, {"value", std::move(value)}}));
    }
    event->body = Value::object({{"channels", std::move(channels)}});
  }
  if (values.empty() && frame.newest) return Done{};
  if (place_.wants(EventKind::values)) {
    for (const auto& [index, rows] : by_task) {
      for (const ValueRow* row : rows) {
        if (row->kind == WriteOp::reduce) continue;
        BELAY_TRY(Value value, value_in(row->envelope));
        std::shared_ptr<const Value>& channel = frame.state[row->channel];
        Value folded = channel && row->kind != WriteOp::set ? *channel : Value();
        engine::fold(row->kind, std::move(value), folded);
        channel = std::make_shared<const Value>(std::move(folded));
      }
    }
  }
  if (StreamEvent* event = next(EventKind::values, now.created_at, frame.checkpoint_ns)) {
    Value::Object state;
    for (const auto& [name, value] : frame.state) state.emplace(name, *value);
    event->body = Value(std::move(state));
  }
  return Done{};
}

// Returns the members of the commit's own event that its checkpoint does not have; null if there is
// no such event.
Result<Value> CommitReporter::own_detail() const {
  for (const EventRow& row : material_.events) {
    if (row.seq != seq_ || row.index != 0) continue;
    BELAY_TRY(Value detail, parse_json(row.body));
    if (detail.as_object()) {
      detail.as_object()->erase("status");
      detail.as_object()->erase("node");
    }
    return detail;
  }
  return Value();
}

Result<Done> CommitReporter::tell_checkpoint(const EventFrame& frame, const CheckpointRow& now,
                                             bool is_root) {
  if (StreamEvent* event = next(EventKind::checkpoints, now.created_at, frame.checkpoint_ns)) {
    event->node = now.node;
    Value::Array goes_on;
    for (const ChosenTask& task : frame.tasks) goes_on.emplace_back(task.node);
    Value::Object body{{"checkpoint", now.id.text()},
                       {"parent", now.parent.is_null() ? Value() : Value(now.parent.text())},
                       {"seq", now.seq},
                       {"kind", name_of(now.kind)},
                       {"superstep", now.superstep},
                       {"status", name_of(now.status)},
                       {"retryCount", now.retry_count},
                       {"epoch", now.epoch},
                       {"hash", to_hex(now.chain_hash)},
                       {"next", std::move(goes_on)}};
    if (is_root) {
      BELAY_TRY(Value detail, own_detail());
      if (!detail.is_null()) body["detail"] = std::move(detail);
    }
    event->body = Value(std::move(body));
  }
  return Done{};
}

Result<Done> CommitReporter::tell_all(const EventFrame& frame, const CheckpointRow& now,
                                      const Values& values) {
  StreamEvent* event = next(EventKind::debug, now.created_at, frame.checkpoint_ns);
  if (!event) return Done{};
  event->node = now.node;
  Value::Array writes;
  for (const ValueRow* row : values) {
    BELAY_TRY(std::string_view text, json_in_envelope(row->envelope));
    writes.push_back(Value::object({{"channel", row->channel},
                                    {"seq", row->seq},
                                    {"index", row->index},
                                    {"kind", name_of(row->kind)},
                                    {"bytes", static_cast<std::uint64_t>(text.size())}}));
  }
  BELAY_TRY(Value tasks, parse_json(now.next_tasks));
  event->body =
      Value::object({{"checkpoint", now.id.text()},
                     {"stateSeq", now.state_seq},
                     {"session", now.session.is_null() ? Value() : Value(now.session.text())},
                     {"tasks", std::move(tasks)},
                     {"writes", std::move(writes)}});
  return Done{};
}

void CommitReporter::tell_status(const CheckpointRow& now) {
  StreamEvent* event = next(EventKind::status, now.created_at);
  if (!event) return;
  event->node = now.node;
  Value::Object body{{"status", name_of(now.status)}};
  // Only the last commit may use the run's row: it does not change after the end, so that every
  // read yields the same event.
  const RunRow& run = material_.run;
  if (is_final(now.status) && run.seq == now.seq) {
    if (!run.outcome.empty()) body["outcome"] = run.outcome;
    if (!run.error.empty()) {
      body["error"] = Value::object({{"code", run.error_code}, {"message", run.error}});
    }
  }
  event->body = Value(std::move(body));
}

}  // namespace belay
