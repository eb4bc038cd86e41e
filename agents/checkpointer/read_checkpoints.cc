#include "agents/checkpointer/read_checkpoints.h"

#include <algorithm>
#include <map>
#include <set>

namespace belay::checkpointer {
namespace {

constexpr std::size_t kRowsTogether = limits::bounded(64);
constexpr std::size_t kScannedMax = limits::bounded(1'000, 6);  // checkpoints of one list request
constexpr std::size_t kStepsMax = limits::bounded(1'000, 3);    // ancestors of one history request

std::size_t bytes_of(const LoadedTuple& tuple) {
  std::size_t bytes = stored_bytes(tuple.checkpoint.checkpoint) + 500;
  bytes += stored_bytes(tuple.checkpoint.metadata);
  for (const ChannelValue& value : tuple.values) {
    for (const ChannelBlob& blob : value.chain) bytes += stored_bytes(blob.value);
  }
  for (const TaskWrite& write : tuple.writes) bytes += stored_bytes(write.value);
  return bytes;
}

// The values of checkpoints, each record read once.
class ValueReader {
 public:
  explicit ValueReader(Records& records) : records_(records) {}

  // Returns the value of a channel at a version; its chain is empty if it has none.
  Task<Result<ChannelValue>> read(const StoredCheckpoint& checkpoint, const ChannelVersion& at) {
    ChannelValue value;
    value.channel = at.channel;
    if (!at.checkpointId) co_return std::move(value);
    value.checkpoint_id = *at.checkpointId;
    ValuePlace place = value_place(checkpoint, at);
    for (std::int64_t depth = 0; depth <= kBaseDepthMax; ++depth) {
      BELAY_CO_TRY(const StoredValues* record, co_await record_at(place.record));
      const ChannelBlob* blob =
          record ? find_value(*record, place.channel, place.version) : nullptr;
      if (!blob) co_return damaged(at.channel, depth > 0 ? "has no base" : "is not stored");
      value.chain.insert(value.chain.begin(), *blob);
      if (blob->base.empty()) co_return std::move(value);
      place = base_place(*record, *blob);
    }
    co_return damaged(at.channel, "has too many bases");
  }

 private:
  static Error damaged(const std::string& channel, const std::string& problem) {
    return error(ErrorCode::corrupt, "A value of the channel \"" + channel + "\" " + problem + ".");
  }
  Task<Result<const StoredValues*>> record_at(std::string key) {
    auto known = known_.find(key);
    if (known == known_.end()) {
      std::string name = key;
      BELAY_CO_TRY(auto found, co_await records_.get<StoredValues>(std::move(name)));
      known = known_.emplace(std::move(key), std::move(found)).first;
    }
    co_return known->second ? &*known->second : nullptr;
  }

  Records& records_;
  std::map<std::string, std::optional<StoredValues>> known_;
};

// Adds the writes of a record.
void add_writes(StoredWrites record, std::vector<TaskWrite>& writes) {
  for (PendingWrite& each : record.writes) {
    TaskWrite write;
    write.taskPath = record.taskPath;
    write.taskId = record.taskId;
    write.idx = each.idx;
    write.channel = std::move(each.channel);
    write.value = std::move(each.value);
    writes.push_back(std::move(write));
  }
}

// Returns the pending writes of a checkpoint, in their order.
Task<Result<std::vector<TaskWrite>>> read_writes(Records& records, std::string checkpoint) {
  std::vector<TaskWrite> writes;
  std::string after;
  while (true) {
    RecordFilter filter;
    filter.collection = StoredWrites::collection;
    filter.field = "checkpointKey";
    filter.value = checkpoint;
    filter.after = after;
    filter.limit = kRowsTogether;
    BELAY_CO_TRY(std::vector<RecordRow> rows, co_await records.find(std::move(filter)));
    for (const RecordRow& row : rows) {
      BELAY_CO_TRY(StoredWrites record, record_from<StoredWrites>(row));
      add_writes(std::move(record), writes);
    }
    if (rows.size() < kRowsTogether) break;
    after = rows.back().key;
  }
  sort_writes(writes);
  co_return std::move(writes);
}

std::vector<TypedValue> sends_of(std::vector<TaskWrite> writes) {
  for (TaskWrite& write : writes) write.taskPath.clear();
  sort_writes(writes);
  std::vector<TypedValue> sends;
  for (TaskWrite& write : writes) {
    if (write.channel == kSendsChannel) sends.push_back(std::move(write.value));
  }
  return sends;
}

RecordSpan span_of(const ListBody& body) {
  bool is_of_space = body.threadId && body.checkpointNs;
  std::string index = is_of_space ? "space" : body.threadId ? "thread" : "id";
  RecordSpan span(index);
  span.last_first().limit(kRowsTogether);
  if (is_of_space) {
    std::string key = key_of({*body.threadId, *body.checkpointNs});
    body.checkpointId ? span.equal_to(key, *body.checkpointId) : span.equal_to(key);
    if (body.before && !body.checkpointId) span.until(key, *body.before);
  } else if (body.threadId) {
    std::string key = key_of({*body.threadId});
    body.checkpointId ? span.equal_to(key, *body.checkpointId) : span.equal_to(key);
    if (body.before && !body.checkpointId) span.until(key, *body.before);
  } else {
    if (body.checkpointId) span.equal_to(*body.checkpointId);
    if (body.before && !body.checkpointId) span.until(*body.before);
  }
  if (body.after) span.after(*body.after);
  return span;
}

// Returns the `after` of a page that continues behind this checkpoint.
std::string place_of(const ListBody& body, const StoredCheckpoint& checkpoint) {
  auto [space, thread, id] = StoredCheckpoint::ordered();
  std::string value = body.threadId && body.checkpointNs ? space.value_of(checkpoint)
                      : body.threadId                    ? thread.value_of(checkpoint)
                                                         : id.value_of(checkpoint);
  return value + ' ' + checkpoint.key();
}

bool is_listed(const ListBody& body, const StoredCheckpoint& checkpoint) {
  if (body.checkpointNs && checkpoint.checkpointNs != *body.checkpointNs) return false;
  if (body.before && checkpoint.checkpointId >= *body.before) return false;
  return matches_filter(checkpoint.search, body.filter);
}

Result<Done> check_list(const ListBody& body) {
  if (body.threadId) BELAY_CHECK(check_text("\"threadId\"", *body.threadId, 1, kThreadBytesMax));
  std::string_view id = body.checkpointId ? std::string_view(*body.checkpointId) : "-";
  std::string_view before = body.before ? std::string_view(*body.before) : "-";
  BELAY_CHECK(check_text("\"checkpointId\"", id, 1, kCheckpointIdBytesMax));
  BELAY_CHECK(check_text("\"before\"", before, 1, kCheckpointIdBytesMax));
  if (!body.filter.is_null() && !body.filter.as_object()) {
    return error(ErrorCode::invalid, "\"filter\" must be an object.");
  }
  std::int64_t limit = body.limit.value_or(1);
  if (limit >= 1 && limit <= kListMax) return Done{};
  return error(ErrorCode::invalid, "\"limit\" must be 1 to " + std::to_string(kListMax) + ".");
}

struct HistoryWalk {
  HistoryPage page;
  std::set<std::string, std::less<>> open;  // channels without a value so far
  std::size_t bytes = 0;                    // of the page
};

// Adds the writes and values of an ancestor.
Task<Result<Done>> visit_ancestor(Records& records, const StoredCheckpoint& step,
                                  HistoryWalk& walk) {
  BELAY_CO_TRY(std::vector<TaskWrite> writes, co_await read_writes(records, step.key()));
  for (auto write = writes.rbegin(); write != writes.rend(); ++write) {
    if (!walk.open.contains(write->channel)) continue;
    walk.bytes += stored_bytes(write->value) + 100;
    walk.page.writes.push_back(std::move(*write));
  }
  ValueReader values(records);
  for (const ChannelVersion& at : step.channels) {
    if (!walk.open.contains(at.channel)) continue;
    BELAY_CO_TRY(ChannelValue value, co_await values.read(step, at));
    if (value.chain.empty()) continue;
    walk.open.erase(at.channel);
    walk.page.seeds.push_back(std::move(value));
  }
  co_return Done{};
}

}  // namespace

Task<Result<std::optional<StoredCheckpoint>>> find_checkpoint(CheckpointAccess at, TupleName name) {
  auto records = records_of(at.service, at.who, at.owner);
  std::string space = name.checkpointNs.value_or("");
  std::optional<StoredCheckpoint> found;
  if (name.checkpointId) {
    std::string key = key_of({name.threadId, space, *name.checkpointId});
    BELAY_CO_TRY(found, co_await records->get<StoredCheckpoint>(std::move(key)));
    co_return std::move(found);
  }
  std::string key = key_of({name.threadId, space});
  RecordSpan span("space");
  span.equal_to(key).last_first().limit(1);
  BELAY_CO_TRY(auto page, co_await read_page<StoredCheckpoint>(*records, std::move(span)));
  if (!page.records.empty()) found = std::move(page.records.front().record);
  co_return std::move(found);
}

Task<Result<LoadedTuple>> load_tuple(CheckpointAccess at, StoredCheckpoint checkpoint) {
  auto records = records_of(at.service, at.who, at.owner);
  LoadedTuple tuple;
  ValueReader values(*records);
  for (const ChannelVersion& at_version : checkpoint.channels) {
    BELAY_CO_TRY(ChannelValue value, co_await values.read(checkpoint, at_version));
    if (!value.chain.empty()) tuple.values.push_back(std::move(value));
  }
  BELAY_CO_TRY(tuple.writes, co_await read_writes(*records, checkpoint.key()));
  if (checkpoint.format < kFormatWithSends && checkpoint.parentCheckpointId) {
    std::string parent =
        key_of({checkpoint.threadId, checkpoint.checkpointNs, *checkpoint.parentCheckpointId});
    BELAY_CO_TRY(auto writes, co_await read_writes(*records, std::move(parent)));
    tuple.sends = sends_of(std::move(writes));
  }
  tuple.checkpoint = std::move(checkpoint);
  co_return std::move(tuple);
}

Task<Result<ListPage>> list_checkpoints(CheckpointAccess at, ListBody body) {
  BELAY_CO_CHECK(check_list(body));
  auto records = records_of(at.service, at.who, at.owner);
  std::size_t limit = static_cast<std::size_t>(body.limit.value_or(kListMax));
  std::size_t scanned = 0, bytes = 0;
  ListPage listed;
  while (true) {
    RecordSpan span = span_of(body);
    BELAY_CO_TRY(auto page, co_await read_page<StoredCheckpoint>(*records, std::move(span)));
    for (auto& each : page.records) {
      std::string place = place_of(body, each.record);
      ++scanned;
      if (is_listed(body, each.record)) {
        BELAY_CO_TRY(LoadedTuple tuple, co_await load_tuple(at, std::move(each.record)));
        bytes += bytes_of(tuple);
        listed.tuples.push_back(std::move(tuple));
      }
      if (listed.tuples.size() == limit || bytes >= kReplyBytes || scanned >= kScannedMax) {
        listed.next = std::move(place);
        co_return std::move(listed);
      }
    }
    if (page.next.empty()) co_return std::move(listed);
    body.after = std::move(page.next);
  }
}

Task<Result<HistoryPage>> delta_history(CheckpointAccess at, HistoryBody body) {
  BELAY_CO_CHECK(check_text("\"threadId\"", body.threadId, 1, kThreadBytesMax));
  HistoryWalk walk;
  walk.open.insert(body.channels.begin(), body.channels.end());
  TupleName name{body.threadId, body.checkpointNs, body.checkpointId};
  if (body.from) name.checkpointId = body.from;
  BELAY_CO_TRY(std::optional<StoredCheckpoint> step, co_await find_checkpoint(at, name));
  auto records = records_of(at.service, at.who, at.owner);
  // The writes on the checkpoint itself are pending.
  bool is_ancestor = body.from.has_value();
  for (std::size_t steps = 1; step && !walk.open.empty(); ++steps) {
    if (is_ancestor) BELAY_CO_CHECK(co_await visit_ancestor(*records, *step, walk));
    is_ancestor = true;
    if (!step->parentCheckpointId || walk.open.empty()) break;
    name.checkpointId = step->parentCheckpointId;
    if (steps >= kStepsMax || walk.bytes >= kReplyBytes) {
      walk.page.next = *name.checkpointId;
      break;
    }
    BELAY_CO_TRY(step, co_await find_checkpoint(at, name));
  }
  co_return std::move(walk.page);
}

}  // namespace belay::checkpointer
