#pragma once
// bench/fleet_worker.h - the worker processes of fleet_bench, and their reports.

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "bench/pages.h"
#include "store/forwarding_store.h"

namespace belay::bench {

// A graph with one fast node, after which a worker is idle again.
Graph<Page> short_pages();
// A graph with twenty nodes that take half a second each.
Graph<Page> long_pages();

// Calls `applied` after each applied commit of a run, as soon as it is durable.
class WatchedStore final : public ForwardingStore {
 public:
  using Applied = std::function<void(const std::string& thread)>;
  WatchedStore(Store& inner, Applied applied)
      : ForwardingStore(inner), applied_(std::move(applied)) {}
  Task<Result<CommitOutcome>> commit(Commit commit) override;

 private:
  const Applied applied_;
};

enum class Told : int { begun, committed, ended };  // a node; a commit; a run

// A report of a worker, written to its pipe atomically.
struct Word {
  Told what = Told::begun;
  char thread[44] = {};
  double at = 0;  // wall_seconds(), the same clock for all processes
};

enum class Wakes : bool { by_polling, by_notify };

// This program as a child process that runs a worker on the store at `url` until it is killed.
class WorkerProcess {
 public:
  WorkerProcess(const std::string& url, Wakes wakes);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();  // kills it

  void kill();  // sends SIGKILL and waits for the end; its reports can still be read
  int pipe() const { return pipe_; }
  // Returns the reports since the last call, without waiting.
  std::vector<Word> heard();

 private:
  pid_t process_ = -1;
  int pipe_ = -1;
};

// Returns whether a WorkerProcess has started this program with these arguments; it must then call
// work(), which does not return.
bool is_worker(int count, char** arguments);
[[noreturn]] void work(char** arguments);

}  // namespace belay::bench
