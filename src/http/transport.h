#pragma once
// http/transport.h - bytes over a socket that does not block, plain or under TLS.
//
// Nothing here waits: what can't go on says what for, and the connection waits for that and calls
// again. So one connection's code serves both, and no buffer is held while nothing comes.

#include <cstddef>
#include <memory>
#include <string_view>

#include "belay/result.h"
#include "http/server.h"

namespace belay::http {

// What became of a call, and what has to happen before it is worth another.
enum class Wait {
  none,      // it went well
  readable,  // the socket has to become readable first
  writable,  // writable
  ended,     // the other side sends no more (read), or is gone (write)
};

struct Moved {
  Wait wait = Wait::none;
  std::size_t bytes = 0;  // with Wait::none alone
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Before anything else, until it answers Wait::none.
  virtual Wait handshake() = 0;
  virtual Moved read(char* to, std::size_t size) = 0;
  // `more`: other bytes follow at once. After a Wait the same bytes are given again.
  virtual Moved write(std::string_view bytes, bool more) = 0;
  // Whether read() may give something without the socket being readable.
  virtual bool holds_input() const = 0;
  // Tells the other side that nothing follows.
  virtual void end_writing() = 0;
};

// `socket` stays the caller's, and open as long as the transport is used.
std::unique_ptr<Transport> plain_transport(int socket);

// Certificate and key, checked, for all connections of a server.
class TlsContext {
 public:
  static Result<std::shared_ptr<TlsContext>> load(const TlsFiles& files);
  virtual ~TlsContext() = default;
  // Null when there is no memory for a session.
  virtual std::unique_ptr<Transport> transport(int socket) = 0;
};

}  // namespace belay::http
