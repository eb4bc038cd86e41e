#include "engine/checkpoint.h"

#include <algorithm>

#include "belay/limits.h"
#include "engine/next_task.h"

namespace belay::engine {
namespace {

void append_word(std::string& out, std::uint64_t word) {
  for (int shift = 0; shift < 64; shift += 8) out.push_back(static_cast<char>(word >> shift));
}

void append_sized(std::string& out, std::string_view text) {
  append_word(out, text.size());
  out += text;
}

void append_digest(std::string& out, const Digest& digest) {
  out.append(reinterpret_cast<const char*>(digest.data()), digest.size());
}

void write_value(const Run& run, std::uint64_t seq, StepValue& value, CommitRows& rows) {
  add_version(*value.channel, seq, value.kind, value.text);
  if (value.is_stored) return;
  ValueRow row = value_row(run, seq);
  row.channel = value.channel->name;
  row.index = value.index;
  row.kind = value.kind;
  row.envelope = json_envelope(value.text);
  rows.values.push_back(std::move(row));
}

EventRow event_row(const Run& run, std::int64_t index, std::string type, std::string body) {
  EventRow event;
  event.run = run.row.run;
  event.seq = run.row.seq;
  event.index = index;
  event.type = std::move(type);
  event.body = std::move(body);
  event.created_at = run.row.updated_at;
  return event;
}

// The body of the step's own event (index 0).
std::string step_event_body(const Run& run, const Step& step) {
  Encoder out;
  out.text += '{';
  out.write_name("status", true);
  out.write(name_of(run.row.status));
  if (!step.node.empty()) {
    out.write_name("node", false);
    out.write(std::string_view(step.node));
  }
  if (const Value::Object* details = step.detail.as_object()) {
    for (const auto& [name, value] : *details) {
      out.write_name(name, false);
      write_json(value, out.text);
    }
  }
  out.text += '}';
  return std::move(out.text);
}

// Adds the events of the step. Its own event is stored only if the checkpoint does not contain all.
void add_events(const Run& run, Step& step, CommitRows& rows) {
  if (!step.detail.is_null()) {
    rows.events.push_back(
        event_row(run, 0, std::string(name_of(step.kind)), step_event_body(run, step)));
  }
  std::int64_t index = 1;
  for (NodeEffects::CustomEvent& custom : step.effects.events) {
    Value body = std::move(custom.body);
    if (custom.type == "custom") {
      body = Value::object({{"name", std::move(custom.name)}, {"body", std::move(body)}});
    }
    rows.events.push_back(event_row(run, index++, std::move(custom.type), to_json(body)));
  }
}

void add_messages(const Run& run, Step& step, CommitRows& rows) {
  std::int64_t index = 0;
  for (NodeEffects::Message& message : step.effects.messages) {
    OutboxRow row;
    row.run = run.row.run;
    row.seq = run.row.seq;
    row.index = index++;
    row.topic = std::move(message.topic);
    row.envelope = json_envelope(to_json(message.body));
    row.due_at = run.row.updated_at;
    row.created_at = run.row.updated_at;
    rows.outbox.push_back(std::move(row));
  }
}

CheckpointRow checkpoint_row(const Run& run, const Step& step, const CheckpointId& parent,
                             std::string next_tasks) {
  CheckpointRow row;
  row.id = run.row.checkpoint;
  row.parent = parent;
  row.run = run.row.run;
  row.checkpoint_ns = run.checkpoint_ns;
  row.seq = run.row.seq;
  row.state_seq = run.state_seq;
  row.epoch = run.row.epoch;
  row.session = run.row.session;
  row.kind = step.kind;
  row.node = step.node;
  row.superstep = run.superstep;
  row.next_tasks = std::move(next_tasks);
  row.retry_count = run.row.retry_count;
  row.status = run.row.status;
  row.created_at = run.row.updated_at;
  return row;
}

// Adds the working time since the last step and advances the run's clock, which never goes back.
// Working time is measured with the clock of this process, even if an earlier owner's clock was
// ahead of it.
void pass_time(Run& run, const Moment& moment) {
  if (run.working_since != Instant()) {
    auto worked = std::max(moment.now - run.working_since, Instant::duration::zero());
    run.row.worked_ms += std::chrono::duration_cast<milliseconds>(worked).count();
  }
  run.working_since = moment.now;
  run.row.updated_at = std::max(moment.now, run.row.updated_at);
}

// Raises the run's seq and sets its checkpoint to the id of the commit. Ids of checkpoints strictly
// increase within a run, whatever the clock does.
void next_checkpoint(Run& run, const Moment& moment) {
  ++run.row.seq;
  std::uint64_t ticks = uuid_ticks(run.row.updated_at);
  if (!run.row.checkpoint.is_null()) ticks = std::max(ticks, uuid_ticks(run.row.checkpoint) + 1);
  run.row.checkpoint = CheckpointId(time_ordered_uuid(ticks, moment.entropy));
}

}  // namespace

Result<Done> add_set_values(const GraphDefinition& graph, Run& run, Step& step) {
  if (step.set.empty()) return Done{};
  auto index = static_cast<std::int64_t>(step.values.empty() ? 0 : step.values.back().index + 1);
  // A deferred step can have ended a superstep with pending writes; its values must sort last.
  if (run.options.durability == Durability::exit) {
    index = static_cast<std::int64_t>(limits::superstep_tasks_max);
  }
  for (ChannelVersion& channel : run.channels) {
    if (std::find(step.set.begin(), step.set.end(), channel.index) == step.set.end()) continue;
    if (is_transient(graph, channel.index)) continue;
    BELAY_TRY(std::string text, channel_text(graph, run, channel));
    std::erase_if(step.values, [&](const StepValue& value) {
      return value.channel == &channel && !value.is_stored && value.kind == WriteOp::set;
    });
    step.values.push_back({&channel, WriteOp::set, index, std::move(text), false});
  }
  return Done{};
}

Commit end_step(Run& run, Step step, const Moment& moment, std::uint64_t guard_epoch) {
  bool is_inner = !run.checkpoint_ns.empty();
  Commit commit;
  commit.tenant = run.row.tenant;
  if (!is_inner) commit.run_guard = RunGuard{guard_epoch, run.row.seq, {}};
  pass_time(run, moment);
  CheckpointId parent = run.row.checkpoint;
  next_checkpoint(run, moment);

  std::uint64_t values_seq = run.state_seq + 1;
  for (StepValue& each : step.values) write_value(run, values_seq, each, commit.rows);
  if (!step.is_midway) {
    run.state_seq = run.row.seq;
    run.pending_superstep.reset();
    run.tasks_seq = run.row.seq;
  }
  CheckpointRow checkpoint =
      checkpoint_row(run, step, parent, next_tasks_text(run, !step.is_midway));
  run.chain_hash = chain_hash(run.chain_hash, checkpoint, run.channels);
  checkpoint.chain_hash = run.chain_hash;
  if (is_inner) {
    commit.rows.inner_checkpoints.push_back(std::move(checkpoint));
    return commit;
  }
  commit.rows.checkpoint = std::move(checkpoint);
  for (RecordWrite& record : step.effects.records) {
    commit.rows.records.push_back(record_put(std::move(record)));
  }
  add_events(run, step, commit.rows);
  add_messages(run, step, commit.rows);
  commit.rows.run = run.row;
  return commit;
}

Commit quarantine_step(Run& run, CheckpointRow newest, std::string reason, const Moment& moment) {
  Commit commit;
  commit.tenant = run.row.tenant;
  commit.run_guard = RunGuard{run.row.epoch, run.row.seq, {}};
  pass_time(run, moment);
  run.row.checkpoint = newest.id;
  next_checkpoint(run, moment);
  ++run.row.epoch;
  run.row.status = RunStatus::quarantined;
  run.row.reason = std::move(reason);
  run.row.session = SessionId();
  run.row.due_at = Instant();
  CheckpointRow checkpoint = std::move(newest);
  checkpoint.parent = checkpoint.id;
  checkpoint.id = run.row.checkpoint;
  checkpoint.kind = CommitKind::quarantine;
  checkpoint.seq = run.row.seq;
  checkpoint.epoch = run.row.epoch;
  checkpoint.session = SessionId();
  checkpoint.status = RunStatus::quarantined;
  checkpoint.created_at = run.row.updated_at;
  commit.rows.checkpoint = std::move(checkpoint);
  commit.rows.run = run.row;
  return commit;
}

RecordPut record_put(RecordWrite record) {
  RecordPut put;
  put.collection = std::move(record.collection);
  if (!record.is_of_tenant) put.user = std::move(record.user);
  put.key = std::move(record.key);
  if (!record.erase) put.envelope = json_envelope(record.json);
  put.indexed = std::move(record.indexed);
  put.expires_at = record.expires_at;
  put.expected_version = record.expected_version;
  return put;
}

Digest chain_hash(const Digest& parent, const CheckpointRow& checkpoint,
                  const std::vector<ChannelVersion>& channels) {
  std::string bytes;
  bytes.reserve(256 + 64 * channels.size());
  append_digest(bytes, parent);
  append_word(bytes, checkpoint.seq);
  append_word(bytes, checkpoint.epoch);
  if (checkpoint.state_seq != checkpoint.seq) append_word(bytes, checkpoint.state_seq);
  append_sized(bytes, checkpoint.next_tasks);
  for (const ChannelVersion& channel : channels) {
    if (channel.seq == 0 && channel.hash == Digest{}) continue;
    append_sized(bytes, channel.name);
    append_word(bytes, channel.seq);
    append_digest(bytes, channel.hash);
  }
  return sha256(bytes);
}

std::vector<ChannelVersion> unwritten_channels(const StateType& type) {
  std::vector<ChannelVersion> channels;
  for (std::size_t i = 0; i < type.channels.size(); ++i) {
    ChannelVersion channel;
    channel.name = type.channels[i].name;
    channel.index = i;
    channels.push_back(std::move(channel));
  }
  std::sort(channels.begin(), channels.end(),
            [](const auto& left, const auto& right) { return left.name < right.name; });
  return channels;
}

std::vector<GivenChannel> given_channels(const StateType& type, const void* state) {
  std::vector<GivenChannel> given;
  std::shared_ptr<void> defaults = type.make();
  for (const ChannelType& channel : type.channels) {
    Encoder held;
    Encoder by_default;
    channel.encode(state, held, nullptr);
    channel.encode(defaults.get(), by_default, nullptr);
    bool differs = held.text != by_default.text || !held.problem.empty();
    if (differs) given.push_back({&channel, std::move(held)});
  }
  return given;
}

Result<std::string> input_text(const StateType& type, const void* state) {
  Encoder out;
  out.text += '{';
  bool first = true;
  for (const GivenChannel& each : given_channels(type, state)) {
    if (!each.held.problem.empty()) {
      return error(ErrorCode::invalid, "The input cannot be saved: " + each.held.problem);
    }
    out.write_name(each.channel->name, std::exchange(first, false));
    out.text += each.held.text;
  }
  out.text += '}';
  if (out.text.size() > limits::value_bytes_max) {
    return error(ErrorCode::invalid, "The input has " + std::to_string(out.text.size()) +
                                         " bytes; at most " +
                                         std::to_string(limits::value_bytes_max) + " are allowed.");
  }
  return std::move(out.text);
}

}  // namespace belay::engine
