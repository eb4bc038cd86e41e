#pragma once
// http/asio_loop.h - Belay's event loop on Boost.Asio: runtime, timers and sockets on one thread.
//
// An EventLoop like the one of make_event_loop(), with the same promises and the same bounded pool
// for what blocks. Hand it to the runtime and to a Server, and both are served by the thread that
// calls run(), so that what they share needs no lock.
//
// Lifetime: it outlives every Server, task and timer on it. Work that was posted and has not run
// when it is destroyed is destroyed unrun.

#include <memory>

#include "belay/clock.h"

namespace belay::http {

class AsioLoop : public EventLoop {
 public:
  // What this folder makes sockets with; the rest of the program has no use for it.
  struct Context;
  virtual Context& context() = 0;
};

std::unique_ptr<AsioLoop> make_asio_loop();

}  // namespace belay::http
