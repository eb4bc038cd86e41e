#pragma once
// agents/research/checkpoints/checkpoint_store_fixture.h - CheckpointStore: a store with a runtime,
// and caches and rows with faults, for the tests of checkpoints.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agents/research/checkpoints/agent_checkpointer.h"
#include "belay/testing.h"

namespace belay::research {

// A clock that the test moves. From any thread.
class MovedClock final : public Clock {
 public:
  Instant now() override { return Instant(Instant::duration(now_.load())); }
  void move(std::chrono::microseconds by) { now_ += by.count(); }

 private:
  std::atomic<std::int64_t> now_ = instant_from("2026-01-01T09:00:00Z")->time_since_epoch().count();
};

inline const std::vector<std::string>& valuation_subtasks() {
  static const std::vector<std::string> all{"dcf_assumptions", "cash_flow_projection",
                                            "wacc_calculation", "terminal_value",
                                            "sensitivity_analysis"};
  return all;
}

// A checkpoint of the analysis "an-1", with a value in each member.
inline AgentCheckpoint checkpoint_of(std::string agent_type, std::size_t completed,
                                     std::string analysis_id = "an-1") {
  AgentCheckpoint checkpoint;
  checkpoint.analysis_id = std::move(analysis_id);
  checkpoint.agent_type = std::move(agent_type);
  checkpoint.stock_ticker = "AAPL";
  set_progress(checkpoint, valuation_subtasks(), completed);
  checkpoint.working_memory = Value::object({{"wacc", 0.0815}, {"note", "\u20ac 1.5"}});
  checkpoint.interim_results =
      Value::object({{"fcf", Value::Array{1.5, 2, -0.1}}, {"empty", Value()}});
  checkpoint.agent_config = Value::object({{"growth_years", 5}});
  checkpoint.retry_count = 2;
  return checkpoint;
}

// A store of the owner "ana".
class CheckpointStore {
 public:
  // `name`: see belay::open_store(). Processes that use one store have different seeds.
  explicit CheckpointStore(const std::string& name, std::uint64_t seed = 7)
      : random_(seed), store_(open_store(name, clock, random_).value()) {}

  template <typename T>
  T wait(Task<T> task) {
    return block_on(*loop, std::move(task));
  }
  void save(RecordWrite write) {
    std::vector<RecordWrite> writes;
    writes.push_back(std::move(write));
    wait(runtime->save(default_tenant(), std::move(writes))).value();
  }
  // Saves the row with this JSON instead of the checkpoint's.
  void save_raw(const AgentCheckpoint& checkpoint, const Value& json) {
    RecordWrite write = record_write(checkpoint, owner).value();
    write.json = to_json(json);
    save(std::move(write));
  }
  // All rows of a collection, by key.
  std::vector<RecordRow> rows_in(std::string_view collection) {
    RecordFilter filter;
    filter.collection = collection;
    return wait(rows->records().find(std::move(filter))).value();
  }

  Store& store() { return *store_; }
  Random& random() { return random_; }

  MovedClock clock;
  const UserId owner{"ana"};
  std::unique_ptr<EventLoop> loop = make_event_loop();

 private:
  testing::SeededRandom random_;
  testing::ScriptedModel model_;
  std::unique_ptr<Store> store_;

 public:
  std::unique_ptr<Runtime> runtime =
      Runtime::open(RuntimeParts{*store_, *loop, clock, random_, model_}).value();
  std::unique_ptr<CheckpointRows> rows = checkpoint_rows(*runtime, default_tenant(), owner);
  AgentVersions versions = research_versions();
};

// A cache that records its calls, and can be unavailable or slow.
class RecordingCache final : public CheckpointCache {
 public:
  Task<std::optional<std::string>> get(std::string key) override {
    ++gets;
    if (never_replies) {
      Completion<Done> never;
      co_await never;
    }
    std::optional<std::string> text;
    auto found = texts.find(key);
    if (is_up && found != texts.end()) text = found->second;
    co_return std::move(text);
  }
  void put(const std::string& key, std::string text, std::chrono::milliseconds ttl) override {
    last_ttl = ttl;
    if (is_up) texts[key] = std::move(text);
  }
  void remove(const std::string& key) override {
    if (is_up) texts.erase(key);
  }

  std::map<std::string, std::string> texts;
  std::chrono::milliseconds last_ttl{0};
  int gets = 0;
  bool is_up = true;
  bool never_replies = false;
};

// Calls a function once before a write, as another process that is faster.
class InterposedRows final : public CheckpointRows {
 public:
  explicit InterposedRows(CheckpointRows& inner) : inner_(inner) {}

  Records& records() override { return inner_.records(); }
  Task<Result<Done>> write(CheckpointWrites writes) override {
    auto before = std::exchange(before_write, nullptr);
    if (before) co_await before();
    co_return co_await inner_.write(std::move(writes));
  }

  std::function<Task<Done>()> before_write = nullptr;

 private:
  CheckpointRows& inner_;
};

}  // namespace belay::research
