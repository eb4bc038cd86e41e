#include "agents/checkpointer/thread_operations.h"

#include <chrono>
#include <functional>

#include "agents/checkpointer/kept_checkpoints.h"
#include "agents/checkpointer/thread_content.h"
#include "agents/checkpointer/thread_gates.h"

namespace belay::checkpointer {
namespace {

constexpr std::size_t kThreadsMax = 1'000;  // of one request
constexpr std::chrono::hours kUploadTime{1};
constexpr std::size_t kRewrittenBytesMax = limits::bounded(16u << 20);

// The part of a thread that a removal keeps.
struct Remainder {
  std::set<std::string> checkpoints;  // keys
  bool is_thread = true;              // false: the whole thread is removed
  Instant old = Instant::min();       // removes parts without a value that were saved before
};

struct Removal {
  std::vector<RecordWrite> writes;
  Removed removed;
  std::set<std::string> used, released;          // ids of parts: of kept and of removed values
  std::set<ValuePlace> values;                   // that are kept
  std::vector<std::string> with_removed_values;  // keys of records with both
};

void add_part(const TypedValue& value, bool keeps, Removal& made) {
  if (!value.blob.empty()) (keeps ? made.used : made.released).insert(value.blob);
}

template <Record R>
void erase(const std::string& key, const UserId& owner, Removal& made) {
  made.writes.push_back(record_erasure(R::collection, owner, key));
}

void add_checkpoints(const ThreadContent& content, const Remainder& rest, const UserId& owner,
                     Removal& made) {
  for (const auto& [key, checkpoint] : content.checkpoints) {
    bool keeps = rest.checkpoints.contains(key);
    add_part(checkpoint.checkpoint, keeps, made);
    add_part(checkpoint.metadata, keeps, made);
    if (keeps) continue;
    erase<StoredCheckpoint>(key, owner, made);
    ++made.removed.checkpoints;
  }
}

void add_values(const ThreadContent& content, const Remainder& rest, const UserId& owner,
                Removal& made) {
  made.values = values_of(content.checkpoints, rest.checkpoints, content.values);
  for (const auto& [key, record] : content.values) {
    std::size_t kept = 0;
    for (const ChannelBlob& blob : record.values) {
      ValuePlace place{key, blob.channel, blob.version};
      bool keeps = made.values.contains(place);
      add_part(blob.value, keeps, made);
      kept += keeps;
    }
    made.removed.values += record.values.size() - kept;
    if (kept == 0) erase<StoredValues>(key, owner, made);
    if (kept > 0 && kept < record.values.size()) made.with_removed_values.push_back(key);
  }
}

// Writes whose checkpoint is not stored yet remain with their thread.
void add_writes(const ThreadContent& content, const Remainder& rest, const UserId& owner,
                Removal& made) {
  for (const auto& [key, record] : content.writes) {
    bool is_early = rest.is_thread && !content.checkpoints.contains(record.checkpointKey);
    bool keeps = is_early || rest.checkpoints.contains(record.checkpointKey);
    for (const PendingWrite& write : record.writes) add_part(write.value, keeps, made);
    if (keeps) continue;
    erase<StoredWrites>(key, owner, made);
    made.removed.writes += record.writes.size();
  }
}

// The removal of all records of a thread that the remainder does not need.
Removal removal_of(const ThreadContent& content, const Remainder& rest, const UserId& owner) {
  Removal made;
  add_checkpoints(content, rest, owner, made);
  add_values(content, rest, owner, made);
  add_writes(content, rest, owner, made);
  for (const auto& [key, part] : content.parts) {
    bool is_gone = made.released.contains(part.blob) || part.createdAt < rest.old;
    if (rest.is_thread && (made.used.contains(part.blob) || !is_gone)) continue;
    erase<StoredPart>(key, owner, made);
    ++made.removed.values;
  }
  return made;
}

// Saves records with values that are kept and others without the others. Of very many, some keep
// them until the next removal.
Task<Result<Done>> remove_values(CheckpointAccess at, Removal& removal) {
  auto records = records_of(at.service, at.who, at.owner);
  std::size_t bytes = 0;
  for (const std::string& key : removal.with_removed_values) {
    std::string name = key;
    BELAY_CO_TRY(auto record, co_await records->get<StoredValues>(std::move(name)));
    if (!record) continue;
    std::erase_if(record->values, [&](const ChannelBlob& blob) {
      ValuePlace place{key, blob.channel, blob.version};
      return !removal.values.contains(place);
    });
    bytes += data_bytes(*record);
    if (bytes > kRewrittenBytesMax) break;
    BELAY_CO_TRY(RecordWrite write, record_write(*record, at.owner));
    removal.writes.push_back(std::move(write));
  }
  co_return Done{};
}

// Chooses what remains of a thread.
struct Choice {
  std::string name;  // differs for different choices
  std::function<Remainder(const ThreadContent&)> rest_of;
};

Task<Result<Removed>> remove_behind(CheckpointAccess at, const ThreadGate& gate, std::string thread,
                                    const Choice& choice) {
  std::size_t* no_data = nullptr;
  BELAY_CO_TRY(ThreadContent content, co_await read_thread(at, std::move(thread), no_data));
  Removal removal = removal_of(content, choice.rest_of(content), at.owner);
  BELAY_CO_CHECK(co_await remove_values(at, removal));
  BELAY_CO_TRY(RecordWrite opening, opening_of(gate, at.owner));
  removal.writes.push_back(std::move(opening));
  BELAY_CO_CHECK(co_await at.service.save_records(at.who, std::move(removal.writes)));
  co_return removal.removed;
}

// Opens the gate after a failure. If this fails, too, the next call after kClosedTime opens it.
Task<Result<Done>> open_again(CheckpointAccess at, const ThreadGate& gate) {
  std::vector<RecordWrite> writes;
  BELAY_CO_TRY(RecordWrite opening, opening_of(gate, at.owner));
  writes.push_back(std::move(opening));
  co_return co_await at.service.save_records(at.who, std::move(writes));
}

// Removes what does not remain, between the close of the thread's gate and its opening.
Task<Result<Removed>> remove_rest(CheckpointAccess at, std::string thread, Choice choice) {
  BELAY_CO_TRY(ThreadGate gate, co_await close_gate_in_turn(at, thread, choice.name));
  auto removed = co_await remove_behind(at, gate, std::move(thread), choice);
  if (removed.ok()) co_return std::move(removed);
  if (removed.error().code == ErrorCode::conflict) co_return gate_is_closed();
  (void)co_await open_again(at, gate);
  co_return std::move(removed);
}

Result<Done> check_threads(const std::vector<std::string>& threads) {
  if (threads.size() > kThreadsMax) {
    return error(ErrorCode::invalid,
                 "A request names at most " + std::to_string(kThreadsMax) + " threads or runs.");
  }
  for (const std::string& thread : threads) {
    BELAY_CHECK(check_text("id", thread, 1, kThreadBytesMax));
  }
  return Done{};
}

// Adds the copies of records, and counts the stored ones of the target that differ from them.
template <Record R>
Result<std::size_t> add_copies(std::map<std::string, R> from, const std::map<std::string, R>& to,
                               const std::string& thread, const UserId& owner,
                               std::vector<RecordWrite>& writes) {
  std::size_t same = 0;
  for (auto& [key, record] : from) {
    record.threadId = thread;
    set_keys(record);
    BELAY_TRY(RecordWrite write, record_write(record, owner));
    auto found = to.find(write.key);
    if (found != to.end()) {
      BELAY_TRY(RecordWrite stored, record_write(found->second, owner));
      if (stored.json == write.json) ++same;
    }
    writes.push_back(std::move(write));
  }
  return to.size() - same;
}

// Returns the writes of a copy; `conflict` if the target has other records.
Task<Result<std::vector<RecordWrite>>> writes_of_copy(CheckpointAccess at, const CopyBody& body) {
  std::size_t bytes = 0, target_bytes = 0;
  BELAY_CO_TRY(ThreadContent from, co_await read_thread(at, body.source, &bytes));
  BELAY_CO_TRY(ThreadContent to, co_await read_thread(at, body.target, &target_bytes));
  std::vector<RecordWrite> writes;
  auto copy = [&](auto& records, const auto& stored) {
    return add_copies(std::move(records), stored, body.target, at.owner, writes);
  };
  BELAY_CO_TRY(std::size_t checkpoints, copy(from.checkpoints, to.checkpoints));
  BELAY_CO_TRY(std::size_t values, copy(from.values, to.values));
  BELAY_CO_TRY(std::size_t pending, copy(from.writes, to.writes));
  BELAY_CO_TRY(std::size_t parts, copy(from.parts, to.parts));
  if (checkpoints + values + pending + parts > 0) {
    co_return error(ErrorCode::conflict,
                    "The thread \"" + body.target + "\" has other checkpoints. Delete it before.");
  }
  co_return std::move(writes);
}

void add(Removed& sum, const Removed& more) {
  sum.checkpoints += more.checkpoints;
  sum.writes += more.writes;
  sum.values += more.values;
}

// Reads the checkpoints of a run, and returns the keys of each of their threads.
Task<Result<std::map<std::string, std::set<std::string>>>> checkpoints_of_runs(
    CheckpointAccess at, std::vector<std::string> runs) {
  std::map<std::string, std::set<std::string>> threads;
  for (const std::string& run : runs) {
    BELAY_CO_TRY(ThreadCheckpoints found, co_await read_run(at, run));
    for (const auto& [name, checkpoint] : found) threads[checkpoint.threadId].insert(name);
  }
  co_return std::move(threads);
}

}  // namespace

Task<Result<Removed>> delete_thread(CheckpointAccess at, ThreadBody body) {
  BELAY_CO_CHECK(check_text("\"threadId\"", body.threadId, 1, kThreadBytesMax));
  Choice nothing{"nothing", {}};
  nothing.rest_of = [](const ThreadContent&) {
    Remainder rest;
    rest.is_thread = false;
    return rest;
  };
  co_return co_await remove_rest(at, std::move(body.threadId), std::move(nothing));
}

Task<Result<Done>> copy_thread(CheckpointAccess at, CopyBody body) {
  BELAY_CO_CHECK(check_text("\"source\"", body.source, 1, kThreadBytesMax));
  BELAY_CO_CHECK(check_text("\"target\"", body.target, 1, kThreadBytesMax));
  if (body.source == body.target) co_return Done{};
  std::string name = "copy of " + body.source;
  BELAY_CO_TRY(ThreadGate source, co_await read_gate(at, body.source));
  BELAY_CO_TRY(ThreadGate target, co_await close_gate_in_turn(at, body.target, std::move(name)));
  auto writes = co_await writes_of_copy(at, body);
  if (!writes.ok()) {
    (void)co_await open_again(at, target);
    co_return std::move(writes).error();
  }
  BELAY_CO_TRY(RecordWrite opening, opening_of(target, at.owner));
  writes->push_back(std::move(opening));
  if (target.gate != source.gate) writes->push_back(open_condition(source, at.owner));
  auto saved = co_await at.service.save_records(at.who, *std::move(writes));
  if (saved.ok()) co_return std::move(saved);
  (void)co_await open_again(at, target);
  if (saved.error().code != ErrorCode::conflict) co_return std::move(saved);
  BELAY_CO_CHECK(co_await check_open(at, std::move(source)));
  co_return gate_is_closed();
}

Task<Result<Removed>> prune_threads(CheckpointAccess at, PruneBody body, Instant now) {
  bool keeps = body.strategy == "keep_latest";
  if (!keeps && body.strategy != "delete") {
    co_return error(ErrorCode::invalid, "\"strategy\" must be keep_latest or delete.");
  }
  BELAY_CO_CHECK(check_threads(body.threadIds));
  Choice choice{body.strategy, {}};
  choice.rest_of = [keeps, now](const ThreadContent& content) {
    Remainder rest;
    rest.is_thread = keeps;
    rest.old = now - kUploadTime;
    if (keeps) rest.checkpoints = newest_checkpoints(content.checkpoints);
    return rest;
  };
  Removed sum;
  for (const std::string& thread : body.threadIds) {
    BELAY_CO_TRY(Removed removed, co_await remove_rest(at, thread, choice));
    add(sum, removed);
  }
  co_return sum;
}

Task<Result<Removed>> delete_runs(CheckpointAccess at, RunsBody body) {
  BELAY_CO_CHECK(check_threads(body.runIds));
  const std::string names = key_of(body.runIds);
  BELAY_CO_TRY(auto threads, co_await checkpoints_of_runs(at, std::move(body.runIds)));
  Removed sum;
  for (const auto& [thread, found] : threads) {
    const std::set<std::string>& gone = found;
    Choice choice{names, {}};
    choice.rest_of = [&gone](const ThreadContent& content) {
      Remainder rest;
      for (const auto& [key, checkpoint] : content.checkpoints) {
        if (!gone.contains(key)) rest.checkpoints.insert(key);
      }
      return rest;
    };
    BELAY_CO_TRY(Removed removed, co_await remove_rest(at, thread, std::move(choice)));
    add(sum, removed);
  }
  co_return sum;
}

}  // namespace belay::checkpointer
