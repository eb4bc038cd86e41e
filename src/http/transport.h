#pragma once
// http/transport.h - Transport: reads and writes a non-blocking socket, plain or with TLS.
//
// No call waits. If a call cannot continue, it returns the event that it needs; the connection
// waits for it and calls again. Connection therefore needs no separate code for TLS, and no buffer
// is held while no data arrives.

#include <cstddef>
#include <memory>
#include <string_view>

#include "belay/result.h"
#include "http/server.h"

namespace belay::http {

// The result of a call: done, or the event to wait for before the next try.
enum class Wait {
  none,      // the call succeeded
  readable,  // the socket must become readable first
  writable,  // the socket must become writable first
  ended,     // the other side sends no more (read), or is gone (write)
};

struct Moved {
  Wait wait = Wait::none;
  std::size_t bytes = 0;  // only with Wait::none
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Must be called first, until it returns Wait::none.
  virtual Wait handshake() = 0;
  virtual Moved read(char* to, std::size_t size) = 0;
  // `more`: more bytes follow immediately. If the result's `wait` is not none, the same bytes must
  // be passed again.
  virtual Moved write(std::string_view bytes, bool more) = 0;
  // True if read() might return bytes although the socket is not readable.
  virtual bool holds_input() const = 0;
  // Notifies the other side that no bytes follow.
  virtual void end_writing() = 0;
};

// The caller owns `socket`, which must stay open while the transport is used.
std::unique_ptr<Transport> plain_transport(int socket);

// A validated certificate and key, for all connections of a server.
class TlsContext {
 public:
  static Result<std::shared_ptr<TlsContext>> load(const TlsFiles& files);
  virtual ~TlsContext() = default;
  // Returns null if there is no memory for a session.
  virtual std::unique_ptr<Transport> transport(int socket) = 0;
};

}  // namespace belay::http
