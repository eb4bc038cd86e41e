#pragma once
// http/asio_loop.h - AsioLoop: an event loop on Boost.Asio, with runtime, timers and sockets on one
// thread.
//
// An EventLoop with the same contract as that of make_event_loop(), including the bounded pool for
// blocking functions. If the runtime and a Server use the same loop, the thread that calls run()
// executes both, and the state that they share needs no lock.
//
// Lifetime: the loop must outlive every Server, coroutine and timer on it. Its destructor destroys
// posted work that has not run, without running it.

#include <memory>

#include "belay/clock.h"

namespace belay::http {

class AsioLoop : public EventLoop {
 public:
  // For the sockets of this folder; other code must not use it.
  struct Context;
  virtual Context& context() = 0;
};

std::unique_ptr<AsioLoop> make_asio_loop(
    std::size_t blocking_threads = limits::blocking_threads_default);

}  // namespace belay::http
