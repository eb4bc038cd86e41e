#pragma once
// tests/explorer/call.h - one call of a process: its received results and its pending requests
//
// The process is the real runtime with the real driver. It is not kept between moves: the call is
// executed again from its beginning with the recorded results, followed by one new result. The
// memory of a process is therefore a value, and a crash only discards it.

#include <functional>
#include <string>
#include <vector>

#include "belay/store.h"
#include "tests/explorer/explored_agents.h"
#include "tests/explorer/stored.h"

namespace belay::explorer {

// start_next: of a second run of the thread, which waits if the first one has not ended.
enum class Errand { start, resume, approve, reject, cancel, expire, start_next };
std::string_view name_of(Errand errand);

// The graph: one_after_another(), side_by_side() or turn_by_turn().
enum class Shape { line, wide, talk };

// Identifies a call. Two equal calls are the same call: they create the same ids.
struct Call {
  int session = 0;  // the session of the process
  Errand errand = Errand::start;
  const Stored* began = nullptr;  // the store's contents when the call started
  Instant now{};                  // the time when the call started
};
// Returns the decider that the call names; no other call uses this name.
std::string decider_of(const Call& call);

// A pending request: a result that a call waits for.
struct Open {
  enum class What { read, commit, node };
  What what = What::read;
  Store::Reader reader;                  // for a read
  std::string node;                      // for the end of a node
  std::shared_ptr<const Commit> commit;  // for a commit
  std::function<void(const struct Heard&)> tell;
};

// A result that a call receives.
struct Heard {
  std::size_t open = 0;                  // index of the request among the pending ones
  const Stored* seen = nullptr;          // for a read
  std::optional<CommitOutcome> outcome;  // for a commit; nothing: the outcome is unknown
  Instant now{};                         // the time of the result
  // The results of is_alive(), in the order of its calls after this result.
  std::vector<std::pair<SessionId, bool>> sessions;
};

// The end of a call.
struct Ended {
  std::optional<Error> error;
  bool has_won = false;  // its decision was accepted
};

// The progress of a call.
struct Progress {
  std::vector<Open> open;  // without their callbacks
  std::optional<Ended> ended;
  // The results of is_alive() since the last received result.
  std::vector<std::pair<SessionId, bool>> sessions;
};

using IsAlive = std::function<bool(const SessionId&)>;

// Sessions are numbered. Requires number < sessions_max.
constexpr int sessions_max = 8;
const SessionId& session_id(int number);
const ThreadId& explored_thread();
// The initial time, and a time after the expiry of the approval.
Instant first_day();
Instant second_day();

class Player {
 public:
  explicit Player(Shape shape);
  const Graph<Letter>& graph() const { return graph_; }

  // Executes `call` with all of `heard`. `is_alive` is called for requests after the last of these
  // results; earlier requests receive the recorded results.
  Progress play(const Call& call, const std::vector<const Heard*>& heard, const IsAlive& is_alive);

 private:
  class Play;

  Play* play_ = nullptr;  // the current one
  NodeWait wait_;
  Graph<Letter> graph_;
};

}  // namespace belay::explorer
