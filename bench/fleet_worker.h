#pragma once
// bench/fleet_worker.h - the worker processes of fleet_bench, and what they tell it.

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "bench/pages.h"
#include "store/forwarding_store.h"

namespace belay::bench {

// One node that counts, so that a worker is idle again at once.
Graph<Page> short_pages();
// Twenty nodes that take half a second each.
Graph<Page> long_pages();

// Tells of every commit of a run that has been applied, as soon as it is durable.
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

// As it goes through the pipe of a worker: at once, or not at all.
struct Word {
  Told what = Told::begun;
  char thread[44] = {};
  double at = 0;  // wall_seconds(), which all processes share
};

enum class Wakes : bool { by_polling, by_notify };

// This very program as a child that works on the store at `url` until it is killed.
class WorkerProcess {
 public:
  WorkerProcess(const std::string& url, Wakes wakes);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();  // kills it

  void kill();  // by SIGKILL; returns once it has gone. What it has told can still be heard
  int pipe() const { return pipe_; }
  // What it has told since; does not wait.
  std::vector<Word> heard();

 private:
  pid_t process_ = -1;
  int pipe_ = -1;
};

// Whether these are the words that a WorkerProcess starts this program with; then work() is all
// that it does.
bool is_worker(int count, char** arguments);
[[noreturn]] void work(char** arguments);

}  // namespace belay::bench
