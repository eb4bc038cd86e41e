#pragma once
// tests/simulation/requests.h - the schedules and steering messages of people, repeated until they
// have a result.

#include <map>
#include <string>
#include <vector>

#include "belay/schedule.h"
#include "tests/simulation/process.h"

namespace belay::simulation {

// The period of all schedules, whose ticks are its multiples, and their catch-up window.
inline constexpr std::chrono::seconds kPeriod{5};
inline constexpr std::chrono::seconds kCatchUp{60};

class Requests {
 public:
  Requests(Machine& machine, std::uint64_t seed) : machine_(machine), random_(seed) {}

  // Null: people have no process at the moment.
  void use(Process* process) { process_ = process; }

  // Adds one more schedule, of a random overlap policy.
  void want_schedule();
  // Sends a message to the run of this thread.
  void want_message(const std::string& thread);
  // Pauses all schedules, and adds those that are wanted no more.
  void end_schedules();
  // Repeats the requests without a result for a while.
  void repeat();

  bool is_empty() const { return waiting_.empty(); }
  // The names of the schedules; they are of kScheduleUser.
  const std::vector<std::string>& schedules() const { return schedules_; }
  // The ids of the messages that a process has acknowledged, by thread.
  const std::map<std::string, std::vector<std::string>>& accepted() const { return accepted_; }

 private:
  struct Waiting {
    std::function<void(const std::string& name)> ask;
    Instant asked{};  // the last try
  };
  void want(const std::string& name, std::function<void(const std::string& name)> ask);
  void try_now(const std::string& name, Waiting& waiting);
  void add(const std::string& request, const std::string& schedule, const ScheduleChange& wanted);
  void pause(const std::string& request, const std::string& schedule);
  void send(const std::string& id, const std::string& thread);
  // Ends the request, unless the error can be a matter of time.
  void ended(const std::string& request, const std::optional<Error>& failed);

  const Principal who_;  // outlives the calls
  Machine& machine_;
  testing::SeededRandom random_;
  Process* process_ = nullptr;
  std::map<std::string, Waiting> waiting_;
  std::vector<std::string> schedules_;
  std::map<std::string, std::vector<std::string>> accepted_;
  int messages_ = 0;
};

inline const UserId kScheduleUser{"ana"};

}  // namespace belay::simulation
