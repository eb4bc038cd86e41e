#pragma once
// tests/scenario/script_environment.h - where a script is played: a folder with a store of one kind
// in it, the world outside as files (outside.h), the processes, and the commands so far as a person
// would repeat them by hand.
//
// Threading: the test's thread. The destructor kills whatever still runs.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/cli/belay_process.h"

namespace belay::scenario {

using cli::tests::Outcome;
using cli::tests::Words;

// A kind of store that outlives a process. A new kind is one row in all_stores().
struct StoreKind {
  std::string name;
  std::map<std::string, std::string> environment;
};
const std::vector<StoreKind>& all_stores();

// When a command is to be killed.
struct Killing {
  int commit = 0;  // before this commit, or after it; 0: when it stands still at `place`
  bool after = false;
  std::string place = {};
};

class Stage {
 public:
  explicit Stage(const StoreKind& kind);

  // Which program the next commands are of: the one that has this graph.
  void choose_program(const std::string& graph);
  // Keys that are the store's own, others, or none.
  void choose_key(const std::string& which);
  void choose_user(const std::string& user) { user_ = user; }

  // A command to its end; `look` is for what only asks, and is not listed among the commands.
  enum class Purpose { act, look };
  Outcome run(Words words, const std::string& input = "", Purpose purpose = Purpose::act);
  // A command that is killed; an error when it ended, or stood still for too long, before.
  Result<Done> run_and_kill(Words words, const std::string& input, const Killing& killing);

  Result<Done> begin_worker(const std::string& name);
  Result<Done> end_worker(const std::string& name);
  // Kills every worker that runs; where none does, a process that is about to write
  // something of the thread.
  Result<Done> crash(const std::string& thread);
  bool has_workers() const { return !workers_.empty(); }

  void add_line(const std::string& file, const std::string& line);
  std::vector<std::string> lines_of(const std::string& file) const;
  void hold(const std::string& place);
  void release(const std::string& place);
  bool waits_for(const std::string& file) const;
  // Whether the store's files hold these bytes.
  bool store_holds(const std::string& text) const;

  const std::vector<std::string>& by_hand() const { return by_hand_; }
  // Something that whoever repeats the next command has to know.
  void remark(const std::string& text) { by_hand_.push_back("# " + text); }

 private:
  cli::tests::Setting setting(const std::string& input) const;
  std::string typed(const Words& words, const std::string& input) const;

  const StoreKind& kind_;
  cli::tests::World world_;
  std::map<std::string, std::string> keys_;
  std::string user_;
  std::map<std::string, std::unique_ptr<cli::tests::Belay>> workers_;
  std::vector<std::string> by_hand_;
};

}  // namespace belay::scenario
