#include "agents/checkpointer/thread_content.h"

namespace belay::checkpointer {
namespace {

constexpr std::size_t kReadTogether = limits::bounded(32);

void drop(TypedValue& value) {
  value.data.clear();
  value.text.reset();
}
void drop_data(StoredCheckpoint& checkpoint) {
  drop(checkpoint.checkpoint);
  drop(checkpoint.metadata);
}
void drop_data(StoredValues& record) {
  for (ChannelBlob& blob : record.values) drop(blob.value);
}
void drop_data(StoredWrites& record) {
  for (PendingWrite& write : record.writes) drop(write.value);
}
void drop_data(StoredPart& part) { part.data.clear(); }

std::size_t data_bytes(const StoredCheckpoint& checkpoint) {
  return stored_bytes(checkpoint.checkpoint) + stored_bytes(checkpoint.metadata);
}
std::size_t data_bytes(const StoredWrites& record) {
  std::size_t bytes = 0;
  for (const PendingWrite& write : record.writes) bytes += stored_bytes(write.value) + 200;
  return bytes;
}
std::size_t data_bytes(const StoredPart& part) { return part.data.size(); }

// Reads the records whose indexed `field` has this value. With `bytes`, keeps their data and counts
// it there; fails if there is too much.
template <Record R>
Task<Result<std::map<std::string, R>>> read_where(CheckpointAccess at, std::string field,
                                                  std::string value, std::size_t* bytes) {
  auto records = records_of(at.service, at.who, at.owner);
  std::map<std::string, R> all;
  std::string after;
  while (true) {
    RecordFilter filter;
    filter.collection = R::collection;
    filter.field = field;
    filter.value = value;
    filter.after = after;
    filter.limit = kReadTogether;
    BELAY_CO_TRY(std::vector<RecordRow> rows, co_await records->find(std::move(filter)));
    for (const RecordRow& row : rows) {
      BELAY_CO_TRY(R record, record_from<R>(row));
      if (bytes) *bytes += data_bytes(record) + 500;
      if (!bytes) drop_data(record);
      all.emplace(row.key, std::move(record));
    }
    if (bytes && *bytes > limits::value_bytes_max) {
      co_return error(ErrorCode::exhausted, "The thread has more than " +
                                                std::to_string(limits::value_bytes_max) +
                                                " bytes: it cannot be copied by one commit.");
    }
    if (rows.size() < kReadTogether) co_return std::move(all);
    after = rows.back().key;
  }
}

// Checkpoints are found by their ordered index.
Task<Result<ThreadCheckpoints>> read_checkpoints(CheckpointAccess at, std::string thread_key,
                                                 std::size_t* bytes) {
  auto records = records_of(at.service, at.who, at.owner);
  ThreadCheckpoints all;
  RecordSpan span("thread");
  span.equal_to(thread_key).limit(kReadTogether);
  while (true) {
    BELAY_CO_TRY(auto page, co_await read_page<StoredCheckpoint>(*records, span));
    for (auto& each : page.records) {
      if (bytes) *bytes += data_bytes(each.record) + 500;
      if (!bytes) drop_data(each.record);
      std::string key = each.record.key();
      all.emplace(std::move(key), std::move(each.record));
    }
    if (page.next.empty()) co_return std::move(all);
    span.after(page.next);
  }
}

}  // namespace

std::size_t data_bytes(const StoredValues& record) {
  std::size_t bytes = 0;
  for (const ChannelBlob& blob : record.values) bytes += stored_bytes(blob.value) + 200;
  return bytes;
}

Task<Result<ThreadContent>> read_thread(CheckpointAccess at, std::string thread,
                                        std::size_t* bytes) {
  std::string key = key_of({thread});
  const std::string field = "threadKey";
  ThreadContent content;
  BELAY_CO_TRY(content.checkpoints, co_await read_checkpoints(at, key, bytes));
  BELAY_CO_TRY(content.values, co_await read_where<StoredValues>(at, field, key, bytes));
  BELAY_CO_TRY(content.writes, co_await read_where<StoredWrites>(at, field, key, bytes));
  BELAY_CO_TRY(content.parts, co_await read_where<StoredPart>(at, field, key, bytes));
  co_return std::move(content);
}

Task<Result<ThreadCheckpoints>> read_run(CheckpointAccess at, std::string run) {
  std::string key = key_of({run});
  std::string field = "runKey";
  std::size_t* no_data = nullptr;
  co_return co_await read_where<StoredCheckpoint>(at, std::move(field), std::move(key), no_data);
}

}  // namespace belay::checkpointer
