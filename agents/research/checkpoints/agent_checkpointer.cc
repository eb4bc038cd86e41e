#include "agents/research/checkpoints/agent_checkpointer.h"

#include <algorithm>
#include <utility>

#include "agents/research/checkpoints/parallel_calls.h"

namespace belay::research {
namespace {

std::string digest_text(std::string_view text) { return to_hex(sha256(text)); }

Instant next_time(Instant time) { return time + Instant::duration(1); }

// A percentage has at most two decimals.
std::string percent_text(double percent) {
  std::string text;
  write_json_number(percent, text);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text + " %";
}

}  // namespace

// The newest checkpoint of an agent, in the version that has saved it.
struct AgentCheckpointer::Stored {
  Value value{};
  CheckpointSource source = CheckpointSource::store;
};

Task<Result<SavedCheckpoint>> AgentCheckpointer::save(AgentCheckpoint checkpoint, Instant now) {
  SavedCheckpoint saved;
  if (!options_.enabled) co_return saved;
  BELAY_CO_CHECK(check_agent(checkpoint.analysis_id, checkpoint.agent_type));
  std::optional<Versioned<CheckpointHead>> head;
  // A node needs the head only for this time.
  bool is_time_known = !rows_.is_immediate() && checkpoint.checkpoint_time != Instant();
  if (is_time_known) {
    checkpoint.checkpoint_time = std::max(now, next_time(checkpoint.checkpoint_time));
  } else {
    std::string key = head_key(checkpoint.analysis_id, checkpoint.agent_type);
    BELAY_CO_TRY(head, co_await rows_.records().get_versioned<CheckpointHead>(std::move(key)));
    checkpoint.checkpoint_time = head ? std::max(now, next_time(head->record.saved_at)) : now;
  }
  checkpoint.agent_version = version_text(versions_.current(checkpoint.agent_type));
  BELAY_CO_TRY(std::string text, checkpoint_text(checkpoint));
  BELAY_CO_CHECK(co_await write(checkpoint, text, std::move(head)));
  saved.is_saved = true;
  saved.checkpoint_time = checkpoint.checkpoint_time;
  if (CheckpointCache* used = cache()) {
    std::string name = checkpoint_cache_key(checkpoint.analysis_id, checkpoint.agent_type);
    used->put(name, std::move(text), options_.cache_ttl);
  }
  co_return saved;
}

Task<Result<Done>> AgentCheckpointer::write(const AgentCheckpoint& checkpoint,
                                            const std::string& text,
                                            std::optional<Versioned<CheckpointHead>> head) {
  HeadWrite next;
  next.head.analysis_id = checkpoint.analysis_id;
  next.head.agent_type = checkpoint.agent_type;
  next.head.newest = checkpoint.key();
  next.head.digest = digest_text(text);
  next.head.saved_at = checkpoint.checkpoint_time;
  next.head.due = checkpoint.checkpoint_time + options_.kept;
  // In a node, the epoch of the run guards the commit.
  if (rows_.is_immediate()) next.expected_version = head ? head->version : 0;
  CheckpointWrites writes;
  writes.checkpoints.push_back(checkpoint);
  writes.heads.push_back(next);
  CheckpointWrites again = writes;
  auto written = co_await rows_.write(std::move(writes));
  bool is_conflict = !written.ok() && written.error().code == ErrorCode::conflict;
  if (!is_conflict || head) co_return written;
  // Either another process has saved the first checkpoint meanwhile, or the head was removed by a
  // node and is not deleted yet: it is not read, and still has a version.
  std::string key = next.head.key();
  auto other = co_await rows_.records().get_versioned<CheckpointHead>(std::move(key));
  if (!other.ok() || *other) co_return written;
  again.heads.front().expected_version.reset();
  co_return co_await rows_.write(std::move(again));
}

// The wait is bounded here: an implementation of the cache might not limit it.
Task<std::optional<std::string>> AgentCheckpointer::cached_text(std::string key) {
  std::optional<std::string> none;
  CheckpointCache* used = cache();
  if (!used) co_return std::move(none);
  Executor& executor = co_await this_executor();
  Completion<std::optional<std::string>> reply;
  std::function<void(std::optional<std::string>)> done = [reply](std::optional<std::string> text) {
    reply.complete(std::move(text));
  };
  Spawned read =
      spawn<std::optional<std::string>>(executor, used->get(std::move(key)), std::move(done));
  Executor::TimerId timer =
      executor.call_after(options_.cache_wait, [reply] { reply.complete(std::nullopt); });
  std::optional<std::string> text = co_await reply;
  executor.cancel(timer);
  co_return std::move(text);
}

Task<Result<std::optional<AgentCheckpointer::Stored>>> AgentCheckpointer::find_newest(
    std::string analysis_id, std::string agent_type) {
  std::string name = checkpoint_cache_key(analysis_id, agent_type);
  std::optional<std::string> text = co_await cached_text(std::move(name));
  if (text) {
    std::string key = head_key(analysis_id, agent_type);
    auto head = co_await rows_.records().get<CheckpointHead>(std::move(key));
    if (!head.ok()) co_return std::move(head).error();
    bool is_newest = *head && (*head)->digest == digest_text(*text);
    if (is_newest) {
      BELAY_CO_TRY(Value value, parse_json(*text));
      std::optional<Stored> found;
      found.emplace();
      found->value = std::move(value);
      found->source = CheckpointSource::cache;
      co_return std::move(found);
    }
  }
  co_return co_await find_stored(std::move(analysis_id), std::move(agent_type));
}

Task<Result<std::optional<AgentCheckpointer::Stored>>> AgentCheckpointer::find_stored(
    std::string analysis_id, std::string agent_type) {
  std::string name = checkpoint_cache_key(analysis_id, agent_type);
  BELAY_CO_TRY(std::optional<RecordRow> row,
               co_await newest_row(rows_.records(), std::move(analysis_id), std::move(agent_type)));
  std::optional<Stored> found;
  if (!row) co_return std::move(found);
  auto value = parse_json(row->json);
  if (!value.ok()) {
    co_return error(ErrorCode::corrupt, "The stored checkpoint \"" + row->key +
                                            "\" is damaged: " + value.error().message);
  }
  // The text of a head's digest has sorted members.
  if (CheckpointCache* used = cache()) used->put(name, to_json(*value), options_.cache_ttl);
  found.emplace();
  found->value = *std::move(value);
  co_return std::move(found);
}

Result<RestoredCheckpoint> AgentCheckpointer::open(Stored stored, const std::string& analysis_id,
                                                   const std::string& agent_type) const {
  bool is_of_agent = stored.value["analysis_id"] == Value(analysis_id) &&
                     stored.value["agent_type"] == Value(agent_type);
  if (!is_of_agent) {
    return error(ErrorCode::corrupt, "The stored checkpoint of agent \"" + agent_type +
                                         "\" names another agent or analysis.");
  }
  BELAY_TRY(Migrated migrated, versions_.migrate(agent_type, std::move(stored.value)));
  RestoredCheckpoint restored;
  BELAY_TRY(restored.checkpoint, checkpoint_from(migrated.checkpoint));
  restored.source = stored.source;
  restored.migrations = std::move(migrated.steps);
  return restored;
}

Task<RestoreResult> AgentCheckpointer::restore(std::string analysis_id, std::string agent_type) {
  std::optional<RestoredCheckpoint> restored;
  if (!options_.enabled) co_return std::move(restored);
  BELAY_CO_CHECK(check_agent(analysis_id, agent_type));
  BELAY_CO_TRY(std::optional<Stored> found, co_await find_newest(analysis_id, agent_type));
  if (!found) co_return std::move(restored);
  BELAY_CO_TRY(restored, open(*std::move(found), analysis_id, agent_type));
  co_return std::move(restored);
}

Task<Result<Done>> AgentCheckpointer::restore_into(std::optional<RestoreResult>& result,
                                                   std::string analysis_id,
                                                   std::string agent_type) {
  result.emplace(co_await restore(std::move(analysis_id), std::move(agent_type)));
  co_return Done{};
}

Task<Result<std::vector<AgentRestore>>> AgentCheckpointer::restore_all(std::string analysis_id) {
  std::vector<AgentRestore> all;
  if (!options_.enabled) co_return std::move(all);
  BELAY_CO_CHECK(check_analysis(analysis_id));
  BELAY_CO_TRY(std::vector<Versioned<CheckpointHead>> heads,
               co_await heads_of(rows_.records(), analysis_id));
  std::vector<std::optional<RestoreResult>> results(heads.size());
  // Not a coroutine: the frame of one would refer to the captures of a lambda that may have moved.
  NumberedCall restore_one = [&](std::size_t i) {
    return restore_into(results[i], analysis_id, heads[i].record.agent_type);
  };
  std::size_t together = std::max<std::size_t>(options_.restores_at_once, 1);
  BELAY_CO_CHECK(co_await call_each(heads.size(), together, std::move(restore_one)));
  for (std::size_t i = 0; i < heads.size(); ++i) {
    all.push_back({std::move(heads[i].record.agent_type), *std::move(results[i])});
  }
  co_return std::move(all);
}

Task<Result<std::vector<MigrationReport>>> AgentCheckpointer::dry_run(std::string analysis_id) {
  std::vector<MigrationReport> reports;
  BELAY_CO_CHECK(check_analysis(analysis_id));
  BELAY_CO_TRY(std::vector<Versioned<CheckpointHead>> heads,
               co_await heads_of(rows_.records(), analysis_id));
  for (const Versioned<CheckpointHead>& head : heads) {
    std::string agent_type = head.record.agent_type;
    BELAY_CO_TRY(std::optional<RecordRow> row,
                 co_await newest_row(rows_.records(), analysis_id, agent_type));
    if (!row) continue;  // removed meanwhile
    MigrationReport report = versions_.dry_run(agent_type, parse_json(row->json).value_or(Value()));
    reports.push_back(std::move(report));
  }
  co_return std::move(reports);
}

AgentProgress AgentCheckpointer::progress(const AgentCheckpoint& checkpoint) const {
  AgentProgress progress;
  progress.agent_type = checkpoint.agent_type;
  progress.completed = static_cast<std::int64_t>(checkpoint.completed_subtasks.size());
  progress.total =
      progress.completed + static_cast<std::int64_t>(checkpoint.pending_subtasks.size());
  progress.progress_pct = checkpoint.progress_pct;
  progress.current_subtask = checkpoint.current_subtask;
  progress.checkpoints_on = options_.enabled;
  progress.text = std::to_string(progress.completed) + " of " + std::to_string(progress.total) +
                  " subtasks (" + percent_text(progress.progress_pct) + ")";
  if (!progress.current_subtask.empty()) progress.text += ", next: " + progress.current_subtask;
  if (!options_.enabled) {
    progress.text += "; checkpoints are off: after a failure, the agent starts again";
  }
  return progress;
}

}  // namespace belay::research
