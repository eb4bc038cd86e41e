#pragma once
// tests/explorer/processes.h - computes each result of a call and of a commit once
//
// It uses the real runtime, and the real guards of the memory store.

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "tests/explorer/call.h"
#include "tests/explorer/reader_observations.h"
#include "tests/explorer/search.h"
#include "tests/explorer/stored.h"

namespace belay::explorer {

// A call with its progress; stored once, under its number.
struct Moment {
  Call call;
  const Moment* before = nullptr;  // null if the call has just started
  Heard heard;                     // the result received since then
  const Seen* seen = nullptr;      // the rows that it read, for a read
  Progress progress;
  std::uint32_t number = 0;
  std::uint32_t length = 0;          // number of results since the call started
  std::vector<std::uint32_t> after;  // the moments after each further result tried so far
};

// The result of a commit.
struct Written {
  Result<CommitOutcome> outcome;
  const Stored* after = nullptr;
  std::vector<std::string> wrong;
};

// The sessions that count as alive.
using Living = std::vector<int>;

class Processes {
 public:
  explicit Processes(const SearchOptions& options);

  std::shared_ptr<const GraphDefinition> graph() const { return player_.graph().definition(); }
  StoredContents& contents() { return contents_; }
  const Moment& moment(std::uint32_t number) const { return moments_[number]; }
  std::size_t played() const { return moments_.size(); }

  const Moment& begin(const Call& call);
  // Continues a call with a result. `heard` has no sessions yet: `living` determines the results of
  // is_alive().
  const Moment& hear(std::uint32_t number, const Heard& heard, const Living& living);
  const Written& write(const Stored& stored, const Moment& moment, std::size_t open, Instant now);

 private:
  const Seen& keep(const Stored& stored, Seen seen);

  using Key = std::array<std::uint64_t, 4>;

  // Returns the moment among `among`, or null if it is not there.
  const Moment* find(const std::vector<std::uint32_t>& among, const Heard& heard, const Seen* seen,
                     const IsAlive& is_alive) const;
  Progress play(const Moment& moment, const IsAlive& is_alive);

  Broken broken_;
  Player player_;
  StoredContents contents_;
  std::deque<Moment> moments_;
  std::map<Key, std::uint32_t> begun_;
  std::map<Key, Written> written_;
  std::map<std::size_t, std::deque<Seen>> seen_;     // by the contents that were read
  std::map<Key, std::vector<std::uint32_t>> found_;  // the moments after this result, so far
};

}  // namespace belay::explorer
