#pragma once
// store/postgres/shutdown_deadline.h - shortens all waits of a store for its server during a
// shutdown.
//
// Threading: any method, from any thread.

#include <atomic>
#include <chrono>
#include <optional>

namespace belay::postgres {

class ShutdownDeadline {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // The time limit of a wait for the server during a shutdown. Long enough for a slow server: if it
  // does not acknowledge a commit, another process repeats the commit.
  static constexpr std::chrono::milliseconds patience{5'000};

  ShutdownDeadline();
  ShutdownDeadline(const ShutdownDeadline&) = delete;
  ShutdownDeadline& operator=(const ShutdownDeadline&) = delete;
  ~ShutdownDeadline();

  void set(bool is_so);
  bool is_so() const { return is_so_; }
  // The deadline of an operation that started at `begun`: `patience` after the later of `begun` and
  // the start of the shutdown. nullopt if there is no shutdown.
  std::optional<Time> end_for(Time begun) const;
  // For poll(): readable during a shutdown; -1 if the system could not create it (eventfd).
  int descriptor() const { return handle_; }

 private:
  const int handle_;
  std::atomic<bool> is_so_ = false;
  std::atomic<Time::rep> since_ = 0;
};

}  // namespace belay::postgres
