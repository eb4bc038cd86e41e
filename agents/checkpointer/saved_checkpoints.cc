#include "agents/checkpointer/saved_checkpoints.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "agents/checkpointer/thread_gates.h"
#include "agents/checkpointer/value_parts.h"

namespace belay::checkpointer {
namespace {

constexpr int kAttempts = limits::record_conflicts_max;

Result<Done> check_address(const std::string& thread, const std::string& space,
                           const std::string& id) {
  BELAY_CHECK(check_text("\"threadId\"", thread, 1, kThreadBytesMax));
  BELAY_CHECK(check_text("\"checkpointNs\"", space, 0, kNameBytesMax));
  return check_text("\"checkpointId\"", id, 1, kCheckpointIdBytesMax);
}

Result<Done> check_blob(const NewBlob& blob) {
  BELAY_CHECK(check_text("channel of a value", blob.channel, 0, kNameBytesMax));
  BELAY_CHECK(check_text("version of a value", blob.version, 1, kNameBytesMax));
  if (blob.head.value_or(0) < 0 || blob.tail.value_or(0) < 0) {
    return error(ErrorCode::invalid, "\"head\" and \"tail\" must not be negative.");
  }
  return check_value("a channel", blob.value);
}

Result<Done> check_writes(const WritesBody& body) {
  BELAY_CHECK(check_address(body.threadId, body.checkpointNs, body.checkpointId));
  BELAY_CHECK(check_text("\"taskId\"", body.taskId, 1, kNameBytesMax));
  BELAY_CHECK(check_text("\"taskPath\"", body.taskPath.value_or(""), 0, kNameBytesMax));
  for (const NewWrite& write : body.writes) {
    BELAY_CHECK(check_text("channel of a write", write.channel, 0, kNameBytesMax));
    BELAY_CHECK(check_value("a write", write.value));
  }
  return Done{};
}

Result<Done> check_tasks(const std::vector<WritesBody>& tasks) {
  if (tasks.size() > kTasksOfPutMax) {
    return error(ErrorCode::invalid, "A checkpoint is saved with the writes of at most " +
                                         std::to_string(kTasksOfPutMax) +
                                         " tasks. Send the others alone.");
  }
  std::set<std::pair<std::string, std::string>> names;
  for (const WritesBody& task : tasks) {
    BELAY_CHECK(check_writes(task));
    if (names.emplace(task.checkpointId, task.taskId).second) continue;
    return error(ErrorCode::invalid, "\"tasks\" has the task \"" + task.taskId +
                                         "\" twice. Send its later writes alone.");
  }
  return Done{};
}

Result<Done> check_put(const PutBody& body) {
  BELAY_CHECK(check_address(body.threadId, body.checkpointNs, body.checkpointId));
  if (body.parentCheckpointId) {
    BELAY_CHECK(
        check_text("\"parentCheckpointId\"", *body.parentCheckpointId, 1, kCheckpointIdBytesMax));
  }
  BELAY_CHECK(check_value("the checkpoint", body.checkpoint));
  BELAY_CHECK(check_value("the metadata", body.metadata));
  if (!body.search.as_object()) {
    return error(ErrorCode::invalid, "\"search\" must be an object.");
  }
  for (const ChannelVersion& channel : body.channels) {
    BELAY_CHECK(check_text("channel", channel.channel, 0, kNameBytesMax));
    BELAY_CHECK(check_text("version of a channel", channel.version, 1, kNameBytesMax));
  }
  for (const NewBlob& blob : body.blobs) BELAY_CHECK(check_blob(blob));
  return Done{};
}

Task<Result<Done>> check_parts(CheckpointAccess at, const PutBody& body) {
  BELAY_CO_CHECK(co_await check_parts_of(at, body.threadId, body.checkpoint));
  BELAY_CO_CHECK(co_await check_parts_of(at, body.threadId, body.metadata));
  for (const NewBlob& blob : body.blobs) {
    BELAY_CO_CHECK(co_await check_parts_of(at, body.threadId, blob.value));
  }
  co_return Done{};
}
Task<Result<Done>> check_parts(CheckpointAccess at, const WritesBody& body) {
  for (const NewWrite& write : body.writes) {
    BELAY_CO_CHECK(co_await check_parts_of(at, body.threadId, write.value));
  }
  co_return Done{};
}

// Returns false if the writes must be made again: a record or the gate has changed. Waits while a
// removal is in progress.
Task<Result<bool>> save_while_open(CheckpointAccess at, std::vector<RecordWrite> writes,
                                   ThreadGate gate) {
  writes.push_back(open_condition(gate, at.owner));
  auto saved = co_await at.service.save_records(at.who, std::move(writes));
  if (saved.ok()) co_return true;
  if (saved.error().code != ErrorCode::conflict) co_return std::move(saved).error();
  auto open = co_await check_open(at, std::move(gate));
  if (open.ok()) co_return false;
  if (open.error().code != ErrorCode::unavailable) co_return std::move(open).error();
  co_await sleep_for(kRemovalTime);
  co_return false;
}

template <Record R>
Result<RecordWrite> expecting(const R& record, const UserId& owner, std::uint64_t version) {
  BELAY_TRY(RecordWrite write, record_write(record, owner));
  write.expected_version = version;
  return write;
}

// Takes the writes of tasks out of a put.
std::vector<WritesBody> take_tasks(PutBody& body) {
  std::vector<WritesBody> tasks;
  for (TaskWrites& task : body.tasks) {
    tasks.push_back({body.threadId, body.checkpointNs, std::move(task.checkpointId),
                     std::move(task.taskId), std::move(task.taskPath), std::move(task.writes)});
  }
  body.tasks.clear();
  return tasks;
}

StoredCheckpoint checkpoint_of(const PutBody& body) {
  StoredCheckpoint checkpoint;
  checkpoint.threadId = body.threadId;
  checkpoint.checkpointNs = body.checkpointNs;
  checkpoint.checkpointId = body.checkpointId;
  checkpoint.parentCheckpointId = body.parentCheckpointId;
  checkpoint.format = body.format.value_or(kFormatWithSends);
  checkpoint.checkpoint = body.checkpoint;
  checkpoint.metadata = body.metadata;
  checkpoint.search = body.search;
  checkpoint.channels = body.channels;
  set_keys(checkpoint);
  return checkpoint;
}

// The values of a put; of two for the same version, the first one.
StoredValues values_in(const PutBody& body) {
  StoredValues record;
  record.threadId = body.threadId;
  record.checkpointNs = body.checkpointNs;
  record.checkpointId = body.checkpointId;
  for (const NewBlob& added : body.blobs) {
    if (added.isEmpty.value_or(false) || find_value(record, added.channel, added.version)) continue;
    ChannelBlob blob;
    blob.channel = added.channel;
    blob.version = added.version;
    blob.base = added.base.value_or("");
    blob.baseCheckpointId = added.baseCheckpointId.value_or("");
    blob.head = added.head.value_or(0);
    blob.tail = added.tail.value_or(0);
    blob.value = added.value;
    record.values.push_back(std::move(blob));
  }
  set_keys(record);
  return record;
}

// Channels by name and version, as a checkpoint has them.
using Places = std::map<std::pair<std::string, std::string>, ChannelVersion>;

// Each channel is in the request, with its value or as an empty one, or is unchanged.
Result<Done> check_channels(const PutBody& body, const Places& places) {
  std::set<std::pair<std::string, std::string>> sent;
  for (const NewBlob& blob : body.blobs) sent.emplace(blob.channel, blob.version);
  for (const ChannelVersion& at : body.channels) {
    std::pair<std::string, std::string> name(at.channel, at.version);
    if (sent.contains(name) || places.contains(name)) continue;
    const std::string elsewhere =
        body.parentCheckpointId ? "with the stored parent \"" + *body.parentCheckpointId + "\""
                                : "with a parent";
    return error(ErrorCode::conflict, "The version \"" + at.version + "\" of the channel \"" +
                                          at.channel + "\" is neither in the request nor " +
                                          elsewhere + ". Send the values of all channels.");
  }
  return Done{};
}

// The channels of the parent, which the checkpoint has, too, if it does not change them.
Task<Result<Places>> places_of_parent(Records& records, const PutBody& body) {
  Places places;
  std::optional<StoredCheckpoint> parent;
  if (body.parentCheckpointId) {
    std::string key = key_of({body.threadId, body.checkpointNs, *body.parentCheckpointId});
    BELAY_CO_TRY(parent, co_await records.get<StoredCheckpoint>(std::move(key)));
  }
  if (parent) {
    for (ChannelVersion& at : parent->channels) {
      places.insert_or_assign({at.channel, at.version}, std::move(at));
    }
  }
  BELAY_CO_CHECK(check_channels(body, places));
  co_return std::move(places);
}

// Sets the depth of a value that is based on a stored one. Bases of the parent's values need not
// be read.
Task<Result<Done>> find_base(Records& records, const StoredValues& record, const Places& places,
                             ChannelBlob& blob) {
  if (blob.base.empty()) co_return Done{};
  std::int64_t depth = kBaseDepthMax;
  auto known = places.find({blob.channel, blob.base});
  if (known != places.end() && known->second.checkpointId == blob.baseCheckpointId) {
    depth = known->second.depth.value_or(0);
  } else {
    ValuePlace place = base_place(record, blob);
    BELAY_CO_TRY(auto found, co_await records.get<StoredValues>(place.record));
    const ChannelBlob* base = found ? find_value(*found, place.channel, place.version) : nullptr;
    if (base) depth = base->depth;
  }
  if (depth >= kBaseDepthMax) {
    co_return error(ErrorCode::conflict, "The value of the channel \"" + blob.channel +
                                             "\" is based on one that is not stored, or that has "
                                             "too many bases. Send the whole value.");
  }
  blob.depth = depth + 1;
  co_return Done{};
}

// Sets where the values of the channels are: with this checkpoint, or, of an unchanged channel,
// where the parent has it.
void set_places(const PutBody& body, const StoredValues& values, Places places,
                StoredCheckpoint& checkpoint) {
  for (const NewBlob& blob : body.blobs) places.erase({blob.channel, blob.version});
  for (const ChannelBlob& blob : values.values) {
    ChannelVersion place{blob.channel, blob.version, body.checkpointId, {}};
    if (blob.depth > 0) place.depth = blob.depth;
    places.insert_or_assign({blob.channel, blob.version}, std::move(place));
  }
  for (ChannelVersion& at : checkpoint.channels) {
    auto found = places.find({at.channel, at.version});
    at.checkpointId.reset();
    at.depth.reset();
    if (found != places.end()) at = found->second;
  }
}

// Adds the values of a put to those that an earlier put of the checkpoint has stored. Returns
// whether there are new ones.
Task<Result<bool>> add_values(Records& records, const Places& places, const StoredValues& added,
                              StoredValues& all) {
  bool is_new = false;
  for (ChannelBlob blob : added.values) {
    if (find_value(all, blob.channel, blob.version)) continue;
    BELAY_CO_CHECK(co_await find_base(records, added, places, blob));
    all.values.push_back(std::move(blob));
    is_new = true;
  }
  co_return is_new;
}

// Returns the writes of a put. Each expects the version that was read, so that all are saved or
// none, and a repeated call finds its records. The first attempt expects new records and does not
// read them.
Task<Result<std::vector<RecordWrite>>> writes_of_put(CheckpointAccess at, const PutBody& body,
                                                     bool is_first) {
  auto records = records_of(at.service, at.who, at.owner);
  StoredCheckpoint checkpoint = checkpoint_of(body);
  StoredValues added = values_in(body), all = added;
  all.values.clear();
  std::uint64_t version = 0, values_version = 0;
  if (!is_first) {
    BELAY_CO_TRY(auto stored, co_await records->get_versioned<StoredCheckpoint>(checkpoint.key()));
    if (stored) version = stored->version;
    BELAY_CO_TRY(auto values, co_await records->get_versioned<StoredValues>(added.key()));
    if (values) values_version = values->version;
    if (values) all = std::move(values->record);
  }
  BELAY_CO_TRY(Places places, co_await places_of_parent(*records, body));
  BELAY_CO_TRY(bool has_values, co_await add_values(*records, places, added, all));
  set_places(body, all, std::move(places), checkpoint);
  std::vector<RecordWrite> writes;
  BELAY_CO_TRY(RecordWrite first, expecting(checkpoint, at.owner, version));
  writes.push_back(std::move(first));
  if (has_values) {
    BELAY_CO_TRY(RecordWrite second, expecting(all, at.owner, values_version));
    writes.push_back(std::move(second));
  }
  co_return std::move(writes);
}

// The records of a call: one of the writes to regular channels, and one for each special channel.
// Of two writes with the same index, the last one counts.
std::map<std::int64_t, StoredWrites> writes_in(const WritesBody& body) {
  std::map<std::int64_t, StoredWrites> groups;
  std::int64_t position = 0;
  for (const NewWrite& added : body.writes) {
    PendingWrite write{write_index(added.channel, position++), added.channel, added.value};
    StoredWrites& record = groups[std::min<std::int64_t>(write.idx, 0)];
    record.group = std::min<std::int64_t>(write.idx, 0);
    if (replaces_stored(write.idx)) record.writes.clear();
    record.writes.push_back(std::move(write));
  }
  for (auto& [group, record] : groups) {
    record.threadId = body.threadId;
    record.checkpointNs = body.checkpointNs;
    record.checkpointId = body.checkpointId;
    record.taskId = body.taskId;
    record.taskPath = body.taskPath.value_or("");
    set_keys(record);
  }
  return groups;
}

// Adds the stored writes to regular channels that the call has, too: they are kept. Returns
// whether the call has others.
bool keep_stored(const StoredWrites& stored, StoredWrites& record) {
  std::map<std::int64_t, PendingWrite> writes;
  for (const PendingWrite& each : stored.writes) writes.emplace(each.idx, each);
  for (PendingWrite& each : record.writes) writes.emplace(each.idx, std::move(each));
  bool has_others = writes.size() > stored.writes.size();
  record.taskPath = stored.taskPath;
  record.writes.clear();
  for (auto& [idx, each] : writes) record.writes.push_back(std::move(each));
  return has_others;
}

// Adds the records of a task's writes. The first attempt expects new ones, as in writes_of_put().
Task<Result<Done>> add_writes(CheckpointAccess at, const WritesBody& body, bool is_first,
                              std::vector<RecordWrite>& writes) {
  auto records = records_of(at.service, at.who, at.owner);
  std::map<std::int64_t, StoredWrites> groups = writes_in(body);
  for (auto& [group, record] : groups) {
    std::uint64_t version = 0;
    if (!is_first) {
      BELAY_CO_TRY(auto stored, co_await records->get_versioned<StoredWrites>(record.key()));
      bool is_kept = stored && !replaces_stored(group);
      if (is_kept && !keep_stored(stored->record, record)) continue;
      if (stored) version = stored->version;
    }
    BELAY_CO_TRY(RecordWrite saved, expecting(record, at.owner, version));
    writes.push_back(std::move(saved));
  }
  co_return Done{};
}

}  // namespace

Task<Result<Done>> put_checkpoint(CheckpointAccess at, PutBody body) {
  std::vector<WritesBody> tasks = take_tasks(body);
  BELAY_CO_CHECK(check_put(body));
  BELAY_CO_CHECK(check_tasks(tasks));
  for (int attempt = 1;; ++attempt) {
    BELAY_CO_TRY(ThreadGate gate, co_await read_gate(at, body.threadId));
    BELAY_CO_CHECK(co_await check_parts(at, body));
    for (const WritesBody& task : tasks) BELAY_CO_CHECK(co_await check_parts(at, task));
    BELAY_CO_TRY(std::vector<RecordWrite> writes, co_await writes_of_put(at, body, attempt == 1));
    for (const WritesBody& task : tasks) {
      BELAY_CO_CHECK(co_await add_writes(at, task, attempt == 1, writes));
    }
    BELAY_CO_TRY(bool is_saved, co_await save_while_open(at, std::move(writes), std::move(gate)));
    if (is_saved) co_return Done{};
    if (attempt == kAttempts) co_return gate_is_closed();
  }
}

Task<Result<Done>> put_writes(CheckpointAccess at, WritesBody body) {
  BELAY_CO_CHECK(check_writes(body));
  for (int attempt = 1;; ++attempt) {
    BELAY_CO_TRY(ThreadGate gate, co_await read_gate(at, body.threadId));
    BELAY_CO_CHECK(co_await check_parts(at, body));
    std::vector<RecordWrite> writes;
    BELAY_CO_CHECK(co_await add_writes(at, body, attempt == 1, writes));
    if (writes.empty()) co_return Done{};
    BELAY_CO_TRY(bool is_saved, co_await save_while_open(at, std::move(writes), std::move(gate)));
    if (is_saved) co_return Done{};
    if (attempt == kAttempts) co_return gate_is_closed();
  }
}

}  // namespace belay::checkpointer
