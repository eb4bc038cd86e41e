#pragma once
// tests/simulation/agenda.h - schedules the future work of several processes in simulated time.
//
// Of the processes that have work now, one is selected at random and executes one item; each
// process executes its items in their order. If no process has work, time advances to the next
// timer. The same seed always makes the same choices. Work of the world outside has its own id.
//
// Threading: one thread.

#include <deque>
#include <map>
#include <set>

#include "belay/testing.h"

namespace belay::simulation {

using std::chrono::microseconds;

// Process numbers, never reused; kOutside is everything that is not a process of Belay.
using ProcessId = int;
inline constexpr ProcessId kOutside = 0;

class Agenda {
 public:
  using Work = Executor::Work;
  using TimerId = Executor::TimerId;

  Agenda(Instant begins, std::uint64_t seed) : now_(begins), random_(seed) {}

  Instant now() const { return now_; }
  void post(ProcessId process, Work work);
  TimerId after(ProcessId process, microseconds delay, Work work);
  void cancel(TimerId timer);
  // Drops all work of the process.
  void forget(ProcessId process);
  // Executes no work of the process before that time; then all overdue work, late.
  void pause(ProcessId process, Instant until);
  bool is_paused(ProcessId process) const;

  // Executes one item. Returns false if none is left, or none is due before `until`.
  bool step(Instant until);

 private:
  struct Entry {
    TimerId timer;  // 0: it was posted
    Work work;
  };
  struct Timer {
    ProcessId process;
    Work work;
  };

  void let_due_timers_in();
  bool move_on(Instant until);
  std::deque<Entry>* pick();

  Instant now_;
  testing::SeededRandom random_;
  std::map<ProcessId, std::deque<Entry>> ready_;
  std::map<std::pair<Instant, TimerId>, Timer> timers_;
  std::map<TimerId, Instant> due_;  // of timers that have not fired
  std::map<ProcessId, Instant> paused_;
  TimerId next_timer_ = 1;
};

// The executor of one process.
class ProcessExecutor final : public Executor {
 public:
  ProcessExecutor(Agenda& agenda, ProcessId process) : agenda_(agenda), process_(process) {}
  void post(Work work) override { agenda_.post(process_, std::move(work)); }
  TimerId call_after(microseconds delay, Work work) override {
    return agenda_.after(process_, delay, std::move(work));
  }
  void cancel(TimerId timer) override { agenda_.cancel(timer); }
  bool offload(Work work) override {
    post(std::move(work));
    return true;
  }

 private:
  Agenda& agenda_;
  ProcessId process_;
};

// The clock of one process, which can be wrong; its timers are not affected.
class WallClock final : public Clock {
 public:
  explicit WallClock(const Agenda& agenda) : agenda_(agenda) {}
  Instant now() override { return agenda_.now() + offset_; }
  void jump(microseconds by) { offset_ += by; }
  void set_right() { offset_ = microseconds(0); }

 private:
  const Agenda& agenda_;
  microseconds offset_{0};
};

}  // namespace belay::simulation
