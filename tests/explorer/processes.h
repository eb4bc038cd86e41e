#pragma once
// tests/explorer/processes.h - what calls and commits come to, each found out once: by the real
// runtime and by the real guards of the memory store.

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

// A call as far as it has come; kept once, under its number.
struct Moment {
  Call call;
  const Moment* before = nullptr;  // null where the call has just begun
  Heard heard;                     // since then
  const Seen* seen = nullptr;      // what it read, if it was a read
  Progress progress;
  std::uint32_t number = 0;
  std::uint32_t length = 0;          // how much was heard since the call began
  std::vector<std::uint32_t> after;  // what was heard next, in all the ways that were tried
};

// What a commit came to.
struct Written {
  Result<CommitOutcome> outcome;
  const Stored* after = nullptr;
  std::vector<std::string> wrong;
};

// The sessions that are not over.
using Living = std::vector<int>;

class Processes {
 public:
  explicit Processes(const SearchOptions& options);

  StoredContents& contents() { return contents_; }
  const Moment& moment(std::uint32_t number) const { return moments_[number]; }
  std::size_t played() const { return moments_.size(); }

  const Moment& begin(const Call& call);
  // `heard` is without its sessions: `living` tells of them.
  const Moment& hear(std::uint32_t number, const Heard& heard, const Living& living);
  const Written& write(const Stored& stored, const Moment& moment, std::size_t open, Instant now);

 private:
  const Seen& keep(const Stored& stored, Seen seen);

  using Key = std::array<std::uint64_t, 4>;

  // Of `among`; null when it is not there.
  const Moment* find(const std::vector<std::uint32_t>& among, const Heard& heard, const Seen* seen,
                     const IsAlive& is_alive) const;
  Progress play(const Moment& moment, const IsAlive& is_alive);

  Broken broken_;
  Player player_;
  StoredContents contents_;
  std::deque<Moment> moments_;
  std::map<Key, std::uint32_t> begun_;
  std::map<Key, Written> written_;
  std::map<std::size_t, std::deque<Seen>> seen_;     // by the content that was read
  std::map<Key, std::vector<std::uint32_t>> found_;  // what hearing this led to, so far
};

}  // namespace belay::explorer
