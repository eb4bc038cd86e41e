#pragma once
// tests/simulation/external_world.h - what lies outside of Belay: the receivers of effects, which
// count each call, the network between, and the model.

#include <map>
#include <set>
#include <string>

#include "belay/model.h"
#include "tests/simulation/run_observations.h"

namespace belay::simulation {

// How often something goes wrong with a call, of 10,000.
using Chances = std::map<FaultKind, std::uint64_t>;

class Outside {
 public:
  struct Call {
    std::string name;
    std::string key;
    ProcessId process;
    bool was_zombie;  // its process had been taken for dead when it sent it
  };

  Outside(Agenda& agenda, EventLog& log, RunObservations& sightings, Coverage& coverage,
          std::uint64_t seed)
      : agenda_(agenda), log_(log), sightings_(sightings), coverage_(coverage), random_(seed) {}

  void set_chances(Chances chances) { chances_ = std::move(chances); }

  // A call of a receiver, with all that may happen to it on its way. `uncertain` where no answer
  // comes, `unavailable` where the receiver says no.
  Task<Result<std::int64_t>> call(ProcessId process, std::string thread, std::string name,
                                  std::string key);
  // Whether the receiver knows of it; `unavailable` while it may still be on its way.
  Result<std::optional<std::int64_t>> look(const std::string& name, const std::string& key) const;
  // A message that a process hands over; whether it is taken.
  Task<Result<Done>> take_message(ProcessId process, std::string id);
  Task<Result<ModelReply>> generate(ProcessId process, ModelRequest request);

  // The others have taken its session for dead.
  void take_for_dead(ProcessId process) { zombies_.insert(process); }

  const std::vector<Call>& calls() const { return calls_; }
  const std::map<std::string, int>& messages() const { return messages_; }

 private:
  // What happens to a call for this run, of the faults named; nothing for all being well.
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

// The model as one process reaches it.
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
