#pragma once
// http/held_loop_responder.h - HeldLoopResponder: answers liveness checks while the loop is held.
//
// A node that blocks holds the loop, and with it every connection. A supervisor would then kill a
// process that works. While the loop does not respond, a thread of this class accepts the
// connections: it answers the requests of one path, and passes all others to the loop, unread. It
// sleeps while no connection waits to be accepted. After limit_of_answers it answers 503: a loop
// that never returns is a reason to kill the process.
//
// Not for TLS: the request cannot be read before the handshake.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "http/asio_loop.h"

namespace belay::http {

class HeldLoopResponder {
 public:
  static constexpr std::chrono::milliseconds held_min{100};
  static constexpr std::chrono::seconds limit_of_answers{60};

  // Receives a connection that was accepted here, on the loop's thread, and owns its descriptor.
  using Adopt = std::function<void(int socket)>;

  // Starts the thread. `loop` must outlive the object, and `listening` must stay open as long.
  HeldLoopResponder(AsioLoop& loop, int listening, std::string path, Adopt adopt);
  // Ends the thread; on the loop's thread.
  ~HeldLoopResponder();
  HeldLoopResponder(const HeldLoopResponder&) = delete;
  HeldLoopResponder& operator=(const HeldLoopResponder&) = delete;

 private:
  using Time = std::chrono::steady_clock::time_point;
  // Shared with the work that is posted to the loop.
  struct Echo {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_back = false;
    bool is_stopping = false;
  };

  void watch();
  // Waits until a descriptor is readable. False after `timeout`, and when the thread has to end.
  bool wait_readable(int descriptor, int timeout_ms);
  bool is_stopping();
  void accept_while_held(const std::shared_ptr<Echo>& echo, Time since);
  void serve(int socket, Time since);
  void answer(int socket, Time since);
  void pass_on(int socket);

  AsioLoop& loop_;
  const int listening_;
  const std::string path_;
  const Adopt adopt_;
  int wake_ = -1;  // an eventfd
  const std::shared_ptr<Echo> state_ = std::make_shared<Echo>();
  std::thread thread_;
};

}  // namespace belay::http
