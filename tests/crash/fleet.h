#pragma once
// tests/crash/fleet.h - several worker processes on one store, and the calls that receivers counted
//
// The workers are killed, stopped and restarted while a person decides, until every run has ended.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/crash/fleet_work.h"

namespace belay::crash {

// Reads the owners of runs directly from the store, without Belay. A run is "ID EPOCH", with the id
// as hexadecimal digits only.
struct StoreSight {
  std::function<std::set<std::string>()> all;
  std::function<std::set<std::string>(pid_t)> held;  // running runs of the session of that process
  std::function<std::size_t(pid_t)> claims;          // number of claims that its session committed
  std::function<bool(pid_t)> lives;                  // whether it has a session whose lease can end
};

// The store that a fleet uses: by default a SQLite file in its folder.
struct FleetSite {
  std::string store = {};                               // as in BELAY_STORE
  std::map<std::string, std::string> environment = {};  // added to that of all processes
  // Returns true when the other processes consider the session of a stopped process dead; false if
  // it remains alive.
  std::function<bool(pid_t)> end_lease = nullptr;
  StoreSight sight = {};
  // Returns whether runs are running at this moment; for `kills_all`.
  std::function<bool()> is_at_work = nullptr;
  // Injects a fault into the store or a server next to it, after every `disturb_every`-th stroke.
  // Returns whether it injected one.
  std::function<bool()> disturb = nullptr;
  std::size_t disturb_every = 10;
};

struct FleetPlan {
  std::uint64_t seed = 0;
  std::size_t workers = 2;
  std::size_t runs = 6;    // that have not ended, at the same time
  std::size_t kills = 50;  // at least, of workers and of processes that decide
  // One stroke in `zombie_every` stops workers (SIGSTOP), makes their sessions count as dead, lets
  // other workers take over their runs, and continues the stopped ones. They are then killed
  // shortly afterwards, or killed after several heartbeats, or remain workers like the others.
  std::size_t zombie_every = 8;  // 0: none
  std::size_t zombies = 0;       // at least
  std::size_t zombies_at_once = 1;
  std::size_t drains = 0;        // of workers (SIGTERM), at least
  std::size_t disturbances = 0;  // at least
  // A stroke kills all workers while they execute runs, which are then orphaned.
  bool kills_all = false;
  std::string worker_name = {};  // of all workers; empty: each has its own
  FleetSite site = {};
  FleetWork work = parcel_work();
};

struct FleetReport {
  std::size_t kills = 0;
  std::size_t zombies = 0;   // whose lease ended while they were stopped; of these,
  std::size_t robbed = 0;    //   continued after other workers had taken over their runs,
  std::size_t revived = 0;   //   remained workers like the others,
  std::size_t claiming = 0;  //   and claimed runs again afterwards;
  std::size_t fenced = 0;    //   their fenced commits for runs that were taken over
  std::size_t drains = 0;
  std::size_t disturbances = 0;
  std::size_t takeovers = 0;        // committed claims
  std::size_t runs = 0;             // that were started
  std::size_t messages = 0;         // steering messages that were accepted
  std::size_t waiting = 0;          // kills while one or more of them waited
  std::size_t repeated = 0;         // further calls with a key, if the effect's class allows them
  std::vector<std::string> faults;  // empty: no loss, and no forbidden repetition

  void add(const FleetReport& other);
  // Expects the receiver's calls of each run, each with its own key, and adds the faults. A zombie
  // that was stopped between its intent and its call makes the call when it continues, possibly
  // after the probe of another process has found no call. No process can prevent that; see
  // docs/effects.md.
  void count(const FleetReceiver& receiver, const std::map<std::string, std::size_t>& calls);
  // `fleet` describes the fleet: "fleet of two workers".
  std::string evidence(const std::string& fleet, std::uint64_t seed) const;
};

// Runs a fleet in `folder`, which must not exist yet and is not removed at the end.
FleetReport run_fleet(const FleetPlan& plan, const std::string& folder);

}  // namespace belay::crash
