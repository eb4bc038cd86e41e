#pragma once
// agents/checkpointer/checkpointer_fixture.h - CheckpointerStore: a store with a service, and the
// bodies of requests, for the tests of the checkpointer.

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agents/checkpointer/read_checkpoints.h"
#include "agents/checkpointer/thread_operations.h"
#include "agents/checkpointer/value_parts.h"
#include "belay/testing.h"

namespace belay::checkpointer {

inline TypedValue json_value(std::string base64) {
  return TypedValue{"json", std::move(base64), "", 0};
}

// A checkpoint without channels: its bytes are "{}".
inline PutBody put_of(std::string thread, std::string id, std::optional<std::string> parent = {}) {
  PutBody body;
  body.threadId = std::move(thread);
  body.checkpointId = std::move(id);
  body.parentCheckpointId = std::move(parent);
  body.checkpoint = body.metadata = json_value("e30=");
  return body;
}

// Adds a channel, with a new value if `data` is set, and as an empty one if `data` is "".
inline void add_channel(PutBody& body, std::string channel, std::string version,
                        std::optional<std::string> data) {
  body.channels.push_back({channel, version, std::nullopt, std::nullopt});
  if (!data) return;
  NewBlob blob;
  blob.channel = std::move(channel);
  blob.version = std::move(version);
  blob.isEmpty = data->empty();
  blob.value = json_value(*std::move(data));
  body.blobs.push_back(std::move(blob));
}

using Writes = std::vector<std::pair<std::string, std::string>>;  // channels and base64 texts

inline TaskWrites task_of(std::string id, std::string task, Writes writes) {
  TaskWrites made{std::move(id), std::move(task), std::nullopt, {}};
  for (auto& [channel, data] : writes) made.writes.push_back({channel, json_value(data)});
  return made;
}

inline WritesBody writes_of(std::string thread, std::string id, std::string task, Writes writes,
                            std::string path = "") {
  TaskWrites made = task_of(std::move(id), std::move(task), std::move(writes));
  return {std::move(thread),
          "",
          std::move(made.checkpointId),
          std::move(made.taskId),
          std::move(path),
          std::move(made.writes)};
}

// A clock that only the test moves. From any thread.
class SetClock final : public Clock {
 public:
  Instant now() override { return Instant(Instant::duration(now_.load())); }
  void move(std::chrono::microseconds by) { now_ += by.count(); }

 private:
  std::atomic<std::int64_t> now_ = instant_from("2026-01-01T09:00:00Z")->time_since_epoch().count();
};

// Makes the service of a process: belay/service.h has no public one.
using ServiceMaker = std::unique_ptr<Service> (*)(Store&, Runtime&, EventLoop&, Clock&, Random&);

class CheckpointerStore {
 public:
  // `name`: see belay::open_store().
  CheckpointerStore(const std::string& name, ServiceMaker make)
      : store_(open_store(name, clock, random_).value()),
        runtime_(Runtime::open(RuntimeParts{*store_, *loop_, clock, random_, model_}).value()),
        service_(make(*store_, *runtime_, *loop_, clock, random_)) {}

  CheckpointAccess of(const std::string& user) { return as(program_, user); }
  CheckpointAccess as(const Principal& who, const std::string& user) {
    return CheckpointAccess{*service_, who, UserId(user), clock};
  }
  template <typename T>
  T wait(Task<T> task) {
    return block_on(*loop_, std::move(task));
  }

  Result<Done> put(PutBody body) { return wait(put_checkpoint(of("ana"), std::move(body))); }
  Result<Done> write(WritesBody body) { return wait(put_writes(of("ana"), std::move(body))); }
  std::optional<LoadedTuple> tuple(std::string thread, std::optional<std::string> id = {},
                                   std::string space = "") {
    TupleName name{std::move(thread), std::move(space), std::move(id)};
    auto found = wait(find_checkpoint(of("ana"), std::move(name))).value();
    if (!found) return std::nullopt;
    return wait(load_tuple(of("ana"), *std::move(found))).value();
  }
  // The ids of all pages.
  std::vector<std::string> ids(ListBody body, const std::string& user = "ana") {
    std::vector<std::string> ids;
    while (true) {
      ListPage page = wait(list_checkpoints(of(user), body)).value();
      for (const LoadedTuple& each : page.tuples) ids.push_back(each.checkpoint.checkpointId);
      if (page.next.empty()) return ids;
      body.after = page.next;
    }
  }
  template <Record R>
  std::size_t count() {
    RecordFilter filter;
    filter.collection = R::collection;
    return wait(service_->find_records(program_, UserId("ana"), std::move(filter))).value().size();
  }

  SetClock clock;

 private:
  Principal program_;
  testing::SeededRandom random_{7};
  std::unique_ptr<EventLoop> loop_ = make_event_loop();
  testing::ScriptedModel model_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<Service> service_;
};

// The values of a tuple as "channel=data", each with the links of its chain.
inline std::vector<std::string> value_texts(const LoadedTuple& tuple) {
  std::vector<std::string> texts;
  for (const ChannelValue& value : tuple.values) {
    std::string text = value.channel + "=";
    for (const ChannelBlob& blob : value.chain) text += blob.value.data;
    texts.push_back(std::move(text));
  }
  return texts;
}

// The writes as "task:channel=data".
inline std::vector<std::string> write_texts(const std::vector<TaskWrite>& writes) {
  std::vector<std::string> texts;
  for (const TaskWrite& write : writes) {
    texts.push_back(write.taskId + ":" + write.channel + "=" + write.value.data);
  }
  return texts;
}

}  // namespace belay::checkpointer
