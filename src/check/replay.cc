#include "check/replay.h"

#include "engine/checkpoint.h"
#include "engine/restore.h"

namespace belay::check {

Replay::Replay(const RunContents& run) : run_(run) {
  auto text = json_in_envelope(run.row.input);
  if (!text.ok()) return;
  input_hash_ = sha256(*text);
  auto input = parse_json(*text);
  if (input.ok()) input_ = *std::move(input);
}

bool Replay::next() {
  if (index_ + 1 >= run_.checkpoints.size()) return false;
  ++index_;
  std::uint64_t seq = checkpoint().seq;
  for (; values_seen_ < run_.values.size() && run_.values[values_seen_].seq <= seq;
       ++values_seen_) {
    const ValueRow& row = run_.values[values_seen_];
    current_[row.channel] = &row;
  }
  channels_.clear();
  for (const auto& [name, row] : current_) {
    engine::ChannelVersion version;
    version.name = name;
    version.seq = row->seq;
    auto text = json_in_envelope(row->envelope);
    if (text.ok()) version.hash = sha256(*text);
    channels_.push_back(std::move(version));
  }
  return true;
}

std::optional<Value> Replay::value(std::string_view channel) const {
  auto found = current_.find(channel);
  if (found == current_.end()) {
    const Value* given = input_ ? input_->find(channel) : nullptr;
    if (!given) return std::nullopt;
    return *given;
  }
  auto text = json_in_envelope(found->second->envelope);
  if (!text.ok()) return std::nullopt;
  auto value = parse_json(*text);
  if (!value.ok()) return std::nullopt;
  return *std::move(value);
}

bool Replay::writes(std::string_view channel) const {
  auto found = current_.find(channel);
  return found != current_.end() && found->second->seq == checkpoint().seq;
}

Digest Replay::chain_hash() const {
  // The anchor of a pruned chain: what its hash stands on is gone.
  if (!parent() && checkpoint().seq > 1) return checkpoint().chain_hash;
  const Digest& before = parent() ? parent()->chain_hash : input_hash_;
  const CheckpointRow& row = checkpoint();
  return engine::chain_hash(before, row.seq, row.epoch, row.next_tasks, channels_);
}

std::optional<engine::NodeTask> Replay::next_task() const {
  auto next = engine::next_task_from(checkpoint().next_tasks);
  if (!next.ok()) return std::nullopt;
  return std::move(next->task);
}

Result<engine::Run> Replay::restore() const {
  engine::StoredRun stored;
  stored.row = run_.row;
  stored.checkpoint = checkpoint();
  stored.checkpoint.chain_hash = chain_hash();
  if (!parent()) {
    stored.checkpoint.parent = CheckpointId();
  } else {
    stored.parent_chain_hash = parent()->chain_hash;
    // Any id that is not null: it tells only that there is a parent.
    stored.checkpoint.parent = stored.checkpoint.id;
  }
  for (const auto& [name, row] : current_) stored.values.push_back(*row);

  // The row says how the run stands now; what it said after this commit is in the checkpoint.
  RunRow& row = stored.row;
  row.status = checkpoint().status;
  row.outcome.clear();
  row.error.clear();
  row.error_code.clear();
  row.seq = checkpoint().seq;
  row.epoch = checkpoint().epoch;
  row.session = checkpoint().session;
  row.checkpoint = checkpoint().id;
  row.node = checkpoint().node;
  if (auto task = next_task()) row.node = task->node;
  row.retry_count = checkpoint().retry_count;
  row.updated_at = checkpoint().created_at;
  return engine::restore(*run_.graph, std::move(stored));
}

}  // namespace belay::check
