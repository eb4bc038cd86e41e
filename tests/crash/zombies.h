#pragma once
// tests/crash/zombies.h - workers that are stopped (SIGSTOP) while others take over their runs
//
// Counts which workers lost runs and which of their commits were fenced. The takeover is read from
// the store; a fenced commit is reported by the zombie itself, because BELAY_TEST_TELL_FENCED is
// set. Only commits of runs that it owned before count.

#include <map>

#include "tests/crash/fleet.h"
#include "tests/crash/scenario.h"

namespace belay::crash {

class Zombies {
 public:
  // All arguments must outlive the object.
  Zombies(const FleetSite& site, const std::string& folder, FleetReport& report);

  bool has_lease(pid_t worker) const { return sight_.lives(worker); }
  bool is_at_work(pid_t worker) const { return !sight_.held(worker).empty(); }
  // Records the runs that the worker owns and whether its session is alive. Requires that the
  // process is stopped and that its last write has arrived.
  void stopped(pid_t worker);
  // Makes the other processes consider the worker's session dead, and counts the worker if it had a
  // session.
  void end_lease(pid_t worker);
  // Returns whether other workers have taken over any of its runs.
  bool is_robbed(pid_t worker) const { return !taken_from(worker).empty(); }
  // Must be called just before the worker continues: makes its session valid again.
  void wakes(pid_t worker);
  // The worker is not killed but remains a worker like the others.
  void goes_on(pid_t worker);
  // The process has ended, for any reason; `said` is its stderr.
  void ended(pid_t worker, const std::string& said);

 private:
  struct Zombie {
    std::set<std::string> held;
    std::set<std::string> robbed;  // runs, without their epochs
    std::optional<std::size_t> claims;
    bool has_lease = false;
    bool is_expired = false;
  };
  std::set<std::string> taken_from(pid_t worker) const;

  const FleetSite& site_;
  const std::string& folder_;
  FleetReport& report_;
  StoreSight sight_;
  std::map<pid_t, Zombie> zombies_;  // live processes that were stopped
};

}  // namespace belay::crash
