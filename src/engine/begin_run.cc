// Starts a later run of a thread from the state of the run before it.
//
// The values of a thread's first run belong to that run, so that a thread with a single run costs
// nothing more. The second run writes the whole state as values of the thread; each later one
// writes only the channels that its input changes.

#include <algorithm>

#include "belay/limits.h"
#include "engine/checkpoint.h"
#include "engine/reducers.h"
#include "engine/run_factory.h"

namespace belay::engine {
namespace {

Error does_not_fit(const Run& run, const std::string& why) {
  return error(ErrorCode::invalid, "The input does not fit the state of thread \"" +
                                       run.row.thread.text + "\": " + why);
}

Result<ChannelWrite> write_of(const GraphDefinition& graph, const Run& run, const std::string& name,
                              Value value) {
  auto type = std::find_if(graph.state->channels.begin(), graph.state->channels.end(),
                           [&](const ChannelType& each) { return each.name == name; });
  if (type == graph.state->channels.end()) {
    return does_not_fit(
        run, "the graph \"" + graph.name + "\" has no channel \"" + name + "\" any more.");
  }
  ChannelWrite write;
  write.channel = type->index;
  const GraphDefinition::ChannelRule* rule =
      type->index < graph.channel_rules.size() ? &graph.channel_rules[type->index] : nullptr;
  if (rule) write.kind = rule->of_input;
  if (write.kind == WriteOp::reduce) {
    write.operand = rule->read_operand(value);
    if (!write.operand) {
      return does_not_fit(run, "the reducer of the channel \"" + name + "\" cannot read it.");
    }
  } else {
    write.operand = stored_operand(*type, write.kind, std::move(value));
  }
  return write;
}

void keep_values(std::vector<StepValue> values, Run& run) {
  for (StepValue& value : values) {
    run.initial_values.push_back(
        {value.channel->name, value.kind, value.index, std::move(value.text)});
  }
}

// Applies the input as the update of a lone task.
Result<Done> apply_input(const GraphDefinition& graph, Run& run) {
  BELAY_TRY(std::string_view text, json_in_envelope(run.row.input));
  BELAY_TRY(Value input, parse_json(text, limits::document_depth_max));
  const Value::Object* members = input.as_object();
  if (!members) return does_not_fit(run, "it is not an object of channels.");
  GraphDefinition::Node source;
  source.name = "input";
  NodeTask task;
  task.node = &source;
  for (const auto& [name, value] : *members) {
    BELAY_TRY(ChannelWrite write, write_of(graph, run, name, value));
    task.answer.changes.push_back(std::move(write));
  }
  run.tasks.push_back(std::move(task));
  auto values = combine(graph, run);
  run.tasks.clear();
  if (!values.ok()) return does_not_fit(run, values.error().message);
  keep_values(*std::move(values), run);
  return Done{};
}

// Copies the channels that only newer code has from the first run of the thread.
void copy_unknown_channels(const StoredRun& first_run, Run& run) {
  Value raw = raw_state(first_run);
  for (ChannelVersion& channel : run.channels) {
    if (channel.index != ChannelVersion::unknown_channel) continue;
    const Value* value = raw.find(channel.name);
    if (value) {
      run.initial_values.push_back({channel.name, WriteOp::set, 0, to_json(*value)});
    } else {
      channel.hash = Digest{};
    }
  }
}

// Replaces the values to be written by the whole values of all channels; `defaults`: also of those
// that are the default.
Result<Done> write_everything(const GraphDefinition& graph, bool defaults, Run& run) {
  run.initial_values.clear();
  std::vector<GivenChannel> given = given_channels(*graph.state, run.state.get());
  for (const ChannelVersion& channel : run.channels) {
    if (channel.index == ChannelVersion::unknown_channel) continue;
    if (is_transient(graph, channel.index)) continue;
    bool is_given = std::any_of(given.begin(), given.end(), [&](const GivenChannel& each) {
      return each.channel->index == channel.index;
    });
    if (!defaults && !is_given && channel.hash == Digest{}) continue;
    BELAY_TRY(std::string text, channel_text(graph, run, channel));
    run.initial_values.push_back({channel.name, WriteOp::set, 0, std::move(text)});
  }
  return Done{};
}

// Writes the whole value of a channel whose stored rows contain more than its value. The value
// replaces the input's own write of the channel, which it contains. `raw`: the state before, for
// channels that only newer code has.
Result<Done> write_whole(const GraphDefinition& graph, const std::string& name, const Value& raw,
                         Run& run) {
  const ChannelVersion& channel = channel_named(run.channels, name);
  std::erase_if(run.initial_values,
                [&](const InitialValue& value) { return value.channel == name; });
  std::string text;
  if (channel.index == ChannelVersion::unknown_channel) {
    const Value* value = raw.find(name);
    text = to_json(value ? *value : Value());
  } else {
    BELAY_TRY(text, channel_text(graph, run, channel));
  }
  run.initial_values.push_back({name, WriteOp::set, 0, std::move(text)});
  return Done{};
}

// The input of the first run can have set them.
Result<Done> reset_transient_channels(const GraphDefinition& graph, Run& run) {
  std::shared_ptr<void> defaults = graph.state->make();
  for (const ChannelType& type : graph.state->channels) {
    if (!is_transient(graph, type.index)) continue;
    Encoder text;
    type.encode(defaults.get(), text, nullptr);
    BELAY_TRY(Value value, parse_json(text.text));
    Unknown unknown;
    const ChannelVersion& channel = *version_of(run, type.index);
    BELAY_CHECK(read_channel(graph, run, channel, WriteOp::set, value, unknown));
  }
  return Done{};
}

// Clears the pending flags of approvals in the state: a run before that was cancelled without its
// code has left its own as it was. Returns the channels that change.
Result<std::vector<std::string>> clear_pending_flags(const GraphDefinition& graph, Run& run) {
  std::vector<std::string> changed;
  for (const GraphDefinition::Node& node : graph.nodes) {
    if (!node.approval || !node.approval->pending_flag) continue;
    const ChannelVersion& channel = *version_of(run, *node.approval->pending_flag);
    BELAY_TRY(std::string before, channel_text(graph, run, channel));
    node.approval->set_awaiting(run.state.get(), false);
    BELAY_TRY(std::string after, channel_text(graph, run, channel));
    if (before != after) changed.push_back(channel.name);
  }
  return changed;
}

// Adds the whole values of these channels to those to be written, unless the input writes them.
Result<Done> write_changed(const GraphDefinition& graph, const std::vector<std::string>& changed,
                           Run& run) {
  for (const std::string& name : changed) {
    bool is_written = std::any_of(run.initial_values.begin(), run.initial_values.end(),
                                  [&](const InitialValue& value) { return value.channel == name; });
    if (is_written) continue;
    BELAY_TRY(std::string text, channel_text(graph, run, channel_named(run.channels, name)));
    run.initial_values.push_back({name, WriteOp::set, 0, std::move(text)});
  }
  return Done{};
}

}  // namespace

Result<Run> begin_run(const GraphDefinition& graph, const RunBefore& before, Run waiting) {
  BELAY_TRY(Run left, restore_state(graph, before.stored));
  Run run = std::move(waiting);
  run.state = std::move(left.state);
  run.channels = std::move(left.channels);
  for (ChannelVersion& channel : run.channels) channel.seq = 0;
  run.version = graph.hash;
  run.waits_for_thread = false;
  run.is_upgraded = false;
  run.unwritten.clear();
  run.begins = true;
  BELAY_CHECK(reset_transient_channels(graph, run));
  BELAY_TRY(auto cleared, clear_pending_flags(graph, run));
  BELAY_CHECK(apply_input(graph, run));
  BELAY_CHECK(write_changed(graph, cleared, run));
  bool is_first_of_thread = before.stored.row.ordinal == 0;
  if (is_first_of_thread || left.is_upgraded || before.is_older) {
    BELAY_CHECK(write_everything(graph, before.is_older, run));
  }
  if (is_first_of_thread || before.is_older) copy_unknown_channels(before.stored, run);
  Value raw;
  if (!before.dropped_channels.empty()) raw = raw_state(before.stored);
  for (const std::string& name : before.dropped_channels) {
    BELAY_CHECK(write_whole(graph, name, raw, run));
  }
  return run;
}

}  // namespace belay::engine
