#pragma once
// tests/scenario/script_environment.h - the environment in which a script is executed
//
// It has a folder with a store of one kind, the files of external_world.h, the processes, and the
// commands so far as a user would repeat them.
//
// Threading: the test's thread. The destructor kills all running processes.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/cli/belay_process.h"

namespace belay::scenario {

using cli::tests::Outcome;
using cli::tests::Words;

// A kind of store that outlives a process. To add one, add a row to all_stores().
struct StoreKind {
  std::string name;
  std::map<std::string, std::string> environment;
};
const std::vector<StoreKind>& all_stores();

// The moment at which a command is killed.
struct Killing {
  int commit = 0;  // before or after this commit; 0: when it waits at `place`
  bool after = false;
  std::string place = {};
};

class Stage {
 public:
  explicit Stage(const StoreKind& kind);

  // Selects the program of the next commands: the one that has this graph.
  void choose_program(const std::string& graph);
  // Selects the store's own keys, other keys, or none.
  void choose_key(const std::string& which);
  void choose_user(const std::string& user) { user_ = user; }

  // Runs a command to its end. `look` is for commands that only read; they are not listed in
  // by_hand().
  enum class Purpose { act, look };
  Outcome run(Words words, const std::string& input = "", Purpose purpose = Purpose::act);
  // Runs a command and kills it. Fails if it ended before that or a timeout passed.
  Result<Done> run_and_kill(Words words, const std::string& input, const Killing& killing);

  Result<Done> begin_worker(const std::string& name);
  Result<Done> end_worker(const std::string& name);
  // Kills all running workers. If there are none, kills a process that is about to write to the
  // thread.
  Result<Done> crash(const std::string& thread);
  bool has_workers() const { return !workers_.empty(); }

  void add_line(const std::string& file, const std::string& line);
  std::vector<std::string> lines_of(const std::string& file) const;
  void hold(const std::string& place);
  void release(const std::string& place);
  bool waits_for(const std::string& file) const;
  // Returns whether the store's files contain these bytes.
  bool store_holds(const std::string& text) const;

  const std::vector<std::string>& by_hand() const { return by_hand_; }
  // Adds a comment for a user who repeats the next command.
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
