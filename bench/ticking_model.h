#pragma once
// bench/ticking_model.h - simulated Ollama server on a free loopback port that streams the current
// time, one delta every two milliseconds; for a certain prompt it sends one delta and then hangs.
//
// Threading: one thread per connection; all end with the object, which must outlive its clients.

#include <atomic>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace belay::bench {

// Returns microseconds since 1970; the same clock for all processes of a machine.
std::int64_t now_microseconds();

class TickingModel {
 public:
  static constexpr int pieces = 200;

  TickingModel();
  TickingModel(const TickingModel&) = delete;
  TickingModel& operator=(const TickingModel&) = delete;
  ~TickingModel();

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  // The numbers of calls that have hung and that clients have abandoned, and the time at which the
  // last one was abandoned.
  int hanging() const { return hanging_; }
  int given_up() const { return given_up_; }
  std::int64_t given_up_at() const { return given_up_at_; }

 private:
  void serve(int socket);
  void answer(int socket, bool hangs);

  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> hanging_ = 0;
  std::atomic<int> given_up_ = 0;
  std::atomic<std::int64_t> given_up_at_ = 0;
  std::mutex mutex_;
  std::list<int> sockets_;          // protected by mutex_; shut down at the end
  std::list<std::thread> threads_;  // used only by the accepting thread
  std::thread accepts_;             // last: it uses everything above
};

}  // namespace belay::bench
