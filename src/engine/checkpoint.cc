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

struct ChangedChannel {
  ChannelVersion* channel;
  std::string text;
};

// The texts of the changed channels, in the order of their names. Changes nothing.
Result<std::vector<ChangedChannel>> changed_texts(const GraphDefinition& graph, Run& run,
                                                  const std::vector<std::size_t>& changed) {
  std::vector<ChangedChannel> texts;
  for (ChannelVersion& channel : run.channels) {
    if (std::find(changed.begin(), changed.end(), channel.index) == changed.end()) continue;
    Encoder out;
    graph.state->channels[channel.index].encode(run.state.get(), out, channel.unknown.get());
    if (out.problem.empty() && out.text.size() > limits::value_bytes_max) {
      out.problem = "It has " + std::to_string(out.text.size()) + " bytes; at most " +
                    std::to_string(limits::value_bytes_max) + " are allowed.";
    }
    if (!out.problem.empty()) {
      return error(ErrorCode::invalid,
                   "The channel \"" + channel.name + "\" can't be saved: " + out.problem);
    }
    texts.push_back({&channel, std::move(out.text)});
  }
  return texts;
}

void write_channel(const Run& run, ChangedChannel& changed, CommitRows& rows) {
  changed.channel->seq = run.row.seq;
  changed.channel->hash = sha256(changed.text);
  ValueRow row;
  row.run = run.row.run;
  row.channel = changed.channel->name;
  row.seq = run.row.seq;
  row.envelope = json_envelope(changed.text);
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

// The event that tells of the step itself.
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

void add_events(const Run& run, Step& step, CommitRows& rows) {
  rows.events.push_back(
      event_row(run, 0, std::string(name_of(step.kind)), step_event_body(run, step)));
  std::int64_t index = 1;
  for (NodeEffects::CustomEvent& custom : step.events) {
    Value body =
        Value::object({{"name", std::move(custom.name)}, {"body", std::move(custom.body)}});
    rows.events.push_back(event_row(run, index++, "custom", to_json(body)));
  }
}

CheckpointRow checkpoint_row(const Run& run, const Step& step, const CheckpointId& parent,
                             std::string next_tasks) {
  CheckpointRow row;
  row.id = run.row.checkpoint;
  row.parent = parent;
  row.run = run.row.run;
  row.seq = run.row.seq;
  row.epoch = run.row.epoch;
  row.session = run.row.session;
  row.kind = step.kind;
  row.node = step.node;
  row.superstep = run.superstep;
  row.next_tasks = std::move(next_tasks);
  row.chain_hash = run.chain_hash;
  row.retry_count = run.row.retry_count;
  row.status = run.row.status;
  row.created_at = run.row.updated_at;
  return row;
}

// Moves the run's clock on: never backwards, and ids strictly forwards.
void pass_time(Run& run, const Moment& moment) {
  Instant now = std::max(moment.now, run.row.updated_at);
  if (run.working_since != Instant()) {
    auto worked = std::max(now - run.working_since, Instant::duration::zero());
    run.row.worked_ms += std::chrono::duration_cast<milliseconds>(worked).count();
  }
  run.working_since = now;
  run.row.updated_at = now;
}

}  // namespace

void* owned_state(const GraphDefinition& graph, Run& run) {
  if (run.state.use_count() > 1) run.state = graph.state->copy(run.state.get());
  return run.state.get();
}

Result<Commit> end_step(const GraphDefinition& graph, Run& run, Step step, const Moment& moment,
                        std::uint64_t guard_epoch) {
  BELAY_TRY(auto changed, changed_texts(graph, run, step.changed));
  Commit commit;
  commit.tenant = run.row.tenant;
  commit.guard = RunGuard{guard_epoch, run.row.seq};
  pass_time(run, moment);
  ++run.row.seq;
  CheckpointId parent = run.row.checkpoint;
  std::uint64_t ticks = uuid_ticks(run.row.updated_at);
  if (!parent.is_null()) ticks = std::max(ticks, uuid_ticks(parent) + 1);
  run.row.checkpoint = CheckpointId(time_ordered_uuid(ticks, moment.entropy));

  for (ChangedChannel& each : changed) write_channel(run, each, commit.rows);
  std::string next_tasks = next_tasks_text(run.task, run.superstep);
  run.chain_hash = chain_hash(run.chain_hash, run.row.seq, run.row.epoch, next_tasks, run.channels);
  commit.rows.checkpoint = checkpoint_row(run, step, parent, std::move(next_tasks));
  for (RecordWrite& record : step.records) {
    commit.rows.records.push_back(record_put(std::move(record)));
  }
  add_events(run, step, commit.rows);
  commit.rows.run = run.row;
  return commit;
}

RecordPut record_put(RecordWrite record) {
  RecordPut put;
  put.collection = std::move(record.collection);
  put.user = std::move(record.user);
  put.key = std::move(record.key);
  if (!record.erase) put.envelope = json_envelope(record.json);
  put.indexed = std::move(record.indexed);
  return put;
}

Digest chain_hash(const Digest& parent, std::uint64_t seq, std::uint64_t epoch,
                  std::string_view next_tasks, const std::vector<ChannelVersion>& channels) {
  std::string bytes;
  bytes.reserve(256 + 64 * channels.size());
  append_digest(bytes, parent);
  append_word(bytes, seq);
  append_word(bytes, epoch);
  append_sized(bytes, next_tasks);
  for (const ChannelVersion& channel : channels) {
    if (channel.seq == 0) continue;
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

Result<std::string> input_text(const StateType& type, const void* state) {
  std::shared_ptr<void> defaults = type.make();
  Encoder out;
  out.text += '{';
  bool first = true;
  for (const ChannelType& channel : type.channels) {
    if (channel.equal(state, defaults.get())) continue;
    out.write_name(channel.name, std::exchange(first, false));
    channel.encode(state, out, nullptr);
  }
  out.text += '}';
  if (!out.problem.empty()) {
    return error(ErrorCode::invalid, "The input can't be saved: " + out.problem);
  }
  if (out.text.size() > limits::value_bytes_max) {
    return error(ErrorCode::invalid, "The input has " + std::to_string(out.text.size()) +
                                         " bytes; at most " +
                                         std::to_string(limits::value_bytes_max) + " are allowed.");
  }
  return std::move(out.text);
}

}  // namespace belay::engine
