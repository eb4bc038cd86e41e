#pragma once
// tests/simulation/process.h - one process of Belay in a simulation, which can die at any moment
//
// It consists of a runtime on a SQLite file, with its own executor, clock and random numbers.

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "belay/runtime.h"
#include "belay/service.h"
#include "cron/zone_database.h"
#include "server/api.h"
#include "tests/disk/recording_disk.h"
#include "tests/simulation/workloads.h"

namespace belay::simulation {

// The data that all processes of a simulation share: the machine, and a record of their actions.
struct Machine {
  Agenda& agenda;
  EventLog& log;
  RunObservations& sightings;
  Outside& outside;
  disk::RecordingDisk& disk;
  std::string store_path;
  std::function<microseconds()> disk_time;  // of the next work item of a store
  // The plan has goals, schedules or messages. Otherwise the processes have no service, and their
  // events are those of seeds that were kept before.
  bool has_service = false;
  // Each process serves the Agent Server API.
  bool has_agent_server = false;
  // The records of runs of that API are not stored: a fault that its checks must find.
  bool loses_run_records = false;
  // From the read of a run to the commit of its claim.
  microseconds claims_take{0};

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

  // Opens the store and the runtime, and registers all graphs.
  Result<Done> open();
  // Runs a worker until it is stopped or fails.
  void work();

  ProcessId id() const { return id_; }
  std::uint64_t seed() const { return seed_; }
  Runtime& runtime() { return *runtime_; }
  Store& store();
  Service& service() { return *service_; }  // only with Machine::has_service
  server::Api& api() { return *api_; }      // only with Machine::has_agent_server
  WallClock& clock() { return clock_; }
  // Returns whether the process has ended, or is dead for its disk.
  bool is_over() const { return is_over_ || machine_.disk.is_dead(id_); }
  // Stops the runtime, as a supervisor does after its timeout.
  void stop();
  // Ends the process by its own decision; the simulation destroys it afterwards.
  void end() { is_over_ = true; }
  // Kills the process when its next commit is durable, before the commit is acknowledged.
  void lose_next_reply() { loses_reply_ = true; }

  // Starts a coroutine of this process; `done` receives its result if the process is still alive
  // then.
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
  // Destroys the coroutines that have completed.
  void tidy();

 private:
  // Decides the ticks of all schedules every second.
  Task<Result<Done>> schedule();

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
  const cron::ZoneDatabase zones_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<server::Api> api_;
  std::list<Begun> tasks_;  // last: they use all members above
};

}  // namespace belay::simulation
