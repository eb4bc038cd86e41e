#pragma once
// http/upgrade.h - Upgrade: takes over the connection of a request, for another protocol.
//
// A response with status 101 whose `stream` is an Upgrade sends nothing automatically: the
// transport calls start() with the socket, and the Upgrade writes the response. It is never used as
// a body.
//
// The transport keeps the Upgrade in the place of the connection, which still counts as open, until
// UpgradedSocket::ended is called; it calls drain() when the server drains, and destroys the
// Upgrade when the connection must be closed immediately.
//
// Threading: the loop's thread.

#include <functional>
#include <memory>
#include <string>

#include "http/asio_context.h"
#include "http/message.h"
#include "http/transport.h"

namespace belay::http {

struct UpgradedSocket {
  Socket socket;
  std::unique_ptr<Transport> transport;  // of the socket; its handshake is done
  std::string received;                  // bytes after the head of the request
  std::function<void()> ended;           // called once, when the socket is closed
};

class Upgrade : public BodyStream {
 public:
  virtual void start(UpgradedSocket taken) = 0;  // once
  // Ends the protocol as it provides. The connection is closed soon afterwards.
  virtual void drain() = 0;
  virtual std::size_t buffered_bytes() const = 0;

  Task<Result<std::string>> next() override {
    co_return error(ErrorCode::invalid, "The connection was not upgraded.");
  }
};

}  // namespace belay::http
