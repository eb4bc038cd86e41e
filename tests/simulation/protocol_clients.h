#pragma once
// tests/simulation/protocol_clients.h - clients of the Agent Server API in a simulation.
//
// Every process serves the API. Each request is sent to a random one, and again, with its
// Idempotency-Key and to any process, until it has a response.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/simulation/plan.h"
#include "tests/simulation/process.h"

namespace belay::simulation {

// A thread as its client knows it.
struct ClientThread {
  std::uint64_t number = 0;
  const Workload* workload = nullptr;
  std::string assistant = {};  // of its runs: a created one; empty: that of the agent
  bool is_created = false;     // acknowledged
  bool is_deleted = false;     // acknowledged
  // A deletion was requested, whatever its result was.
  bool may_be_deleted = false;
  bool may_lose_runs = false;               // the same, of its only run
  bool has_lost_runs = false;               // acknowledged
  std::set<std::string> asked;              // keys of requests for runs
  std::map<std::string, std::string> runs;  // acknowledged: the id of the run by key
};

class ProtocolClients {
 public:
  using AnyProcess = std::function<Process*()>;  // null: none is alive

  ProtocolClients(Machine& machine, const Plan& plan, std::uint64_t seed, AnyProcess any_process)
      : machine_(machine), plan_(plan), random_(seed), any_process_(std::move(any_process)) {}

  // Schedules all actions of the plan at random times of the first phase.
  void write_script();
  // Creates one more thread, with its runs; some with an assistant of which it makes a version.
  void want_thread();
  void cancel_something();
  void copy_something();
  void delete_something();
  // Sends late requests again, and answers the interrupts of some thread.
  void look_around();
  // Ends the requests that might wait for a person without end.
  void end() { is_ending_ = true; }

  bool is_empty() const { return waiting_.empty(); }
  // Returns the commits of runs that were not deleted.
  std::vector<std::pair<RunId, std::uint64_t>> without_deleted(
      std::vector<std::pair<RunId, std::uint64_t>> commits) const;
  bool may_be_cancelled(const std::string& thread) const { return cancelled_.contains(thread); }
  bool is_known(const std::string& thread) const {
    return threads_.contains(thread) || copies_.contains(thread);
  }
  const std::map<std::string, ClientThread>& threads() const { return threads_; }
  const std::set<std::string>& copies() const { return copies_; }  // acknowledged

 private:
  struct Request {
    std::string method, path, body;
    std::function<void(int status, const Value& body)> answered;
    Instant asked{};
  };

  void want(const std::string& key, Request request);
  void try_now(const std::string& key);
  void take(const std::string& key, int status, const Value& body);
  void create_assistant(const std::string& thread);
  void change_assistant(const std::string& thread);
  void create_thread(const std::string& thread);
  void want_run(const std::string& thread);
  void ask_about(const std::string& thread);
  void answer(const std::string& thread, const Value& interrupts);
  // Sends the body of a run, a resume included, with its key.
  void begin_run(const std::string& thread, const std::string& key, Value body);
  void note_run(const std::string& thread, const std::string& key, int status, const Value& body);
  void delete_run(const std::string& thread);
  std::string any_thread();

  Machine& machine_;
  const Plan& plan_;
  testing::SeededRandom random_;
  const AnyProcess any_process_;
  std::map<std::string, Request> waiting_;  // by Idempotency-Key
  std::map<std::string, ClientThread> threads_;
  std::set<std::string> cancelled_, copies_;
  std::uint64_t numbers_ = 0;   // of threads
  std::uint64_t requests_ = 0;  // of all kinds
  bool is_ending_ = false;
};

}  // namespace belay::simulation
