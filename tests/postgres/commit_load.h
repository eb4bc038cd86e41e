#pragma once
// tests/postgres/commit_load.h - threads that commit continuously, each to its own run
//
// Records the acknowledged commits and compares them with the contents of a store.

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/conformance/store_suite.h"

namespace belay::postgres_tests {

class CommitLoad {
 public:
  // Each commit is sent until it is acknowledged, at most `tries_max` times, as a driver does.
  CommitLoad(Store& store, int runs, int tries_max = 200);
  CommitLoad(const CommitLoad&) = delete;
  CommitLoad& operator=(const CommitLoad&) = delete;
  ~CommitLoad() { stop(); }

  void stop();
  // The totals of all runs so far.
  std::uint64_t acknowledged() const { return acknowledged_; }
  std::uint64_t sent_again() const { return sent_again_; }

  // Returns the differences between the acknowledged commits and the contents of `store`; empty if
  // each acknowledged commit exists exactly once, and nothing else exists. Requires that stop() was
  // called.
  std::string faults_in(Store& store);

 private:
  struct Worker {
    explicit Worker(const std::string& name) : script(name) {}
    conformance::RunScript script;
    std::string fault;
    std::thread thread;
  };

  void work(Worker& worker);
  // Returns an empty text, or the error.
  std::string send(conformance::Caller& caller, const Commit& commit);

  Store& store_;
  int tries_max_;
  std::atomic<bool> is_stopped_ = false;
  std::atomic<std::uint64_t> acknowledged_ = 0;
  std::atomic<std::uint64_t> sent_again_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace belay::postgres_tests
