#pragma once
// http/web_socket.h - WebSocket (RFC 6455): a response that opens it, and a session of it.
//
//     class Echo final : public WebSocketSession {
//       void open(WebSocket& socket) override { socket_ = &socket; }
//       void receive(std::string text) override { socket_->send(std::move(text)); }
//       WebSocket* socket_ = nullptr;
//     };
//
//     Response response = web_socket_response(request, {}, std::make_unique<Echo>());
//
// The caller has checked the handshake. The connection counts as a connection of the server. It has
// no time limit while its client answers pings. Messages are UTF-8 text; there is no compression,
// which could multiply a message.
//
// The server closes it with one of these codes:
//   1001  the server drains
//   1003  a binary message
//   1007  text that is not UTF-8 (sent by Beast, as 1002 for an invalid frame)
//   1009  a message above message_bytes, before it is buffered
//   1013  the client reads too slowly: more than unsent_bytes wait for it
// If the client does not answer the close within close_timeout, does not answer pings, or accepts
// no bytes for write_timeout, the connection is closed without a code.
//
// Memory: at most message_bytes of input and unsent_bytes of output, and one message more.
//
// Threading: the loop's thread.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "http/message.h"

namespace belay::http {

struct WebSocketLimits {
  std::size_t message_bytes = 1024 * 1024;     // of one received message
  std::size_t unsent_bytes = 4 * 1024 * 1024;  // of messages that wait for the client
  // A client that sends nothing for half of it gets a ping, and is closed after all of it.
  std::chrono::milliseconds idle_timeout{60'000};
  std::chrono::milliseconds write_timeout{30'000};
  std::chrono::milliseconds close_timeout{5'000};  // for the handshake as well
};

enum class WebSocketCode : std::uint16_t {
  normal = 1000,
  going_away = 1001,
  unsupported = 1003,
  policy = 1008,
  internal = 1011,
  try_again_later = 1013,
};

// A connection, for its session. Outlives it.
class WebSocket {
 public:
  virtual ~WebSocket() = default;
  // Sends one text message after the earlier ones. Ignored when the connection closes.
  virtual void send(std::string text) = 0;
  // Sends the earlier messages, and closes. `reason`: at most 123 bytes of it are sent.
  virtual void close(WebSocketCode code, std::string reason) = 0;
  // Bytes of messages that were not passed to the kernel.
  virtual std::size_t unsent_bytes() const = 0;
};

// Destroyed when the connection closes, never within one of these calls.
class WebSocketSession {
 public:
  virtual ~WebSocketSession() = default;
  virtual void open(WebSocket& socket) = 0;  // the handshake is done
  virtual void receive(std::string text) = 0;
  // All messages were passed to the kernel: a session that produces more than unsent_bytes waits
  // for this before it sends more.
  virtual void sent() {}
};

// Returns the 101 response that hands the connection to the session. REQUIRES: the
// handshake is valid.
Response web_socket_response(const Request& request, const WebSocketLimits& limits,
                             std::unique_ptr<WebSocketSession> session);

}  // namespace belay::http
