#pragma once
// store/postgres/shutdown_deadline.h - says to all connections of a store that its process is about
// to end, so that nobody waits for a server that is away for as long as before.
//
// Threading: any method, from any thread.

#include <atomic>
#include <chrono>
#include <optional>

namespace belay::postgres {

class ShutdownDeadline {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // For how long in haste a server is waited for. One that is only slow should not be given up:
  // what it has not acknowledged, another process does again.
  static constexpr std::chrono::milliseconds patience{5'000};

  ShutdownDeadline();
  ShutdownDeadline(const ShutdownDeadline&) = delete;
  ShutdownDeadline& operator=(const ShutdownDeadline&) = delete;
  ~ShutdownDeadline();

  void set(bool is_so);
  bool is_so() const { return is_so_; }
  // When patience is over for what has waited since `begun`; nothing where there is no haste.
  std::optional<Time> end_for(Time begun) const;
  // For poll(): readable while there is haste; -1 where the system has no more of them.
  int descriptor() const { return handle_; }

 private:
  const int handle_;
  std::atomic<bool> is_so_ = false;
  std::atomic<Time::rep> since_ = 0;
};

}  // namespace belay::postgres
