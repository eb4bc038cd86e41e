#pragma once
// tests/crash/store_dump.h - the contents of a store, for comparing two stores of one scenario.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "belay/rows.h"

namespace belay::crash {

struct Sight {
  // All commits of all runs: when a commit is listed here, it must never be missing or changed
  // later.
  std::map<std::pair<RunId, std::uint64_t>, CheckpointRow> commits;
  // The number of commits of each node, by "thread node".
  std::map<std::string, std::size_t> finished;
  std::size_t notes = 0;
  std::size_t failed_attempts = 0;  // committed ones
  // The final contents as text: runs, the order of their commits, channels, approvals, records.
  // Excludes ids, times and claims, which a kill may change.
  std::string outcome;
};

// Opens the store and reads its whole contents.
Result<Sight> look_at(const std::string& folder);

// Returns the commits of `before` that are missing or different in `now`.
std::vector<std::string> losses(const Sight& before, const Sight& now);

using Commits = std::vector<std::pair<RunId, std::uint64_t>>;

// Returns all faults of a store at the end; empty if there are none. The store must contain the
// commits of `seen` unchanged and the commits of `told`, which were reported to a user; its outcome
// must equal that of `wanted`; every rule of belay/check.h and SQLite's integrity check must pass.
std::vector<std::string> judge(const std::string& folder, const Sight& seen, const Commits& told,
                               const Sight& wanted);

}  // namespace belay::crash
