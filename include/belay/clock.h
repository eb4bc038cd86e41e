#pragma once
// belay/clock.h - time, chance and the thread that tasks run on, as interfaces: nothing in Belay
// asks the outside world directly, so a test that hands in its own runs the same way every time.
//
// Threading: every method may be called from any thread, but for those of Executor that say so.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace belay {

using std::chrono::milliseconds;

// A moment in UTC, with the microseconds that a store keeps.
using Instant = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

class Clock {
 public:
  virtual ~Clock() = default;
  // Wall-clock time. May jump: nothing that must be safe rests on it.
  virtual Instant now() = 0;
};

class Random {
 public:
  virtual ~Random() = default;
  // 64 unpredictable bits. The system's implementation is fit for ids that must not be guessed.
  virtual std::uint64_t bits() = 0;
};

// The machine's own clock and randomness.
std::unique_ptr<Clock> system_clock();
std::unique_ptr<Random> system_random();

// Where tasks run and timers fire: one thread at a time, in the order posted. Hand in your own to
// put Belay on an existing event loop.
class Executor {
 public:
  using Work = std::function<void()>;
  using TimerId = std::uint64_t;

  virtual ~Executor() = default;
  // Runs `work` soon, never inside this call. From any thread.
  virtual void post(Work work) = 0;
  // Runs `work` once, no sooner than `delay` from now. On the executor's thread only.
  virtual TimerId call_after(std::chrono::microseconds delay, Work work) = 0;
  // The timer will not fire; nothing happens if it has. On the executor's thread only.
  virtual void cancel(TimerId timer) = 0;
  // Runs `work` on the bounded pool for code that blocks. False, and nothing ran, when the pool's
  // queue is full (limits::blocking_queue_max). From any thread.
  virtual bool offload(Work work) = 0;
};

// The real executor: a loop for one thread, with its own timers and blocking pool.
class EventLoop : public Executor {
 public:
  // Runs until stop() has been called; what is posted later waits for the next run().
  virtual void run() = 0;
  virtual void stop() = 0;  // from any thread
};
std::unique_ptr<EventLoop> make_event_loop();

// "2026-11-21T23:54:00.123456Z", and back. Reading takes 0 to 6 digits of a second, always UTC.
std::string to_text(Instant instant);
std::optional<Instant> instant_from(std::string_view text);

// Whether `text` is a day of the calendar, written YYYY-MM-DD, years 0001 to 9999.
bool is_date(std::string_view text);
// The day before or after. REQUIRES: is_date(date).
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
