#pragma once
// engine/run.h - a run as the engine holds it between two events: plain data, no I/O.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "belay/graph.h"
#include "belay/rows.h"

namespace belay::engine {

// One visit of one node. It keeps its id over all attempts of the visit; a later visit of the same
// node in a cycle is another task.
struct NodeTask {
  enum class Phase {
    ready,    // to be started once what is under way is durable
    running,  // an attempt is under way
    waiting,  // a failed attempt is to be repeated at `due`
    asking,   // a person is asked: see `interrupt`
  };

  TaskId id;
  std::string node;
  Phase phase = Phase::ready;
  int attempt = 1;  // the one that runs, or is next
  Instant due{};
  std::optional<Error> previous_error;
  InterruptId interrupt;
  std::string question;  // the key of the question asked in the middle of a node, if it is one
  std::vector<std::pair<std::string, Answer>> answers;  // by question key
};

// The version of a channel that is current: the commit that wrote it, and the hash of its text.
struct ChannelVersion {
  static constexpr std::size_t unknown_channel = static_cast<std::size_t>(-1);

  std::string name;
  std::size_t index = unknown_channel;  // in the state type; a channel that it lacks is kept as is
  std::uint64_t seq = 0;                // 0: never written, the input's or the struct's default
  Digest hash{};
  std::shared_ptr<const Unknown> unknown;  // what newer code has put into it
};

struct Run {
  RunRow row;  // as of the newest commit, or of the one under way
  RunOptions options;
  // Never changed while a node may look at it: see owned_state().
  std::shared_ptr<void> state;
  std::vector<ChannelVersion> channels;  // sorted by name
  Digest chain_hash{};
  std::int64_t superstep = 0;
  std::optional<NodeTask> task;  // none when the run has ended
  // The work from here on is not yet in row.worked_ms; unset while nobody works.
  Instant working_since{};
};

}  // namespace belay::engine
