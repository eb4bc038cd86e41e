#pragma once
// http/server.h - Server: an HTTP/1.1 server that validates requests and passes them to a handler.
//
// The handler defines all routes and only receives valid requests (message.h). The server itself
// responds to requests that are malformed, too large or too slow, by ServerOptions::error_response,
// and closes the connection:
//
//   400  an invalid request line, header, Host, chunk or compressed body, and input that two
//        parsers could interpret differently (RFC 9112, section 11.2)
//   408  a head or a body that does not arrive in time
//   413  a body above the limit, before it is buffered: according to its Content-Length, or as soon
//        as the received or decompressed bytes exceed the limit
//   414, 431  a target or a head above its limit
//   415  a Content-Encoding other than gzip
//   417  an Expect other than 100-continue
//   503  more connections, or more buffered bytes of requests, than the limit, with Retry-After
//   505  an HTTP version other than 1.0 and 1.1
//
// ServerOptions::admit checks each head before its body is read. A rejected request costs only the
// bytes of its head: its body is not buffered, and no 100-continue requests it.
//
// The responses of a connection have the order of its requests; one request at a time is handled.
//
// If a client disconnects before its response, the handler continues: a request might have started
// durable work. Its response is discarded. ServerOptions::ends_with_client selects the requests
// whose coroutine is destroyed instead. A stream always ends with its client.
//
// A response with status 101 whose stream is an Upgrade (upgrade.h) hands the connection over:
// WebSocket. It remains one of the connections, drains with the server, and has its own limits.
//
// Memory: an idle connection holds a few hundred bytes, and no buffer while it is idle, while a
// handler runs or while a stream waits; with TLS, the OpenSSL session adds to it. Buffers for
// reading and writing grow with the data in transit, up to the limits; all connections together
// buffer at most ServerLimits::request_bytes of requests.
//
// Threading: everything on the loop's thread, or while the loop does not run.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "belay/clock.h"
#include "http/asio_loop.h"
#include "http/message.h"

namespace belay::http {

// Called on the loop's thread for each request; its captures must outlive the server.
using Handler = std::function<Task<Response>(Request)>;

struct ServerLimits {
  std::size_t head_bytes = 16 * 1024;    // request line and headers
  std::size_t target_bytes = 8 * 1024;   // target of the request line
  std::size_t headers = 100;             // of one request
  std::size_t body_bytes = 1024 * 1024;  // of one request, compressed or not
  std::size_t ahead_bytes = 64 * 1024;   // of later requests, read while one is handled
  std::size_t connections = 10'000;      // open at the same time
  // Total bytes of heads and bodies being read, and of read-ahead, over all connections. If a
  // request exceeds it, the response is 503. REQUIRES: above head_bytes + 2 * body_bytes.
  std::size_t request_bytes = 64 * 1024 * 1024;
};

// Accurate to a second, or to a quarter of the shortest one.
struct ServerTimeouts {
  std::chrono::milliseconds handshake{10'000};  // TLS
  std::chrono::milliseconds head{10'000};       // from the start of the connection, or a later
                                                // request's first byte, to the end of the head
  std::chrono::milliseconds body{30'000};       // from there to the end of the body
  std::chrono::milliseconds idle{60'000};       // between two requests of a connection
  std::chrono::milliseconds write{30'000};      // while the client accepts no bytes of a response
  std::chrono::milliseconds drain{10'000};      // after which drain() closes remaining connections
};

// PEM files: the certificate with its chain, and the private key.
struct TlsFiles {
  std::string certificate_file;
  std::string key_file;
};

struct ServerOptions {
  std::string address = "127.0.0.1";  // an IPv4 or IPv6 address; "0.0.0.0" or "::" for all
  int port = 0;                       // 0: any free port
  ServerLimits limits{};
  ServerTimeouts timeouts{};
  std::optional<TlsFiles> tls{};  // unset: plain HTTP
  // Answered with 200 even while the loop is held, without the handler: see held_loop_responder.h.
  // Empty: no path. No effect with TLS.
  std::string liveness_path = "";
  bool compress = true;  // text and JSON of 1 KiB and more, for clients that accept gzip

  // Checks a request when its head has been read and before its body is read: `head` is complete
  // except for `body`. If it returns a response, that is sent and the handler is not called; the
  // connection is then closed unless the request has no body. Otherwise the request continues with
  // the `admission` set here. Unset: every head is admitted. Called on the loop's thread.
  std::function<std::optional<Response>(Request& head)> admit{};
  // Creates the response for requests that the server itself rejects. Unset: an RFC 9457 problem
  // document.
  std::function<Response(int status, std::string detail)> error_response{};
  // True if the request's coroutine must be destroyed when its client disconnects. Unset: never.
  std::function<bool(const Request& request)> ends_with_client{};
};

struct ServerCounts {
  std::size_t connections = 0;     // currently open
  std::size_t streams = 0;         // of these, connections that send a stream, or are upgraded
  std::size_t handling = 0;        // of these, connections whose handler is running, also after the
                                   // client has disconnected
  std::size_t buffered_bytes = 0;  // for reading and writing, over all connections
  std::size_t request_bytes = 0;   // of these, for requests
  std::uint64_t accepted = 0;      // connections since the start
  std::uint64_t requests = 0;      // that reached the handler
  std::uint64_t refused = 0;       // requests and connections that the server itself rejected,
                                   // including those that `admit` rejected
};

class Server {
 public:
  // Listens immediately; connections are accepted when the loop runs. `loop` and `clock` (used only
  // for the Date header) must outlive the server. Fails with `invalid` for an unusable address,
  // certificate or key, with `unavailable` if the port is in use or not permitted; the message
  // names the address or the file, and a remedy.
  static Result<std::unique_ptr<Server>> listen(AsioLoop& loop, Clock& clock, ServerOptions options,
                                                Handler handler);

  virtual ~Server() = default;  // closes all connections immediately, and destroys the handlers'
                                // coroutines

  virtual int port() const = 0;
  virtual ServerCounts counts() const = 0;

  // Stops accepting, closes idle connections immediately, ends each stream after its current piece
  // with a regular end of the body, and lets other requests in progress complete, with "Connection:
  // close". After ServerTimeouts::drain, the remaining connections are closed and their coroutines
  // destroyed. Calls `done` once, never within this call, when no connection and no handler is
  // left. A second call only adds its `done`.
  virtual void drain(std::function<void()> done) = 0;

  // Reloads the certificate and key files, for new connections. If this fails, the previous ones
  // remain in use. No effect without TLS.
  virtual Result<Done> reload_certificate() = 0;
};

}  // namespace belay::http
