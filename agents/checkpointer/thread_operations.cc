#include "agents/checkpointer/thread_operations.h"

#include <chrono>

#include "agents/checkpointer/kept_checkpoints.h"

namespace belay::checkpointer {
namespace {

constexpr std::size_t kReadTogether = limits::bounded(32);
constexpr std::size_t kThreadsMax = 1'000;  // of one request
constexpr std::chrono::hours kUploadTime{1};

// The writes and parts of a thread, with the keys and references that a removal needs.
struct ThreadContent {
  ThreadCheckpoints checkpoints;
  ThreadBlobs blobs;
  std::map<std::string, StoredWrite> writes;
  std::map<std::string, StoredPart> parts;
};

void drop_data(StoredCheckpoint& checkpoint) {
  checkpoint.checkpoint.data.clear();
  checkpoint.metadata.data.clear();
}
void drop_data(StoredBlob& blob) { blob.value.data.clear(); }
void drop_data(StoredWrite& write) { write.value.data.clear(); }
void drop_data(StoredPart& part) { part.data.clear(); }

std::size_t data_bytes(const StoredCheckpoint& checkpoint) {
  return checkpoint.checkpoint.data.size() + checkpoint.metadata.data.size();
}
std::size_t data_bytes(const StoredBlob& blob) { return blob.value.data.size(); }
std::size_t data_bytes(const StoredWrite& write) { return write.value.data.size(); }
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

Task<Result<ThreadContent>> read_thread(CheckpointAccess at, std::string thread,
                                        std::size_t* bytes) {
  std::string key = key_of({thread});
  const std::string field = "threadKey";
  ThreadContent content;
  BELAY_CO_TRY(content.checkpoints, co_await read_checkpoints(at, key, bytes));
  BELAY_CO_TRY(content.blobs, co_await read_where<StoredBlob>(at, field, key, bytes));
  BELAY_CO_TRY(content.writes, co_await read_where<StoredWrite>(at, field, key, bytes));
  BELAY_CO_TRY(content.parts, co_await read_where<StoredPart>(at, field, key, bytes));
  co_return std::move(content);
}

// The part of a thread that a removal keeps.
struct Remainder {
  std::set<std::string> checkpoints;  // keys
  bool is_thread = true;              // false: the whole thread is removed
  Instant old = Instant::min();       // removes parts without a value that were saved before
};

struct Removal {
  std::vector<RecordWrite> writes;
  Removed removed;
  std::set<std::string> used, released;  // ids of parts: of kept and of removed values
};

class RemovalBuilder {
 public:
  explicit RemovalBuilder(const UserId& owner) : owner_(owner) {}

  template <Record R>
  void keep_or_remove(const std::string& key, const R& record, bool keeps, std::size_t& count) {
    add_parts(record, keeps ? made_.used : made_.released);
    if (keeps) return;
    made_.writes.push_back(record_erasure(R::collection, owner_, key));
    ++count;
  }
  Removal& made() { return made_; }

 private:
  static void add_part(const TypedValue& value, std::set<std::string>& ids) {
    if (!value.blob.empty()) ids.insert(value.blob);
  }
  static void add_parts(const StoredCheckpoint& record, std::set<std::string>& ids) {
    add_part(record.checkpoint, ids);
    add_part(record.metadata, ids);
  }
  static void add_parts(const StoredBlob& record, std::set<std::string>& ids) {
    add_part(record.value, ids);
  }
  static void add_parts(const StoredWrite& record, std::set<std::string>& ids) {
    add_part(record.value, ids);
  }
  static void add_parts(const StoredPart&, std::set<std::string>&) {}

  const UserId& owner_;
  Removal made_;
};

// The removal of all records of a thread that the remainder does not need. Writes whose checkpoint
// is not stored yet remain with their thread.
Removal removal_of(const ThreadContent& content, const Remainder& rest, const UserId& owner) {
  RemovalBuilder builder(owner);
  Removal& made = builder.made();
  auto values = values_of(content.checkpoints, rest.checkpoints, content.blobs);
  for (const auto& [key, checkpoint] : content.checkpoints) {
    bool keeps = rest.checkpoints.contains(key);
    builder.keep_or_remove(key, checkpoint, keeps, made.removed.checkpoints);
  }
  for (const auto& [key, blob] : content.blobs) {
    builder.keep_or_remove(key, blob, values.contains(key), made.removed.values);
  }
  for (const auto& [key, write] : content.writes) {
    bool is_early = rest.is_thread && !content.checkpoints.contains(write.checkpointKey);
    bool keeps = is_early || rest.checkpoints.contains(write.checkpointKey);
    builder.keep_or_remove(key, write, keeps, made.removed.writes);
  }
  for (const auto& [key, part] : content.parts) {
    bool is_used = made.used.contains(part.blob);
    bool is_gone = made.released.contains(part.blob) || part.createdAt < rest.old;
    bool keeps = rest.is_thread && (is_used || !is_gone);
    builder.keep_or_remove(key, part, keeps, made.removed.values);
  }
  return std::move(made);
}

Task<Result<Removed>> remove_all_but(CheckpointAccess at, const ThreadContent& content,
                                     const Remainder& rest) {
  Removal removal = removal_of(content, rest, at.owner);
  if (removal.writes.empty()) co_return removal.removed;
  BELAY_CO_CHECK(co_await at.service.save_records(at.who, std::move(removal.writes)));
  co_return removal.removed;
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
    std::string key = key_of({run});
    std::string field = "runKey";
    BELAY_CO_TRY(auto found, co_await read_where<StoredCheckpoint>(at, std::move(field),
                                                                   std::move(key), nullptr));
    for (const auto& [name, checkpoint] : found) threads[checkpoint.threadId].insert(name);
  }
  co_return std::move(threads);
}

}  // namespace

Task<Result<Removed>> delete_thread(CheckpointAccess at, ThreadBody body) {
  BELAY_CO_CHECK(check_text("\"threadId\"", body.threadId, 1, kThreadBytesMax));
  std::size_t* no_data = nullptr;
  BELAY_CO_TRY(ThreadContent content, co_await read_thread(at, std::move(body.threadId), no_data));
  Remainder nothing;
  nothing.is_thread = false;
  co_return co_await remove_all_but(at, content, nothing);
}

Task<Result<Done>> copy_thread(CheckpointAccess at, CopyBody body) {
  BELAY_CO_CHECK(check_text("\"source\"", body.source, 1, kThreadBytesMax));
  BELAY_CO_CHECK(check_text("\"target\"", body.target, 1, kThreadBytesMax));
  if (body.source == body.target) co_return Done{};
  std::size_t bytes = 0, target_bytes = 0;
  BELAY_CO_TRY(ThreadContent from, co_await read_thread(at, body.source, &bytes));
  BELAY_CO_TRY(ThreadContent to, co_await read_thread(at, body.target, &target_bytes));
  std::vector<RecordWrite> writes;
  auto copy = [&](auto& records, const auto& stored) {
    return add_copies(std::move(records), stored, body.target, at.owner, writes);
  };
  BELAY_CO_TRY(std::size_t checkpoints, copy(from.checkpoints, to.checkpoints));
  BELAY_CO_TRY(std::size_t blobs, copy(from.blobs, to.blobs));
  BELAY_CO_TRY(std::size_t pending, copy(from.writes, to.writes));
  BELAY_CO_TRY(std::size_t parts, copy(from.parts, to.parts));
  if (checkpoints + blobs + pending + parts > 0) {
    co_return error(ErrorCode::conflict,
                    "The thread \"" + body.target + "\" has other checkpoints. Delete it before.");
  }
  if (writes.empty()) co_return Done{};
  co_return co_await at.service.save_records(at.who, std::move(writes));
}

Task<Result<Removed>> prune_threads(CheckpointAccess at, PruneBody body, Instant now) {
  bool keeps = body.strategy == "keep_latest";
  if (!keeps && body.strategy != "delete") {
    co_return error(ErrorCode::invalid, "\"strategy\" must be keep_latest or delete.");
  }
  BELAY_CO_CHECK(check_threads(body.threadIds));
  Removed sum;
  for (const std::string& thread : body.threadIds) {
    std::size_t* no_data = nullptr;
    std::string name = thread;
    BELAY_CO_TRY(ThreadContent content, co_await read_thread(at, std::move(name), no_data));
    Remainder rest;
    rest.is_thread = keeps;
    rest.old = now - kUploadTime;
    if (keeps) rest.checkpoints = newest_checkpoints(content.checkpoints, content.blobs);
    BELAY_CO_TRY(Removed removed, co_await remove_all_but(at, content, rest));
    add(sum, removed);
  }
  co_return sum;
}

Task<Result<Removed>> delete_runs(CheckpointAccess at, RunsBody body) {
  BELAY_CO_CHECK(check_threads(body.runIds));
  BELAY_CO_TRY(auto threads, co_await checkpoints_of_runs(at, std::move(body.runIds)));
  Removed sum;
  for (const auto& [thread, gone] : threads) {
    std::size_t* no_data = nullptr;
    std::string name = thread;
    BELAY_CO_TRY(ThreadContent content, co_await read_thread(at, std::move(name), no_data));
    Remainder rest;
    for (const auto& [key, checkpoint] : content.checkpoints) {
      if (!gone.contains(key)) rest.checkpoints.insert(key);
    }
    BELAY_CO_TRY(Removed removed, co_await remove_all_but(at, content, rest));
    add(sum, removed);
  }
  co_return sum;
}

}  // namespace belay::checkpointer
