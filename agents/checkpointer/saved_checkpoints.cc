#include "agents/checkpointer/saved_checkpoints.h"

#include <map>

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

// Fails if a part of a value was not saved before.
Task<Result<Done>> check_parts(CheckpointAccess at, std::string thread, TypedValue value) {
  for (std::int64_t part = 0; part < value.parts; ++part) {
    PartName name{thread, value.blob, part};
    BELAY_CO_CHECK(co_await read_part(at, std::move(name)));
  }
  co_return Done{};
}

template <Record R>
Result<RecordWrite> expecting(const R& record, const UserId& owner, std::uint64_t version) {
  BELAY_TRY(RecordWrite write, record_write(record, owner));
  write.expected_version = version;
  return write;
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

StoredBlob blob_of(const PutBody& body, const NewBlob& added) {
  StoredBlob blob;
  blob.threadId = body.threadId;
  blob.checkpointNs = body.checkpointNs;
  blob.channel = added.channel;
  blob.version = added.version;
  blob.checkpointId = body.checkpointId;
  blob.isEmpty = added.isEmpty.value_or(false);
  blob.base = added.base.value_or("");
  blob.baseCheckpointId = added.baseCheckpointId.value_or("");
  blob.head = added.head.value_or(0);
  blob.tail = added.tail.value_or(0);
  blob.value = added.value;
  set_keys(blob);
  return blob;
}

// Sets the depth of a value that is based on a stored one.
Task<Result<Done>> find_base(Records& records, StoredBlob& blob) {
  if (blob.base.empty()) co_return Done{};
  BELAY_CO_TRY(std::optional<StoredBlob> base, co_await records.get<StoredBlob>(blob.base_key()));
  bool is_usable = base && !base->isEmpty && base->depth < kBaseDepthMax;
  if (!is_usable) {
    co_return error(ErrorCode::conflict, "The value of the channel \"" + blob.channel +
                                             "\" is based on one that is not stored, or that has "
                                             "too many bases. Send the whole value.");
  }
  blob.depth = base->depth + 1;
  co_return Done{};
}

// Sets where the values of the channels are: with this checkpoint, or, of an unchanged channel,
// where the parent has it.
Task<Result<Done>> find_values(Records& records, const PutBody& body,
                               StoredCheckpoint& checkpoint) {
  std::map<std::pair<std::string, std::string>, std::string> places;
  if (body.parentCheckpointId) {
    std::string key = key_of({body.threadId, body.checkpointNs, *body.parentCheckpointId});
    BELAY_CO_TRY(auto parent, co_await records.get<StoredCheckpoint>(std::move(key)));
    if (!parent) parent.emplace();
    for (const ChannelVersion& at : parent->channels) {
      if (at.checkpointId) places[{at.channel, at.version}] = *at.checkpointId;
    }
  }
  for (const NewBlob& blob : body.blobs) {
    places[{blob.channel, blob.version}] = body.checkpointId;
  }
  for (ChannelVersion& at : checkpoint.channels) {
    auto found = places.find({at.channel, at.version});
    at.checkpointId.reset();
    if (found != places.end()) at.checkpointId = found->second;
  }
  co_return Done{};
}

// Returns the writes of a put. Each expects the version that was read, so that all are saved or
// none, and a repeated call finds its records.
Task<Result<std::vector<RecordWrite>>> writes_of_put(CheckpointAccess at, const PutBody& body) {
  auto records = records_of(at.service, at.who, at.owner);
  StoredCheckpoint checkpoint = checkpoint_of(body);
  BELAY_CO_TRY(auto stored, co_await records->get_versioned<StoredCheckpoint>(checkpoint.key()));
  std::uint64_t version = stored ? stored->version : 0;
  BELAY_CO_CHECK(co_await find_values(*records, body, checkpoint));
  std::vector<RecordWrite> writes;
  BELAY_CO_TRY(RecordWrite first, expecting(checkpoint, at.owner, version));
  writes.push_back(std::move(first));
  std::map<std::string, StoredBlob> blobs;
  for (const NewBlob& added : body.blobs) {
    StoredBlob blob = blob_of(body, added);
    blobs.emplace(blob.key(), std::move(blob));
  }
  for (auto& [key, blob] : blobs) {
    std::string name = key;
    BELAY_CO_TRY(auto found, co_await records->get<StoredBlob>(std::move(name)));
    if (found) continue;
    BELAY_CO_CHECK(co_await find_base(*records, blob));
    BELAY_CO_TRY(RecordWrite write, expecting(blob, at.owner, 0));
    writes.push_back(std::move(write));
  }
  co_return std::move(writes);
}

// The writes of a call by their keys; of two with the same key, the last one.
std::map<std::string, StoredWrite> writes_in(const WritesBody& body) {
  std::map<std::string, StoredWrite> writes;
  std::int64_t position = 0;
  for (const NewWrite& added : body.writes) {
    StoredWrite write;
    write.threadId = body.threadId;
    write.checkpointNs = body.checkpointNs;
    write.checkpointId = body.checkpointId;
    write.taskId = body.taskId;
    write.taskPath = body.taskPath.value_or("");
    write.idx = write_index(added.channel, position++);
    write.channel = added.channel;
    write.value = added.value;
    set_keys(write);
    writes.insert_or_assign(write.key(), std::move(write));
  }
  return writes;
}

Task<Result<std::vector<RecordWrite>>> records_of_writes(CheckpointAccess at,
                                                         const WritesBody& body) {
  auto records = records_of(at.service, at.who, at.owner);
  std::map<std::string, StoredWrite> added = writes_in(body);
  std::vector<RecordWrite> writes;
  for (const auto& [key, write] : added) {
    std::string name = key;
    BELAY_CO_TRY(auto stored, co_await records->get_versioned<StoredWrite>(std::move(name)));
    if (stored && !replaces_stored(write.idx)) continue;
    std::uint64_t version = stored ? stored->version : 0;
    BELAY_CO_TRY(RecordWrite saved, expecting(write, at.owner, version));
    writes.push_back(std::move(saved));
  }
  co_return std::move(writes);
}

}  // namespace

Task<Result<Done>> put_checkpoint(CheckpointAccess at, PutBody body) {
  BELAY_CO_CHECK(check_put(body));
  std::vector<TypedValue> values{body.checkpoint, body.metadata};
  for (const NewBlob& blob : body.blobs) values.push_back(blob.value);
  for (TypedValue& value : values) {
    std::string thread = body.threadId;
    BELAY_CO_CHECK(co_await check_parts(at, std::move(thread), std::move(value)));
  }
  for (int attempt = 1;; ++attempt) {
    BELAY_CO_TRY(std::vector<RecordWrite> writes, co_await writes_of_put(at, body));
    auto saved = co_await at.service.save_records(at.who, std::move(writes));
    bool is_conflict = !saved.ok() && saved.error().code == ErrorCode::conflict;
    if (!is_conflict || attempt == kAttempts) co_return std::move(saved);
  }
}

Task<Result<Done>> put_writes(CheckpointAccess at, WritesBody body) {
  BELAY_CO_CHECK(check_address(body.threadId, body.checkpointNs, body.checkpointId));
  BELAY_CO_CHECK(check_text("\"taskId\"", body.taskId, 1, kNameBytesMax));
  BELAY_CO_CHECK(check_text("\"taskPath\"", body.taskPath.value_or(""), 0, kNameBytesMax));
  for (const NewWrite& write : body.writes) {
    BELAY_CO_CHECK(check_text("channel of a write", write.channel, 0, kNameBytesMax));
    BELAY_CO_CHECK(check_value("a write", write.value));
    std::string thread = body.threadId;
    TypedValue value = write.value;
    BELAY_CO_CHECK(co_await check_parts(at, std::move(thread), std::move(value)));
  }
  for (int attempt = 1;; ++attempt) {
    BELAY_CO_TRY(std::vector<RecordWrite> writes, co_await records_of_writes(at, body));
    if (writes.empty()) co_return Done{};
    auto saved = co_await at.service.save_records(at.who, std::move(writes));
    bool is_conflict = !saved.ok() && saved.error().code == ErrorCode::conflict;
    if (!is_conflict || attempt == kAttempts) co_return std::move(saved);
  }
}

Task<Result<Done>> put_part(CheckpointAccess at, PartBody body, Instant now) {
  BELAY_CO_CHECK(check_text("\"threadId\"", body.threadId, 1, kThreadBytesMax));
  bool is_valid = uuid_from(body.blob) && body.part >= 0 && body.part < kPartsMax &&
                  is_base64(body.data) && !body.data.empty();
  if (!is_valid) {
    co_return error(ErrorCode::invalid, "A part has a UUID, a number below " +
                                            std::to_string(kPartsMax) + " and base64 data.");
  }
  StoredPart part;
  part.threadId = std::move(body.threadId);
  part.blob = std::move(body.blob);
  part.part = body.part;
  part.data = std::move(body.data);
  part.createdAt = now;
  set_keys(part);
  BELAY_CO_TRY(RecordWrite write, record_write(part, at.owner));
  std::vector<RecordWrite> writes;
  writes.push_back(std::move(write));
  co_return co_await at.service.save_records(at.who, std::move(writes));
}

Task<Result<std::string>> read_part(CheckpointAccess at, PartName name) {
  auto records = records_of(at.service, at.who, at.owner);
  std::string key = key_of({name.threadId, name.blob, std::to_string(name.part)});
  BELAY_CO_TRY(auto found, co_await records->get<StoredPart>(std::move(key)));
  if (found) co_return std::move(found->data);
  co_return error(ErrorCode::not_found, "The part " + std::to_string(name.part) + " of the value " +
                                            name.blob + " does not exist.");
}

}  // namespace belay::checkpointer
