// Makes new runs from an input, and forks from the rows of a run.

#include "engine/run_factory.h"

#include <algorithm>

#include "belay/limits.h"
#include "engine/checkpoint.h"
#include "engine/next_task.h"
#include "engine/run_options.h"
#include "engine/transition.h"

namespace belay::engine {
namespace {

// Copies the outcome of an ended run to the row of its copy.
void keep_end(const RunRow& from, RunRow& row) {
  row.status = from.status;
  row.outcome = from.outcome;
  row.error_code = from.error_code;
  row.error = from.error;
  row.retry_count = from.retry_count;
  row.worked_ms = from.worked_ms;
}

}  // namespace

Result<Run> fork_run(const GraphDefinition& graph, const StoredRun& stored, RunRow row,
                     const Value& edits, Ended ended) {
  BELAY_TRY(Run run, restore(graph, stored));
  bool keeps_end = ended == Ended::kept && is_final(stored.row.status);
  if (run.tasks.empty() && !keeps_end) {
    return error(ErrorCode::invalid, "After commit " + std::to_string(stored.checkpoint.seq) +
                                         " of thread \"" + stored.row.thread.text +
                                         "\" no tasks are left. Fork from an earlier commit.");
  }
  const Value::Object* edited = edits.as_object();
  if (!edited && !edits.is_null()) {
    return error(ErrorCode::invalid, "Invalid edits of a fork: expected an object of channels.");
  }
  if (edited && edited->empty()) edited = nullptr;
  Value state = state_value(graph, stored, run);
  for (const auto& [name, value] : edited ? *edited : Value::Object()) {
    auto channel = std::find_if(run.channels.begin(), run.channels.end(),
                                [&](const auto& each) { return each.name == name; });
    if (channel == run.channels.end() || channel->index == ChannelVersion::unknown_channel) {
      return error(ErrorCode::invalid,
                   "The graph \"" + graph.name + "\" has no channel \"" + name + "\" to edit.");
    }
    Unknown unknown;
    BELAY_CHECK(read_channel(graph, run, *channel, WriteOp::set, value, unknown));
    state.as_object()->insert_or_assign(name, value);
  }
  std::string text = to_json(state);
  row.graph = graph.name;
  row.graph_hash = graph.hash;
  row.input = json_envelope(text);
  // They belong to the run that was started with them.
  run.options.beginning.reset();
  run.options.breakpoints = Breakpoints();
  run.breakpoints_since.reset();
  row.options = options_text(run.options);
  row.node = keeps_end ? stored.row.node : nodes_text(run.tasks);
  if (keeps_end) keep_end(stored.row, row);
  run.row = std::move(row);
  run.version = graph.hash;
  run.chain_hash = sha256(text);
  run.state_seq = 0;
  for (ChannelVersion& channel : run.channels) {
    channel.seq = 0;
    channel.hash = Digest{};
    channel.set_bytes = channel.added_bytes = 0;
  }
  run.unwritten.clear();
  run.is_upgraded = false;
  run.at_breakpoint = false;
  run.may_have_intents = false;
  run.unfinished = 0;
  bool several = is_parallel(run);
  for (NodeTask& task : run.tasks) {
    bool keeps = task.phase == NodeTask::Phase::done && !edited;
    NodeTask fresh;
    fresh.node = task.node;
    fresh.position = task.position;
    fresh.input = task.input;
    fresh.decisions = task.decisions;
    if (!keeps) task = std::move(fresh);
    task.effects.journaled = 0;  // its effects are in the journal of the original run
    task.id = task_id(run.row.run, run.checkpoint_ns, run.superstep, task.node->name,
                      several ? std::optional(task.position) : std::nullopt);
    if (!keeps) ++run.unfinished;
  }
  note_waiting(run);
  return run;
}

Result<Run> new_run(const GraphDefinition& graph, RunRow row, RunOptions options,
                    std::shared_ptr<void> input) {
  Run run;
  run.waits_for_thread = row.ordinal > 0;
  BELAY_TRY(std::string text, input_text(*graph.state, input.get()));
  row.graph = graph.name;
  row.graph_hash = graph.hash;
  row.input = json_envelope(text);
  row.options = options_text(options);
  run.row = std::move(row);
  run.options = options_for(graph, options);
  run.state = std::move(input);
  run.channels = unwritten_channels(*graph.state);
  run.chain_hash = sha256(text);
  run.version = graph.hash;
  return run;
}

Result<Run> new_run_from(const GraphDefinition& graph, RunRow row) {
  BELAY_TRY(RunOptions options, options_from(row.options));
  BELAY_TRY(std::string_view text, json_in_envelope(row.input));
  BELAY_TRY(Value input, parse_json(text, limits::document_depth_max));
  Run reader;
  reader.state = graph.state->make();
  for (const ChannelVersion& channel : unwritten_channels(*graph.state)) {
    const Value* found = input.find(channel.name);
    Unknown unknown;
    if (found) {
      BELAY_CHECK(read_channel(graph, reader, channel, WriteOp::set, *found, unknown));
    }
  }
  if (!options.beginning) {
    return new_run(graph, std::move(row), options, std::move(reader.state));
  }
  // The values of an edit are kept as they were given: one that equals its default is a change.
  std::string given(text);
  BELAY_TRY(Run run, new_run(graph, std::move(row), options, std::move(reader.state)));
  run.row.input = json_envelope(given);
  run.chain_hash = sha256(given);
  return run;
}

}  // namespace belay::engine
