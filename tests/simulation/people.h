#pragma once
// tests/simulation/people.h - the users of a simulation: they start runs, decide, cancel and fork
//
// They use their own process, and repeat an action that returned no result.

#include <set>

#include "tests/simulation/plan.h"
#include "tests/simulation/process.h"
#include "tests/simulation/requests.h"

namespace belay::simulation {

class People {
 public:
  People(Machine& machine, const Plan& plan, std::uint64_t seed)
      : machine_(machine), plan_(plan), random_(seed), requests_(machine, seed) {}

  // Null: they have no process at the moment.
  void use(Process* process) {
    process_ = process;
    requests_.use(process);
    forking_ = 0;
    look_anew();
  }
  // Invalidates their observations and the read in progress.
  void look_anew() {
    unfinished_.reset();
    ++looks_;
  }

  // Requests one more run.
  void want_run();
  void cancel_something();
  void fork_something();
  void want_schedule() { requests_.want_schedule(); }
  // Sends a message to the run of a goal, if one was started.
  void send_message();
  void end_schedules() { requests_.end_schedules(); }
  // Reads the open approvals and stopped runs, and decides or resumes some of them; with
  // `in_a_hurry`, all of them.
  void look_around(bool in_a_hurry);

  // Returns whether a cancel of the thread was tried, whatever its result was; or its runs are
  // those of a schedule that cancels them.
  bool may_be_cancelled(const std::string& thread) const {
    return cancelled_.contains(thread) || thread.starts_with(name_of(Overlap::cancel_other));
  }
  bool has_started_all() const { return wanted_.empty() && forking_ == 0 && requests_.is_empty(); }
  const Requests& requests() const { return requests_; }
  // The threads whose runs have not ended, read since the last start of a run; unset if not read
  // since.
  const std::optional<std::vector<std::string>>& unfinished() const { return unfinished_; }
  std::size_t runs() const { return numbers_; }

 private:
  struct Wanted {
    std::uint64_t number;
    const Workload* workload;
    std::string thread;
    Instant asked{};  // the last try
  };
  struct Open {
    std::vector<ApprovalRow> approvals;
    // Runs at breakpoints, quarantined, or running without a commit for a long time.
    std::vector<RunRow> stopped;
    std::vector<std::string> unfinished;
  };

  void ask_for(const std::string& key, Wanted& wanted);
  void decide(const ApprovalRow& approval);
  void decide_uncertain(const ApprovalRow& approval, const Value& payload);
  void say(const ApprovalRow& approval, Decision decision);
  void resume(const RunRow& row);
  void found(Open open, bool in_a_hurry);
  std::optional<std::string> any_thread();

  Machine& machine_;
  const Plan& plan_;
  testing::SeededRandom random_;
  Process* process_ = nullptr;
  Requests requests_;
  std::map<std::string, Wanted> wanted_;  // by idempotency key
  std::vector<std::string> begun_;
  std::set<std::string> cancelled_;
  std::optional<std::vector<std::string>> unfinished_;
  std::uint64_t looks_ = 0;  // incremented when earlier observations become invalid
  int forking_ = 0;          // forks in progress
  std::uint64_t numbers_ = 0;
  std::uint64_t forks_ = 0;
};

}  // namespace belay::simulation
