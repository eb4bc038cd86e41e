#pragma once
// tests/simulation/agenda.h - all that is still to happen, in simulated time, to several processes
// and to the world outside of them.
//
// Of the processes that have something to do now, chance picks one, which does one piece of it;
// each process does what it was told in its order. When nobody has anything to do, time moves on.
// The same seed makes the same choices for good.
//
// Threading: one thread.

#include <deque>
#include <map>
#include <set>

#include "belay/testing.h"

namespace belay::simulation {

using std::chrono::microseconds;

// By number, each new one another; kOutside is whatever is no process of Belay's.
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
  // Nothing of it happens any more.
  void forget(ProcessId process);
  // Nothing of it happens before that time; then all that had to, late.
  void pause(ProcessId process, Instant until);
  bool is_paused(ProcessId process) const;

  // One thing happens. False when there is nothing left, or nothing before `until`.
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

// What a process runs on.
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

// The clock on a process's wall, which may go wrong; its timers don't.
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
