#pragma once
// tests/simulation/external_world.h - simulates the systems outside of Belay
//
// These are the receivers of effects, which count each call, the network to them, and the model.

#include <map>
#include <set>
#include <string>

#include "belay/model.h"
#include "tests/simulation/run_observations.h"

namespace belay::simulation {

// The probability of each fault of a call, in 10,000ths.
using Chances = std::map<FaultKind, std::uint64_t>;

class Outside {
 public:
  struct Call {
    std::string name;
    std::string key;
    ProcessId process;
    bool was_zombie;  // its process's session counted as dead when it sent the call
  };

  Outside(Agenda& agenda, EventLog& log, RunObservations& sightings, Coverage& coverage,
          std::uint64_t seed)
      : agenda_(agenda), log_(log), sightings_(sightings), coverage_(coverage), random_(seed) {}

  void set_chances(Chances chances) { chances_ = std::move(chances); }

  // Calls a receiver, with all faults that can affect the call. Fails with `uncertain` if no reply
  // arrives, and with `unavailable` if the receiver rejects the call.
  Task<Result<std::int64_t>> call(ProcessId process, std::string thread, std::string name,
                                  std::string key);
  // Returns whether the receiver has the call; `unavailable` while the call might still arrive.
  Result<std::optional<std::int64_t>> look(const std::string& name, const std::string& key) const;
  // Delivers a message; fails with `unavailable` if it was rejected or the reply was lost.
  Task<Result<Done>> take_message(ProcessId process, std::string id);
  Task<Result<ModelReply>> generate(ProcessId process, ModelRequest request);

  // Marks the process as a zombie: the other processes consider its session dead.
  void take_for_dead(ProcessId process) { zombies_.insert(process); }

  const std::vector<Call>& calls() const { return calls_; }
  const std::map<std::string, int>& messages() const { return messages_; }

 private:
  // Draws one of the named faults for a call of this run; nothing if the call succeeds.
  std::optional<FaultKind> fate(const std::string& thread, std::vector<FaultKind> faults);
  microseconds way();
  bool is_likely(std::uint64_t of_10000) { return random_.bits() % 10'000 < of_10000; }

  Agenda& agenda_;
  EventLog& log_;
  RunObservations& sightings_;
  Coverage& coverage_;
  testing::SeededRandom random_;
  Chances chances_;
  std::set<ProcessId> zombies_;
  std::map<std::pair<std::string, std::string>, int> on_their_way_;
  std::vector<Call> calls_;
  std::map<std::string, int> messages_;  // by id
};

// The model as one process accesses it.
class ExternalModel final : public Model {
 public:
  ExternalModel(Outside& outside, ProcessId process) : outside_(outside), process_(process) {}
  Task<Result<ModelReply>> generate(ModelRequest request) override {
    return outside_.generate(process_, std::move(request));
  }

 private:
  Outside& outside_;
  ProcessId process_;
};

}  // namespace belay::simulation
