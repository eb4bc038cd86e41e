#pragma once
// tests/simulation/people.h - who starts runs, decides, cancels and forks, through a process of
// their own, and does again what they had no answer to.

#include <set>

#include "tests/simulation/plan.h"
#include "tests/simulation/process.h"

namespace belay::simulation {

class People {
 public:
  People(Machine& machine, const Plan& plan, std::uint64_t seed)
      : machine_(machine), plan_(plan), random_(seed) {}

  // Null: they have no process at the moment.
  void use(Process* process) {
    process_ = process;
    forking_ = 0;
    look_anew();
  }
  // What they have seen, or are looking at, is no longer how things stand.
  void look_anew() {
    unfinished_.reset();
    ++looks_;
  }

  // One more run is wanted.
  void want_run();
  void cancel_something();
  void fork_something();
  // Looks at what there is to decide, and to begin again. In a hurry they leave nothing.
  void look_around(bool in_a_hurry);

  // That somebody has tried to cancel, whatever came of it.
  bool may_be_cancelled(const std::string& thread) const { return cancelled_.contains(thread); }
  bool has_begun_all() const { return wanted_.empty() && forking_ == 0; }
  // The threads that have not ended, as they saw it since the last one began; nothing while they
  // have not looked.
  const std::optional<std::vector<std::string>>& unfinished() const { return unfinished_; }
  std::size_t runs() const { return numbers_; }

 private:
  struct Wanted {
    std::uint64_t number;
    const Workload* workload;
    Instant asked{};  // last
  };
  struct Open {
    std::vector<ApprovalRow> approvals;
    // At breakpoints, quarantined, or without anybody who works on them, as far as people see.
    std::vector<RunRow> stopped;
    std::vector<std::string> unfinished;
  };

  void ask_for(const std::string& thread, Wanted& wanted);
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
  std::map<std::string, Wanted> wanted_;  // by thread
  std::vector<std::string> begun_;
  std::set<std::string> cancelled_;
  std::optional<std::vector<std::string>> unfinished_;
  std::uint64_t looks_ = 0;  // counted up when what was seen counts no more
  int forking_ = 0;          // without an answer yet
  std::uint64_t numbers_ = 0;
  std::uint64_t forks_ = 0;
};

}  // namespace belay::simulation
