#pragma once
// bench/ticking_model.h - an Ollama on a free loopback port that says what time it is, a piece
// every two milliseconds; asked whether it hangs, it says one piece and then nothing more.
//
// Threading: a thread a connection; all end with the object, which its client's must not outlive.

#include <atomic>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace belay::bench {

// Microseconds since 1970, the same for all processes of a machine.
std::int64_t now_microseconds();

class TickingModel {
 public:
  static constexpr int pieces = 200;

  TickingModel();
  TickingModel(const TickingModel&) = delete;
  TickingModel& operator=(const TickingModel&) = delete;
  ~TickingModel();

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  // How many calls have hung so far, and when the last one that did was given up.
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
  std::list<std::thread> threads_;  // of the one that accepts
  std::thread accepts_;             // last: it uses everything above
};

}  // namespace belay::bench
