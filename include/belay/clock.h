#pragma once
// belay/clock.h - interfaces for time, randomness and the thread on which coroutines run.
//
// Belay uses the operating system only through them: a test with its own implementations is
// deterministic.
//
// Threading: every method can be called from any thread, except where Executor restricts it.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "belay/limits.h"

namespace belay {

using std::chrono::milliseconds;

// A time in UTC, with the microseconds that a store keeps.
using Instant = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

class Clock {
 public:
  virtual ~Clock() = default;
  // Wall-clock time. It can jump; therefore no safety property depends on it.
  virtual Instant now() = 0;
};

class Random {
 public:
  virtual ~Random() = default;
  // 64 random bits. The system's implementation is suitable for ids that must not be guessed.
  virtual std::uint64_t bits() = 0;
};

// The clock and the randomness of the operating system.
std::unique_ptr<Clock> system_clock();
std::unique_ptr<Random> system_random();

// Executes coroutines and timers, on one thread at a time, in the order posted. Implement it to run
// Belay on an existing event loop.
class Executor {
 public:
  using Work = std::function<void()>;
  using TimerId = std::uint64_t;

  virtual ~Executor() = default;
  // Runs `work` soon, never inside this call. From any thread.
  virtual void post(Work work) = 0;
  // Runs `work` once, not before `delay` has passed. On the executor's thread only.
  virtual TimerId call_after(std::chrono::microseconds delay, Work work) = 0;
  // Cancels the timer; no effect if it has fired. On the executor's thread only.
  virtual void cancel(TimerId timer) = 0;
  // Runs `work` on the blocking pool. Returns false, and runs nothing, if the pool's queue is full
  // (limits::blocking_queue_max). From any thread.
  virtual bool offload(Work work) = 0;
};

// The executor that Belay provides: a loop for one thread, with its own timers and blocking pool.
class EventLoop : public Executor {
 public:
  // Runs until stop() is called; work posted later waits for the next run().
  virtual void run() = 0;
  virtual void stop() = 0;  // from any thread
};
// `blocking_threads`: maximum of the blocking pool, 1 to limits::blocking_threads_max.
std::unique_ptr<EventLoop> make_event_loop(
    std::size_t blocking_threads = limits::blocking_threads_default);

// Converts to "2026-11-21T23:54:00.123456Z" and back. Reads 0 to 6 digits of a second, always UTC.
std::string to_text(Instant instant);
std::optional<Instant> instant_from(std::string_view text);

// True if `text` is a day of the calendar, written YYYY-MM-DD, years 0001 to 9999.
bool is_date(std::string_view text);
// Returns the day before or after. REQUIRES: is_date(date).
std::string day_before(std::string_view date);
std::string day_after(std::string_view date);

// A time zone of the IANA database, for display only: stored and sent times are always UTC. Cheap
// to copy; immutable, and therefore usable from any thread.
class TimeZone {
 public:
  TimeZone();  // UTC
  // Accepts "Europe/Madrid" or "UTC". Returns nothing if the database does not have the name.
  static std::optional<TimeZone> named(std::string_view name);
  // Returns the zone of this machine: TZ if it is set, else /etc/localtime.
  static TimeZone of_machine();

  const std::string& name() const { return name_; }
  std::string day_of(Instant instant) const;   // "2026-11-22"
  std::string text_of(Instant instant) const;  // "2026-11-22 00:54:00.123456"

 private:
  struct Rules;
  TimeZone(std::string name, std::shared_ptr<const Rules> rules);
  std::string name_;
  std::shared_ptr<const Rules> rules_;  // null: UTC
};

}  // namespace belay
