#include "engine/restore.h"

#include <algorithm>

#include "engine/checkpoint.h"
#include "engine/next_task.h"

namespace belay::engine {
namespace {

Error corrupt(const StoredRun& stored, const std::string& what) {
  return error(ErrorCode::corrupt, "Commit " + std::to_string(stored.checkpoint.seq) +
                                       " of thread \"" + stored.row.thread.text + "\" " + what +
                                       "; run `belay check` and restore a backup.");
}

// Reads `text` into one channel of the state.
Result<Done> read_channel(const GraphDefinition& graph, Run& run, ChannelVersion& channel,
                          const Value& from) {
  Decoder in;
  Unknown unknown;
  in.path.push_back(channel.name);
  if (!graph.state->channels[channel.index].decode(from, run.state.get(), in, &unknown)) {
    return error(ErrorCode::invalid, "The graph \"" + graph.name + "\" can't read its state: " +
                                         in.problem + " The program is older or newer than it.");
  }
  if (!unknown.empty()) channel.unknown = std::make_shared<const Unknown>(std::move(unknown));
  return Done{};
}

ChannelVersion& channel_named(std::vector<ChannelVersion>& channels, const std::string& name) {
  auto place =
      std::lower_bound(channels.begin(), channels.end(), name,
                       [](const auto& each, const auto& wanted) { return each.name < wanted; });
  if (place == channels.end() || place->name != name) {
    place = channels.emplace(place);
    place->name = name;
  }
  return *place;
}

Result<Done> read_input(const GraphDefinition& graph, const StoredRun& stored, Run& run,
                        Digest& input_hash) {
  BELAY_TRY(std::string_view text, json_in_envelope(stored.row.input));
  input_hash = sha256(text);
  BELAY_TRY(Value input, parse_json(text));
  for (ChannelVersion& channel : run.channels) {
    const Value* found = input.find(channel.name);
    if (found) BELAY_CHECK(read_channel(graph, run, channel, *found));
  }
  return Done{};
}

Result<Done> read_values(const GraphDefinition& graph, const StoredRun& stored, Run& run) {
  for (const ValueRow& row : stored.values) {
    BELAY_TRY(std::string_view text, json_in_envelope(row.envelope));
    ChannelVersion& channel = channel_named(run.channels, row.channel);
    channel.seq = row.seq;
    channel.hash = sha256(text);
    if (channel.index == ChannelVersion::unknown_channel) continue;
    auto value = parse_json(text);
    if (!value.ok()) return corrupt(stored, "holds a value that is no JSON");
    BELAY_CHECK(read_channel(graph, run, channel, *value));
  }
  return Done{};
}

}  // namespace

Result<Run> restore(const GraphDefinition& graph, StoredRun stored) {
  Run run;
  run.state = graph.state->make();
  run.channels = unwritten_channels(*graph.state);
  BELAY_TRY(run.options, options_from(stored.row.options));
  Digest input_hash{};
  BELAY_CHECK(read_input(graph, stored, run, input_hash));
  BELAY_CHECK(read_values(graph, stored, run));

  const CheckpointRow& checkpoint = stored.checkpoint;
  Digest parent = checkpoint.parent.is_null() ? input_hash : stored.parent_chain_hash;
  run.chain_hash =
      chain_hash(parent, checkpoint.seq, checkpoint.epoch, checkpoint.next_tasks, run.channels);
  if (run.chain_hash != checkpoint.chain_hash) {
    return corrupt(stored, "does not fit its chain hash: stored bytes were changed");
  }
  BELAY_TRY(NextTask next, next_task_from(checkpoint.next_tasks));
  run.superstep = next.task ? next.superstep : checkpoint.superstep;
  run.task = std::move(next.task);
  if (run.task) {
    run.task->id = task_id(stored.row.run, run.superstep, run.task->node);
    if (!graph.find(run.task->node)) {
      return error(ErrorCode::invalid, "Thread \"" + stored.row.thread.text +
                                           "\" is to go on with the node \"" + run.task->node +
                                           "\", which the graph \"" + graph.name +
                                           "\" no longer has; run the program that has it.");
    }
  }
  run.row = std::move(stored.row);
  return run;
}

Result<Run> new_run(const GraphDefinition& graph, RunRow row, RunOptions options,
                    std::shared_ptr<void> input) {
  Run run;
  BELAY_TRY(std::string text, input_text(*graph.state, input.get()));
  row.graph = graph.name;
  row.graph_hash = graph.hash;
  row.input = json_envelope(text);
  row.options = options_text(options);
  run.row = std::move(row);
  run.options = std::move(options);
  run.state = std::move(input);
  run.channels = unwritten_channels(*graph.state);
  run.chain_hash = sha256(text);
  return run;
}

Value state_value(const GraphDefinition& graph, const StoredRun& stored, const Run& run) {
  Value::Object state;
  for (const ValueRow& row : stored.values) {
    auto text = json_in_envelope(row.envelope);
    auto value = text.ok() ? parse_json(*text) : Result<Value>(Value());
    if (value.ok()) state.insert_or_assign(row.channel, *std::move(value));
  }
  for (const ChannelType& channel : graph.state->channels) {
    Encoder text;
    channel.encode(run.state.get(), text, nullptr);
    auto value = parse_json(text.text);
    if (value.ok()) state.insert_or_assign(std::string(channel.name), *std::move(value));
  }
  return Value(std::move(state));
}

std::string options_text(const RunOptions& options) {
  auto text = encode_json(options);
  BELAY_ASSERT(text.ok());
  return *std::move(text);
}

Result<RunOptions> options_from(std::string_view text) {
  BELAY_TRY(Value value, parse_json(text));
  return decode_json<RunOptions>(value);
}

}  // namespace belay::engine
