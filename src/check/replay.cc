#include "check/replay.h"

#include <algorithm>
#include <utility>

#include "engine/checkpoint.h"
#include "engine/run_options.h"
#include "graph/sum.h"

namespace belay::check {
namespace {

// Combines a stored row with the channel's value before it.
void fold(const ValueRow& row, Value& into) {
  auto text = json_in_envelope(row.envelope);
  auto parsed = text.ok() ? parse_json(*text) : Result<Value>(text.error());
  if (!parsed.ok()) {
    into = Value();
    return;
  }
  Value from = *std::move(parsed);
  if (row.kind == WriteOp::append && into.as_array() && from.as_array()) {
    for (Value& item : *from.as_array()) into.as_array()->push_back(std::move(item));
  } else if (row.kind == WriteOp::merge && into.as_object() && from.as_object()) {
    for (auto& [name, value] : *from.as_object()) {
      into.as_object()->insert_or_assign(name, std::move(value));
    }
  } else if (auto sum = row.kind == WriteOp::add ? sum_of(into, from) : std::nullopt) {
    into = *std::move(sum);
  } else {
    into = std::move(from);
  }
}

}  // namespace

Replay::Replay(const RunContents& run, const SpaceContents& checkpoint_ns)
    : run_(run), space_(checkpoint_ns) {
  if (!checkpoint_ns.checkpoint_ns.empty()) {
    origin_ = sha256(checkpoint_ns.checkpoint_ns);
    return;
  }
  auto text = json_in_envelope(run.row.input);
  if (!text.ok()) return;
  origin_ = sha256(*text);
  auto input = parse_json(*text, limits::document_depth_max);
  if (input.ok()) input_ = *std::move(input);
}

bool Replay::next() {
  if (index_ + 1 >= space_.checkpoints.size()) return false;
  ++index_;
  for (; has_started() && values_seen_ < space_.values.size() &&
         space_.values[values_seen_].seq <= checkpoint().state_seq;
       ++values_seen_) {
    take(space_.values[values_seen_]);
  }
  has_read_tasks_ = false;
  return true;
}

bool Replay::has_started() const {
  bool is_first = run_.row.ordinal == 0 || !space_.checkpoint_ns.empty();
  return is_first || checkpoint().superstep > 0;
}

void Replay::take(const ValueRow& row) {
  // An operand is not part of the state: the end of its superstep writes the combined value.
  if (row.kind == WriteOp::reduce) return;
  Channel& channel = channels_[row.channel];
  channel.version.name = row.channel;
  auto text = json_in_envelope(row.envelope);
  engine::add_version(channel.version, row.seq, row.kind, text.ok() ? *text : "");
  if (row.kind == WriteOp::set) {
    channel.rows.clear();
    channel.folded = Value();
    channel.folded_rows = 0;
  }
  channel.rows.push_back(&row);
}

const std::optional<engine::NextTasks>& Replay::tasks() const {
  if (!std::exchange(has_read_tasks_, true)) read_tasks();
  return tasks_;
}

void Replay::read_tasks() const {
  tasks_.reset();
  tasks_text_.clear();
  auto own = engine::next_tasks_from(checkpoint().next_tasks);
  if (!own.ok()) return;
  if (!own->as_of) {
    tasks_ = *std::move(own);
    return;
  }
  for (std::size_t i = index_; i-- > 0;) {
    const CheckpointRow& earlier = space_.checkpoints[i];
    if (earlier.seq != *own->as_of) continue;
    auto chosen = engine::next_tasks_from(earlier.next_tasks);
    if (!chosen.ok() || chosen->as_of) return;
    chosen->version = own->version;
    chosen->breakpoints = own->breakpoints;
    chosen->materials = own->materials;
    chosen->at_breakpoint = false;  // a commit partway through a superstep is after its breakpoint
    tasks_ = *std::move(chosen);
    tasks_text_ = earlier.next_tasks;
    return;
  }
}

std::optional<Value> Replay::value(std::string_view name) const {
  // The values of a later run of a thread contain its input.
  bool has_input = input_ && (run_.row.ordinal == 0 || !has_started());
  const Value* given = has_input ? input_->find(name) : nullptr;
  auto found = channels_.find(name);
  if (found == channels_.end()) {
    if (!given) return std::nullopt;
    return *given;
  }
  const Channel& channel = found->second;
  if (channel.folded_rows == 0 && given) channel.folded = *given;
  for (; channel.folded_rows < channel.rows.size(); ++channel.folded_rows) {
    fold(*channel.rows[channel.folded_rows], channel.folded);
  }
  return channel.folded;
}

bool Replay::writes(std::string_view name) const {
  if (parent() && checkpoint().state_seq == parent()->state_seq) return false;
  auto found = channels_.find(name);
  return found != channels_.end() && found->second.version.seq == values_seq();
}

std::vector<engine::ChannelVersion> Replay::versions() const {
  std::vector<engine::ChannelVersion> versions;
  for (const auto& [name, channel] : channels_) versions.push_back(channel.version);
  return versions;
}

Digest Replay::chain_hash() const {
  // The parent of a pruned chain's anchor was deleted: its hash cannot be recomputed.
  if (is_anchor()) return checkpoint().chain_hash;
  const Digest& before = parent() ? parent()->chain_hash : origin_;
  return engine::chain_hash(before, checkpoint(), versions());
}

TaskId Replay::task_id(std::size_t position) const {
  bool several = tasks()->tasks.size() > 1;
  return engine::task_id(run_.row.run, space_.checkpoint_ns, tasks()->superstep,
                         tasks()->nodes[position],
                         several ? std::optional(position) : std::nullopt);
}

const GraphDefinition* Replay::graph() const {
  if (!tasks() || !tasks()->version) return space_.graph.get();
  for (const auto& version : run_.versions) {
    if (to_hex(version->hash) == *tasks()->version) return version.get();
  }
  return nullptr;
}

engine::StoredSpace Replay::rows_here() const {
  engine::StoredSpace stored;
  stored.checkpoint = checkpoint();
  if (tasks()) stored.tasks_text = tasks_text_;
  if (parent()) {
    stored.parent_chain_hash = parent()->chain_hash;
    // Any id that is not null: it shows only that there is a parent.
    stored.checkpoint.parent = stored.checkpoint.id;
  } else {
    stored.checkpoint.parent = CheckpointId();
  }
  stored.checkpoint.chain_hash =
      engine::chain_hash(parent() ? parent()->chain_hash : origin_, checkpoint(), versions());
  for (const auto& [name, channel] : channels_) {
    for (const ValueRow* row : channel.rows) stored.values.push_back(*row);
  }
  return stored;
}

void Replay::add_standing(engine::StoredSpace& stored) const {
  for (const ValueRow& row : space_.values) {
    if (row.seq > checkpoint().state_seq) stored.pending.push_back(row);
  }
  if (!tasks()) return;
  for (const TaskRow& row : space_.tasks) {
    if (row.superstep == tasks()->superstep) stored.tasks.push_back(row);
  }
  for (std::size_t i = 0; i < tasks()->tasks.size(); ++i) {
    auto found = run_.inner.find(
        engine::inner_checkpoint_ns(space_.checkpoint_ns, tasks()->nodes[i], task_id(i)));
    if (found == run_.inner.end() || found->second.checkpoints.empty()) continue;
    Replay inner(run_, found->second);
    while (inner.next()) continue;
    engine::StoredSpace standing = inner.rows_here();
    inner.add_standing(standing);
    stored.inner.emplace(found->first, std::move(standing));
  }
}

Result<engine::Run> Replay::restore() const {
  if (!tasks()) {
    return error(
        ErrorCode::corrupt,
        "Its next tasks cannot be read, or were scheduled by a commit that does not exist.");
  }
  engine::StoredRun stored;
  static_cast<engine::StoredSpace&>(stored) = rows_here();
  bool is_inner = !space_.checkpoint_ns.empty();
  if (is_newest() && !is_inner) add_standing(stored);
  stored.row = run_.row;
  if (is_inner) {
    for (ValueRow& row : stored.values) row.checkpoint_ns.clear();
    stored.checkpoint.checkpoint_ns.clear();
    stored.row.input = json_envelope("{}");
    if (!parent()) {
      stored.checkpoint.chain_hash = engine::chain_hash(sha256("{}"), checkpoint(), versions());
    }
  }

  // The row is the current one; the checkpoint contains the values after this commit.
  RunRow& row = stored.row;
  row.status = checkpoint().status;
  row.outcome.clear();
  row.error.clear();
  row.error_code.clear();
  row.seq = checkpoint().seq;
  row.epoch = checkpoint().epoch;
  row.session = checkpoint().session;
  row.checkpoint = checkpoint().id;
  row.node = tasks()->tasks.empty() ? checkpoint().node : nodes_text(*tasks());
  row.retry_count = checkpoint().retry_count;
  row.updated_at = checkpoint().created_at;
  row.due_at = Instant();
  return engine::restore(*graph(), std::move(stored));
}

std::vector<const SpaceContents*> spaces_of(const RunContents& run) {
  std::vector<const SpaceContents*> spaces{&run};
  for (const auto& [name, checkpoint_ns] : run.inner) spaces.push_back(&checkpoint_ns);
  return spaces;
}

ChosenTasks chosen_tasks(const RunContents& run) {
  ChosenTasks chosen;
  for (const SpaceContents* checkpoint_ns : spaces_of(run)) {
    for (std::size_t at = 0; at < checkpoint_ns->checkpoints.size(); ++at) {
      auto next = engine::next_tasks_from(checkpoint_ns->checkpoints[at].next_tasks);
      if (!next.ok() || next->as_of) continue;
      bool several = next->tasks.size() > 1;
      for (std::size_t i = 0; i < next->tasks.size(); ++i) {
        TaskId id = engine::task_id(run.row.run, checkpoint_ns->checkpoint_ns, next->superstep,
                                    next->nodes[i], several ? std::optional(i) : std::nullopt);
        chosen.emplace(id,
                       ChosenTask{checkpoint_ns, at, next->superstep, i, several, next->nodes[i]});
      }
    }
  }
  return chosen;
}

const TaskRow* task_row(const SpaceContents& checkpoint_ns, std::int64_t superstep,
                        std::size_t position) {
  auto place = static_cast<std::int64_t>(position);
  auto found =
      std::lower_bound(checkpoint_ns.tasks.begin(), checkpoint_ns.tasks.end(),
                       std::pair(superstep, place), [](const TaskRow& row, const auto& wanted) {
                         return std::pair(row.superstep, row.position) < wanted;
                       });
  bool is_it = found != checkpoint_ns.tasks.end() && found->superstep == superstep &&
               found->position == place;
  return is_it ? &*found : nullptr;
}

Value parts_of(const TaskRow& row) {
  auto text = json_in_envelope(row.envelope);
  if (!text.ok()) return Value();
  return parse_json(*text).value_or(Value());
}

std::string nodes_text(const engine::NextTasks& tasks) {
  if (tasks.nodes.empty()) return std::string(end);
  std::string text;
  std::vector<std::string_view> named;
  for (const std::string& node : tasks.nodes) {
    if (std::find(named.begin(), named.end(), node) != named.end()) continue;
    named.push_back(node);
    if (!text.empty()) text += ',';
    text += node;
  }
  return text;
}

bool commits_at_the_end(const RunContents& run) {
  auto options = engine::options_from(run.row.options);
  return options.ok() && options->durability == Durability::exit;
}

}  // namespace belay::check
