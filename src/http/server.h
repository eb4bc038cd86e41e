#pragma once
// http/server.h - an HTTP/1.1 server: it reads requests, checks them, and has them answered.
//
// It knows nothing of what it serves. Whatever reaches the handler is a sound request (message.h);
// what is malformed, too large or too slow is answered by the server itself, by way of
// ServerOptions::error_response, and its connection closed:
//
//   400  a request line, header, Host, chunk or compressed body that is not as it must be, and
//        whatever two readers could understand differently (RFC 9112, section 11.2)
//   408  a head or a body that does not come in time
//   413  a body above the limit, before it is buffered: according to its Content-Length, or as soon
//        as the received or decompressed bytes exceed the limit
//   414, 431  a target or a head beyond its limit
//   415  a Content-Encoding other than gzip
//   417  an Expect other than 100-continue
//   503  more connections, or more buffered bytes of requests, than the limit, with Retry-After
//   505  an HTTP version other than 1.0 and 1.1
//
// ServerOptions::admit checks each head before its body is read. A rejected request costs only the
// bytes of its head: its body is not buffered, and no 100-continue requests it.
//
// The answers of a connection come in the order of its requests; one request at a time is handled.
//
// A client that disconnects before its answer does not stop the handler: what a request has begun
// is durable work, and its answer is thrown away. ServerOptions::ends_with_client names the
// requests whose task is destroyed instead. A stream always ends with its client.
//
// Memory: a connection holds a few hundred bytes while nothing comes on it, and no buffer while it
// is idle, while a handler works or while a stream waits; with TLS, the OpenSSL session adds to it.
// Reading and writing buffers grow with the data in transit, up to the limits; all connections
// together buffer at most ServerLimits::request_bytes of requests.
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

// Called on the loop's thread for each request; what it captures outlives the server.
using Handler = std::function<Task<Response>(Request)>;

struct ServerLimits {
  std::size_t head_bytes = 16 * 1024;    // the request line and the headers
  std::size_t target_bytes = 8 * 1024;   // the request line's target
  std::size_t headers = 100;             // of one request
  std::size_t body_bytes = 1024 * 1024;  // of one request, compressed or not
  std::size_t ahead_bytes = 64 * 1024;   // read of later requests while one is being answered
  std::size_t connections = 10'000;      // at the same time
  // Total bytes of heads and bodies being read, and of read-ahead, over all connections. A request
  // that exceeds it is answered with 503. REQUIRES: above head_bytes + 2 * body_bytes.
  std::size_t request_bytes = 64 * 1024 * 1024;
};

// Kept to within a second, or a quarter of the shortest of them.
struct ServerTimeouts {
  std::chrono::milliseconds handshake{10'000};  // TLS
  std::chrono::milliseconds head{10'000};       // from the connection's begin, or a later request's
                                                // first byte, to the end of the request's head
  std::chrono::milliseconds body{30'000};       // from there to the end of its body
  std::chrono::milliseconds idle{60'000};       // between two requests of a connection
  std::chrono::milliseconds write{30'000};      // while the client takes nothing of an answer
  std::chrono::milliseconds drain{10'000};      // until drain() ends what is still under way
};

// PEM files: the certificate with the chain that leads to it, and its private key.
struct TlsFiles {
  std::string certificate_file;
  std::string key_file;
};

struct ServerOptions {
  std::string address = "127.0.0.1";  // an IPv4 or IPv6 address; "0.0.0.0" or "::" for all
  int port = 0;                       // 0: one that is free
  ServerLimits limits{};
  ServerTimeouts timeouts{};
  std::optional<TlsFiles> tls{};  // unset: plain HTTP
  bool compress = true;           // text and JSON of 1 KiB and more, for clients that accept gzip

  // Checks a request once its head has been read and before its body is read: `head` is complete
  // except `body`. A returned response is sent instead of calling the handler; the connection is
  // then closed unless the request has no body. Otherwise the request continues with the
  // `admission` set here. Unset: every head is admitted. Called on the loop's thread.
  std::function<std::optional<Response>(Request& head)> admit{};
  // The answer for what the server refuses by itself. Unset: an RFC 9457 problem document.
  std::function<Response(int status, std::string detail)> error_response{};
  // Whether this request's task is destroyed when its client disconnects. Unset: none is.
  std::function<bool(const Request& request)> ends_with_client{};
};

struct ServerCounts {
  std::size_t connections = 0;     // open now
  std::size_t streams = 0;         // of them, those that send a stream
  std::size_t handling = 0;        // handlers at work, those without a client among them
  std::size_t buffered_bytes = 0;  // held for reading and writing, by all connections together
  std::size_t request_bytes = 0;   // of these, held for requests
  std::uint64_t accepted = 0;      // connections since the start
  std::uint64_t requests = 0;      // that reached the handler
  std::uint64_t refused = 0;       // requests and connections that the server itself rejected,
                                   // including those that `admit` rejected
};

class Server {
 public:
  // Listens at once; connections are taken when the loop runs. `loop` and `clock` (for the Date
  // header alone) outlive the server. Fails with `invalid` for an address, certificate or key that
  // can't be used, with `unavailable` when the port is taken or not permitted; the sentence names
  // the address or the file and says what to do.
  static Result<std::unique_ptr<Server>> listen(AsioLoop& loop, Clock& clock, ServerOptions options,
                                                Handler handler);

  virtual ~Server() = default;  // closes everything at once and destroys the tasks of the handlers

  virtual int port() const = 0;
  virtual ServerCounts counts() const = 0;

  // Stops accepting; closes what is idle at once; ends each stream where a piece ends, as if its
  // last had come; lets the other requests under way be answered, with "Connection: close". What is
  // not done within ServerTimeouts::drain is closed and its tasks destroyed. Calls `done` once,
  // never inside this call, when no connection and no handler is left. The second call only adds
  // its `done`.
  virtual void drain(std::function<void()> done) = 0;

  // Reads the certificate and key files again, for connections to come. After an error the former
  // ones stay in use. Nothing without TLS.
  virtual Result<Done> reload_certificate() = 0;
};

}  // namespace belay::http
