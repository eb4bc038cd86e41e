#pragma once
// http/message.h - Request and Response, and helpers for their headers, paths and queries.

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

// Returns the first header with the name, ignoring case; otherwise null.
const std::string* find_header(const std::vector<Header>& headers, std::string_view name);

// A request that the server has read completely and validated: its head conforms to RFC 9112, it
// has exactly one Host, and its body is complete and within the limit.
struct Request {
  std::string method;  // as sent: "GET", "POST", ...; case is preserved
  // The path with %XX decoded: valid UTF-8 that starts with '/' and contains no NUL and no segment
  // "." or "..". "*" for the target of `OPTIONS *`.
  std::string path;
  // The path as it was sent. Only here is an encoded '/' within a segment visible: see
  // path_segments().
  std::string raw_path;
  std::string query;  // the part after '?', not decoded: see query_parameters(); "" without one
  std::vector<Header> headers;
  std::string body;  // decompressed if necessary; Content-Encoding is then removed
  std::string peer;  // the address of the client, without its port
  bool tls = false;
  // Result of ServerOptions::admit for the handler of the same request; null without one.
  std::shared_ptr<void> admission;

  // Returns the value of the first header with the name, ignoring case; otherwise "".
  std::string_view header(std::string_view name) const;
};

// A body that is produced while it is sent: server-sent events, an export.
//
// next() is awaited on the loop's thread, one call at a time, and only after the previous piece has
// been passed to the kernel: a slow client slows its stream down, and at most one piece is
// buffered. "" ends the body. An error closes the connection without the end of the body, so that
// the client detects the truncation.
//
// If the client disconnects, the coroutine of next() and then the stream are destroyed immediately.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  virtual Task<Result<std::string>> next() = 0;
};

// The server adds Date, Content-Length or Transfer-Encoding, Connection and, if it compresses,
// Content-Encoding and Vary. A response must not set Content-Length, Transfer-Encoding or
// Connection (they are dropped), and may set Date. A header is dropped as well if its name is not a
// token, or if its value contains a line break, NUL or another control character: a value can
// therefore contain data of the client without splitting the response.
//
// "Cache-Control: no-transform" or an existing Content-Encoding prevents compression.
struct Response {
  int status = 200;  // 200 to 599; 204 and 304 never have a body
  std::vector<Header> headers{};
  std::string body{};
  std::unique_ptr<BodyStream> stream{};  // instead of `body`
};

// Returns the decoded segments of a raw path: "/threads/a%2Fb" gives "threads" and "a/b". REQUIRES:
// raw_path is that of a Request.
std::vector<std::string> path_segments(std::string_view raw_path);

// Returns the decoded pairs of a query, in their order ('+' is a space). Fails with `invalid` for
// an invalid %XX, for NUL, and for text that is not UTF-8.
Result<std::vector<std::pair<std::string, std::string>>> query_parameters(std::string_view query);

}  // namespace belay::http
