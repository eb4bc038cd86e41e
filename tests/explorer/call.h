#pragma once
// tests/explorer/call.h - a call of a process, as far as it has come: what it has heard from the
// store since it began, and what it waits for now.
//
// The process is the real runtime on the real driver. It is not kept: it is played once more from
// the call's beginning, told again what it had heard, and then one thing more. So what a process
// holds in memory is a value, and a crash is no more than to forget it.

#include <functional>
#include <string>
#include <vector>

#include "belay/store.h"
#include "tests/explorer/explored_agents.h"
#include "tests/explorer/stored.h"

namespace belay::explorer {

enum class Errand { start, resume, approve, reject, cancel, expire };
std::string_view name_of(Errand errand);

// What a call is of. Two calls that are alike are the same call: they make the same ids.
struct Call {
  int session = 0;  // under which the process works
  Errand errand = Errand::start;
  const Stored* began = nullptr;  // as it stood when the call began
  Instant now{};                  // and when that was
};
// Whom the call names as the one who decides: nobody else is called so.
std::string decider_of(const Call& call);

// Something that a call waits for.
struct Open {
  enum class What { read, commit, node };
  What what = What::read;
  Store::Reader reader;                  // that wants to read
  std::string node;                      // whose end it waits for
  std::shared_ptr<const Commit> commit;  // that it wants to be written
  std::function<void(const struct Heard&)> tell;
};

// What it is told.
struct Heard {
  std::size_t open = 0;                  // which of the things that it waits for
  const Stored* seen = nullptr;          // of a read
  std::optional<CommitOutcome> outcome;  // of a commit; nothing: nobody knows what it came to
  Instant now{};                         // by then
  // Whether they live, asked one after another since then.
  std::vector<std::pair<SessionId, bool>> sessions;
};

// How a call ended.
struct Ended {
  std::optional<Error> error;
  bool has_won = false;  // of a decision
};

// What a call has come to.
struct Progress {
  std::vector<Open> open;  // without tell()
  std::optional<Ended> ended;
  // What is_alive() answered since the last thing that was heard.
  std::vector<std::pair<SessionId, bool>> sessions;
};

using IsAlive = std::function<bool(const SessionId&)>;

// Sessions are numbered. REQUIRES: number < sessions_max.
constexpr int sessions_max = 8;
const SessionId& session_id(int number);
const ThreadId& explored_thread();
// The clock's first reading, and how long it goes before an approval expires, and then some.
Instant first_day();
Instant second_day();

class Player {
 public:
  explicit Player(bool is_wide);
  const Graph<Letter>& graph() const { return graph_; }

  // Plays `call`, through all of `heard`. What is asked after the last of these, `is_alive`
  // answers; what was asked before, it is told again.
  Progress play(const Call& call, const std::vector<const Heard*>& heard, const IsAlive& is_alive);

 private:
  class Play;

  Play* play_ = nullptr;  // the one under way
  NodeWait wait_;
  Graph<Letter> graph_;
};

}  // namespace belay::explorer
