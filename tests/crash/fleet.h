#pragma once
// tests/crash/fleet.h - several worker processes on one store, killed, stopped and started again
// while a person decides, until every run has ended; and what the receivers counted.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace belay::crash {

// What a store says, behind Belay's back, of who works on its runs. A run is "ID EPOCH", its id in
// hexadecimal digits alone.
struct StoreSight {
  std::function<std::set<std::string>()> all;
  std::function<std::set<std::string>(pid_t)> held;  // at work in the session of that process
  std::function<std::size_t(pid_t)> claims;          // that its session has committed
  std::function<bool(pid_t)> lives;                  // whether it has a session whose lease can end
};

// The store that a fleet works on: a SQLite file in its folder, unless this says otherwise.
struct FleetSite {
  std::string store = {};                               // as in BELAY_STORE
  std::map<std::string, std::string> environment = {};  // of all its processes, besides
  // Returns once the session of a process that stands still is dead to the others; false when it
  // stays alive.
  std::function<bool(pid_t)> end_lease = nullptr;
  StoreSight sight = {};
  // Whether some runs are under way at this very moment; for `kills_all`.
  std::function<bool()> is_at_work = nullptr;
  // What befalls the store itself, or what stands beside it, after every so many-th stroke.
  // Whether anything did.
  std::function<bool()> disturb = nullptr;
  std::size_t disturb_every = 10;
};

struct FleetPlan {
  std::uint64_t seed = 0;
  std::size_t workers = 2;
  std::size_t runs = 6;    // that are under way at the same time
  std::size_t kills = 50;  // of workers, and of processes that decide
  // Of so many strokes one stops workers (SIGSTOP), has their sessions taken for dead, lets the
  // others take their runs over, and wakes them up again: to be killed at once, or once their
  // hearts have beaten several times, or to go on as workers like others.
  std::size_t zombie_every = 8;  // 0: none does
  std::size_t zombies = 0;       // at least so many in all
  std::size_t zombies_at_once = 1;
  std::size_t drains = 0;        // of workers (SIGTERM), at least so many in all
  std::size_t disturbances = 0;  // likewise
  bool kills_all = false;        // a stroke kills all workers at work: their runs are nobody's
  std::string worker_name = {};  // of all workers; empty: each has its own
  FleetSite site = {};
};

struct FleetReport {
  std::size_t kills = 0;
  std::size_t zombies = 0;   // beyond their lease; of these
  std::size_t robbed = 0;    //   woke up with runs that others had taken over,
  std::size_t revived = 0;   //   went on as workers like others,
  std::size_t claiming = 0;  //   and claimed runs again;
  std::size_t fenced = 0;    //   and of their commits for what was taken from them
  std::size_t drains = 0;
  std::size_t disturbances = 0;
  std::size_t takeovers = 0;  // claims that were committed
  std::size_t runs = 0;       // that were begun, and came to their end
  std::size_t repeated = 0;   // calls beyond the first with their key, where the class allows it
  std::vector<std::string> faults;  // empty: nothing was lost, and nothing repeated that may not

  void add(const FleetReport& other);
  // `fleet` says what it was: "fleet of two workers".
  std::string evidence(const std::string& fleet, std::uint64_t seed) const;
};

// Plays a fleet in a folder that does not exist yet; it is left as it is at the end.
FleetReport run_fleet(const FleetPlan& plan, const std::string& folder);

}  // namespace belay::crash
