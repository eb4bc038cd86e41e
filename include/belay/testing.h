#pragma once
// belay/testing.h - a world under a test's control: time that moves only when nothing else can,
// randomness from a seed, a model that says what it is told to.

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "belay/clock.h"
#include "belay/model.h"
#include "belay/task.h"

namespace belay::testing {

class SimulatedClock final : public Clock {
 public:
  explicit SimulatedClock(Instant now) : now_(now) {}
  Instant now() override { return now_; }
  void move(std::chrono::microseconds by) { now_ += by; }

 private:
  Instant now_;
};

// The same seed gives the same bits for good (SplitMix64).
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() override;

 private:
  std::uint64_t state_;
};

// A loop on one thread and a simulated clock: when nothing is posted, time jumps to the next timer.
// Blocking calls run in line. Not thread-safe: everything must happen on the thread of run().
class SimulatedLoop final : public EventLoop {
 public:
  explicit SimulatedLoop(SimulatedClock& clock) : clock_(clock) {}

  void post(Work work) override;
  TimerId call_after(std::chrono::microseconds delay, Work work) override;
  void cancel(TimerId timer) override;
  bool offload(Work work) override;
  // Until stop(), or until nothing is posted and no timer is left.
  void run() override;
  void stop() override { stopped_ = true; }
  // The same, but time does not pass `until`; it stands there at the end.
  void run_until(Instant until);
  // One piece of work; false when there was none that may run now.
  bool step();

 private:
  bool advance_to_next_timer(Instant until);

  SimulatedClock& clock_;
  std::deque<Work> posted_;
  std::map<std::pair<Instant, TimerId>, Work> timers_;
  TimerId next_timer_ = 1;
  bool stopped_ = false;
};

// Answers from a script, in order, each answer once: a text, an error, or what a function makes of
// the request. Keeps what it was asked.
class ScriptedModel final : public Model {
 public:
  using Answer = std::function<Result<std::string>(const ModelRequest&)>;

  ScriptedModel& says(std::string text);
  ScriptedModel& fails(Error error);
  ScriptedModel& answers(Answer answer);
  // What to do when the script is at its end; without it: `unavailable`.
  ScriptedModel& then_always(Answer answer);
  // How long each answer takes, on the executor's timers.
  ScriptedModel& takes(std::chrono::milliseconds time);

  Task<Result<ModelReply>> generate(ModelRequest request) override;

  const std::vector<ModelRequest>& requests() const { return requests_; }

 private:
  std::deque<Answer> script_;
  Answer always_;
  std::chrono::milliseconds time_{0};
  std::vector<ModelRequest> requests_;
};

}  // namespace belay::testing
