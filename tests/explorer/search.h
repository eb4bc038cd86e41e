#pragma once
// tests/explorer/search.h - every state that two processes, the people at them and their faults can
// bring one run to, each visited once.
//
// A state is what the store holds, how far the call of each process has come, which sessions are
// taken for dead, and whether the approval's time has passed. A move is one thing that happens: a
// call begins, a read or a commit is answered, a reply is lost, a process dies. Breadth first, so
// the first path to a fault is a shortest one.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/explorer/call.h"
#include "tests/explorer/stored.h"

namespace belay::explorer {

// A guard of the store that does not hold: the search has to find what comes of it.
enum class Broken { nothing, epoch, seq, expiry };

struct SearchOptions {
  bool is_wide = false;  // side_by_side() in place of one_after_another()
  int faults = 2;        // crashes, sessions taken for dead and lost replies, in all
  Broken broken = Broken::nothing;
};

struct SearchReport {
  std::size_t states = 0;
  std::size_t moves = 0;
  std::size_t depth = 0;
  std::size_t longest = 0;   // steps of one call
  std::size_t contents = 0;  // of the store
  std::size_t played = 0;    // parts of calls that were played on the real driver
  std::size_t ends = 0;      // states in which the run has ended
  double seconds = 0;
  // What is wrong, and the moves that led there; none where all is well.
  std::vector<std::string> wrong;
  std::vector<std::string> path;

  std::string text() const;
};

SearchReport search(const SearchOptions& options);

}  // namespace belay::explorer
