#pragma once
// http/message.h - a request as it came, and the answer to it.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "belay/task.h"

namespace belay::http {

struct Header {
  std::string name;
  std::string value;
};

// The first header of that name, whatever its case; null where there is none.
const std::string* find_header(const std::vector<Header>& headers, std::string_view name);

// A request that the server has read to its end and found sound: its head obeys RFC 9112, its Host
// is there once, its body is whole and within the limit.
struct Request {
  std::string method;  // as sent: "GET", "POST", ...; upper case is not made of lower
  // The path with its %XX decoded: valid UTF-8 that holds no NUL and no segment "." or "..", and
  // begins with '/'. "*" for the target of `OPTIONS *`.
  std::string path;
  // The path as it was sent. An encoded '/' within a segment shows here alone: path_segments().
  std::string raw_path;
  std::string query;  // what stands behind '?', undecoded: query_parameters(); "" without one
  std::vector<Header> headers;
  std::string body;  // decompressed, where it came compressed; Content-Encoding is taken away then
  std::string peer;  // the address that the connection comes from, without its port
  bool tls = false;
  // Result of ServerOptions::admit for the handler of the same request; null without one.
  std::shared_ptr<void> admission;

  // The value of the first header of that name, whatever its case; "" where there is none.
  std::string_view header(std::string_view name) const;
};

// A body that is made while it is sent: server-sent events, an export.
//
// next() is awaited on the loop's thread, one call at a time, and only once what it gave before has
// been handed to the kernel: a client that reads slowly slows its stream down, and no more than one
// piece is held. "" ends the body. An error ends the connection without the body's end, so that the
// client sees that something is missing.
//
// When the client goes away, the task that next() gave and the stream are destroyed at once, in
// that order.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  virtual Task<Result<std::string>> next() = 0;
};

// The server adds Date, Content-Length or Transfer-Encoding, Connection and, where it compresses,
// Content-Encoding and Vary; an answer does not set Content-Length, Transfer-Encoding or Connection
// itself (they are left out), and may set Date. A header whose name is no token, or whose value
// holds a line's end, NUL or another control character, is left out too: what a client has sent may
// be put into a value without splitting the answer.
//
// "Cache-Control: no-transform" or a Content-Encoding of its own keeps an answer from compression.
struct Response {
  int status = 200;  // 200 to 599; 204 and 304 carry no body, whatever is set
  std::vector<Header> headers{};
  std::string body{};
  std::unique_ptr<BodyStream> stream{};  // in place of `body`
};

// The parts between the slashes of a raw path, each decoded: "/threads/a%2Fb" gives "threads" and
// "a/b". REQUIRES: raw_path is one of a Request.
std::vector<std::string> path_segments(std::string_view raw_path);

// The pairs of a query, decoded, in their order ('+' is a space). Fails with `invalid` for a broken
// %XX, for NUL and for what is no UTF-8.
Result<std::vector<std::pair<std::string, std::string>>> query_parameters(std::string_view query);

}  // namespace belay::http
