#pragma once
// tests/crash/zombies.h - workers that are stopped (SIGSTOP) until others have taken their runs
// over, and woken up again: which of them that befell, and what became of their commits then.
//
// What others took over the store says; that a commit was fenced the zombie itself says, as
// BELAY_TEST_TELL_FENCED has it do. Only commits of runs that it held before count.

#include <map>

#include "tests/crash/fleet.h"
#include "tests/crash/scenario.h"

namespace belay::crash {

class Zombies {
 public:
  // All of them outlive it.
  Zombies(const FleetSite& site, const std::string& folder, FleetReport& report);

  bool has_lease(pid_t worker) const { return sight_.lives(worker); }
  bool is_at_work(pid_t worker) const { return !sight_.held(worker).empty(); }
  // Notes what it holds, and whether its session lives. REQUIRES: it stands still, and what it sent
  // has arrived.
  void stopped(pid_t worker);
  // Has its session taken for dead by the others, and counts it where it had one.
  void end_lease(pid_t worker);
  // Whether others have taken over some of what it holds.
  bool is_robbed(pid_t worker) const { return !taken_from(worker).empty(); }
  // Just before it goes on: its session lives again.
  void wakes(pid_t worker);
  // It is not killed, but goes on as a worker like others.
  void goes_on(pid_t worker);
  // The process has ended, however; `said` is what it said until then.
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
  std::map<pid_t, Zombie> zombies_;  // those that live, and have been one
};

}  // namespace belay::crash
