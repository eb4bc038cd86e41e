#pragma once
// tests/explorer/search.h - visits every state that two processes can bring one run to, or the two
// runs of one thread
//
// The two processes have users and faults. A state consists of the contents of the store, the
// progress of each process's call, the sessions that count as dead, and whether the approval has
// expired. A move is one event: a call starts, a read or a commit returns, a reply is lost, a
// process dies. Each state is visited once, breadth-first: the first path to a fault is a shortest
// one.

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "service/why.h"
#include "tests/explorer/call.h"
#include "tests/explorer/stored.h"

namespace belay::explorer {

// A guard of the store that is disabled: the search must find the consequences.
enum class Broken { nothing, epoch, seq, expiry };

struct SearchOptions {
  Shape shape = Shape::line;
  // The maximum number of crashes, sessions that count as dead, and lost replies, in total.
  int faults = 2;
  Broken broken = Broken::nothing;
  // Judged in every state: see why_judge.h. Null: not judged.
  std::function<std::vector<Cause>(const WaitFacts&)> why = nullptr;
};

struct SearchReport {
  std::size_t states = 0;
  std::size_t moves = 0;
  std::size_t depth = 0;
  std::size_t longest = 0;     // steps of one call
  std::size_t contents = 0;    // of the store
  std::size_t played = 0;      // parts of calls executed on the real driver
  std::size_t ends = 0;        // states in which the run has ended
  std::size_t explained = 0;   // states whose causes were judged
  std::set<WaitCause> causes;  // that were named in them
  double seconds = 0;
  // The faults found, and the moves that led to them; empty if there are none.
  std::vector<std::string> wrong;
  std::vector<std::string> path;

  std::string text() const;
};

SearchReport search(const SearchOptions& options);

}  // namespace belay::explorer
