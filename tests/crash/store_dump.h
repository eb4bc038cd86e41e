#pragma once
// tests/crash/store_dump.h - what a store holds, so that two stores of one scenario can be
// compared.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "belay/rows.h"

namespace belay::crash {

struct Sight {
  // All commits of all runs: what is in here once may never be gone or different again.
  std::map<std::pair<RunId, std::uint64_t>, CheckpointRow> commits;
  // How often each node was committed, by "thread node".
  std::map<std::string, std::size_t> finished;
  std::size_t notes = 0;
  std::size_t failed_attempts = 0;  // that are committed
  // What came of it all, as text: runs, their commits' order, channels, approvals, records. Without
  // ids and times, and without the take-overs: those are what a kill may change.
  std::string outcome;
};

// Opens the store and reads all of it.
Result<Sight> look_at(const std::string& folder);

// The commits of `before` that `now` lacks, or holds otherwise.
std::vector<std::string> losses(const Sight& before, const Sight& now);

using Commits = std::vector<std::pair<RunId, std::uint64_t>>;

// All that is wrong with a store at the end; nothing when all is well. It has to hold what was seen
// in it before, and the commits that were told to somebody, and to have come to the same outcome as
// `wanted`; and every rule of belay/check.h, and SQLite, have to find nothing.
std::vector<std::string> judge(const std::string& folder, const Sight& seen, const Commits& told,
                               const Sight& wanted);

}  // namespace belay::crash
