// Restores runs from their rows, after a check of their chain hash.
// Long on purpose: the parts of one restore, in their order.

#include "engine/restore.h"

#include <algorithm>
#include <charconv>

#include "engine/checkpoint.h"
#include "engine/next_task.h"
#include "engine/reducers.h"
#include "engine/run_options.h"
#include "engine/task_text.h"
#include "engine/transition.h"
#include "graph/call_guarded.h"
#include "graph/sum.h"

namespace belay::engine {

Result<Done> read_channel(const GraphDefinition& graph, Run& run, const ChannelVersion& channel,
                          WriteOp kind, const Value& from, Unknown& unknown) {
  if (channel.index == ChannelVersion::unknown_channel) return Done{};
  Decoder in;
  in.path.push_back(channel.name);
  if (!graph.state->channels[channel.index].combine(kind, from, run.state.get(), in, &unknown)) {
    return error(ErrorCode::invalid, "The graph \"" + graph.name +
                                         "\" cannot read its state: " + in.problem +
                                         " The program is older or newer than the state.");
  }
  return Done{};
}

namespace {

Error corrupt(const StoredRun& stored, const std::string& what) {
  return error(ErrorCode::corrupt, "Commit " + std::to_string(stored.checkpoint.seq) +
                                       " of thread \"" + stored.row.thread.text + "\" " + what +
                                       ". Run `belay check` and restore a backup.");
}

// A value of the input that was replaced since can have the type of an older version: after an
// upgrade, the stored value has the current one.
bool is_replaced(const StoredRun& stored, const std::string& channel) {
  return std::any_of(stored.values.begin(), stored.values.end(), [&](const ValueRow& row) {
    return row.kind == WriteOp::set && row.checkpoint_ns.empty() && row.channel == channel;
  });
}

Result<Done> read_input(const GraphDefinition& graph, const StoredRun& stored, Run& run,
                        Digest& input_hash) {
  BELAY_TRY(std::string_view text, json_in_envelope(stored.row.input));
  input_hash = sha256(text);
  if (!input_is_state(stored)) return Done{};
  BELAY_TRY(Value input, parse_json(text, limits::document_depth_max));
  for (ChannelVersion& channel : run.channels) {
    const Value* found = input.find(channel.name);
    if (!found || is_replaced(stored, channel.name)) continue;
    Unknown unknown;
    BELAY_CHECK(read_channel(graph, run, channel, WriteOp::set, *found, unknown));
    if (!unknown.empty()) channel.unknown = std::make_shared<const Unknown>(std::move(unknown));
  }
  return Done{};
}

// Reads the values of one frame. The rows are ordered by channel; within a channel, the newest
// `set` is first.
Result<Done> read_values(const GraphDefinition& graph, const StoredRun& stored,
                         const StoredSpace& checkpoint_ns, Run& run) {
  ChannelVersion* last = nullptr;
  Unknown unknown;
  auto keep_unknown = [&]() {
    if (last && !unknown.empty()) {
      last->unknown = std::make_shared<const Unknown>(std::exchange(unknown, {}));
    }
  };
  for (const ValueRow& row : checkpoint_ns.values) {
    if (row.checkpoint_ns != run.checkpoint_ns) continue;
    BELAY_TRY(std::string_view text, json_in_envelope(row.envelope));
    if (!last || last->name != row.channel || row.kind == WriteOp::set) {
      keep_unknown();
      unknown = {};
    }
    ChannelVersion& channel = channel_named(run.channels, row.channel);
    last = &channel;
    add_version(channel, row.seq, row.kind, text);
    if (channel.index == ChannelVersion::unknown_channel) continue;
    auto value = parse_json(text);
    if (!value.ok()) return corrupt(stored, "contains a value that is not valid JSON");
    BELAY_CHECK(read_channel(graph, run, channel, row.kind, *value, unknown));
  }
  keep_unknown();
  return Done{};
}

// Reads the pending writes of completed tasks back into their updates.
Result<Done> read_pending(const GraphDefinition& graph, const StoredRun& stored,
                          const StoredSpace& checkpoint_ns, Run& run) {
  for (const ValueRow& row : checkpoint_ns.pending) {
    auto position = static_cast<std::size_t>(row.index);
    if (row.checkpoint_ns != run.checkpoint_ns || row.seq != run.state_seq + 1) continue;
    run.pending_superstep = run.superstep;
    // The row of a task that had not completed, or of a superstep that was abandoned.
    if (position >= run.tasks.size() || run.tasks[position].phase != NodeTask::Phase::done)
      continue;
    BELAY_TRY(std::string_view text, json_in_envelope(row.envelope));
    auto value = parse_json(text);
    if (!value.ok()) return corrupt(stored, "contains a value that is not valid JSON");
    ChannelVersion& channel = channel_named(run.channels, row.channel);
    ChannelWrite change;
    change.channel = channel.index;
    change.kind = row.kind;
    if (channel.index == ChannelVersion::unknown_channel) {
      return error(ErrorCode::invalid, "The graph \"" + graph.name + "\" has no channel \"" +
                                           row.channel + "\", which a completed task wrote.");
    }
    const ChannelType& type = graph.state->channels[channel.index];
    if (row.kind == WriteOp::reduce) {
      bool known = channel.index < graph.channel_rules.size() &&
                   graph.channel_rules[channel.index].read_operand;
      if (known) change.operand = graph.channel_rules[channel.index].read_operand(*value);
    } else {
      Decoder in;
      std::shared_ptr<void> tried = graph.state->copy(run.state.get());
      if (type.combine(row.kind, *value, tried.get(), in, nullptr)) {
        change.operand = stored_operand(type, row.kind, *std::move(value), std::string(text));
      }
    }
    if (!change.operand) {
      return error(ErrorCode::invalid,
                   "The graph \"" + graph.name +
                       "\" cannot read the value that a completed task wrote to \"" + row.channel +
                       "\".");
    }
    run.tasks[position].answer.changes.push_back(std::move(change));
  }
  return Done{};
}

Result<Done> read_tasks(const GraphDefinition& graph, const StoredRun& stored,
                        const StoredSpace& checkpoint_ns, Run& run);

// Reads the values of one frame into `run`, whose state already has its defaults or its input.
// Verifies the chain hash.
Result<Done> read_state(const GraphDefinition& graph, const StoredRun& stored,
                        const StoredSpace& checkpoint_ns, const Digest& origin, Run& run) {
  BELAY_CHECK(read_values(graph, stored, checkpoint_ns, run));
  const CheckpointRow& checkpoint = checkpoint_ns.checkpoint;
  run.chain_hash =
      chain_hash(checkpoint.parent.is_null() ? origin : checkpoint_ns.parent_chain_hash, checkpoint,
                 run.channels);
  if (run.chain_hash != checkpoint.chain_hash) {
    return corrupt(stored, "does not fit its chain hash: stored bytes were changed");
  }
  run.state_seq = checkpoint.state_seq;
  run.superstep = checkpoint.superstep;
  return Done{};
}

// The same with the tasks of the frame.
Result<Done> read_space(const GraphDefinition& graph, const StoredRun& stored,
                        const StoredSpace& checkpoint_ns, const Digest& origin, Run& run) {
  BELAY_CHECK(read_state(graph, stored, checkpoint_ns, origin, run));
  return read_tasks(graph, stored, checkpoint_ns, run);
}

Result<Done> read_inside(const StoredRun& stored, const StoredSpace& inner_stored, Run& run,
                         NodeTask& task) {
  const GraphDefinition& graph = *task.node->subgraph->graph;
  task.phase = NodeTask::Phase::in_subgraph;
  task.inner = std::make_shared<Run>();
  Run& inner = *task.inner;
  inner.row = run.row;
  inner.row.input.clear();
  inner.row.outcome.clear();
  inner.row.updated_at = std::max(run.row.updated_at, inner_stored.checkpoint.created_at);
  inner.row.seq = inner_stored.checkpoint.seq;
  inner.row.checkpoint = inner_stored.checkpoint.id;
  inner.row.node = inner_stored.checkpoint.node;
  inner.row.status = RunStatus::running;
  inner.options = run.options;
  inner.checkpoint_ns = inner_stored.checkpoint.checkpoint_ns;
  inner.state = graph.state->make();
  inner.channels = unwritten_channels(*graph.state);
  return read_space(graph, stored, inner_stored, sha256(inner.checkpoint_ns), inner);
}

// A decision is for the node that requested it: for a node that has become another kind of node, a
// rejection would execute what it rejects.
Result<Done> check_kind(const GraphDefinition& graph, const StoredRun& stored,
                        const NodeTask& task) {
  if (task.phase != NodeTask::Phase::interrupted) return Done{};
  bool asked_as_approval = task.question.empty();
  if (asked_as_approval == task.node->approval.has_value()) return Done{};
  return error(ErrorCode::invalid,
               "Thread \"" + stored.row.thread.text + "\" waits for a decision of the node \"" +
                   task.node->name + "\", which is " +
                   (asked_as_approval ? "not an approval" : "an approval") + " in the graph \"" +
                   graph.name + "\" of this program. Use the program that asked for it.");
}

Result<Done> read_tasks(const GraphDefinition& graph, const StoredRun& stored,
                        const StoredSpace& checkpoint_ns, Run& run) {
  BELAY_TRY(NextTasks next, next_tasks_from(tasks_text_of(checkpoint_ns)));
  run.tasks_seq = checkpoint_ns.checkpoint.seq;
  if (auto own = next_tasks_from(checkpoint_ns.checkpoint.next_tasks); own.ok() && own->as_of) {
    run.tasks_seq = *own->as_of;
    next.breakpoints = std::move(own->breakpoints);
  }
  run.breakpoints_since = std::move(next.breakpoints);
  if (!next.tasks.empty()) run.superstep = next.superstep;
  run.tasks = std::move(next.tasks);
  // A commit within a superstep is later than the breakpoint before that superstep.
  run.at_breakpoint = next.at_breakpoint && checkpoint_ns.tasks_text.empty();
  run.joins = std::move(next.joins);
  // Joins of an older graph version that this version does not have must not block the run.
  std::erase_if(run.joins, [&](const auto& join) { return join.first >= graph.joins.size(); });
  for (std::size_t i = 0; i < run.tasks.size(); ++i) {
    NodeTask& task = run.tasks[i];
    task.node = graph.find(next.nodes[i]);
    if (!task.node) {
      return error(ErrorCode::invalid, "Thread \"" + stored.row.thread.text +
                                           "\" must continue with the node \"" + next.nodes[i] +
                                           "\", which the graph \"" + graph.name +
                                           "\" no longer has. Use the program that has it.");
    }
    task.id = task_id(run.row.run, run.checkpoint_ns, run.superstep, task.node->name,
                      is_parallel(run) ? std::optional(i) : std::nullopt);
  }
  for (const TaskRow& row : checkpoint_ns.tasks) {
    if (row.checkpoint_ns == run.checkpoint_ns && row.superstep == run.superstep) {
      BELAY_CHECK(apply_task_row(row, run));
    }
  }
  // If the state is upgraded, upgrade() reads them later, with the types of the new version.
  if (!run.is_upgraded) BELAY_CHECK(read_pending(graph, stored, checkpoint_ns, run));
  for (NodeTask& task : run.tasks) {
    BELAY_CHECK(check_kind(graph, stored, task));
    if (task.node->wait && task.phase == NodeTask::Phase::backing_off) {
      task.phase = NodeTask::Phase::sleeping;
    }
    if (task.phase != NodeTask::Phase::done) ++run.unfinished;
    if (!task.node->subgraph || task.phase == NodeTask::Phase::done) continue;
    auto inner =
        checkpoint_ns.inner.find(inner_checkpoint_ns(run.checkpoint_ns, task.node->name, task.id));
    if (inner == checkpoint_ns.inner.end()) {
      task.phase = NodeTask::Phase::ready;
      continue;
    }
    BELAY_CHECK(read_inside(stored, inner->second, run, task));
  }
  return Done{};
}

// Converts the state to the version of `graph`. All channels become unwritten: the next commit that
// writes the state writes all of it.
Result<Done> upgrade(const GraphDefinition& graph, const GraphDefinition::Upgrade& upgrade,
                     const StoredRun& stored, Run& run) {
  std::string what = "The upgrade of thread \"" + stored.row.thread.text + "\" from version " +
                     to_hex(run.version).substr(0, 12) + " to version " +
                     to_hex(graph.hash).substr(0, 12);
  auto upgraded = call_guarded<Value>(what, [&]() { return upgrade(raw_state(stored)); });
  if (!upgraded.ok()) {
    return error(upgraded.error().code, what + " failed: " + upgraded.error().message);
  }
  const Value& state = *upgraded;
  if (!state.as_object()) {
    return error(ErrorCode::invalid, what + " returned a value of kind " +
                                         std::string(state.kind()) +
                                         ", expected an object of channels.");
  }
  run.state = graph.state->make();
  for (ChannelVersion& channel : run.channels) {
    if (channel.index == ChannelVersion::unknown_channel) continue;
    channel.unknown.reset();
    run.unwritten.push_back(channel.index);
    const Value* found = state.find(channel.name);
    Unknown unknown;
    if (found) BELAY_CHECK(read_channel(graph, run, channel, WriteOp::set, *found, unknown));
  }
  return Done{};
}

}  // namespace

std::string_view tasks_text_of(const StoredSpace& stored) {
  return stored.tasks_text.empty() ? stored.checkpoint.next_tasks : stored.tasks_text;
}

Result<Digest> version_of(const StoredRun& stored) {
  BELAY_TRY(NextTasks next, next_tasks_from(stored.checkpoint.next_tasks));
  if (!next.version) return stored.row.graph_hash;
  Digest version{};
  if (next.version->size() != 2 * version.size()) return version;
  for (std::size_t i = 0; i < version.size(); ++i) {
    const char* digits = next.version->data() + 2 * i;
    std::from_chars(digits, digits + 2, version[i], 16);
  }
  return version;
}

Result<BillOfMaterials> materials_of(const StoredSpace& stored) {
  BELAY_TRY(NextTasks next, next_tasks_from(stored.checkpoint.next_tasks));
  return std::move(next.materials);
}

void fold(WriteOp kind, Value from, Value& into) {
  if (kind == WriteOp::append && into.as_array() && from.as_array()) {
    into.as_array()->insert(into.as_array()->end(), from.as_array()->begin(),
                            from.as_array()->end());
  } else if (kind == WriteOp::merge && into.as_object() && from.as_object()) {
    for (auto& [name, value] : *from.as_object()) {
      into.as_object()->insert_or_assign(name, std::move(value));
    }
  } else if (auto sum = kind == WriteOp::add ? sum_of(into, from) : std::nullopt) {
    into = *std::move(sum);
  } else {
    into = std::move(from);
  }
}

bool has_started(const StoredRun& stored) {
  return stored.row.ordinal == 0 || stored.checkpoint.superstep > 0;
}

bool input_is_state(const StoredRun& stored) {
  return stored.row.ordinal == 0 || !has_started(stored);
}

Value raw_state(const StoredRun& stored) {
  Value::Object state;
  auto input_text = json_in_envelope(stored.row.input);
  if (input_text.ok() && input_is_state(stored)) {
    auto input = parse_json(*input_text, limits::document_depth_max);
    if (input.ok() && input->as_object()) state = *input->as_object();
  }
  for (const ValueRow& row : stored.values) {
    if (!row.checkpoint_ns.empty()) continue;
    auto text = json_in_envelope(row.envelope);
    auto value = text.ok() ? parse_json(*text) : Result<Value>(Value());
    if (value.ok()) fold(row.kind, *std::move(value), state[row.channel]);
  }
  return Value(std::move(state));
}

namespace {

// Returns the function that converts the stored state to that of `graph`: its upgrade, then the
// migration of its materials; null if neither applies.
GraphDefinition::Upgrade conversion_to(const GraphDefinition& graph, const Run& run) {
  auto path = graph.upgrades.find(to_hex(run.version));
  bool upgrades = run.version != graph.hash && path != graph.upgrades.end();
  if (rule_for(graph, run.materials) != MaterialChange::migrate) {
    return upgrades ? path->second : nullptr;
  }
  if (!upgrades) return graph.migrate_materials;
  return [upgrade = path->second,
          migration = graph.migrate_materials](const Value& state) -> Result<Value> {
    BELAY_TRY(Value upgraded, upgrade(state));
    return migration(std::move(upgraded));
  };
}

// Restores a run up to its channels. With an upgrade, their raw values are read: see upgrade().
Result<Run> restore_channels(const GraphDefinition& graph, const StoredRun& stored) {
  Run run;
  run.state = graph.state->make();
  run.channels = unwritten_channels(*graph.state);
  BELAY_TRY(RunOptions options, options_from(stored.row.options));
  run.options = options_for(graph, options);
  BELAY_TRY(run.version, version_of(stored));
  BELAY_TRY(run.materials, materials_of(stored));
  if (conversion_to(graph, run)) {
    // The channels are first read as raw values: the chain hash must be verified over the stored
    // values, and their types might have changed since.
    for (ChannelVersion& channel : run.channels) channel.index = ChannelVersion::unknown_channel;
    run.is_upgraded = true;
  }
  run.row = stored.row;
  Digest input_hash{};
  BELAY_CHECK(read_input(graph, stored, run, input_hash));
  // The first commit of a later run of a thread also covers the channels of the runs before it,
  // unless it had to wait for them.
  bool covers_input = stored.first && (stored.row.ordinal == 0 || stored.first->superstep == 0);
  if (covers_input && chain_hash(input_hash, *stored.first, {}) != stored.first->chain_hash) {
    return corrupt(stored, "has an input that does not fit its first commit");
  }
  BELAY_CHECK(read_state(graph, stored, stored, input_hash, run));
  return run;
}

// Applies the upgrade, if restore_channels() found that the state needs one.
Result<Done> upgrade_if_needed(const GraphDefinition& graph, const StoredRun& stored, Run& run) {
  if (!run.is_upgraded) return Done{};
  for (ChannelVersion& channel : run.channels) {
    for (const ChannelType& type : graph.state->channels) {
      if (type.name == channel.name) channel.index = type.index;
    }
  }
  return upgrade(graph, conversion_to(graph, run), stored, run);
}

}  // namespace

Result<Run> restore_state(const GraphDefinition& graph, const StoredRun& stored) {
  BELAY_TRY(Run run, restore_channels(graph, stored));
  BELAY_CHECK(upgrade_if_needed(graph, stored, run));
  return run;
}

Result<Run> restore(const GraphDefinition& graph, StoredRun stored) {
  BELAY_TRY(Run run, restore_channels(graph, stored));
  BELAY_CHECK(read_tasks(graph, stored, stored, run));
  if (run.is_upgraded) {
    BELAY_CHECK(upgrade_if_needed(graph, stored, run));
    BELAY_CHECK(read_pending(graph, stored, stored, run));
  }
  run.waits_for_thread = !has_started(stored);
  run.may_have_intents = true;
  note_waiting(run);
  return run;
}

Value state_value(const GraphDefinition& graph, const StoredRun& stored, const Run& run) {
  Value raw = raw_state(stored);
  Value::Object& state = *raw.as_object();
  for (const ChannelType& channel : graph.state->channels) {
    // A value needs no conversion by its types if this graph version wrote it.
    if (run.version == graph.hash && state.contains(channel.name)) continue;
    Encoder text;
    channel.encode(run.state.get(), text, nullptr);
    auto value = parse_json(text.text);
    if (value.ok()) state.insert_or_assign(channel.name, *std::move(value));
  }
  return raw;
}

std::optional<Value> state_value(const GraphDefinition& graph, const Run& run) {
  if (run.version != graph.hash || run.is_upgraded || run.has_uncommitted_steps)
    return std::nullopt;
  Value::Object state;
  for (const ChannelVersion& channel : run.channels) {
    bool is_known = channel.index != ChannelVersion::unknown_channel;
    if (!is_known || is_transient(graph, channel.index)) return std::nullopt;
    Encoder text;
    graph.state->channels[channel.index].encode(run.state.get(), text, channel.unknown.get());
    auto value = parse_json(text.text);
    if (!value.ok()) return std::nullopt;
    state.emplace(channel.name, *std::move(value));
  }
  return Value(std::move(state));
}

}  // namespace belay::engine
