#pragma once
// tests/simulation/process.h - one process of Belay in a simulation: a runtime on a SQLite file,
// with an executor, a clock and chance of its own, that may die at any moment.

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "belay/runtime.h"
#include "tests/disk/recording_disk.h"
#include "tests/simulation/workloads.h"

namespace belay::simulation {

// What all processes of a simulation share: the machine, and what is known of what they did.
struct Machine {
  Agenda& agenda;
  EventLog& log;
  RunObservations& sightings;
  Outside& outside;
  disk::RecordingDisk& disk;
  std::string store_path;
  std::function<microseconds()> disk_time;  // that the next work of a store takes

  // Commits that a process knows to be durable, and effects that it knows to be recorded as done.
  std::vector<std::pair<RunId, std::uint64_t>> acknowledged = {};
  std::vector<EffectRow> done_effects = {};
  std::map<RunId, std::string> threads = {};
  // Receives the problems that the process detects.
  std::function<void(std::string)> trouble = nullptr;
};

class Process {
 public:
  Process(Machine& machine, ProcessId id, std::uint64_t seed);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  // Opens the store and the runtime, and tells it all graphs.
  Result<Done> open();
  // As a worker: takes up what there is to do until it is asked to go, or can't go on.
  void work();

  ProcessId id() const { return id_; }
  std::uint64_t seed() const { return seed_; }
  Runtime& runtime() { return *runtime_; }
  Store& store();
  WallClock& clock() { return clock_; }
  // It has come to its own end, or its disk says that it is dead.
  bool is_over() const { return is_over_ || machine_.disk.is_dead(id_); }
  // As a supervisor does after its timeout.
  void stop();
  // It ends by itself: whoever looks after it will bury it.
  void end() { is_over_ = true; }
  // It dies as soon as its next commit is durable, before anybody is told.
  void lose_next_reply() { loses_reply_ = true; }

  // Starts a task of this process; `done` gets what came of it, if it lives to see it.
  template <typename T>
  void begin(Task<Result<T>> task, std::function<void(Result<T>)> done) {
    tasks_.emplace_back();
    Spawned* place = &tasks_.back().task;
    bool* over = &tasks_.back().is_over;
    std::function<void(Result<T>)> ended = [over, done = std::move(done)](Result<T> result) {
      *over = true;
      done(std::move(result));
    };
    *place = spawn<Result<T>>(executor_, std::move(task), std::move(ended));
  }
  // Lets go of the tasks that have ended.
  void tidy();

 private:
  class SeenStore;
  struct Begun {
    Spawned task;
    bool is_over = false;
  };

  Machine& machine_;
  ProcessId id_;
  std::uint64_t seed_;
  WallClock clock_;
  testing::SeededRandom random_;
  ProcessExecutor executor_;
  ExternalModel model_;
  bool is_over_ = false;
  bool loses_reply_ = false;
  bool is_stopped_ = false;
  std::unique_ptr<SeenStore> store_;
  std::unique_ptr<Runtime> runtime_;
  std::list<Begun> tasks_;  // last: they use all of the above
};

}  // namespace belay::simulation
